"""Servers that die and connections that break while dbt runs: the run recovers or says what to do, and the next
completes."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from dbt.adapters.spark_clickhouse.core.spark_errors import UNKNOWN
from tests.cluster.conftest import Servers
from tests.cluster.relay import HOST
from tests.support import shop, shop_marts
from tests.support.commands import Outcome, dbt, variables

TABLES = ("orders", "order_items")
SELECTED = ["--select", *(f"+{table}_live" for table in TABLES)]
# What dbt sends to Spark when it makes a change set, and to ClickHouse when it publishes one.
CHANGE_SET = "create table shop.order_items_changes\n"
_LEFT = re.compile(r"its associated location 'file:([^']+)' already exists")
PUBLICATION = "attach partition all from `shop`.`order_items__dbt_signed`"


@dataclass
class Life:
    """The shop on servers. Each run that is to break takes one more batch."""

    servers: Servers
    home: Path
    batch: int = 1

    @property
    def spark(self) -> str:
        """The relay through which dbt reaches Spark."""
        return f"{HOST}:{self.servers.thrift.port}"

    @property
    def clickhouse(self) -> str:
        """The relay through which dbt reaches ClickHouse."""
        return f"{HOST}:{self.servers.http.port}"

    def run(self) -> Outcome:
        """A run up to the batch."""
        # On a server, the lock of a broken run is taken over after this many seconds without a sign of life.
        values = {"through_batch": self.batch, "versioned_collapsing_lock_seconds": 10}
        command = ["run", *SELECTED, *variables(**values)]
        (outcome,) = dbt(self.home, command, **self.servers.environment())
        return outcome

    def break_run(self) -> Outcome:
        """A run with one more batch to apply."""
        self.batch += 1
        return self.run()

    def check(self) -> None:
        """The tables are those of PostgreSQL after the batch, by FINAL and by signs."""
        with self.servers.client() as client:
            for table in TABLES:
                columns = shop.TABLES[table]
                landed = shop_marts.landed_rows(table, self.batch).values()
                rows = [tuple(parse(row[name]) for name, parse in columns.items()) for row in landed]
                expected = sorted(rows, key=repr)
                assert sorted(shop.live_rows(client, table), key=repr) == expected, table
                assert sorted(shop.net_rows(client, table), key=repr) == expected, table

    def complete(self) -> None:
        """The next run succeeds and leaves correct tables. If Spark finds folders in its way, everything that ran on it
        has ended, and the folders are deleted as the error advises."""
        for _ in range(5):
            outcome = self.run()
            folders = _LEFT.findall(outcome.output)
            if outcome.success or not folders:
                break
            assert "If nothing else uses the folder, delete it and run" in said(outcome)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)
        assert outcome.success, outcome.why()
        self.check()


@pytest.fixture(scope="module")
def life(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Life:
    life = Life(servers, tmp_path_factory.mktemp("life"))
    life.complete()
    return life


@pytest.fixture(autouse=True)
def _mended(servers: Servers) -> Iterator[None]:
    yield
    servers.mend()


def said(outcome: Outcome) -> str:
    """The messages of the nodes that failed."""
    assert not outcome.success
    return "\n".join([outcome.exception or "", *outcome.failures().values()])


def test_lost_worker(life: Life) -> None:
    life.servers.thrift.when(CHANGE_SET, lambda: life.servers.cluster.kill_worker(0))
    outcome = life.break_run()
    assert life.servers.thrift.times == 1
    assert outcome.success, outcome.why()
    life.check()


def test_lost_executors(life: Life) -> None:
    killed: list[int] = []
    life.servers.thrift.when(CHANGE_SET, lambda: killed.extend(life.servers.cluster.kill_executors()))
    outcome = life.break_run()
    assert killed
    assert outcome.success, outcome.why()
    life.check()


def test_restarted_thrift_server(life: Life) -> None:
    life.servers.thrift.when(CHANGE_SET, life.servers.cluster.kill_thrift_server)
    told = said(life.break_run())
    assert life.servers.thrift.times == 1
    assert f"The connection to Spark's Thrift server at {life.spark} is lost: " in told
    assert UNKNOWN in told
    told = said(life.run())
    assert f"Spark's Thrift server at {life.spark} does not answer: " in told
    assert "Start the server, or correct `host` and `port`" in told
    life.servers.mend()
    life.complete()


def test_cut_connection_to_spark(life: Life) -> None:
    def cut() -> None:
        time.sleep(0.3)  # the statement is running
        life.servers.thrift.cut()

    life.servers.thrift.when(CHANGE_SET, cut)
    told = said(life.break_run())
    assert life.servers.thrift.times == 1  # a statement that may have run is not sent again
    assert f"The connection to Spark's Thrift server at {life.spark} is lost: " in told
    assert UNKNOWN in told
    life.complete()


def test_clickhouse_killed_as_it_publishes(life: Life) -> None:
    life.servers.http.when(PUBLICATION, life.servers.front.kill)
    told = said(life.break_run())
    assert life.servers.http.times == 1
    assert f"The connection to ClickHouse at {life.clickhouse} is lost: " in told
    assert UNKNOWN in told
    told = said(life.run())
    assert f"dbt cannot connect to ClickHouse at {life.clickhouse}" in told
    life.servers.mend()
    life.complete()


def test_cut_connection_to_clickhouse(life: Life) -> None:
    life.servers.http.when(PUBLICATION, life.servers.http.cut)
    told = said(life.break_run())
    assert life.servers.http.times == 1
    assert f"The connection to ClickHouse at {life.clickhouse} is lost: " in told
    assert UNKNOWN in told
    life.complete()


def test_two_at_once(life: Life) -> None:
    """One waits for the other, or stops. Whichever comes second finds nothing to do."""
    life.batch += 1
    with ThreadPoolExecutor() as pool:
        outcomes = [run.result() for run in [pool.submit(life.run), pool.submit(life.run)]]
    told = [said for outcome in outcomes for said in outcome.failures().values() if said]
    refusal = re.compile(r"The schema shop of Spark at \S+ is in use by process \d+")
    assert [message for message in told if not refusal.search(message)] == []
    assert any(outcome.success for outcome in outcomes)
    life.check()
    life.complete()
