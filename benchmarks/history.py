"""How large a change feed is, and what reading the past of a table costs compared with its present."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.engine import Engine
from benchmarks.measure import Arm, interleaved

Row = dict[str, Any]
CONFIG = {"materialized": "versioned_collapsing", "unique_key": "id", "partition_by": "id % 20", "change_feed": True}
STATES = {**CONFIG, "unique_key": ["id", "valid_from"], "change_feed": False}
ROWS = """
select
  toUInt32(number) as id,
  toLowCardinality(concat('status ', toString(cityHash64(id, {version}) % 7))) as status,
  toDecimal64(cityHash64(id, {version}) % 100000 / 100, 2) as amount,
  toUInt64({version}) as _version
from (select {number} as number from numbers({count}))
"""
VALIDITY = "select * from {{ versioned_collapsing.validity(changes) }}"
STATES_OF_TABLE = "{{ live_rows(ref('orders_history')) }}"


class History:
    """A table with a feed of all its applies, each at a version of its own."""

    def __init__(self, engine: Engine, rows: int, changes: int, applies: int) -> None:
        self.engine, self.rows, self.changes = engine, rows, changes
        self.times: list[str] = []  # when each apply ended
        self.applies: dict[str, list[float]] = {"orders": [], "orders_history": []}  # the seconds of each
        engine.empty()
        self._apply(1, "number", rows)
        for version in range(2, applies + 2):
            step = rows // changes
            number = f"number * {step} + cityHash64(number, {version}) % {step}"
            self._apply(version, number, changes)

    def _apply(self, version: int, number: str, count: int) -> None:
        sql = ROWS.format(version=version, number=number, count=count)
        self.engine.add_model("orders", CONFIG, sql)
        self.engine.add_model("orders_history", STATES, f"{{% set changes %}}{sql}{{% endset %}}\n{VALIDITY}")
        for model, seconds in self.applies.items():
            seconds.append(self.engine.dbt("run", "--select", model))
        ((now,),) = self.engine.query("select toString(now64(6, 'UTC'))")
        self.times.append(now)

    def weight(self) -> Row:
        """The size per change of the merged feed, without the first apply."""
        self.engine.command("create table later as orders__feed")
        self.engine.command(
            "insert into later select * from orders__feed where _apply > (select min(_apply) from orders__feed)"
        )
        self.engine.command("optimize table later final")
        ((rows, size),) = self.engine.query(
            "select sum(rows), sum(bytes_on_disk) from system.parts "
            "where database = currentDatabase() and table = 'later' and active"
        )
        changes = self.changes * (len(self.times) - 1)
        ((table, table_rows),) = self.engine.query(
            "select total_bytes, total_rows from system.tables where database = currentDatabase() and name = 'orders'"
        )
        return {
            "changes": changes,
            "rows of the feed": rows,
            "bytes for each change": round(size / changes, 1),
            "bytes for each row of the table": round(table / table_rows, 1),
        }

    def questions(self) -> dict[str, str]:
        """For each state, what follows `from` in a query of it."""
        last, first = self.times[-2], self.times[0]
        return {
            "the present, with FINAL": "{{ live_rows(ref('orders')) }}",
            "as_of(at), an apply ago": f"""{{{{ as_of(ref('orders'), at="'{last}'") }}}}""",
            "as_of(at), before all changes": f"""{{{{ as_of(ref('orders'), at="'{first}'") }}}}""",
            "as_of(version), before all changes": "{{ as_of(ref('orders'), version=1) }}",
            "table of validity, before all changes": (
                f"(select * from {STATES_OF_TABLE} where valid_from <= 1 and (valid_to is null or valid_to > 1))"
            ),
            "versions": "{{ versions(ref('orders')) }}",
            "table of validity": STATES_OF_TABLE,
        }

    def arms(self) -> list[Arm]:
        """The sum of the amounts of each state."""
        arms = []
        for number, (name, source) in enumerate(self.questions().items()):
            self.engine.add_model(
                f"state_{number}", {"materialized": "view"}, f"select count() as n, sum(amount) as total from {source}"
            )
            query = f"select * from state_{number} format Null"
            arms.append(Arm(name, lambda query=query: self.engine.seconds(query)))  # type: ignore[misc]
        self.engine.dbt("run", "--exclude", "orders", "orders_history")
        return arms

    def check(self) -> None:
        """Before all changes, the table had its first rows.

        Raises:
            RuntimeError: a query about that time gives something else.
        """
        first = ROWS.format(version=1, number="number", count=self.rows)
        expected = self.engine.query(f"select count(), sum(amount) from ({first})")
        for number in (2, 3, 4):
            found = self.engine.query(f"select * from state_{number}")
            if found != expected:
                raise RuntimeError(f"state_{number} has {found} and not {expected}")
        versions, states = (self.engine.query(f"select * from state_{number}") for number in (5, 6))
        if versions != states:
            raise RuntimeError(f"the table of validity has {states} and `versions` {versions}")


def measure_history(engine: Engine, rows: int, changes: int, applies: int, trials: int) -> dict[str, list[Row]]:
    """The size of the feed, and the seconds of a sum over a state of the table."""
    history = History(engine, rows, changes, applies)
    arms = history.arms()
    history.check()
    figures = interleaved(arms, trials)
    present = figures[arms[0].name].median
    table = [
        {"state": name, **found.as_row(), "times the present": round(found.median / present, 2)}
        for name, found in figures.items()
    ]
    written = [
        {"table": name, "first apply": round(first, 2), "median of the others": round(statistics.median(later), 2)}
        for name, (first, *later) in history.applies.items()
    ]
    return {"the feed": [history.weight()], "a sum over a state": table, "seconds of an apply": written}
