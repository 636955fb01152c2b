from dbt.adapters.base import AdapterPlugin

from dbt.adapters.spark_clickhouse.core.credentials import SparkClickHouseCredentials
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter
from dbt.include import spark_clickhouse

Plugin = AdapterPlugin(
    adapter=SparkClickHouseAdapter,  # type: ignore[arg-type]  # no adapter is what dbt declares
    credentials=SparkClickHouseCredentials,
    include_path=spark_clickhouse.PACKAGE_PATH,
    dependencies=["spark", "clickhouse"],
)
