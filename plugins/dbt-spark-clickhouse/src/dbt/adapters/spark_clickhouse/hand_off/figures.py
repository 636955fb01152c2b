"""The figures of a receipt: counts and checksums, computed on either engine."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.core.types import quote
from dbt.adapters.spark_clickhouse.hand_off.digests import digest, sum_of_digests
from dbt.adapters.spark_clickhouse.hand_off.receipt import ColumnReceipt, Receipt

# ClickHouse parses at most 256 KiB of a statement.
_COLUMNS_OF_A_STATEMENT = 100

Columns = list[tuple[str, str]]  # names and Spark types
_TEXT: dict[Engine, str] = {SPARK: "string", CLICKHOUSE: "Nullable(String)"}


def figures_sql(columns: Columns, relation: str, engine: Engine) -> list[str]:
    """The statements that compute a receipt's figures on ``engine``, each for some of the columns.

    Args:
        columns: name and Spark type of each column.
        relation: what to select from, as SQL.
        engine: spark or clickhouse.
    """
    return [_figures_sql(part, columns, relation, engine) for part in _parts(columns)]


def _parts(columns: Columns) -> list[Columns]:
    step = _COLUMNS_OF_A_STATEMENT
    return [columns[i : i + step] for i in range(0, len(columns), step)]


def _figures_sql(part: Columns, columns: Columns, relation: str, engine: Engine) -> str:
    # ClickHouse confuses a column with an alias of the same name.
    prefix = "_figure"
    while any(name.lower().startswith(prefix) for name, _ in columns):
        prefix = f"_{prefix}"
    digests, sums, texts = [], ["count(*)"], []
    for number, (name, spark_type) in enumerate(part):
        quoted, own = quote(name, engine), f"{prefix}_{number}"
        digests += [f"{digest(quoted, spark_type, engine)} as {own}", f"{quoted} is not null as {own}_is_there"]
        sums += [f"count(case when {own}_is_there then 1 end)", sum_of_digests(own, engine)]
        texts.append(f"coalesce(cast({own} as {_TEXT[engine]}), 'n')")
    row = f"crc32(concat_ws(',', {', '.join(texts)}))"
    if engine == CLICKHOUSE:
        row = f"toInt64(CRC32(arrayStringConcat([{', '.join(texts)}], ',')))"
    sums.append(f"coalesce(sum({row}), 0)")
    terms = ", ".join(f"{term} as f{i}" for i, term in enumerate(sums))
    return f"select {terms} from (select {', '.join(digests)} from {relation}) as digests"


def receipt_of(columns: Columns, figures: list[list[Any]], files: dict[str, int]) -> Receipt:
    """The receipt, from the rows that the statements of ``figures_sql`` returned."""
    receipts: list[ColumnReceipt] = []
    row_checksums = []
    rows = 0
    for part, found in zip(_parts(columns), figures, strict=True):
        rows, *rest, of_rows = (int(figure or 0) for figure in found)
        receipts += (
            ColumnReceipt(name, spark_type, rest[2 * i], rest[2 * i + 1]) for i, (name, spark_type) in enumerate(part)
        )
        row_checksums.append(of_rows)
    return Receipt(rows, tuple(receipts), files, tuple(row_checksums))
