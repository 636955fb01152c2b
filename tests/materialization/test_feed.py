"""The change feed itself: it has what was published, for as long as the option says."""

from __future__ import annotations

import time

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying
from tests.support.table import Table

COLUMNS = "id Int64, _version UInt64, x Int64, _is_deleted Bool"
FED = "target__feed` ("  # part of the statement that writes the rows of an apply
SUMS = "select x, sum(_sign) as c from {{ ref('target') }} group by x"
LIVES = "select id, valid_from, is_current from {{ versions(ref('target')) }}"


def fed(table: Table) -> list[Row]:
    """The rows of the feed, once unneeded rows have been removed, which no apply waits for."""
    while table.query("select 1 from system.mutations where database = currentDatabase() and not is_done"):
        time.sleep(0.05)
    return table.query("select _apply, id, x, _version, _sign from target__feed order by all")


@pytest.mark.parametrize("has_view", [False, True])
def test_what_a_dead_run_left_is_not_taken_for_the_next_apply(make_project: MakeProject, has_view: bool) -> None:
    table = Table(make_project(f"feed_next_{has_view}"), COLUMNS, change_feed="auto" if has_view else True)
    table.add_view("sums", "x", SUMS)
    table.build([(1, 1)])
    table.die([(2, 2), (3, 2)], FED)
    assert [each[1] for each in fed(table) if each[0] == 2] == [2, 3]
    table.build([(4, 3)])
    assert [each[1] for each in fed(table) if each[0] == 2] == [4]
    assert table.query("select sum(c) from sums") == [(2,)]


def test_what_a_dead_run_left_is_not_taken_for_an_apply_without_a_feed(make_project: MakeProject) -> None:
    table = Table(make_project("feed_off"), COLUMNS, change_feed=True)
    table.build([(1, 1)])
    table.die([(2, 2)], FED)
    assert fed(table) == [(1, 1, 0, 1, 1), (2, 2, 0, 2, 1)]
    table.configure(change_feed=False)
    table.build([(3, 3)])
    table.configure(change_feed=True)
    table.build([(4, 4)])
    assert fed(table) == [(1, 1, 0, 1, 1), (3, 4, 0, 4, 1)]


def test_what_a_dead_run_left_is_not_taken_for_a_rebuild(make_project: MakeProject) -> None:
    table = Table(make_project("feed_refresh"), COLUMNS)
    table.add_view("sums", "x", SUMS)
    table.build([(1, 1)])
    table.build([(2, 2)])
    table.die([(3, 3)], FED)
    assert fed(table) == [(3, 3, 0, 3, 1)]
    table.build([(5, 5)], "--full-refresh", "--select", "target")
    assert [each for each in fed(table) if each[0] > 2] == []
    table.build([(6, 6)])
    assert table.query("select sum(c) from sums") == [(2,)]


@pytest.mark.parametrize("has_view", [False, True])
def test_a_rebuild_may_change_types(make_project: MakeProject, has_view: bool) -> None:
    table = Table(make_project(f"feed_types_{has_view}"), COLUMNS, change_feed="auto" if has_view else True)
    if has_view:
        table.add_view("sums", "x", SUMS)
    table.build([(1, 1)])
    table.build([(2, 2)])
    sql = "select 'k' || toString(id) as id, toString(x) || '!' as x, toUInt32(_version) as _version, _is_deleted from changes"
    table.configure(sql, change_feed="auto" if has_view else True)
    table.build([(1, 1)], "--full-refresh", "--select", "target")
    table.build([(2, 2)])
    table.build([(1, 3)])
    last = [(4, "k2", "0!", 2, 1), (5, "k1", "0!", 1, -1), (5, "k1", "0!", 3, 1)]
    assert fed(table)[-3:] == last[has_view:]  # the view has used the first of them
    kinds = "select name, type from system.columns where database = currentDatabase() and table = '{}' order by 1"
    types: dict[str, str] = dict(table.query(kinds.format("target__feed")))
    assert dict(table.query(kinds.format("target"))).items() < types.items()
    assert types["_changed_version"] == "UInt32"


def test_a_column_of_which_the_type_is_altered_keeps_its_feed(make_project: MakeProject) -> None:
    table = Table(make_project("feed_alter"), COLUMNS, change_feed=True)
    table.build([(1, 1)])
    table.command("alter table target modify column x Int128 settings alter_sync = 2")
    table.configure("select * replace (toInt128(x) as x) from changes", change_feed=True)
    table.build([(1, 2)])
    assert fed(table) == [(1, 1, 0, 1, 1), (2, 1, 0, 1, -1), (2, 1, 0, 2, 1)]


def test_rows_are_kept_for_as_long_as_the_option_says_now(make_project: MakeProject) -> None:
    table = Table(make_project("feed_ttl"), COLUMNS)
    engine = "select extract(engine_full, 'TTL (.*?) SETTINGS') from system.tables where database = currentDatabase() and name = 'target__feed'"
    for version, (option, ttl) in enumerate(
        [
            ("1 day", "toDateTime(_applied_at) + toIntervalDay(1)"),
            (True, ""),
            ("2 months", "toDateTime(_applied_at) + toIntervalMonth(2)"),
            ("40 days", "toDateTime(_applied_at) + toIntervalDay(40)"),
        ]
    ):
        table.configure(change_feed=option)
        table.build([(1, version + 1)])
        assert table.query(engine) == [(ttl,)], option
    assert len(fed(table)) == 7


def test_a_delete_without_a_version_ends_the_state_at_its_own(make_project: MakeProject) -> None:
    table = Table(make_project("feed_delete"), COLUMNS, change_feed=True, delete_version="ignore")
    table.build([(key, 2) for key in (1, 2, 3, 4)])
    table.build([(1, 0, 0, True), (2, 2, 0, True), (3, 99, 0, True), (4, 5)])
    changed = "select id, _sign, _changed_version from target__feed where _apply = 2 order by all"
    assert table.query(changed) == [(1, -1, 2), (2, -1, 2), (3, -1, 2), (4, -1, 5), (4, 1, 5)]


def test_a_table_of_somebody_else_is_left_alone(make_project: MakeProject) -> None:
    """It has the name that a feed would have. A table without views does not need one."""
    table = Table(make_project("feed_taken"), COLUMNS)
    table.build([(1, 1)])
    table.command("create table target__feed (id Int64, note String) engine = MergeTree order by id")
    table.command("insert into target__feed values (7, 'mine')")
    table.build([(2, 2)])
    assert table.query("select count() from target final where _sign = 1") == [(2,)]
    table.add_view("sums", "x", SUMS)
    table.build([], "--select", "sums")
    assert "`target__feed` is not a change feed. Rename or drop it" in table.fail([(3, 3)])
    assert table.query("select * from target__feed") == [(7, "mine")]


def test_an_apply_that_publishes_nothing_is_no_gap(make_project: MakeProject) -> None:
    table = Table(make_project("feed_nothing"), COLUMNS, change_feed=True)
    table.add_model("lives", {"materialized": "table"}, LIVES)
    table.add_view("sums", "x", SUMS)
    table.build([(1, 1)])
    assert table.build([(2, 2, 0, True)])["sums"] == "added the changes of target"
    assert table.build([(3, 3)])["sums"] == "added the changes of target"
    assert table.query("select id, valid_from, is_current from lives order by id") == [(1, 1, True), (3, 3, True)]
    assert table.query("select sum(c) from sums") == [(2,)]


def test_what_a_dead_rebuild_fed_is_in_no_view(make_project: MakeProject) -> None:
    table = Table(make_project("feed_dead_rebuild"), COLUMNS, change_feed=True)
    table.add_model("lives", {"materialized": "table"}, LIVES)
    table.add_view("sums", "x", SUMS)
    table.build([(1, 1)])
    table.stage([(1, 1), (2, 2)])
    with dying({"target": "'applied'"}):
        assert table.run("--full-refresh", "--select", "target")["target"].status == "error"
    assert {each[0] for each in fed(table)} == {1, 2}
    assert table.build([(3, 3)])["sums"] == "added the changes of target"
    assert table.query("select sum(c) from sums") == [(2,)]
    assert table.query("select id from lives order by id") == [(1,), (3,)]


def test_rows_that_are_gone_from_an_apply_that_heals_are_missed(make_project: MakeProject) -> None:
    table = Table(make_project("feed_healed"), COLUMNS, change_feed=True)
    table.add_view("sums", "x", SUMS)
    table.build([(1, 1), (2, 1)])
    table.command("insert into target (id, x, _version, _sign) values (1, 7, 0, 1), (1, 8, 0, 1)")
    table.build([(1, 2), (3, 2)])
    table.build([], "--full-refresh", "--select", "sums")
    table.build([(1, 3), (4, 3)], "--select", "target")
    table.command("alter table target__feed delete where _apply = 3 and id = 4 settings mutations_sync = 1")
    assert table.build([], "--select", "sums")["sums"] == "filled from target"
    assert table.query("select sum(c) from sums") == [(4,)]


def test_a_renamed_model_goes_on_with_the_numbers_of_its_table(make_project: MakeProject) -> None:
    table = Table(make_project("feed_renamed"), COLUMNS, change_feed=True)
    table.add_view("sums", "x", SUMS)
    table.add_model("lives", {"materialized": "table"}, LIVES)
    table.build([(1, 1)])
    table.build([(2, 2)])
    for name in ("target", "sums", "lives"):
        (table.project.folder / "models" / f"{name}.sql").unlink()
    config = {"unique_key": "id", "change_feed": True, "alias": "target"}
    table.add_model("renamed", config, "select * from changes")
    table.add_view("sums", "x", SUMS.replace("target", "renamed"))
    table.operation("adopt_table", model="renamed")
    assert table.build([(3, 3)])["sums"] == "added the changes of target"
    assert [each[:2] for each in fed(table)] == [(1, 1), (2, 2), (3, 3)]
    assert table.query("select sum(c) from sums") == [(3,)]
    # Now nothing shows how the table began.
    table.add_model("lives", {"materialized": "table"}, LIVES.replace("target", "renamed"))
    assert "does not have all applies" in table.run("--select", "lives")["lives"].message


def test_a_column_that_comes_without_rows_is_in_the_feed(make_project: MakeProject) -> None:
    table = Table(make_project("feed_column"), COLUMNS, change_feed=True)
    table.add_view("sums", "x", SUMS)
    table.add_model("lives", {"materialized": "table"}, LIVES)
    table.build([(1, 1)])
    table.build([(2, 2)], "--select", "target")
    more = {"change_feed": True, "on_schema_change": "append_new_columns"}
    table.configure("select *, x * 2 as twice from changes", **more)
    assert table.build()["sums"] == "added the changes of target"
    assert "target+ (which begins the change feed, and the history in it, anew)" in table.project.logged("JinjaLogInfo")
    assert table.query("select sum(c) from sums") == [(2,)]
    assert table.query("select count() from lives") == [(2,)]


def test_rows_that_came_signed_have_no_lives(make_project: MakeProject) -> None:
    signed = "select id, x, _version, if(_is_deleted, -1, 1)::Int8 as _sign from changes"
    table = Table(make_project("feed_signed"), COLUMNS, signed, old_state="stream", change_feed=True)
    table.add_model("lives", {"materialized": "table"}, LIVES)
    table.add_model("moment", {"materialized": "table"}, "select id from {{ as_of(ref('target'), version=1) }}")
    table.add_model("read", {"materialized": "table"}, "select id, _sign from {{ changes_since(ref('target')) }}")
    table.stage([(1, 1)])
    outcomes = table.run()
    assert outcomes["read"].status == "success"
    for name, caller in (("lives", "versions"), ("moment", "as_of")):
        assert f"{caller}: the model of " in outcomes[name].message
        assert "has `old_state: stream`" in outcomes[name].message


def test_the_sign_is_that_of_the_model(make_project: MakeProject) -> None:
    select = "select * except x, x as _sign from changes"
    table = Table(make_project("feed_sign"), COLUMNS, select, sign="s", change_feed=True)
    table.add_model("lives", {"materialized": "table"}, LIVES)
    table.build([(1, 1, -1)])
    assert table.query("select id from lives") == [(1,)]


def test_nobody_else_writes_into_a_view(make_project: MakeProject) -> None:
    table = Table(make_project("feed_writers"), COLUMNS)
    table.add_view("sums", "x", SUMS)
    table.build([(1, 1)])
    table.command(
        "create materialized view sums_mv to `feed_writers`.`sums` as select x, sum(_sign) as c from target group by x"
    )
    outcome = table.run("--full-refresh", "--select", "sums")["sums"]
    assert outcome.status == "error"
    said = " ".join(outcome.message.split())
    assert "a materialized view must not write into it: feed_writers.sums_mv." in said


@pytest.mark.parametrize(
    ("lost_applies", "dies", "first"), [(1, True, "view"), (2, False, "view"), (2, True, "repair")]
)
def test_a_ledger_from_a_backup_gets_from_the_feed_what_it_lacks(
    make_project: MakeProject, lost_applies: int, dies: bool, first: str
) -> None:
    table = Table(make_project(f"feed_restored_{lost_applies}_{dies}_{first}"), COLUMNS, change_feed=True)
    table.add_view("sums", "x", SUMS)
    table.add_model(
        "past", {"materialized": "view"}, "select * from {{ versioned_collapsing.changes_since(ref('target')) }}"
    )
    table.build([(1, 1), (2, 1)])
    table.build([(1, 2)])
    table.command("create table backup as versioned_collapsing_ledger")
    table.command("insert into backup select * from versioned_collapsing_ledger")
    for version in range(3, 3 + lost_applies):
        changes = [(2, version, 0, True), (3, version)]
        table.build(changes, "--select", "target")
    before = fed(table)
    if dies:
        table.die([(4, 9), (1, 9, 0, True)], FED)
        assert fed(table) != before
    table.command("exchange tables backup and versioned_collapsing_ledger")

    if first == "view":
        said = table.build([], "--select", "sums")["sums"]
        if dies:  # its lock exists, like that of a running run
            assert said == "nothing has changed"
        else:
            assert said.startswith("filled from target")
            assert table.query("select sum(c) from sums") == [(2,)]
    else:
        table.operation("rebalance", model="target")
    table.build([(5, 5)])
    assert table.query("select sum(c) from sums") == [(3,)]
    assert fed(table) == [*before, (3 + lost_applies, 5, 0, 5, 1)]
    rows = "select id, _version from {} group by all having sum(_sign) > 0 order by id"
    assert table.query(rows.format("past")) == table.query(rows.format("target"))
    assert table.build()["sums"] == "nothing has changed"


@pytest.mark.parametrize("dies_again", [False, True])
def test_a_dead_rebuild_is_not_taken_for_an_apply_that_the_ledger_lacks(
    make_project: MakeProject, dies_again: bool
) -> None:
    """The rows that it fed are also in the table, like those of an apply that was published."""
    table = Table(make_project(f"feed_dead_rebuild_{dies_again}"), COLUMNS, change_feed=True)
    table.build([(1, 1), (2, 1)])
    table.build([(1, 2)])
    before = fed(table)
    table.stage([(1, 2), (2, 1)])
    with dying({"target": FED}):
        assert table.run("--full-refresh")["target"].status == "error"
    assert fed(table) != before
    if dies_again:
        table.die([(4, 4)], FED)
    table.build([(3, 3)])
    assert fed(table) == [*before, (3, 3, 0, 3, 1)]


def test_rows_that_another_writer_removes_or_inserts(make_project: MakeProject) -> None:
    """`feed_agrees` finds them; `aggregate_agrees` finds that a view counts them."""
    table = Table(make_project("feed_agrees"), COLUMNS, change_feed=True)
    table.add_view("sums", "x", SUMS)
    sums = {"aggregate": "ref('sums')", "group_by": "x", "sums": {}, "count": "c"}
    tests = [{"feed_agrees": {"arguments": {"unique_key": "id"}}}, {"aggregate_agrees": {"arguments": sums}}]
    table.project.add_properties("target", {"models": [{"name": "target", "data_tests": tests}]})
    table.build([(key, 1, key) for key in range(5)])
    table.build([(0, 2, 0, True), (1, 2, 7)])

    def found() -> list[str]:
        return sorted(f"{node.status} {name[:11]}" for name, node in table.project.dbt("test").items())

    assert found() == ["pass aggregate_a", "pass feed_agrees"]
    table.command("delete from target where id = 2")
    assert found() == ["fail aggregate_a", "fail feed_agrees"]
    table.command("insert into target (id, _version, x, _sign) values (9, 9, 9, 1)")
    (tested,) = (node for name, node in table.project.dbt("test").items() if name.startswith("feed"))
    assert "Got 2 results" in tested.message
    # What begins anew agrees.
    table.command("drop table target__feed")
    table.build([(3, 4, 3)])
    table.build([], "--full-refresh", "--select", "sums")
    assert found() == ["pass aggregate_a", "pass feed_agrees"]
