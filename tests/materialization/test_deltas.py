"""The delta of a view over signed tables, tested alone: many random histories at once.

Each table has a column `h` for the history of a row, and each select joins and groups by it. So one statement adds the
delta of all histories. Use `--deltas 10000` for a long run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from dbt.adapters.clickhouse.relation import ClickHouseRelation

from tests.macros.harness import Project, parsed_project

AT_ONCE = 1000
ROUNDS = 6
SCHEMA = "deltas"
COLUMNS = {
    "orders": {"customer_id": 4, "amount": 9},
    "customers": {"region": 3, "score": 5},
    "items": {"order_id": 6, "quantity": 4},
}
KEYS = {"orders": 6, "customers": 4, "items": 8}
SELECTS = {
    "one": "select h, amount, sum(_sign) as a from `deltas`.`orders` where customer_id <> 2 group by h, amount",
    "two": (
        "select o.h as h, c.region as region, sum(o.amount * o._sign * c._sign) as a, sum(o._sign * c._sign) as b "
        "from `deltas`.`orders` as o inner join `deltas`.`customers` as c on c.h = o.h and c.id = o.customer_id "
        "group by h, region"
    ),
    "three": (
        "with i as (select h, order_id, quantity, _sign as i_sign from `deltas`.`items`) "
        "select i.h as h, region, score, sum(quantity * i_sign * orders._sign * c._sign) as a, "
        "sumIf(i_sign * orders._sign * c._sign, amount > score) as b "
        "from i join `deltas`.`orders` on orders.id = i.order_id and orders.h = i.h "
        "join `deltas`.`customers` c on c.h = i.h and c.id = orders.customer_id where quantity <> 2 "
        "group by h, region, score"
    ),
    "cross": (
        "select o.h as h, sum(o.amount * c.score * o._sign * c._sign) as a "
        "from `deltas`.`orders` o, `deltas`.`customers` c where o.h = c.h and o.amount > c.score group by h"
    ),
}
Row = tuple[int, ...]


@pytest.fixture(scope="module")
def client(server: tuple[str, int]) -> Iterator[Client]:
    host, port = server
    with clickhouse_connect.get_client(host=host, port=port, query_limit=0) as found:
        found.command(f"create database {SCHEMA}")
        yield found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with parsed_project(Path(tmp_path_factory.mktemp("deltas")), {}) as found:
        yield found


class Histories:
    """Live rows of many histories, and the signed rows of random changes to them."""

    def __init__(self, seed: int, count: int) -> None:
        self._random = random.Random(seed)
        self._live: dict[str, list[dict[int, Row]]] = {name: [{} for _ in range(count)] for name in COLUMNS}

    def change(self, table: str, version: int) -> list[Row]:
        """Inserts, updates, deletes and resurrections, as h, id, values, version and sign."""
        rows: list[Row] = []
        chance = self._random.random
        for history, live in enumerate(self._live[table]):
            for key in range(KEYS[table]):
                if chance() > 0.4:
                    continue
                if key in live:
                    rows.append((history, key, *live.pop(key), -1))
                if chance() > 0.25:
                    values = tuple(self._random.randrange(n) for n in COLUMNS[table].values())
                    live[key] = (*values, version)
                    rows.append((history, key, *live[key], 1))
        return rows


def sources(project: Project) -> list[dict[str, Any]]:
    """The sources in the form of get_view_sources."""
    found = []
    for position, name in enumerate(sorted(COLUMNS)):
        relation = ClickHouseRelation.create(database="", schema=SCHEMA, identifier=name)
        found.append({"name": name, "relation": relation, "sign": "_sign", "position": position})
    return found


def make_tables(client: Client) -> None:
    client.command(
        f"create or replace table {SCHEMA}.versioned_collapsing_ledger (target_uuid UUID, apply UInt64) engine = Memory"
    )
    for name, values in COLUMNS.items():
        columns = ", ".join(f"{column} Int64" for column in ("h", "id", *values))
        engine = "VersionedCollapsingMergeTree(_sign, _version) order by (h, id)"
        client.command(
            f"create or replace table {SCHEMA}.{name} ({columns}, _version UInt64, _sign Int8) engine = {engine}"
        )
        client.command(
            f"create or replace table {SCHEMA}.{name}__feed "
            f"({columns}, _version UInt64, _sign Int8, _apply UInt64) engine = MergeTree order by _apply"
        )


class View:
    """A select over some of the tables, and the stored sums."""

    def __init__(self, client: Client, project: Project, select: str) -> None:
        self._client, self._project, self._select = client, project, select
        used = [each for each in sources(project) if f"`{each['name']}`" in select]
        self.sources = [{**each, "position": position} for position, each in enumerate(used)]
        self.columns = {each["name"]: ["h", "id", *COLUMNS[each["name"]], "_version", "_sign"] for each in self.sources}
        self.last = {each["position"]: 0 for each in self.sources}
        self._used = dict(self.last)
        client.command(f"create or replace table {SCHEMA}.kept engine = Memory empty as {select}")

    def apply(self, source: dict[str, Any], rows: list[Row]) -> None:
        """Write signed rows to a table and to its feed."""
        self.last[source["position"]] += 1
        table, columns = f"{SCHEMA}.{source['name']}", self.columns[source["name"]]
        self._client.insert(table, rows, columns)
        fed = [(*row, self.last[source["position"]]) for row in rows]
        self._client.insert(f"{table}__feed", fed, [*columns, "_apply"])
        self._client.command(
            f"insert into {SCHEMA}.versioned_collapsing_ledger "
            f"select uuid, {self.last[source['position']]} from system.tables "
            f"where database = '{SCHEMA}' and name = '{source['name']}'"
        )

    def refresh(self) -> None:
        """Add what has changed."""
        if self.last != self._used:
            described = [{"table": [{"name": column} for column in columns]} for columns in self.columns.values()]
            sql = self._project.rendered(
                "get_delta_sql",
                sources=self.sources,
                state={"last": self.last, "used": self._used},
                described=described,
                sql=self._select,
            )
            self._client.command(f"insert into {SCHEMA}.kept select * from ({sql})")
        self._used = dict(self.last)

    def differences(self) -> Sequence[Any]:
        """Groups whose sums are not those of the live rows."""
        live = self._select
        for name in self.columns:
            rows = f"(select * from {SCHEMA}.{name} final)"
            live = live.replace(f"`{SCHEMA}`.`{name}`", rows).replace("final) on", f"final) as {name} on")
        columns = [row[0] for row in self._client.query(f"describe {SCHEMA}.kept").result_rows]
        sums = [column for column in columns if column in ("a", "b")]
        keys = ", ".join(column for column in columns if column not in sums)
        totals = ", ".join(f"sum({column}) as s_{column}" for column in sums)
        any_left = " or ".join(f"s_{column} <> 0" for column in sums)
        kept, expected = (
            f"(select {keys}, {totals} from {source} group by all having {any_left})"
            for source in (f"{SCHEMA}.kept", f"({live})")
        )
        query = f"(({kept} except {expected}) union all ({expected} except {kept}))"
        return self._client.query(f"select * from {query} limit 5").result_rows


@pytest.mark.parametrize("name", SELECTS)
def test_random_histories(client: Client, project: Project, request: pytest.FixtureRequest, name: str) -> None:
    count = request.config.getoption("--deltas")
    for seed in range(0, count, AT_ONCE):
        choose = random.Random(-seed)
        histories = Histories(seed, min(AT_ONCE, count))
        make_tables(client)
        view = View(client, project, SELECTS[name])
        for _ in range(ROUNDS):
            for source in view.sources:
                # A table may have several applies, or none, before the view runs.
                for _ in range(choose.choice((0, 1, 1, 2))):
                    version = view.last[source["position"]] + 1
                    view.apply(source, histories.change(source["name"], version))
                if choose.random() < 0.3:
                    client.command(f"optimize table {SCHEMA}.{source['name']} final")
            if choose.random() < 0.8:
                view.refresh()
                assert not view.differences(), seed
    assert client.query(f"select count() from {SCHEMA}.kept").result_rows[0][0] > 100
