"""The SQL with which ClickHouse reads a Spark table."""

from __future__ import annotations

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE
from dbt.adapters.spark_clickhouse.core.types import quote
from dbt.adapters.spark_clickhouse.hand_off.files import PARQUET, Files, partition_columns
from dbt.adapters.spark_clickhouse.hand_off.receipt import Receipt

# Spark's name for the folder of rows whose partition column is null.
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def reading_sql(files: Files, receipt: Receipt | None) -> str:
    """The SQL with which ClickHouse reads ``files``: a table function, or a query on one.

    With a receipt, the structure is spelled out. Without it, an `insert … select … from file()` uses the types of its
    target and turns NULL into 0, and a folder without rows cannot be read.
    """
    stored = stored_types(receipt) if receipt else {}
    if files.file_format != PARQUET:
        return files.source(structure=_structure(stored))
    partitions = partition_columns(receipt.files) if receipt else []
    pattern = "".join(f"{name}=*/" for name in partitions) + "*.parquet"
    source = files.source(pattern, _structure(stored))
    if not receipt or not partitions:
        return source
    columns = (
        _partition_value(name, kind) if name in partitions else quote(name, CLICKHOUSE)
        for name, kind in receipt.types().items()
    )
    return f"(select {', '.join(columns)} from {source})"


def stored_types(receipt: Receipt) -> dict[str, str]:
    """The ClickHouse types of the columns in the files. A partition column is text, taken from folder names."""
    partitions = partition_columns(receipt.files)
    return {name: "Nullable(String)" if name in partitions else kind for name, kind in receipt.types().items()}


def _structure(types: dict[str, str]) -> str:
    return ", ".join(f"{quote(name, CLICKHOUSE)} {kind}" for name, kind in types.items())


def _partition_value(name: str, kind: str) -> str:
    """The value in a folder's name, in which Spark escapes characters that paths cannot contain."""
    text = f"nullIf(decodeURLComponent({quote(name, CLICKHOUSE)}), '{_NULL_PARTITION}')"
    return f"cast({text} as {kind}) as {quote(name, CLICKHOUSE)}"
