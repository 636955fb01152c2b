"""The questions about a table, and what is wrong with the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.faults.engines import Answers
from tests.faults.project import JOINED, SCHEMA, SUMS
from tests.faults.source import State
from tests.support.balance import OUTCOMES

COLUMNS = "id, part, region, amount, _version"
LEDGER = f"{SCHEMA}.versioned_collapsing_ledger"
PLAIN_VIEW = "plain"  # filled by a materialized view that dbt does not maintain


@dataclass
class Wrong:
    """What is wrong: the number of rows, and texts that say where."""

    rows: int = 0
    texts: list[str] = field(default_factory=list)

    def compare(self, name: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
        """Record how two lists of rows differ, in any order."""
        more, less = Counter(found) - Counter(expected), Counter(expected) - Counter(found)
        if more or less:
            self.rows += more.total() + less.total()
            self.texts.append(
                f"{name}: {more.total()} unexpected, as {list(more)[:2]}; {less.total()} missing, as {list(less)[:2]}"
            )

    def require(self, name: str, found: Sequence[Any]) -> None:
        """Record rows where there should be none."""
        if found:
            self.texts.append(f"{name}: {found[:3]}")


def live_rows(variant: str) -> str:
    return f"select {COLUMNS} from {SCHEMA}.{variant} final where _sign = 1"


def queries(variant: str, *, is_fed: bool) -> dict[str, str]:
    """Queries that show whether a table and everything that belongs to it are correct."""
    table = f"{SCHEMA}.{variant}"
    nets = "select {}, sum(_sign) as net from {} group by {} having net <> 0"
    sums = "select region, sum(n) as c, sum(total) as t from {} group by region having c <> 0 or t <> 0"
    asked = {
        "final": live_rows(variant),
        "signs": nets.format(COLUMNS, table, COLUMNS),
        "projection": f"{SUMS.format(table)} having n <> 0 or total <> 0 settings force_optimize_projection = 1",
        "view": sums.format(f"{table}_sums"),
        "joined view": sums.format(f"{table}_joined"),
        "joined now": JOINED.format(table, f"{SCHEMA}.rates") + " having n <> 0 or total <> 0",
        "tombstones": f"select id, max(_version) from {table}__tombstones group by id",
        "accounts": (
            f"select model, run_id, events, synthetic, {OUTCOMES.replace(' +', ',')} from {LEDGER} "
            f"where status in ('applied', 'partial') and (events is null or events + synthetic <> {OUTCOMES})"
        ),
        "unfinished": (
            f"select model, target_uuid, argMax(status, at) as last from {LEDGER} where status <> 'filled' and target_uuid in "
            f"(select uuid from system.tables where database = '{SCHEMA}') group by model, target_uuid "
            "having last in ('chunk staged', 'started', 'block applied')"
        ),
        "left behind": (
            f"select name, total_rows from system.tables where database = '{SCHEMA}' "
            "and (position(name, '__dbt_') > 0 and total_rows > 0 or endsWith(name, '__dbt_lock')) "
            # The next run with changes for the view drops it.
            "and not match(name, '_(sums|joined)__dbt_build$')"
        ),
        "detached": f"select table, name from system.detached_parts where database = '{SCHEMA}'",
        "rates": f"select region, rate from {SCHEMA}.rates final where _sign = 1",
    }
    if variant == "history":
        asked["feed"] = nets.format(COLUMNS, f"{table}__feed", COLUMNS).replace(
            " group by",
            f" where _apply = 0 or _apply in (select apply from {LEDGER} where target_uuid = "
            f"(select uuid from system.tables where database = '{SCHEMA}' and name = '{variant}') "
            "and status in ('applied', 'rebalanced', 'restored')) group by",
        )
    if is_fed:
        asked["materialized view"] = sums.format(f"{SCHEMA}.{PLAIN_VIEW}")
    return asked


def judge(found: Answers, state: State, rates: Mapping[str, int]) -> Wrong:
    """What is wrong with a table that should be in a given state, and with everything that belongs to it."""
    wrong = Wrong()
    rows = state.rows
    wrong.compare("by FINAL", found["final"], rows)
    wrong.compare("by signs", found["signs"], [(*row, 1) for row in rows])
    for name in ("projection", "view", "materialized view"):
        if name in found:
            wrong.compare(name, found[name], state.sums())
    joined = [sums for sums in state.sums(rates) if sums[1:] != (0, 0)]
    wrong.compare("joined view", found["joined view"], joined)
    wrong.compare("join", found["joined now"], joined)
    wrong.compare("rates", found["rates"], list(rates.items()))
    if "feed" in found:
        wrong.compare("change feed", found["feed"], [(*row, 1) for row in rows])
    tombstones: dict[int, int] = dict(found["tombstones"])
    forgotten = {key: at for key, at in state.deleted.items() if tombstones.get(key) != at}
    wrong.require("deletes that are not remembered", list(forgotten.items()))
    buried = [key for key, row in state.live.items() if tombstones.get(key, 0) >= row[-1]]
    wrong.require("live rows below a tombstone", buried)
    for name in ("accounts", "unfinished", "left behind", "detached"):
        wrong.require(name, found[name])
    return wrong
