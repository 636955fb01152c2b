"""What a day of small applies writes to disk, merges included: rows and bytes per change."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.engine import SCHEMA, Engine
from benchmarks.measure import Figures
from benchmarks.tables import COLUMNS, UPDATED, Row, make_base, update_from_table
from benchmarks.upsert import SHAPES, Upsert

# ClickHouse's default, which the bases override in order not to merge.
MERGING = "reset setting max_bytes_to_merge_at_max_space_in_pool"
QUIET = 12  # looks without a merge, in a row, that end the day
PAUSE = 0.5  # seconds between two looks
LONGEST_WAIT = 600  # seconds
# What was written into a part. Parts that are only linked have no such rows. Neither do the empty parts of a
# `truncate`, each of which reports the bytes of the whole statement.
ROWS = " + ".join(
    f"ProfileEvents['{event}']" for event in ("MergeTreeDataWriterRows", "MergeWrittenRows", "MutatedRows")
)
BYTES = f"if({ROWS} > 0, ProfileEvents['WriteBufferFromFileDescriptorWriteBytes'], 0)"


@dataclass(frozen=True)
class Way:
    """A way to write into a table. ``staging`` is a condition on the names of other tables that it writes into."""

    name: str
    table: str
    write: Callable[[], float]
    applies: int  # since the start of the day
    sums: str = "sum(metric1), count()"
    final: str = ""
    staging: str = "false"


def measure_written(engine: Engine, rows: int, changes: int, applies: int, slow_applies: int) -> list[Row]:
    """All ways take turns, apply after apply, while ClickHouse merges as it chooses.

    Args:
        engine: an engine, whose tables are dropped.
        rows: of the table.
        changes: per apply.
        applies: per day.
        slow_applies: of the way that mutates the table; at most `applies`.

    Raises:
        RuntimeError: they ended with different rows.
    """
    bases = ["collapsing", "replacing", "merge"]
    upsert = Upsert(engine, SHAPES["scattered"], rows, changes, bases)
    ways = _ways(upsert, applies, slow_applies)
    for way in ways:
        engine.command(f"alter table {way.table} {MERGING}")
    engine.command("system flush logs part_log")
    engine.command("truncate table system.part_log")
    seconds = {way.name: Figures() for way in ways}
    for apply in range(1, applies + 1):
        print(f"written: apply {apply} of {applies}", flush=True)
        upsert.change(SHAPES["scattered"], changes, apply=apply)
        upsert.add_model("ours", "versioned_collapsing")
        at_work = [way for way in ways if apply <= way.applies]
        for way in at_work:
            seconds[way.name].seconds.append(way.write())
            # An insert makes ClickHouse look for merges; after an attach, it looks only when it does so anyway.
            engine.command(f"system start merges {way.table}")
        if apply in (slow_applies, applies):
            _check(engine, at_work)
    _wait_for_merges(engine)
    engine.command("system flush logs part_log")
    return [
        {
            "way": way.name,
            "applies": way.applies,
            "seconds": round(seconds[way.name].median, 4),
            **_written(engine, way, changes * way.applies),
        }
        for way in ways
    ]


def _ways(upsert: Upsert, applies: int, slow_applies: int) -> list[Way]:
    """The ways, with their tables as they are before the day."""
    engine = upsert.engine
    upsert.add_model("ours", "versioned_collapsing")
    upsert.adopt("ours")
    engine.clone("base_replacing", "replacing")
    make_base(upsert, "updated", "MergeTree", COLUMNS, UPDATED)
    engine.clone("base_merge", "delete_insert")

    def insert() -> float:
        return engine.seconds(f"insert into replacing ({upsert.columns}) select {upsert.columns} from {upsert.source}")

    return [
        Way(
            "versioned_collapsing",
            "ours",
            lambda: engine.dbt("run", "--select", "ours"),
            applies,
            sums="sum(metric1 * _sign), sum(_sign)",
            staging="startsWith(table, 'ours__dbt') or table = 'versioned_collapsing_ledger'",
        ),
        Way("ReplacingMergeTree", "replacing", insert, applies, final="final"),
        Way(
            "lightweight update, values from a table", "updated", lambda: update_from_table(upsert, "updated"), applies
        ),
        Way(
            "dbt-clickhouse delete_insert",
            "delete_insert",
            lambda: engine.dbt("run", "--select", "delete_insert"),
            slow_applies,
            staging="startsWith(table, 'delete_insert__dbt')",
        ),
    ]


def _check(engine: Engine, ways: list[Way]) -> None:
    """The ways ended with the same rows.

    Raises:
        RuntimeError: they did not.
    """
    sums = {way.name: engine.query(f"select {way.sums} from {way.table} {way.final}") for way in ways}
    if len({str(found) for found in sums.values()}) != 1:
        raise RuntimeError(f"the ways differ: {sums}")


def _wait_for_merges(engine: Engine) -> None:
    """Wait until no merge has been seen for a while.

    Raises:
        RuntimeError: merges do not end.
    """
    looks = quiet = 0
    while quiet < QUIET:
        if looks * PAUSE > LONGEST_WAIT:
            raise RuntimeError(f"merges go on after {LONGEST_WAIT} s")
        time.sleep(PAUSE)
        ((merges,),) = engine.query("select count() from system.merges")
        quiet = 0 if merges else quiet + 1
        looks += 1


def _written(engine: Engine, way: Way, changes: int) -> Row:
    """Rows and bytes per change, and the parts that are left."""
    figures = ", ".join(
        f"round(sumIf({what}, {condition}) / {changes}, 2)"
        for what in ("written_rows", "written_bytes")
        for condition in ("is_new and not is_staged", "is_new and is_staged", "not is_new")
    )
    ((rows, rows_staged, rows_merged, size, size_staged, size_merged),) = engine.query(
        f"select {figures} from (select event_type = 'NewPart' as is_new, ({way.staging}) as is_staged, "
        f"{ROWS} as written_rows, {BYTES} as written_bytes from system.part_log "
        f"where database = '{SCHEMA}' and (table = '{way.table}' or is_staged) "
        "and event_type in ('NewPart', 'MergeParts', 'MutatePart'))"
    )
    ((parts,),) = engine.query(
        f"select count() from system.parts where active and database = '{SCHEMA}' and table = '{way.table}'"
    )
    return {
        "rows inserted": rows,
        "rows staged": rows_staged,
        "rows merged": rows_merged,
        "bytes inserted": size,
        "bytes staged": size_staged,
        "bytes merged": size_merged,
        "parts left": parts,
    }
