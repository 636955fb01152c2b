"""What the type of the version costs: a log position alone, or positions that give the order in which a source
commits."""

from __future__ import annotations

from itertools import count
from typing import Any

from benchmarks.engine import SCHEMA, Engine
from benchmarks.measure import Arm, interleaved
from benchmarks.tables import Row

# Transactions of ten rows; each writes 8 KiB to the log, and a row 128 bytes. Type and value, from the number of a row.
COMMIT, PLACE = "toInt128(30000000 + intDiv(n, 10) * 8192)", "toInt128(30000000 + intDiv(n, 10) * 8192 + n % 10 * 128)"
VERSIONS = {
    "Int64, LSN": ("Int64", f"toInt64({PLACE})"),
    "Int128, PostgreSQL's commit and LSN": (
        "Int128",
        f"{COMMIT} * toInt128('18446744073709551616') + toInt128('4611686018427387904') + ({PLACE} - {COMMIT}) + 1",
    ),
    "Int128, MySQL's file, place and row": (
        "Int128",
        "toInt128(intDiv(n, 1000000) + 1) * toInt128('10000000000000000000') + toInt128(n % 1000000) * 1280000001",
    ),
    "UInt256, SQL Server's commit, change and number": (
        "UInt256",
        "toUInt256(concat(leftPad(toString(39 + intDiv(n, 1000000)), 10, '0'), "
        "leftPad(toString(intDiv(n, 10)), 10, '0'), '00001', "
        "leftPad(toString(39 + intDiv(n, 1000000)), 10, '0'), leftPad(toString(n), 10, '0'), '00002', "
        "'0000000001', '1'))",
    ),
}


def measure_versions(engine: Engine, rows: int, changes: int, trials: int) -> list[Row]:
    """Applies to tables that differ only in the type of the version, in turn; then the bytes per row, after merges.

    Args:
        engine: an engine, whose tables are dropped.
        rows: of each table.
        changes: per apply.
        trials: applies that count, after one that does not.
    """
    engine.empty()
    names = {f"version_{number}": name for number, name in enumerate(VERSIONS)}
    for model, name in names.items():
        _take(engine, model, name, 0, rows, rows)
    applies = {model: count(1) for model in names}

    def apply(model: str) -> float:
        return _take(engine, model, names[model], rows + next(applies[model]) * changes, changes, rows)

    arms = [Arm(name, lambda model=model: apply(model)) for model, name in names.items()]  # type: ignore[misc]
    figures = interleaved(arms, trials)
    table: list[dict[str, Any]] = []
    for model, name in names.items():
        engine.command(f"optimize table {model} final")
        ((of_version, of_row),) = engine.query(
            "select sumIf(column_data_compressed_bytes, column = '_version') / any(total), "
            "sum(column_data_compressed_bytes) / any(total) from system.parts_columns, "
            f"(select count() as total from {model}) as counted "
            f"where active and database = '{SCHEMA}' and table = '{model}'"
        )
        sizes = {"bytes of the version": round(of_version, 2), "bytes of a row": round(of_row, 2)}
        table.append({"version": name, **figures[name].as_row(), **sizes})
    return table


def _take(engine: Engine, model: str, name: str, first: int, changes: int, rows: int) -> float:
    """Apply changes to scattered rows. From `first` on, their versions are not in the order of the keys."""
    kind, version = VERSIONS[name]
    step = rows // changes
    engine.add_model(
        model,
        {"materialized": "versioned_collapsing", "unique_key": "id", "order_by": "id"},
        f"select toInt32(number * {step} + cityHash64(n) % {step}) as id, "
        f"toUInt32(cityHash64(n, 1) % 1000) as metric1, toFloat32(cityHash64(n, 2) % 10000 / 100) as metric2, "
        f"cast({version} as {kind}) as _version "
        f"from (select number, {first} + number * 48271 % {changes} as n from numbers({changes}))",
    )
    return engine.dbt("run", "--select", model)
