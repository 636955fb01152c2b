"""The hand-off: how a ClickHouse node reads a Spark table.

Spark writes files, ClickHouse reads them with a table function. After a Spark table that ClickHouse
nodes read has been built, a receipt is laid beside its files: the files, the number of rows and,
for each column, its type, its number of values and a checksum. Before a ClickHouse node reads the
table, ClickHouse computes the same figures from the same files; a folder that is half-written, or
that either engine reads differently, stops the node.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.files import PARQUET, Files, partition_columns
from dbt.adapters.spark_clickhouse.types import (
    checksum_expressions,
    clickhouse_type,
    is_nullable,
)

# What Spark calls the folder of rows in which a partition column is null.
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class ColumnReceipt:
    """A column as Spark wrote it: ``checksum`` is None for types that have none."""

    name: str
    spark_type: str
    values: int
    checksum: int | None


@dataclass(frozen=True)
class Receipt:
    """What Spark says that a table's folder holds. ``files`` maps paths within it to bytes."""

    rows: int
    columns: tuple[ColumnReceipt, ...]
    files: dict[str, int]

    @classmethod
    def load(cls, files: Files) -> Receipt | None:
        """The receipt beside ``files``, or None when there is none."""
        text = files.read_receipt()
        if text is None:
            return None
        raw = json.loads(text)
        columns = tuple(ColumnReceipt(**column) for column in raw["columns"])
        return cls(rows=raw["rows"], columns=columns, files=raw["files"])

    def save(self, files: Files) -> None:
        """Lay the receipt beside ``files``, whole or not at all."""
        files.write_receipt(json.dumps(asdict(self), indent=1))

    def types(self) -> dict[str, str]:
        """The columns, as ClickHouse types."""
        return {column.name: clickhouse_type(column.spark_type) for column in self.columns}


def table_function(files: Files, receipt: Receipt | None) -> str:
    """What ClickHouse reads ``files`` with: a table function, or a query of one.

    With a receipt the structure is spelled out: without it an `insert … select … from file()`
    takes the types of its target and turns NULL into 0, and a folder without rows cannot be read.
    """
    types = receipt.types() if receipt else {}
    if files.file_format != PARQUET:
        return files.table_function(structure=_structure(types))
    partitions = partition_columns(receipt.files) if receipt else []
    pattern = "".join(f"{name}=*/" for name in partitions) + "*.parquet"
    if not partitions:
        return files.table_function(pattern, _structure(types))
    read = {name: "Nullable(String)" if name in partitions else types[name] for name in types}
    columns = (
        _partition_value(name, kind) if name in partitions else _quote(name)
        for name, kind in types.items()
    )
    return f"(select {', '.join(columns)} from {files.table_function(pattern, _structure(read))})"


def _structure(types: dict[str, str]) -> str:
    return ", ".join(f"{_quote(name)} {kind}" for name, kind in types.items())


def _partition_value(name: str, kind: str) -> str:
    """The value in a folder's name, where Spark escapes characters that paths cannot have."""
    text = f"nullIf(decodeURLComponent({_quote(name)}), '{_NULL_PARTITION}')"
    return f"cast({text} as {kind}) as {_quote(name)}"


def figures_sql(columns: list[tuple[str, str]], relation: str, engine: str) -> str:
    """The statement that computes a receipt's figures on ``engine``.

    Args:
        columns: name and Spark type of each column.
        relation: what to select from, as SQL.
        engine: spark or clickhouse.
    """
    terms = ["count(*)"]
    for name, spark_type in columns:
        quoted = _quote(name)
        terms.append(f"count({quoted})")
        expressions = checksum_expressions(quoted, spark_type)
        terms.append(expressions[engine] if expressions else "null")
    return f"select {', '.join(f'{term} as f{i}' for i, term in enumerate(terms))} from {relation}"


def receipt_of(
    columns: list[tuple[str, str]], figures: list[Any], files: dict[str, int]
) -> Receipt:
    """The receipt from the row that ``figures_sql`` returned."""
    rows, *rest = [None if figure is None else int(figure) for figure in figures]
    return Receipt(
        rows=rows or 0,
        columns=tuple(
            ColumnReceipt(name, spark_type, rest[2 * i] or 0, rest[2 * i + 1])
            for i, (name, spark_type) in enumerate(columns)
        ),
        files=files,
    )


def require_same_files(
    name: str, model: str | None, files: Files, receipt: Receipt | None
) -> Receipt:
    """The receipt of the table ``name``, if its folder holds just the files that it lists.

    Raises:
        DbtRuntimeError: there is no receipt, or files were added, removed or changed since.
    """
    if receipt is None:
        raise DbtRuntimeError(
            f"ClickHouse cannot read the Spark table {name}: there is no receipt in {files}. "
            "Spark has not built the table, did not finish, or built it when no ClickHouse node "
            f"read it. Build it first: dbt build --select {model}"
        )
    found = files.sizes()
    if found != receipt.files:
        changed = sorted({name for name, _ in found.items() ^ receipt.files.items()})
        changes = [
            f"{name} ({_bytes(receipt.files, name)} then, {_bytes(found, name)} now)"
            for name in changed[:3]
        ]
        raise DbtRuntimeError(
            f"ClickHouse cannot read the Spark table {name}: the files in {files} are not "
            f"those that Spark wrote: {len(changed)} differ, such as {', '.join(changes)}. "
            f"Build it again: dbt build --select {model}"
        )
    return receipt


def require_no_nested_nulls(name: str, receipt: Receipt) -> None:
    """Refuse columns that ClickHouse would read as another value.

    Raises:
        DbtRuntimeError: arrays, maps or structs are null.
    """
    nulls = [
        f"{column.name} ({receipt.rows - column.values} of {column.spark_type})"
        for column in receipt.columns
        if column.values < receipt.rows and not is_nullable(column.spark_type)
    ]
    if nulls:
        raise DbtRuntimeError(
            f"ClickHouse cannot read the Spark table {name}: its arrays, maps and structs cannot "
            f"be null, and these columns hold nulls: {', '.join(nulls)}. Replace them in the Spark "
            "model, as in coalesce(tags, array())."
        )


def require_same_figures(name: str, model: str | None, expected: Receipt, actual: Receipt) -> None:
    """Compare what Spark wrote with what ClickHouse reads.

    Raises:
        DbtRuntimeError: the count of rows, or a column's count or checksum, differs.
    """
    differences = []
    if expected.rows != actual.rows:
        differences.append(f"rows: Spark {expected.rows}, ClickHouse {actual.rows}")
    for wrote, read in zip(expected.columns, actual.columns, strict=True):
        if (wrote.values, wrote.checksum) != (read.values, read.checksum):
            differences.append(
                f"column {wrote.name}: Spark {wrote.values} values with checksum "
                f"{wrote.checksum}, ClickHouse {read.values} with {read.checksum}"
            )
    if differences:
        raise DbtRuntimeError(
            f"The hand-off of the Spark table {name} failed: ClickHouse does not read what Spark "
            f"wrote. {'; '.join(differences[:5])}. Build it again: dbt build --select {model}"
        )


def _bytes(files: dict[str, int], name: str) -> str:
    return f"{files[name]} bytes" if name in files else "not there"


def _quote(identifier: str) -> str:
    return f"`{identifier}`"
