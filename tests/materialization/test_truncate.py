"""Rows with `_is_truncate`: everything at or below their version goes, and stays gone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, intercepted

STRUCTURE = "id Nullable(Int64), x Int64, _version Int64, _is_deleted Bool, _is_truncate Bool"
LIVE = "select id, x, _version from target final where _sign = 1 order by id"


def row(key: int, version: int, x: int = 0, *, is_deleted: bool = False) -> Row:
    return key, x, version, is_deleted, False


def truncate(version: int) -> Row:
    return None, 0, version, False, True


def apply(project: CollapsingProject, rows: list[Row], structure: str = STRUCTURE) -> str:
    project.replace_rows("changes", structure, rows)
    outcome = project.run()["target"]
    assert outcome.status == "success", outcome.message
    return outcome.message


@pytest.mark.parametrize("config", [{}, {"chunks": 3}, {"remember_deletes": False}], ids=str)
def test_rows_at_or_below_go_for_ever(make_project: MakeProject, config: dict[str, object]) -> None:
    project = make_project("truncate_" + "_".join(config))
    project.add_model("target", {"unique_key": "id", **config}, "select * from changes")
    apply(project, [row(1, 5), row(2, 10), row(3, 11), row(4, 5)])
    # In one change set: what is below the truncate and what is above it, in any order.
    apply(project, [row(4, 12, 4), row(5, 9), truncate(10), truncate(3), row(6, 10), row(7, 11)])
    live = [(3, 0, 11), (4, 4, 12), (7, 0, 11)]
    assert project.query(LIVE) == live
    # Late events of keys that were there, and of keys that never were.
    message = apply(project, [row(1, 6), row(2, 10), row(8, 1), row(9, 13)])
    assert "3 tombstoned" in message
    assert project.query(LIVE) == [*live, (9, 0, 13)]
    # An older truncate does not lower the floor, a newer one lifts it.
    apply(project, [truncate(7), row(1, 9)])
    assert project.query(LIVE) == [*live, (9, 0, 13)]
    apply(project, [truncate(12)])
    apply(project, [row(1, 12), row(2, 14)])
    assert project.query(LIVE) == [(2, 0, 14), (9, 0, 13)]
    assert project.query("select sum(_sign) from target") == [(2,)]


def test_the_select_is_read_once(make_project: MakeProject) -> None:
    """A truncate that lands between two readings would be staged and not carried out."""
    project = make_project("truncate_read_once")
    project.add_model("target", {"unique_key": "id"}, "select * from changes")
    readings: list[str] = []

    def send(do: Send, sql: str) -> Any:
        statement = re.sub(r"/\*.*?\*/", "", sql, flags=re.DOTALL).strip()
        if "from changes" in statement and not statement.startswith(("describe", "explain")):
            readings.append(statement)
        return do(sql)

    with intercepted(send):
        apply(project, [row(1, 5), truncate(4), row(1, 4)])
    assert len(readings) == 1, readings
    assert readings[0].startswith("insert into")


def test_a_truncate_of_an_empty_table_is_remembered(make_project: MakeProject) -> None:
    project = make_project("truncate_empty")
    project.add_model("target", {"unique_key": "id"}, "select * from changes")
    apply(project, [truncate(10)])
    apply(project, [row(1, 10), row(2, 11)])
    assert project.query(LIVE) == [(2, 0, 11)]


def test_a_full_refresh_forgets_it(make_project: MakeProject) -> None:
    project = make_project("truncate_refresh")
    project.add_model("target", {"unique_key": "id"}, "select * from changes")
    apply(project, [truncate(10)])
    project.replace_rows("changes", STRUCTURE, [row(1, 10)])
    assert project.run("--full-refresh")["target"].status == "success"
    assert project.query(LIVE) == [(1, 0, 10)]


def test_a_change_above_does_not_combine_with_what_went(make_project: MakeProject) -> None:
    project = make_project("truncate_combine")
    config = {"unique_key": "id", "combine": {"x": "greatest"}}
    project.add_model("target", config, "select * from changes")
    apply(project, [row(1, 5, 50), row(2, 11, 50)])
    apply(project, [truncate(10), row(1, 12, 1), row(2, 12, 1)])
    assert project.query(LIVE) == [(1, 1, 12), (2, 50, 12)]


def test_versions_that_are_times(make_project: MakeProject) -> None:
    project = make_project("truncate_times")
    project.add_model("target", {"unique_key": "id"}, "select * from changes")
    structure = STRUCTURE.replace("_version Int64", "_version DateTime64(6, 'Europe/Berlin')")
    twice = datetime(2025, 10, 26, 1, 40, 0, 1, UTC)  # Of two hours there the second.
    apply(project, [(1, 0, twice, False, False), (None, 0, twice, False, True)], structure)
    later = twice.replace(microsecond=2)
    apply(project, [(1, 0, twice, False, False), (2, 0, later, False, False)], structure)
    assert project.query("select id from target final") == [(2,)]


def test_conflicts_beside_a_truncate_are_seen(make_project: MakeProject) -> None:
    project = make_project("truncate_conflict")
    project.add_model(
        "target", {"unique_key": "id", "on_conflict": "error"}, "select * from changes"
    )
    apply(project, [row(key, 5) for key in range(20)])
    project.replace_rows("changes", STRUCTURE, [truncate(10), row(1, 11, 1), row(1, 11, 2)])
    outcome = project.run()["target"]
    assert "1 change has the same version as a stored row or another change" in outcome.message
    assert project.query("select count() from target final") == [(20,)]


@pytest.mark.parametrize("version", ["null", "'x'"])
def test_a_truncate_without_version_stops_the_run(make_project: MakeProject, version: str) -> None:
    project = make_project(f"truncate_bad_{version.strip(chr(39))}")
    project.add_model(
        "target",
        {"unique_key": "id"},
        f"select toInt64(1) as id, cast({version}, 'Nullable(String)') as _version, true as _is_truncate",
    )
    project.declare("target", {"id": "Int64", "_version": "Int64"})
    outcome = project.run()["target"]
    assert (
        "has 1 row with _is_truncate whose _version is null or does not fit Int64"
        in outcome.message
    )
