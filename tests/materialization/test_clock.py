"""A clock that is set back: what was written before seems to come later."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.materialization.test_lock import LOCK
from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import STARTED, dying

STRUCTURE = "id Int64, x Int64, _version UInt64"
LEDGER = "versioned_collapsing_ledger"
HOURS = 3
NETS = "select id, x, _version from target group by all having sum(_sign) = 1 order by id"


def rows(version: int) -> list[Row]:
    return [(key, key * version, version) for key in range(10)]


def make(make_project: MakeProject, schema: str) -> CollapsingProject:
    project = make_project(schema)
    project.add_model("target", {"unique_key": "id", "change_feed": True}, "select * from changes")
    apply(project, 1)
    apply(project, 2)
    return project


def apply(project: CollapsingProject, version: int) -> None:
    project.replace_rows("changes", STRUCTURE, rows(version))
    assert project.run()["target"].status == "success"


def set_clock_back(project: CollapsingProject, *tables: tuple[str, str]) -> None:
    """What tables have is of some hours later."""
    for table, column in tables:
        project.command(f"create table later as {table}")
        project.command(
            f"insert into later select * replace ({column} + toIntervalHour({HOURS}) as {column}) from {table}"
        )
        project.command(f"exchange tables later and {table}")
        project.command("drop table later")


def test_a_run_that_died_is_completed(make_project: MakeProject) -> None:
    """The ledger's last row is the one that was written last, whatever its time would be."""
    project = make(make_project, "clock_ledger")
    set_clock_back(project, (LEDGER, "at"), ("target__changes", "_applied_at"))
    project.replace_rows("changes", STRUCTURE, rows(3))
    with dying({"target": STARTED}):
        assert project.run()["target"].status == "error"
    assert project.query(NETS) == rows(2)
    project.replace_rows("changes", STRUCTURE, [])
    assert project.run()["target"].status == "success"
    assert project.query(NETS) == rows(3)
    for table, times, number in ((LEDGER, "at", "apply"), ("target__changes", "_applied_at", "_apply")):
        found = project.query(f"select max({times}) from {table} group by {number} order by {number}")
        assert len(found) == 3
        assert found == sorted(set(found)), table


@pytest.mark.parametrize("hours", [HOURS, -HOURS])
def test_the_lock_of_a_dead_run_is_taken_over(make_project: MakeProject, hours: int) -> None:
    """A lock that seems to be made in the future is no reason to wait for it."""
    project = make(make_project, f"clock_lock_{hours + HOURS}")
    project.command(LOCK.format("dead"))
    query = "select metadata_path from system.tables where database = currentDatabase() and name = 'target__dbt_lock'"
    path = Path(project.query(query)[0][0])
    if not path.is_absolute():
        path = Path(project.query("select path from system.disks where name = 'default'")[0][0]) / path
    made = time.time() + 3600 * hours
    os.utime(path, (made, made))
    idle = project.query(
        "select metadata_modification_time > now() from system.tables "
        "where database = currentDatabase() and name = 'target__dbt_lock'"
    )
    assert idle == [(int(hours > 0),)]
    apply(project, 3)
    assert "run dead holds the lock" in project.logged("JinjaLogWarning")
    assert project.query(NETS) == rows(3)
