from typing import Any, cast

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.spark_clickhouse.adapter import SparkClickHouseAdapter
from dbt.adapters.spark_clickhouse.credentials import SparkClickHouseCredentials
from dbt.include import spark_clickhouse

Plugin = AdapterPlugin(
    adapter=cast(Any, SparkClickHouseAdapter),  # its delegates are made when it is imported
    credentials=SparkClickHouseCredentials,
    include_path=spark_clickhouse.PACKAGE_PATH,
    dependencies=["spark", "clickhouse"],
)
