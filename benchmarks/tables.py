"""Tables with the same rows for more engines than those of `upsert`; and helpers of several ways and readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.upsert import PARTITIONS, SETTINGS, Upsert

Row = dict[str, Any]
SIGNED = "sum(metric1 * _sign) as metric1, sum(_sign) as n"
STORED = "sum(metric1) as metric1, count() as n"
BY_DEPARTMENT = "group by department order by department"

COLUMNS = {  # type, value from base_merge
    "id": ("Int32", "id"),
    "department": ("LowCardinality(String)", "department"),
    "metric1": ("UInt32", "metric1"),
    "metric2": ("Float32", "metric2"),
    "_version": ("UInt64", "_version"),
}
NULLABLE = COLUMNS | {
    "department": ("LowCardinality(Nullable(String))", "department"),
    "metric1": ("Nullable(UInt32)", "metric1"),
    "metric2": ("Nullable(Float32)", "metric2"),
}
SIGN = {"_sign": ("Int8", "1")}
COLLAPSING = "VersionedCollapsingMergeTree(_sign, _version)"
# For a table that lightweight updates change.
UPDATED = {**SETTINGS, "enable_block_number_column": 1, "enable_block_offset_column": 1}


def settings_clause(settings: Mapping[str, int]) -> str:
    """The clause for these settings; empty without settings."""
    stated = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"settings {stated}" if stated else ""


def make_base(
    upsert: Upsert,
    name: str,
    engine: str,
    columns: Mapping[str, tuple[str, str]],
    settings: Mapping[str, int] = SETTINGS,
) -> None:
    """The rows of base_merge in a table of another engine, with one part for each partition."""
    structure = ", ".join(f"{column} {kind}" for column, (kind, _) in columns.items())
    values = ", ".join(value for _, value in columns.values())
    upsert.engine.command(
        f"create table {name} ({structure}) engine = {engine} "
        f"partition by {upsert.partition} order by id {settings_clause(settings)}"
    )
    for part in range(PARTITIONS):
        upsert.engine.command(f"insert into {name} select {values} from base_merge where {upsert.partition} = {part}")
    upsert.engine.command(f"optimize table {name} final")


def update_from_table(upsert: Upsert, table: str) -> float:
    """A lightweight update that looks up the changes in a Join table. Return the seconds of all statements."""
    columns = [column for column in COLUMNS if column != "id"]
    values = ", ".join(f"{name} = joinGet('new_values', '{name}', id)" for name in columns)
    structure = ", ".join(f"{column} {kind}" for column, (kind, _) in COLUMNS.items())
    upsert.engine.command("drop table if exists new_values sync")
    return upsert.engine.seconds(
        f"create table new_values ({structure}) engine = Join(any, left, id)",
        f"insert into new_values ({upsert.columns}) select {upsert.columns} from {upsert.source}",
        f"update {table} set {values} where id in (select id from {upsert.source})",
    )
