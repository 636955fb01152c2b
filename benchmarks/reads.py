"""What readers pay, in seconds and memory: ways to read, queries, and applies that are not merged yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from benchmarks.engine import Engine
from benchmarks.measure import Arm, interleaved
from benchmarks.tables import Row, settings_clause
from benchmarks.upsert import SHAPES, Upsert

MODEL = "read"
REPLACING = "read_replacing"
COLUMNS = ("id", "department", "metric1", "metric2", "_version")
ALL = ", ".join(COLUMNS)
LAST = ", ".join(f"argMax({column}, _version)" for column in COLUMNS[1:])
FINAL_APART = {"do_not_merge_across_partitions_select_final": 1}
KEYS = 1_000  # of the query for many keys
PER_RANGE = 100  # a range has one row in this many


@dataclass(frozen=True)
class Way:
    """A way to read live rows: ``rows`` is a query with ``{where}`` in place of a condition on the key."""

    name: str
    rows: str
    sums: str | None = None  # by department; None: the sums of the rows
    settings: dict[str, int] = field(default_factory=dict)


WAYS = (
    Way(
        "sums by sign",
        f"select {ALL} from {MODEL} where {{where}} group by {ALL} having sum(_sign) > 0",
        f"select department, sum(metric1 * _sign), sum(_sign) from {MODEL} group by department having sum(_sign) > 0",
    ),
    Way("FINAL", f"select {ALL} from {MODEL} final where {{where}}"),
    Way("FINAL, each partition by itself", f"select {ALL} from {MODEL} final where {{where}}", settings=FINAL_APART),
    Way(
        "argMax",
        f"select id, {LAST} from {MODEL} where {{where}} group by id having sum(_sign) > 0",
        "select department, sum(metric1), count() from ("
        "select argMax(department, _version) as department, argMax(metric1, _version) as metric1 "
        f"from {MODEL} group by id having sum(_sign) > 0) group by department",
    ),
    Way(
        "LIMIT 1 BY",
        f"select {ALL} from (select {ALL}, _sign from {MODEL} where {{where}} "
        "order by id, _version desc, _sign limit 1 by id) where _sign = 1",
    ),
    Way("ReplacingMergeTree FINAL", f"select {ALL} from {REPLACING} final where {{where}}"),
    Way(
        "ReplacingMergeTree FINAL, each partition by itself",
        f"select {ALL} from {REPLACING} final where {{where}}",
        settings=FINAL_APART,
    ),
)


def measure_reads(engine: Engine, rows: int, applies: Collection[int], trials: int) -> dict[str, list[Row]]:
    """A table per query: every way, after ``applies`` applies of one row in a hundred, without merges."""
    upsert = Upsert(engine, SHAPES["scattered"], rows, rows // 100, ["collapsing", "replacing"])
    upsert.add_model(MODEL, "versioned_collapsing")
    upsert.adopt(MODEL)
    engine.clone("base_replacing", REPLACING)
    conditions = _conditions(rows)
    tables: dict[str, list[Row]] = {query: [{"way": way.name} for way in WAYS] for query in [*conditions, "group by"]}
    done = 0
    for number in sorted(applies):
        while done < number:
            done += 1
            _apply(upsert, done)
        print(f"reads: {number} applies not merged", flush=True)
        for query, lines in tables.items():
            texts = {way.name: _text(way, query, conditions) for way in WAYS}
            _check(engine, texts)
            for line, more in zip(lines, _figures(engine, texts, trials), strict=True):
                after = {0: "merged", 1: "1 apply"}.get(number, f"{number} applies")
                line |= {f"{after}: {figure}": value for figure, value in more.items()}
    return tables


def _apply(upsert: Upsert, number: int) -> None:
    """Apply the same changes to both tables."""
    upsert.change(SHAPES["scattered"], upsert.changes, apply=number)
    upsert.add_model(MODEL, "versioned_collapsing")
    upsert.engine.dbt("run", "--select", MODEL)
    upsert.engine.command(f"insert into {REPLACING} select {upsert.columns} from {upsert.source}")


def _conditions(rows: int) -> dict[str, str]:
    """A condition on the key for each query."""
    keys = min(KEYS, rows)
    return {
        "one key": f"id = {rows // 2}",
        f"{keys:,} keys": f"id in (select toInt32(number * {rows // keys}) from numbers({keys}))",
        "a range": f"id between {rows // 2} and {rows // 2 + rows // PER_RANGE - 1}",
        "select *": "true",
    }


def _text(way: Way, query: str, conditions: dict[str, str]) -> str:
    if query != "group by":
        return way.rows.format(where=conditions[query])
    rows = way.rows.format(where="true")
    return way.sums or f"select department, sum(metric1), count() from ({rows}) group by department"


def _check(engine: Engine, texts: dict[str, str]) -> None:
    """All ways return the same rows.

    Raises:
        RuntimeError: they do not.
    """
    answers = defaultdict(list)
    for name, text in texts.items():
        ((rows, checksum),) = engine.query(f"select count(), sum(cityHash64(*)) from ({text})")
        answers[rows, checksum].append(name)
    if len(answers) != 1:
        raise RuntimeError(f"the ways to read differ: {dict(answers)}")


def _figures(engine: Engine, texts: dict[str, str], trials: int) -> list[dict[str, Any]]:
    """The seconds, interleaved, and the memory of one more run of each."""

    def arm(way: Way) -> Arm:
        statement = f"{texts[way.name]} {settings_clause(way.settings)} format Null"
        return Arm(way.name, lambda: engine.seconds(statement))

    seconds = interleaved([arm(way) for way in WAYS], trials)
    return [
        {
            "s": round(seconds[way.name].median, 4),
            "MiB": round(engine.memory(f"{texts[way.name]} format Null", **way.settings), 1),
        }
        for way in WAYS
    ]
