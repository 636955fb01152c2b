"""What readers pay after the changes: sums by department, in every form that a user would choose."""

from __future__ import annotations

from benchmarks.measure import Arm, Figures, interleaved
from benchmarks.upsert import Upsert

SIGNED = "sum(metric1 * _sign) as metric1, sum(_sign) as n"
STORED = "sum(metric1) as metric1, count() as n"
BY_DEPARTMENT = "group by department order by department"

QUERIES = {
    "sums by sign": f"select department, {SIGNED} from atomic {BY_DEPARTMENT}",
    "sums by sign, projection": f"select department, {SIGNED} from projected {BY_DEPARTMENT}",
    "SummingMergeTree view": (f"select department, sum(metric1), sum(n) from summed {BY_DEPARTMENT}"),
    "FINAL": f"select department, {STORED} from atomic final {BY_DEPARTMENT}",
    "ReplacingMergeTree FINAL": f"select department, {STORED} from replacing final {BY_DEPARTMENT}",
}


def measure_queries(upsert: Upsert, trials: int) -> dict[str, Figures]:
    """All forms, interleaved, on the tables that the upserts left.

    Raises:
        RuntimeError: they disagree.
    """
    engine = upsert.engine
    engine.command("create table projected as atomic")
    engine.command("alter table projected modify setting deduplicate_merge_projection_mode = 'rebuild'")
    engine.command(
        f"alter table projected add projection by_department (select department, {SIGNED} group by department)"
    )
    engine.command("insert into projected select * from atomic")
    engine.command(
        "create table summed (department LowCardinality(String), metric1 Int64, n Int64) "
        "engine = SummingMergeTree order by department"
    )
    engine.command(f"insert into summed select department, {SIGNED} from atomic group by 1")
    answers = {str(engine.query(query)) for query in QUERIES.values()}
    if len(answers) != 1:
        raise RuntimeError(f"the queries differ: {answers}")

    def arm(name: str, query: str) -> Arm:
        return Arm(name, lambda: engine.seconds(f"{query} format Null"))

    return interleaved([arm(name, query) for name, query in QUERIES.items()], trials)
