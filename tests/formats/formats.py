"""Places and formats of Spark tables other than Parquet folders, and what they need.

Spark fetches its jars through its own package mechanism (``spark.jars.packages``). Delta Lake and Iceberg are not
released for the locked Spark yet: they run on the newest Spark that each supports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Format:
    """How change sets are stored.

    Args:
        packages: what Spark fetches for it.
        spark: the version of Spark that it needs; by default the locked one.
        settings: Spark's.
        changes: config of the change sets.
        is_in_bucket: whether what lands, and what Spark writes, is in S3.
    """

    packages: str = ""
    spark: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    is_in_bucket: bool = False


S3A = {"spark.hadoop.fs.s3a.path.style.access": "true", "spark.hadoop.fs.s3a.connection.ssl.enabled": "false"}
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
    "spark.sql.catalog.spark_catalog.type": "hive",
    # The embedded metastore has neither tables for locks nor a connection pool.
    "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
    "spark.hadoop.datanucleus.connectionPoolingType": "NONE",
}
FORMATS = {
    "parquet in s3": Format("org.apache.hadoop:hadoop-aws:3.5.0", settings=S3A, is_in_bucket=True),
    "delta": Format("io.delta:delta-spark_4.2_2.13:4.4.0", "4.2", DELTA, {"file_format": "delta"}),
    "iceberg": Format(
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0", "4.1", ICEBERG, {"file_format": "iceberg"}
    ),
}
