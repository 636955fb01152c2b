"""A clock that is set back: earlier entries seem to come later."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.materialization.test_lock import LOCK
from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

LEDGER = "versioned_collapsing_ledger"
HOURS = 3


def rows(version: int) -> list[Row]:
    return [(key, key * version, version) for key in range(10)]


def make(make_project: MakeProject, schema: str) -> Table:
    project = make_project(schema)
    project.set_variables(versioned_collapsing_lock_seconds=1)
    table = Table(project, change_feed=True)
    table.apply(rows(1))
    table.apply(rows(2))
    return table


def set_clock_back(table: Table, name: str, column: str) -> None:
    """Move a table's times some hours ahead."""
    later = f"select * replace ({column} + toIntervalHour({HOURS}) as {column}) from {name}"
    table.command(f"create table later as {name}")
    table.command(f"insert into later {later}")
    table.command(f"exchange tables later and {name}")
    table.command("drop table later")


def test_a_run_that_died_is_completed(make_project: MakeProject) -> None:
    """The ledger's last row is the one that was written last, whatever its time says."""
    table = make(make_project, "clock_ledger")
    set_clock_back(table, LEDGER, "at")
    set_clock_back(table, "target__feed", "_applied_at")
    table.die(rows(3))
    table.check(rows(2))
    table.apply()
    table.check(rows(3))
    for name, times, number in ((LEDGER, "at", "apply"), ("target__feed", "_applied_at", "_apply")):
        found = table.query(f"select max({times}) from {name} group by {number} order by {number}")
        assert len(found) == 3
        assert found == sorted(set(found)), name


def test_the_lock_of_a_dead_run_is_taken_over(make_project: MakeProject) -> None:
    """A lock that seems to come from the future is no reason to wait."""
    table = make(make_project, "clock_lock")
    table.command(LOCK.format("dead"))
    lock = "from system.tables where database = currentDatabase() and name = 'target__dbt_lock'"
    ((metadata, disk),) = table.query(
        f"select metadata_path, (select path from system.disks where name = 'default') {lock}"
    )
    made = time.time() + 3600 * HOURS
    os.utime(Path(disk) / metadata, (made, made))  # The path of the metadata may be absolute.
    assert table.query(f"select metadata_modification_time > now() {lock}") == [(1,)]
    table.apply(rows(3))
    assert "run dead holds the lock" in table.project.logged("JinjaLogWarning")
    table.check(rows(3))
