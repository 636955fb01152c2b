"""`remember_deletes`: for ever, for some time, or not at all."""

from __future__ import annotations

import pytest

from tests.support.collapsing_project import OperationError
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

COLUMNS = "id Int64, _version Int64, _is_deleted Bool"


def ttl(table: Table) -> str:
    query = "select extract(engine_full, ' TTL (.*) SETTINGS') from system.tables where database = '{}' and name = 'target__tombstones'"
    return str(table.query(query.format(table.project.schema))[0][0])


def test_without_memory_a_late_change_revives_a_deleted_key(make_project: MakeProject) -> None:
    table = Table(make_project("tombstones_false"), COLUMNS, remember_deletes=False)
    table.apply([(1, 5)])
    table.apply([(1, 6, True), (2, 6, True)])
    table.check([])
    table.apply([(1, 4), (2, 4)])
    table.check([(1, 4), (2, 4)])
    assert ("target__tombstones",) not in table.query("show tables")


def test_the_last_delete_of_a_key_counts(make_project: MakeProject) -> None:
    """Also as long as the tombstones of its deletes are not merged, and in whatever order they came."""
    table = Table(make_project("tombstones_twice"), COLUMNS)
    table.apply([(1, 5), (2, 5)])
    table.command("system stop merges target__tombstones")
    for changes in ([(1, 6, True), (2, 9, True)], [(1, 7)], [(1, 9, True), (2, 6, True)], [(1, 8), (2, 8)]):
        table.apply(changes)
    table.check([])
    assert table.tombstones() == {1: 9, 2: 9}


def test_a_tombstone_expires(make_project: MakeProject) -> None:
    table = Table(make_project("tombstones_interval"), COLUMNS, remember_deletes="2 days")
    table.apply([(1, 5)])
    assert ttl(table) == "_remembered_at + toIntervalDay(2)"
    table.command("system stop ttl merges target__tombstones")
    table.command(
        "insert into target__tombstones (id, _version, _remembered_at) values "
        "(3, 9, now() - interval 47 hour), (4, 9, now() - interval 49 hour)"
    )
    assert "1 tombstoned" in table.apply([(3, 8), (4, 8), (1, 6, True)])
    table.check([(4, 8)])
    assert "1 tombstoned" in table.apply([(1, 6)])


def test_the_option_can_be_changed_on_a_table_that_exists(make_project: MakeProject) -> None:
    table = Table(make_project("tombstones_change"), COLUMNS, remember_deletes=False)
    table.apply([(1, 5, True)])
    table.configure()
    table.apply([(2, 5, True)])
    table.apply([(1, 4), (2, 4)])
    table.check([(1, 4)])
    for interval, kept in (
        ("30 days", "_remembered_at + toIntervalDay(30)"),
        ("1 Month", "_remembered_at + toIntervalMonth(1)"),
    ):
        table.configure(remember_deletes=interval)
        table.apply()
        assert ttl(table) == kept
    table.configure(remember_deletes=True)
    table.apply([(2, 4)])
    assert ttl(table) == ""
    table.check([(1, 4)])


def test_a_full_refresh_without_memory_drops_what_was_remembered(make_project: MakeProject) -> None:
    table = Table(make_project("tombstones_refresh"), COLUMNS)
    table.apply([(1, 5, True)])
    table.configure(remember_deletes=False)
    table.apply([(1, 3)], "--full-refresh")
    assert ("target__tombstones",) not in table.query("show tables")
    table.configure()
    table.apply([(1, 4)])
    table.check([(1, 4)])


def test_a_deleted_row_that_another_writer_inserts_again(make_project: MakeProject) -> None:
    """The row was stored before, so its signs add up; only the tombstone shows that it must not be live."""
    table = Table(make_project("tombstones_revived"), COLUMNS)
    arguments = {"arguments": {"unique_key": "id"}}
    properties = {"name": "target", "data_tests": [{"live_version_is_the_highest": arguments}]}
    table.project.add_properties("target", {"models": [properties]})
    table.apply([(1, 5), (2, 5), (3, 5)])
    table.apply([(1, 6, True), (2, 6, True), (2, 7)])
    table.command("insert into target (id, _version, _sign) values (1, 5, 1), (1, 6, 1)")
    (tested,) = table.project.dbt("test").values()
    assert "Got 1 result" in tested.message
    with pytest.raises(OperationError, match="1 key to repair with 0 state rows and 2 cancel rows"):
        table.operation("rebalance", model="target")
    table.operation("rebalance", model="target", dry_run=False)
    table.check([(2, 7), (3, 5)])
    (tested,) = table.project.dbt("test").values()
    assert tested.status == "pass"
