"""A table, its history and its views on two replicas of a shard: what dbt sends to which replica.

Embedded engines do not replicate. The tests check where each statement goes, that ClickHouse's parser accepts it as dbt
sends it, and that ClickHouse creates the replicated tables, with the ZooKeeper that PySpark ships.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chdb
import pytest
from clickhouse_connect.driver.exceptions import OperationalError

from tests.cluster.replicas import (
    CLUSTER,
    ON_CLUSTER,
    STAGED,
    SYNC,
    Replicas,
    on_one_replica,
    running_keeper,
    running_replicas,
)
from tests.faults.proxy import HOST, Cut
from tests.support.collapsing_project import CollapsingProject, Row

SCHEMA = "replicated"
# Replicated tables of an embedded engine never become usable: it cannot drop them, and does not end by itself.
_MAKE_TABLES = """
import chdb, json, os, sys
path, schema = sys.argv[1:]
connection = chdb.connect(path)
connection.query(f"create database {schema}")
for statement in json.load(sys.stdin):
    connection.query(statement)
print(connection.query(f"select distinct engine from system.tables where database = '{schema}'"), flush=True)
os._exit(0)
"""
STRUCTURE = "id Int64, region String, amount Int64, _version Int64, _is_deleted Bool"
COLUMNS = "id, region, amount, _version, _is_deleted"
ORDERS = {
    "unique_key": "id",
    "partition_by": "id % 3",
    "change_feed": True,
    "on_schema_change": "append_new_columns",
    "projections": [{"name": "by_region", "query": "select region, sum(amount * _sign) group by region"}],
}
SUMS = """select region, sum(_sign) as rows, sum(amount * _sign) as revenue
from {{ ref('orders') }} group by region"""
VIEW = {"materialized": "versioned_collapsing_view", "order_by": "region"}
CREATED = re.compile(r"create table (?:if not exists )?(\S+)\s+on cluster", re.IGNORECASE)
ATTACH = re.compile(r"attach partition all from", re.IGNORECASE)
DDL = re.compile(r"((create|drop|rename|exchange|alter|truncate) table|exchange|system)\b", re.IGNORECASE)


class Shop:
    """A table and a view, on a server with two replicas."""

    def __init__(self, folder: Path, replicas: Replicas) -> None:
        self.replicas = replicas
        self.project = CollapsingProject(folder, (HOST, replicas.port), SCHEMA)
        self.project.set_profile(cluster=CLUSTER)
        self.project.add_model("orders", ORDERS, f"select {COLUMNS} from changes")
        self.project.add_model("sums", VIEW, SUMS)

    def land(self, *rows: Row, structure: str = STRUCTURE) -> None:
        """Set what the next run reads, on both replicas."""
        for client in self.replicas.clients.values():
            settings = {"database": SCHEMA}
            client.command(f"create or replace table changes ({structure}) engine = Memory", settings=settings)
            client.insert("changes", rows, database=SCHEMA)

    def run(self, *arguments: str) -> None:
        """Run dbt, which must succeed, and copy its tables to both replicas."""
        nodes = self.project.run(*arguments)
        assert {name: node.status for name, node in nodes.items()} == {"orders": "success", "sums": "success"}
        self.replicas.replicate()

    def rows(self) -> tuple[list[Row], list[Row]]:
        """The live rows and the sums."""
        live = self.project.query("select id, region, amount from orders final where _sign = 1 order by id")
        sums = self.project.query("select region, sum(rows), sum(revenue) from sums group by region order by all")
        return live, [row for row in sums if row[1]]


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    with running_replicas(tmp_path_factory.mktemp("replicas"), SCHEMA) as replicas:
        yield replicas


@pytest.fixture(scope="module")
def shop(replicas: Replicas, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A history of applies, a view, a new column, a repair, a full refresh, and runs that alternate between the
    replicas."""
    shop = Shop(tmp_path_factory.mktemp("project"), replicas)
    shop.land((1, "eu", 10, 1, False), (2, "eu", 10, 1, False), (3, "us", 5, 1, False))
    shop.run()
    for version in range(2, 5):
        replicas.change()
        # The view gets the same change repeatedly, as a part that equals an earlier one.
        shop.land((10 + version, "eu", 10, version, False), (3, "us", 5, version, version == 3))
        shop.run()
    shop.project.add_model("orders", {**ORDERS, "publish": "journal"}, "select * from changes")
    shop.land((5, "eu", 1, 6, False, "new"), structure=f"{STRUCTURE}, note String")
    shop.run()
    shop.project.command("insert into orders select * from orders final where id = 1 and _sign = 1")
    shop.project.operation("rebalance", model="orders", dry_run=False)
    shop.run("--vars", "{nothing: 1}")
    shop.land(*((key, "eu", 2, 10, False, "") for key in range(1, 6)), structure=f"{STRUCTURE}, note String")
    shop.run("--full-refresh")
    replicas.change()
    shop.land((9, "us", 7, 11, False, ""), (1, "eu", 2, 12, True, ""), structure=f"{STRUCTURE}, note String")
    shop.run()
    return shop


def test_a_run_on_any_replica_has_the_right_rows(shop: Shop) -> None:
    live = [(key, "eu", 2) for key in range(2, 6)] + [(9, "us", 7)]
    assert shop.rows() == (live, [("eu", 4, 8), ("us", 1, 7)])


def test_each_replica_has_the_same_tables(shop: Shop) -> None:
    here, there = (shop.replicas.kept(port) for port in shop.replicas.clients)
    assert here == there
    assert set(here) == {*("orders", "orders__tombstones", "orders__feed", "sums", "versioned_collapsing_ledger")}


def statements(shop: Shop) -> list[str]:
    """The statements that change tables, without the comment before them."""
    bare = (text.partition("*/")[2] if text.startswith("/*") else text for text in shop.replicas.sent)
    return [text for text in map(str.strip, bare) if DDL.match(text)]


def test_what_only_one_apply_needs_is_on_one_replica(shop: Shop) -> None:
    for statement in statements(shop):
        if SYNC.match(statement) or "non_replicated_deduplication_window" in statement:
            continue  # A replica would wait for the others, but these engines are not replicated.
        is_on_one = STAGED.search(statement) or ATTACH.search(statement)
        assert bool(ON_CLUSTER.search(statement)) != bool(is_on_one), statement


def test_no_row_is_attached(shop: Shop) -> None:
    """A replicated table drops a part that equals an earlier one. Only tombstones are attached: it then has them."""
    attached = {text.split()[2] for text in statements(shop) if ATTACH.search(text)}
    assert attached <= {f"`{SCHEMA}`.`orders__tombstones`"}


def test_clickhouse_parses_each_statement(shop: Shop) -> None:
    distinct = set(statements(shop))
    assert len(distinct) > 50
    with chdb.connect(":memory:") as connection:
        for statement in distinct:
            connection.query(f"explain ast {statement}")


def test_clickhouse_makes_the_replicated_tables(shop: Shop, tmp_path: Path) -> None:
    """The first table of each name, except those that equal a renamed one."""
    created: dict[str, str] = {}
    for text in statements(shop):
        if (made := CREATED.match(text)) and " as `" not in text:
            created.setdefault(made[1], on_one_replica(text))
    with running_keeper(tmp_path) as port:
        config = tmp_path / "config.xml"
        config.write_text(
            f"<clickhouse><zookeeper><node><host>{HOST}</host><port>{port}</port></node></zookeeper>"
            "<macros><shard>1</shard><replica>a</replica></macros></clickhouse>"
        )
        arguments = [f"{tmp_path / 'store'}?config-file={config}", SCHEMA]
        command = [sys.executable, "-c", _MAKE_TABLES, *arguments]
        engines = subprocess.check_output(command, input=json.dumps(list(created.values())), text=True, timeout=60)
    assert set(engines.replace('"', "").split()) == {
        "ReplicatedVersionedCollapsingMergeTree",
        "ReplicatedAggregatingMergeTree",
        "ReplicatedSummingMergeTree",
        "ReplicatedMergeTree",
    }


def test_a_run_that_died_is_completed_on_the_replica_that_has_its_rows(shop: Shop) -> None:
    shop.land((20, "us", 1, 20, False, ""), structure=f"{STRUCTURE}, note String")
    shop.replicas.arm(Cut("gone", 1, f"insert into `{SCHEMA}`.`orders` ", seconds=1000))
    with pytest.raises(OperationalError):
        shop.run()
    shop.replicas.arm(None)
    shop.replicas.change()
    outcome = shop.project.run("--select", "orders")["orders"]
    assert outcome.status == "error"
    assert "If that run used another replica, connect dbt to it and run again." in outcome.message
    shop.replicas.change()
    shop.run()
    assert (20, "us", 1) in shop.rows()[0]


def test_a_replicated_table_is_not_atomic(shop: Shop) -> None:
    shop.project.add_model("orders", {**ORDERS, "publish": "atomic"}, "select * from changes")
    outcome = shop.project.run("--select", "orders")["orders"]
    assert "publish is 'atomic', but" in outcome.message


def test_a_cluster_of_several_shards_is_refused(shop: Shop) -> None:
    shop.project.set_profile(cluster="shards")
    outcome = shop.project.run("--select", "orders")["orders"]
    assert "has 2 shards, and a run writes to one" in outcome.message
