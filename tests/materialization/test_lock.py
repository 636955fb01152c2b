"""Two runs at once on one table, and locks that dead runs leave behind."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import at_statement

STRUCTURE = "id Int64, x Int64, _version Int64"
KEYS = 20
# Each row takes as long as the variable says: a run that is under way for a while.
SLOW = "select * from changes where sleepEachRow({{ var('pause', 0) }}) = 0"
# A run that is under way until a page is served.
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


def make(make_project: MakeProject, schema: str, select: str = SLOW) -> CollapsingProject:
    """A table with rows, and changes to all of them that wait."""
    project = make_project(schema)
    project.add_model("target", {"unique_key": "id"}, select)
    project.replace_rows("changes", STRUCTURE, rows(1))
    assert project.run()["target"].status == "success"
    project.replace_rows("changes", STRUCTURE, rows(2))
    return project


def start(project: CollapsingProject, **variables: Any) -> subprocess.Popen[str]:
    """A run in another process, which holds the lock by now."""
    process = project.start("run", "--vars", json.dumps(variables))
    deadline = time.monotonic() + 60
    while not is_locked(project) or not statements(project):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def is_locked(project: CollapsingProject) -> bool:
    return project.query("exists table target__dbt_lock") == [(1,)]


def statements(project: CollapsingProject) -> int:
    """Statements of runs that are under way."""
    query = "select count() from system.processes where Settings['log_comment'] like 'versioned_collapsing %'"
    count: int = project.query(query)[0][0]
    return count


def check(project: CollapsingProject, version: int) -> None:
    """Every key has one row more than cancel rows, at the version; nobody holds the lock."""
    net = "select id, x, _version from target group by all having sum(_sign) = 1 order by id"
    assert project.query(net) == rows(version)
    assert project.query("select sum(_sign) from target") == [(KEYS,)]
    assert not is_locked(project)


@contextmanager
def page_to_wait_for() -> Iterator[tuple[str, threading.Event]]:
    """The address of an empty page, which is served when the event is set."""
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
    project = make(make_project, "lock_at_work", WAITING)
    with page_to_wait_for() as (page, served):
        first = start(project, page=page)
        second = project.run()["target"]
        assert second.status == "error"
        assert AT_WORK.format("lock_at_work") in second.message
        assert "release_lock --args '{model: target}'" in second.message
        with pytest.raises(OperationError, match=r"holds the lock on .* and is still running"):
            project.operation("release_lock", model="target")
        with pytest.raises(OperationError, match="Another run holds the lock"):
            project.operation("repair_collapse", model="target")
        served.set()
        output = first.communicate()[0]
    assert first.returncode == 0, output
    check(project, 2)
    assert project.run()["target"].message == f"{KEYS} rows: {KEYS} duplicates"


def test_of_runs_that_start_at_once_each_applies_or_stops(make_project: MakeProject) -> None:
    project = make(make_project, "lock_race")
    project.set_variables(versioned_collapsing_lock_seconds=20)  # A busy machine is not dead.
    runs = [project.start("run", "--target-path", f"target_{number}") for number in range(3)]
    outputs = [process.communicate()[0] for process in runs]
    assert any(process.returncode == 0 for process in runs), outputs
    for process, output in zip(runs, outputs, strict=True):
        assert process.returncode == 0 or AT_WORK.format("lock_race") in output, output
    check(project, 2)
    written = project.query(
        "select sum(states), sum(cancels) from versioned_collapsing_ledger where status = 'applied'"
    )
    assert written == [(2 * KEYS, KEYS)]


def test_views_of_one_table_wait_for_each_other(make_project: MakeProject) -> None:
    project = make(make_project, "lock_views")
    project.set_variables(versioned_collapsing_lock_seconds=20)  # A busy machine is not dead.
    for name in ("one_view", "another_view"):
        project.add_model(
            name,
            {"materialized": "versioned_collapsing_view", "order_by": "id"},
            "select id, sum(_sign) as n from {{ ref('target') }} where sleepEachRow(0.1) = 0 group by id",
        )
    project.set_profile(threads=2)
    outcomes = project.run("--select", "one_view", "another_view")
    assert [outcome.status for outcome in outcomes.values()] == 2 * ["success"], outcomes
    assert project.query("select sum(n) from one_view") == [(KEYS,)]
    assert project.query("select sum(n) from another_view") == [(KEYS,)]
    assert not is_locked(project)


def test_the_lock_of_a_killed_run_is_taken_over(make_project: MakeProject) -> None:
    project = make(make_project, "lock_killed")
    killed = start(project, pause=0.05)
    killed.kill()
    killed.communicate()
    while statements(project):  # The server goes on with what it was told to do.
        time.sleep(0.05)
    assert project.run()["target"].status == "success"
    assert "has not made progress for" in project.logged("JinjaLogWarning")
    check(project, 2)


def test_the_lock_of_a_run_that_died_at_once_is_taken_over(make_project: MakeProject) -> None:
    """Before its first sign of life: the lock is an empty table."""
    project = make(make_project, "lock_empty")
    project.command(LOCK.format("dead"))
    assert project.run()["target"].status == "success"
    assert "run dead holds the lock" in project.logged("JinjaLogWarning")
    check(project, 2)


def test_of_two_runs_that_take_over_at_once_one_leaves_it_to_the_other(make_project: MakeProject) -> None:
    """The other has moved the lock away, and drops it while this run goes on."""
    project = make(make_project, "lock_taken")
    project.command(LOCK.format("dead"))

    def move() -> None:
        project.command("rename table target__dbt_lock to target__dbt_lock_dead")

    with at_statement("rename table if exists", move):
        assert project.run()["target"].status == "success"
    assert project.query("exists table target__dbt_lock_dead") == [(1,)]
    check(project, 2)


def test_a_lock_that_another_run_has_made_meanwhile_goes_back(make_project: MakeProject) -> None:
    project = make(make_project, "lock_meanwhile")
    project.command(LOCK.format("dead"))

    def take() -> None:
        project.command("drop table target__dbt_lock")
        project.command(LOCK.format("other"))

    with at_statement("rename table if exists", take):
        message = project.run()["target"].message
    assert AT_WORK.format("lock_meanwhile") + "other" in message
    locks = "select name, comment from system.tables where database = 'lock_meanwhile' and name like '%lock%'"
    assert project.query(locks) == [("target__dbt_lock", "other some-invocation")]
    assert project.run()["target"].status == "success"
    assert project.query(locks) == []
    check(project, 2)


def test_a_run_that_lost_its_lock_writes_nothing(make_project: MakeProject) -> None:
    project = make(make_project, "lock_lost")
    stage = "insert into `lock_lost`.`target__dbt_changes`"
    with at_statement(stage, lambda: project.command("drop table target__dbt_lock")):
        outcome = project.run()["target"]
    assert "no longer holds its lock `lock_lost`.`target__dbt_lock`" in outcome.message
    check(project, 1)
    assert project.run()["target"].status == "success"
    check(project, 2)


def test_a_lock_is_released_by_hand(make_project: MakeProject) -> None:
    project = make(make_project, "lock_release")
    assert project.operation("release_lock", model="target") == "`lock_release`.`target` is not locked"
    killed = start(project, pause=0.05)
    killed.kill()
    killed.communicate()
    while statements(project):
        time.sleep(0.05)
    assert "Released the lock of run" in project.operation("release_lock", model="target")
    assert project.run()["target"].status == "success"
    assert project.logged("JinjaLogWarning") == ""
    check(project, 2)


def test_an_error_of_the_input_leaves_no_lock(make_project: MakeProject) -> None:
    project = make(make_project, "lock_input")
    structure = STRUCTURE.replace("id Int64", "id Nullable(Int64)")
    project.replace_rows("changes", structure, [(None, 1, 3)])
    assert "id is null" in project.run()["target"].message
    check(project, 1)
