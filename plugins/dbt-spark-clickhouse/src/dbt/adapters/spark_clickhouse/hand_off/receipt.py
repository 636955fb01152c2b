"""The receipt of a Spark table: what Spark wrote, so that ClickHouse reads the same.

Spark writes files, and ClickHouse reads them with a table function. When a Spark table that ClickHouse nodes read has
been built, a receipt is written next to its files. It lists the files, the number of rows, for each column its type,
its number of values and a checksum, and checksums of whole rows. Before a ClickHouse node reads the table, ClickHouse
computes the same figures from the same files. A folder that is half-written, or that the engines read differently,
stops the node.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.types import clickhouse_type, is_nullable
from dbt.adapters.spark_clickhouse.hand_off.files import RECEIPT, Files

SHOWN = 3  # files that an error message names


@dataclass(frozen=True)
class ColumnReceipt:
    """A column as Spark wrote it."""

    name: str
    spark_type: str
    values: int
    checksum: int


@dataclass(frozen=True)
class Receipt:
    """What a table's folder holds, according to Spark. ``files`` maps paths within it to bytes; ``row_checksums`` show
    which values share a row, each for some of the columns."""

    rows: int
    columns: tuple[ColumnReceipt, ...]
    files: dict[str, int]
    row_checksums: tuple[int, ...]

    @classmethod
    def load(cls, files: Files) -> Receipt | None:
        """The receipt next to ``files``. None if there is none."""
        text = files.read_receipt()
        if text is None:
            return None
        raw = json.loads(text)
        columns = tuple(ColumnReceipt(**column) for column in raw["columns"])
        return cls(raw["rows"], columns, raw["files"], tuple(raw["row_checksums"]))

    def save(self, files: Files) -> None:
        """Write the receipt next to ``files``, completely or not at all."""
        files.write_receipt(json.dumps(asdict(self), indent=1))

    def types(self) -> dict[str, str]:
        """The ClickHouse types of the columns, by name."""
        return {column.name: clickhouse_type(column.spark_type) for column in self.columns}


def require_same_files(name: str, model: str | None, files: Files, receipt: Receipt | None) -> Receipt:
    """The receipt of the table ``name``, if its folder holds exactly the files that it lists.

    ``model`` is None for a source, which no model builds.

    Raises:
        DbtRuntimeError: there is no receipt, or files were added, removed or changed since.
    """
    if receipt is None:
        raise DbtRuntimeError(
            f"ClickHouse cannot read the Spark table {name}: there is no receipt in {files}. "
            "Spark has not built the table, did not finish, or built it when no ClickHouse node "
            f"read it. {_advice('first', model)}"
        )
    found = files.sizes()
    if found != receipt.files:
        changed = sorted({name for name, _ in found.items() ^ receipt.files.items()})
        changes = [
            f"{name} ({_bytes(receipt.files, name)} then, {_bytes(found, name)} now)" for name in changed[:SHOWN]
        ]
        raise DbtRuntimeError(
            f"ClickHouse cannot read the Spark table {name}: the files in {files} are not "
            f"those that Spark wrote. {_differing(len(changed))} {', '.join(changes)}. "
            f"{_advice('again', model)}"
        )
    return receipt


def require_no_nested_nulls(name: str, receipt: Receipt) -> None:
    """Reject columns that ClickHouse would read as other values.

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
    """Compare what Spark wrote with what ClickHouse reads. ``model`` is None for a source.

    Raises:
        DbtRuntimeError: the number of rows, or the count or checksum of a column, differs.
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
    if not differences and expected.row_checksums != actual.row_checksums:
        differences.append("the values are the same, but in different rows")
    if differences:
        raise DbtRuntimeError(
            f"The hand-off of the Spark table {name} failed: ClickHouse does not read what Spark "
            f"wrote. {'; '.join(differences[:5])}. {_advice('again', model)}"
        )


def _advice(when: str, model: str | None) -> str:
    if model is None:
        return (
            "Nothing may write to a source while dbt reads it. Wait until it is complete. Then "
            f"delete {RECEIPT} from its folder, and dbt writes a new one."
        )
    return f"Build it {when}: dbt build --select {model}"


def _bytes(files: dict[str, int], name: str) -> str:
    if name not in files:
        return "absent"
    return "1 byte" if files[name] == 1 else f"{files[name]} bytes"


def _differing(count: int) -> str:
    if count > SHOWN:
        return f"{count} files differ, such as"
    return "1 file differs:" if count == 1 else f"{count} files differ:"
