"""Two simultaneous runs on one table, and locks left by dead runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.collapsing_project import OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import variables
from tests.support.statements import at_statement
from tests.support.table import Table

KEYS = 20
# Each row takes as long as the variable says, so that a run goes on for a while.
SLOW = "select * from changes where sleepEachRow({{ var('pause', 0) }}) = 0"
# A run that waits until a page is served.
WAITING = """
select * from changes
{% if var("page", none) %}
where id not in (select * from url('{{ var("page") }}', 'TSV', 'id Int64'))
{% endif %}
"""
LOCK = (
    "create table target__dbt_lock (step_at DateTime64(3, 'UTC')) "
    "engine = MergeTree order by step_at comment '{} some-invocation'"
)
AT_WORK = "Another run holds the lock on `{}`.`target`: run "


def rows(version: int) -> list[Row]:
    return [(key, key * version, version) for key in range(KEYS)]


def make(make_project: MakeProject, schema: str, select: str = SLOW) -> Table:
    """A table with rows, and slow changes to all of them."""
    project = make_project(schema)
    project.set_variables(versioned_collapsing_lock_seconds=1)  # for the locks that the tests make
    table = Table(project, select=select)
    table.apply(rows(1))
    table.stage(rows(2))
    return table


def wait_until_at_work(table: Table) -> None:
    """Until a run in another process holds the lock."""
    deadline = time.monotonic() + 60
    while not is_locked(table) or not statements(table):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_locked(table: Table) -> bool:
    return table.query("exists table target__dbt_lock") == [(1,)]


def statements(table: Table) -> int:
    """The number of statements of runs that are running."""
    query = "select count() from system.processes where Settings['log_comment'] like 'versioned_collapsing %'"
    count: int = table.query(query)[0][0]
    return count


def check(table: Table, version: int) -> None:
    """The rows are those of the version, and nobody holds the lock."""
    table.check(rows(version))
    assert not is_locked(table)


@contextmanager
def page_to_wait_for() -> Iterator[tuple[str, threading.Event]]:
    """The address of an empty page, which is served once the event is set."""
    served = threading.Event()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.wait()
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", served
        finally:
            served.set()
            server.shutdown()


def test_a_second_run_leaves_one_at_work_alone(make_project: MakeProject) -> None:
    table = make(make_project, "lock_at_work", WAITING)
    with page_to_wait_for() as (page, served), ThreadPoolExecutor() as pool:
        first = pool.submit(table.project.run_apart, "run", *variables(page=page))
        wait_until_at_work(table)
        second = table.run()["target"]
        assert second.status == "error"
        assert AT_WORK.format("lock_at_work") in second.message
        assert "release_lock --args '{model: target}'" in second.message
        with pytest.raises(OperationError, match=r"holds the lock on .* and is still running"):
            table.operation("release_lock", model="target")
        with pytest.raises(OperationError, match="Another run holds the lock"):
            table.operation("rebalance", model="target")
        served.set()
        assert first.result().success, first.result().why()
    check(table, 2)
    assert table.run()["target"].message == f"{KEYS} rows: {KEYS} duplicates"


def test_of_runs_that_start_at_once_each_applies_or_stops(make_project: MakeProject) -> None:
    table = make(make_project, "lock_race")
    table.project.set_variables(versioned_collapsing_lock_seconds=20)  # a busy machine is not dead
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(table.project.run_apart, "run", "--target-path", f"target_{number}") for number in range(3)]
    outcomes = [run.result() for run in runs]
    assert any(outcome.success for outcome in outcomes), outcomes
    for outcome in outcomes:
        assert outcome.success or AT_WORK.format("lock_race") in outcome.nodes["target"].message, outcome
    check(table, 2)
    written = table.query("select sum(states), sum(cancels) from versioned_collapsing_ledger where status = 'applied'")
    assert written == [(2 * KEYS, KEYS)]


def test_views_of_one_table_wait_for_each_other(make_project: MakeProject) -> None:
    table = make(make_project, "lock_views")
    table.project.set_variables(versioned_collapsing_lock_seconds=20)  # a busy machine is not dead
    select = "select id, sum(_sign) as n from {{ ref('target') }} where sleepEachRow(0.1) = 0 group by id"
    for name in ("one_view", "another_view"):
        table.add_view(name, "id", select)
    table.project.set_profile(threads=2)
    assert len(table.project.build("--select", "one_view", "another_view")) == 2
    assert table.query("select sum(n) from one_view") == [(KEYS,)]
    assert table.query("select sum(n) from another_view") == [(KEYS,)]
    assert not is_locked(table)


def test_the_lock_of_a_killed_run_is_taken_over(make_project: MakeProject) -> None:
    table = make(make_project, "lock_killed")
    killed = table.project.start("run", *variables(pause=0.05))
    wait_until_at_work(table)
    killed.kill()
    killed.communicate()
    while statements(table):  # The server finishes what it was told to do.
        time.sleep(0.05)
    table.project.build()
    assert "has not made progress for" in table.project.logged("JinjaLogWarning")
    check(table, 2)


def test_the_lock_of_a_run_that_died_at_once_is_taken_over(make_project: MakeProject) -> None:
    """Before its first sign of life, the lock is an empty table."""
    table = make(make_project, "lock_empty")
    table.command(LOCK.format("dead"))
    table.project.build()
    assert "run dead holds the lock" in table.project.logged("JinjaLogWarning")
    check(table, 2)


def test_of_two_runs_that_take_over_at_once_one_leaves_it_to_the_other(make_project: MakeProject) -> None:
    """The other run has moved the lock away. It may have died before it dropped it, so this run does."""
    table = make(make_project, "lock_taken")
    table.command(LOCK.format("dead"))

    def move() -> None:
        table.command("rename table target__dbt_lock to target__dbt_lock_dead")

    with at_statement("rename table if exists", move):
        table.project.build()
    assert table.query("exists table target__dbt_lock_dead") == [(0,)]
    check(table, 2)


def test_a_lock_that_another_run_has_made_meanwhile_goes_back(make_project: MakeProject) -> None:
    table = make(make_project, "lock_meanwhile")
    table.command(LOCK.format("dead"))

    def take() -> None:
        table.command("drop table target__dbt_lock")
        table.command(LOCK.format("other"))

    with at_statement("rename table if exists", take):
        message = table.run()["target"].message
    assert AT_WORK.format("lock_meanwhile") + "other" in message
    locks = "select name, comment from system.tables where database = 'lock_meanwhile' and name like '%lock%'"
    assert table.query(locks) == [("target__dbt_lock", "other some-invocation")]
    table.project.build()
    assert table.query(locks) == []
    check(table, 2)


def test_a_holder_that_goes_on_while_its_lock_is_taken_gets_it_back(make_project: MakeProject) -> None:
    table = make(make_project, "lock_goes_on")
    table.command(LOCK.format("slow"))
    go_on = partial(table.command, "insert into target__dbt_lock values (now64())")
    with at_statement("rename table if exists", go_on):
        message = table.run()["target"].message
    assert AT_WORK.format("lock_goes_on") + "slow" in message
    locks = "select name, comment from system.tables where database = 'lock_goes_on' and name like '%lock%'"
    assert table.query(locks) == [("target__dbt_lock", "slow some-invocation")]
    table.check(rows(1))


@pytest.mark.parametrize("is_of_another_run", [False, True])
def test_a_run_that_lost_its_lock_writes_nothing(make_project: MakeProject, is_of_another_run: bool) -> None:
    schema = f"lock_lost_{is_of_another_run}"
    table = make(make_project, schema)

    def lose() -> None:
        table.command("drop table target__dbt_lock")
        if is_of_another_run:
            table.command(LOCK.format("other"))

    with at_statement(f"insert into `{schema}`.`target__dbt_input`", lose):
        outcome = table.run()["target"]
    assert f"no longer holds its lock `{schema}`.`target__dbt_lock`" in outcome.message
    table.check(rows(1))
    assert is_locked(table) == is_of_another_run
    table.project.build()
    check(table, 2)


def test_a_lock_is_released_by_hand(make_project: MakeProject) -> None:
    table = make(make_project, "lock_release")
    assert table.operation("release_lock", model="target") == "`lock_release`.`target` is not locked"
    table.command(LOCK.format("dead"))
    assert "Released the lock of run dead" in table.operation("release_lock", model="target")
    table.project.build()
    assert table.project.logged("JinjaLogWarning") == ""
    check(table, 2)


def test_an_error_of_the_input_leaves_no_lock(make_project: MakeProject) -> None:
    table = make(make_project, "lock_input")
    table.columns = "id Nullable(Int64), x Int64, _version Int64"
    assert "id is null" in table.fail([(None, 1, 3)])
    check(table, 1)
