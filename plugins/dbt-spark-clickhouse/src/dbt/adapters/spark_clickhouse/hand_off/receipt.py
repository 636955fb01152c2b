"""The receipt of a Spark table: what Spark wrote, so that ClickHouse reads the same.

Spark writes files, and ClickHouse reads them with a table function. When a Spark table that ClickHouse nodes read has
been built, a receipt is written next to its files. It lists the files with their sizes, the number of rows, and the
type of each column. Before a ClickHouse node reads the table, ClickHouse counts the rows in the same files. A folder
that is half-written, or in which ClickHouse finds another number of rows, stops the node.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.routing import SPARK
from dbt.adapters.spark_clickhouse.core.types import clickhouse_type, is_nullable, quote
from dbt.adapters.spark_clickhouse.hand_off.files import RECEIPT, Files

SHOWN = 3  # files that an error message names


@dataclass(frozen=True)
class Receipt:
    """What a table's folder holds, according to Spark.

    Args:
        rows: their number.
        columns: Spark's types by name.
        nested_nulls: the number of nulls in each array, map or struct that has any.
        files: bytes by path within the folder.
    """

    rows: int
    columns: dict[str, str]
    nested_nulls: dict[str, int]
    files: dict[str, int]

    @classmethod
    def load(cls, files: Files) -> Receipt | None:
        """The receipt next to ``files``. None if there is none."""
        text = files.read_receipt()
        content = json.loads(text) if text is not None else {}
        return cls(**content) if content.keys() == {field.name for field in fields(cls)} else None

    def save(self, files: Files) -> None:
        """Write the receipt next to ``files``, completely or not at all."""
        files.write_receipt(json.dumps(asdict(self), indent=1))

    def types(self) -> dict[str, str]:
        """The ClickHouse types of the columns, by name."""
        return {name: clickhouse_type(spark_type) for name, spark_type in self.columns.items()}


def nested_columns(columns: dict[str, str]) -> list[str]:
    """The columns that ClickHouse cannot read as null, given Spark's types by name."""
    return [name for name, spark_type in columns.items() if not is_nullable(spark_type)]


def counts_sql(columns: dict[str, str], relation: str) -> str:
    """The statement on Spark that counts the rows of ``relation``, and the nulls of each of its `nested_columns`."""
    nulls = [f", count_if({quote(name, SPARK)} is null)" for name in nested_columns(columns)]
    return f"select count(*){''.join(nulls)} from {relation}"


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
    nulls = [f"{name} ({count} of {receipt.columns[name]})" for name, count in receipt.nested_nulls.items()]
    if nulls:
        raise DbtRuntimeError(
            f"ClickHouse cannot read the Spark table {name}: its arrays, maps and structs cannot "
            f"be null, and these columns hold nulls: {', '.join(nulls)}. Replace them in the Spark "
            "model, as in coalesce(tags, array())."
        )


def require_same_rows(name: str, model: str | None, expected: int, actual: int) -> None:
    """Compare the number of rows that Spark wrote with the number that ClickHouse reads. ``model`` is None for a
    source.

    Raises:
        DbtRuntimeError: they differ.
    """
    if expected != actual:
        raise DbtRuntimeError(
            f"The hand-off of the Spark table {name} failed: Spark wrote {expected} rows, and ClickHouse reads "
            f"{actual}. {_advice('again', model)}"
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
