"""`versioned_collapsing_view` over several tables: kept up to date from their change feeds, exact after every run."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node

CONFIG = {"unique_key": "id"}
TABLES = {
    "customers": "id Int64, region String, tier String",
    "orders": "id Int64, customer_id Int64, amount Int64",
    "items": "id Int64, order_id Int64, quantity Int64",
}
CONTROL = "_version UInt64, _is_deleted Bool"
VIEWS = {
    "by_region": (
        "region",
        "select c.region as region, sum(o.amount * o._sign * c._sign) as amount, sum(o._sign * c._sign) as c "
        "from {orders} as o inner join {customers} as c on c.id = o.customer_id group by c.region",
    ),
    "by_tier": (
        ["region", "tier"],
        "with o as (select * from {orders}), i as (select order_id, quantity, _sign as i_sign from {items}) "
        "select region, tier, sum(quantity * i_sign * o._sign * c._sign) as quantity, "
        "sum(i_sign * o._sign * c._sign) as c "
        "from i join o on o.id = i.order_id join {customers} c on c.id = o.customer_id group by region, tier",
    ),
    "by_amount": ("amount", "select amount, sum(_sign) as c from {orders} where customer_id <> 3 group by amount"),
}


class Source:
    """Tables as in a source, and changes to them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rows: dict[str, dict[int, Row]] = {name: {} for name in TABLES}
        self.version = 0

    def _values(self, table: str) -> Row:
        choose = self.random.choice
        if table == "customers":
            return choose(("EU", "US", "AP")), choose(("a", "b"))
        if table == "orders":
            return self.random.randrange(8), self.random.randrange(-3, 9)
        return self.random.randrange(20), self.random.randrange(1, 5)

    def change(self, table: str) -> list[Row]:
        """Some changes: of new keys, of existing keys, and deletes; some keys more than once."""
        changes: list[Row] = []
        keys = {"customers": 8, "orders": 20, "items": 40}[table]
        for _ in range(self.random.randrange(keys)):
            self.version += 1
            key = self.random.randrange(keys)
            values = self._values(table)
            is_deleted = self.random.random() < 0.25
            if is_deleted:
                self.rows[table].pop(key, None)
            else:
                self.rows[table][key] = values
            changes.append((key, *values, self.version, is_deleted))
        self.random.shuffle(changes)
        return changes


def make(make_project: MakeProject, schema: str, views: Iterable[str] = tuple(VIEWS)) -> CollapsingProject:
    project = make_project(schema)
    project.set_variables(versioned_collapsing_block_rows=5)
    for table, columns in TABLES.items():
        project.replace_rows(f"{table}_changes", f"{columns}, {CONTROL}", [])
        project.add_model(table, CONFIG, f"select * from {table}_changes")
    for view in views:
        order_by, sql = VIEWS[view]
        config = {"materialized": "versioned_collapsing_view", "order_by": order_by}
        refs = {table: f"{{{{ ref('{table}') }}}}" for table in TABLES}
        project.add_model(view, config, sql.format(**refs))
    return project


def run(project: CollapsingProject, *arguments: str) -> dict[str, Node]:
    outcomes = project.run(*arguments)
    assert {outcome.status for outcome in outcomes.values()} <= {"success"}, outcomes
    return outcomes


def assert_agrees(project: CollapsingProject, view: str) -> None:
    """The view agrees with the live rows."""
    order_by, sql = VIEWS[view]
    live = {table: f"(select * from {table} final where _sign = 1)" for table in TABLES}
    columns = [
        row[0]
        for row in project.query(
            f"select name from system.columns where database = currentDatabase() and table = '{view}'"
        )
    ]
    keys = [order_by] if isinstance(order_by, str) else order_by
    sums = ", ".join(f"sum({name}) as {name}_" for name in columns if name not in keys)
    kept = project.query(f"select {', '.join(keys)}, {sums} from {view} group by all having c_ <> 0 order by all")
    expected = project.query(f"select * from ({sql.format(**live)}) where c <> 0 order by all")
    assert kept == expected, view


def test_a_history(make_project: MakeProject, is_exhaustive: bool) -> None:
    project = make(make_project, "joined")
    source = Source(0)
    for _ in range(40 if is_exhaustive else 4):
        for table, columns in TABLES.items():
            changes = source.change(table) if source.random.random() < 0.7 else []
            project.replace_rows(f"{table}_changes", f"{columns}, {CONTROL}", changes)
        run(project)
        for view in VIEWS:
            assert_agrees(project, view)
