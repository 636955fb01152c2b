"""Rows with `_is_truncate`: everything at or below their version is removed, and stays removed."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, intercepted
from tests.support.table import Table

COLUMNS = "id Nullable(Int64), _version Int64, x Int64, _is_truncate Bool"


def truncate(version: int) -> Row:
    return None, version, 0, True


def test_flags_of_an_op_code(make_project: MakeProject) -> None:
    """A comparison with a LowCardinality has the type LowCardinality(UInt8), which ClickHouse lets no table have."""
    columns = "id Int64, _version Int64, op LowCardinality(Nullable(String))"
    select = "select id, _version, op = 'd' as _is_deleted, op = 't' as _is_truncate from changes"
    table = Table(make_project("truncate_op"), columns, select)
    table.apply([(1, 5, "c"), (2, 6, "c"), (3, 11, "c"), (3, 12, "d"), (0, 5, "t"), (4, 12, None)])
    table.check([(2, 6), (4, 12)])


@pytest.mark.parametrize("options", [{}, {"chunks": 3, "remember_deletes": False}], ids=str)
def test_rows_at_or_below_go_for_ever(make_project: MakeProject, options: dict[str, Any]) -> None:
    table = Table(make_project("truncate_" + "_".join(options)), COLUMNS, **options)
    table.apply([(1, 5), (2, 10), (3, 11), (4, 5)])
    # In one change set: changes below and above the truncate, in any order.
    table.apply([(4, 12, 4), (5, 9), truncate(10), truncate(3), (6, 10), (7, 11)])
    live = [(3, 11, 0), (4, 12, 4), (7, 11, 0)]
    table.check(live)
    # Late events for keys that existed, and for keys that never did.
    assert "3 tombstoned" in table.apply([(1, 6), (2, 10), (8, 1), (9, 13)])
    table.check([*live, (9, 13, 0)])
    # An older truncate does not lower the limit, a newer one raises it.
    table.apply([truncate(7), (1, 9)])
    table.check([*live, (9, 13, 0)])
    table.apply([truncate(12)])
    table.apply([(1, 12), (2, 14)])
    table.check([(2, 14, 0), (9, 13, 0)])


def test_the_select_is_read_once(make_project: MakeProject) -> None:
    """A truncate that lands between two reads would be staged and not carried out."""
    table = Table(make_project("truncate_read_once"), COLUMNS)
    readings: list[str] = []

    def send(do: Send, sql: str) -> Any:
        statement = re.sub(r"/\*.*?\*/", "", sql, flags=re.DOTALL).strip()
        if "from changes" in statement and not statement.startswith(("describe", "explain")):
            readings.append(statement)
        return do(sql)

    with intercepted(send):
        table.apply([(1, 5), truncate(4), (1, 4)])
    assert len(readings) == 1, readings
    assert readings[0].startswith("insert into")


def test_a_truncate_of_an_empty_table_is_remembered_until_a_full_refresh(make_project: MakeProject) -> None:
    table = Table(make_project("truncate_empty"), COLUMNS)
    table.apply([truncate(10)])
    table.apply([(1, 10), (2, 11)])
    table.check([(2, 11, 0)])
    table.apply([(1, 10)], "--full-refresh")
    table.check([(1, 10, 0)])


def test_a_change_above_does_not_combine_with_what_went(make_project: MakeProject) -> None:
    table = Table(make_project("truncate_combine"), COLUMNS, combine={"x": "greatest"})
    table.apply([(1, 5, 50), (2, 11, 50)])
    table.apply([truncate(10), (1, 12, 1), (2, 12, 1)])
    table.check([(1, 12, 1), (2, 12, 50)])


def test_versions_that_are_times(make_project: MakeProject) -> None:
    columns = COLUMNS.replace("_version Int64", "_version DateTime64(6, 'Europe/Berlin')")
    table = Table(make_project("truncate_times"), columns)
    twice = datetime(2025, 10, 26, 1, 40, 0, 1, UTC)  # the second of two such hours
    table.apply([(1, twice), (None, twice, 0, True)])
    table.apply([(1, twice), (2, twice.replace(microsecond=2))])
    table.check([(2,)], "id")


def test_conflicts_beside_a_truncate_are_seen(make_project: MakeProject) -> None:
    table = Table(make_project("truncate_conflict"), COLUMNS, on_conflict="error")
    table.apply([(key, 5) for key in range(20)])
    message = table.fail([truncate(10), (1, 11, 1), (1, 11, 2)])
    assert "1 change has the same version as a stored row or another change" in message
    table.check([(key, 5, 0) for key in range(20)])


@pytest.mark.parametrize("version", ["null", "'x'"])
def test_a_truncate_without_version_stops_the_run(make_project: MakeProject, version: str) -> None:
    select = f"select toInt64(1) as id, cast({version}, 'Nullable(String)') as _version, true as _is_truncate"
    table = Table(make_project(f"truncate_bad_{len(version)}"), COLUMNS, select)
    table.project.declare("target", {"id": "Int64", "_version": "Int64"})
    assert "has 1 row with _is_truncate whose _version is null or does not fit Int64" in table.fail()
