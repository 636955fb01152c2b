"""The change feed itself: it has what was published, for as long as the option says."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying

STRUCTURE = "id Int64, x Int64, _version UInt64, _is_deleted Bool"
FED = "target__changes` ("  # in the statement that writes the rows of an apply
SUMS = "select x, sum(_sign) as c from {{ ref('target') }} group by x"


def configure(project: CollapsingProject, **config: Any) -> None:
    project.add_model("target", {"unique_key": "id", **config}, "select * from changes")


def add_view(project: CollapsingProject) -> None:
    project.add_model("sums", {"materialized": "versioned_collapsing_view", "order_by": "x"}, SUMS)


def run(project: CollapsingProject, rows: list[Row], *arguments: str) -> dict[str, str]:
    """What dbt says of each model."""
    project.replace_rows("changes", STRUCTURE, rows)
    outcomes = project.run(*arguments)
    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
    return {name: outcome.message for name, outcome in outcomes.items()}


def die_before_the_apply_begins(project: CollapsingProject, rows: list[Row]) -> None:
    project.replace_rows("changes", STRUCTURE, rows)
    with dying({"target": FED}):
        assert project.run("--select", "target")["target"].status == "error"


def fed(project: CollapsingProject) -> list[Row]:
    """The rows of the feed, when those are gone that nobody needs any more: no apply waits for that."""
    while project.query("select 1 from system.mutations where database = currentDatabase() and not is_done"):
        time.sleep(0.05)
    return project.query("select _apply, id, x, _version, _sign from target__changes order by all")


def row(key: int, version: int, x: int = 0, *, is_deleted: bool = False) -> Row:
    return key, x, version, is_deleted


@pytest.mark.parametrize("has_view", [False, True])
def test_what_a_dead_run_left_is_not_taken_for_the_next_apply(make_project: MakeProject, has_view: bool) -> None:
    project = make_project(f"feed_next_{has_view}")
    configure(project, change_feed="auto" if has_view else True)
    add_view(project)
    run(project, [row(1, 1)])
    die_before_the_apply_begins(project, [row(2, 2), row(3, 2)])
    assert [each[1] for each in fed(project) if each[0] == 2] == [2, 3]
    run(project, [row(4, 3)])
    assert [each[1] for each in fed(project) if each[0] == 2] == [4]
    assert project.query("select sum(c) from sums") == [(2,)]


def test_what_a_dead_run_left_is_not_taken_for_an_apply_without_a_feed(make_project: MakeProject) -> None:
    project = make_project("feed_off")
    configure(project, change_feed=True)
    run(project, [row(1, 1)])
    die_before_the_apply_begins(project, [row(2, 2)])
    assert fed(project) == [(1, 1, 0, 1, 1), (2, 2, 0, 2, 1)]
    configure(project, change_feed=False)
    run(project, [row(3, 3)])
    configure(project, change_feed=True)
    run(project, [row(4, 4)])
    assert fed(project) == [(1, 1, 0, 1, 1), (3, 4, 0, 4, 1)]


def test_what_a_dead_run_left_is_not_taken_for_a_rebuild(make_project: MakeProject) -> None:
    project = make_project("feed_refresh")
    configure(project)
    add_view(project)
    run(project, [row(1, 1)])
    run(project, [row(2, 2)])
    die_before_the_apply_begins(project, [row(3, 3)])
    assert fed(project) == [(3, 3, 0, 3, 1)]
    run(project, [row(5, 5)], "--full-refresh", "--select", "target")
    assert [each for each in fed(project) if each[0] > 2] == []
    run(project, [row(6, 6)])
    assert project.query("select sum(c) from sums") == [(2,)]


@pytest.mark.parametrize("has_view", [False, True])
def test_a_rebuild_may_change_types(make_project: MakeProject, has_view: bool) -> None:
    project = make_project(f"feed_types_{has_view}")
    configure(project, change_feed="auto" if has_view else True)
    if has_view:
        add_view(project)
    run(project, [row(1, 1)])
    run(project, [row(2, 2)])
    sql = "select 'k' || toString(id) as id, toString(x) || '!' as x, toUInt32(_version) as _version, _is_deleted from changes"
    project.add_model("target", {"unique_key": "id", "change_feed": "auto" if has_view else True}, sql)
    run(project, [row(1, 1)], "--full-refresh", "--select", "target")
    run(project, [row(2, 2)])
    run(project, [row(1, 3)])
    last = [(4, "k2", "0!", 2, 1), (5, "k1", "0!", 1, -1), (5, "k1", "0!", 3, 1)]
    assert fed(project)[-3:] == last[has_view:]  # the view has used the first of them
    kinds = "select name, type from system.columns where database = currentDatabase() and table = '{}' order by 1"
    types: dict[str, str] = dict(project.query(kinds.format("target__changes")))
    assert dict(project.query(kinds.format("target"))).items() < types.items()
    assert types["_changed_version"] == "UInt32"


def test_a_column_of_which_the_type_is_altered_keeps_its_feed(make_project: MakeProject) -> None:
    project = make_project("feed_alter")
    configure(project, change_feed=True)
    run(project, [row(1, 1)])
    project.command("alter table target modify column x Int128 settings alter_sync = 2")
    project.add_model(
        "target", {"unique_key": "id", "change_feed": True}, "select * replace (toInt128(x) as x) from changes"
    )
    run(project, [row(1, 2)])
    assert fed(project) == [(1, 1, 0, 1, 1), (2, 1, 0, 1, -1), (2, 1, 0, 2, 1)]


def test_rows_are_kept_for_as_long_as_the_option_says_now(make_project: MakeProject) -> None:
    project = make_project("feed_ttl")
    engine = "select extract(engine_full, 'TTL (.*?) SETTINGS') from system.tables where database = currentDatabase() and name = 'target__changes'"
    for version, (option, ttl) in enumerate(
        [
            ("1 day", "toDateTime(_applied_at) + toIntervalDay(1)"),
            (True, ""),
            (True, ""),
            ("2 months", "toDateTime(_applied_at) + toIntervalMonth(2)"),
            ("40 days", "toDateTime(_applied_at) + toIntervalDay(40)"),
        ]
    ):
        configure(project, change_feed=option)
        run(project, [row(1, version + 1)])
        assert project.query(engine) == [(ttl,)], option
    assert len(fed(project)) == 9


def test_a_view_is_filled_again_when_rows_of_an_apply_are_lost(make_project: MakeProject) -> None:
    """A part of the feed that is trimmed may have some of the rows of an apply, and another part the others."""
    project = make_project("feed_part")
    configure(project)
    add_view(project)
    run(project, [row(1, 1)])
    run(project, [row(2, 2), row(3, 2)], "--select", "target")
    project.command("alter table target__changes delete where id = 2 settings mutations_sync = 2")
    assert "filled from" in run(project, [])["sums"]
    assert project.query("select sum(c) from sums") == [(3,)]


@pytest.mark.parametrize("version", [0, 2, 99])
def test_a_delete_without_a_version_ends_the_state_at_its_own(make_project: MakeProject, version: int) -> None:
    project = make_project(f"feed_delete_{version}")
    configure(project, change_feed=True, delete_version="ignore")
    run(project, [row(1, 2), row(2, 2)])
    run(project, [row(1, version, is_deleted=True), row(2, 5)])
    changed = "select id, _sign, _changed_version from target__changes where _apply = 2 order by all"
    assert project.query(changed) == [(1, -1, 2), (2, -1, 5), (2, 1, 5)]


@pytest.mark.parametrize("has_view", [False, True])
def test_a_table_of_somebody_else_is_left_alone(make_project: MakeProject, has_view: bool) -> None:
    """It has the name that a feed would have."""
    project = make_project(f"feed_taken_{has_view}")
    configure(project)
    run(project, [row(1, 1)])
    project.command("create table target__changes (id Int64, note String) engine = MergeTree order by id")
    project.command("insert into target__changes values (7, 'mine')")
    if has_view:
        add_view(project)
        run(project, [], "--select", "sums")
        project.replace_rows("changes", STRUCTURE, [row(2, 2)])
        message = project.run("--select", "target")["target"].message
        assert "`target__changes` is not a change feed. Rename or drop it" in message
    else:
        run(project, [row(2, 2)])
        assert project.query("select count() from target final where _sign = 1") == [(2,)]
    assert project.query("select * from target__changes") == [(7, "mine")]


LIVES = "select id, valid_from, is_current from {{ versions(ref('target')) }}"


def add_history(project: CollapsingProject) -> None:
    project.add_model("lives", {"materialized": "table"}, LIVES)


def test_an_apply_that_publishes_nothing_is_no_gap(make_project: MakeProject) -> None:
    project = make_project("feed_nothing")
    configure(project, change_feed=True)
    add_history(project)
    add_view(project)
    run(project, [row(1, 1)])
    assert run(project, [row(2, 2, is_deleted=True)])["sums"] == "added the changes of target"
    assert run(project, [row(3, 3)])["sums"] == "added the changes of target"
    assert project.query("select id, valid_from, is_current from lives order by id") == [(1, 1, True), (3, 3, True)]
    assert project.query("select sum(c) from sums") == [(2,)]


def test_what_a_dead_rebuild_fed_is_in_no_view(make_project: MakeProject) -> None:
    project = make_project("feed_dead_rebuild")
    configure(project, change_feed=True)
    add_history(project)
    add_view(project)
    run(project, [row(1, 1)])
    project.replace_rows("changes", STRUCTURE, [row(1, 1), row(2, 2)])
    with dying({"target": "'applied'"}):
        assert project.run("--full-refresh", "--select", "target")["target"].status == "error"
    assert {each[0] for each in fed(project)} == {1, 2}
    assert run(project, [row(3, 3)])["sums"] == "added the changes of target"
    assert project.query("select sum(c) from sums") == [(2,)]
    assert project.query("select id from lives order by id") == [(1,), (3,)]


def test_rows_that_are_gone_from_an_apply_that_heals_are_missed(make_project: MakeProject) -> None:
    project = make_project("feed_healed")
    configure(project, change_feed=True)
    add_view(project)
    run(project, [row(1, 1), row(2, 1)])
    project.command("insert into target (id, x, _version, _sign) values (1, 7, 0, 1), (1, 8, 0, 1)")
    run(project, [row(1, 2), row(3, 2)])
    run(project, [], "--full-refresh", "--select", "sums")
    run(project, [row(1, 3), row(4, 3)], "--select", "target")
    project.command("alter table target__changes delete where _apply = 3 and id = 4 settings mutations_sync = 1")
    assert run(project, [], "--select", "sums")["sums"] == "filled from target"
    assert project.query("select sum(c) from sums") == [(4,)]


def test_a_renamed_model_goes_on_with_the_numbers_of_its_table(make_project: MakeProject) -> None:
    project = make_project("feed_renamed")
    configure(project, change_feed=True)
    add_view(project)
    add_history(project)
    run(project, [row(1, 1)])
    run(project, [row(2, 2)])
    for name in ("target", "sums", "lives"):
        (project.folder / "models" / f"{name}.sql").unlink()
    config = {"unique_key": "id", "change_feed": True, "alias": "target"}
    project.add_model("renamed", config, "select * from changes")
    project.add_model(
        "sums", {"materialized": "versioned_collapsing_view", "order_by": "x"}, SUMS.replace("target", "renamed")
    )
    project.operation("adopt_table", model="renamed")
    messages = run(project, [row(3, 3)])
    assert messages["sums"] == "added the changes of target"
    assert [each[:2] for each in fed(project)] == [(1, 1), (2, 2), (3, 3)]
    assert project.query("select sum(c) from sums") == [(3,)]
    # Nobody can say any more how the table began.
    project.add_model("lives", {"materialized": "table"}, LIVES.replace("target", "renamed"))
    assert "does not have all applies" in project.run("--select", "lives")["lives"].message


def test_a_column_that_comes_without_rows_is_in_the_feed(make_project: MakeProject) -> None:
    project = make_project("feed_column")
    configure(project, change_feed=True)
    add_view(project)
    add_history(project)
    run(project, [row(1, 1)])
    run(project, [row(2, 2)], "--select", "target")
    more = {"unique_key": "id", "change_feed": True, "on_schema_change": "append_new_columns"}
    project.add_model("target", more, "select *, x * 2 as twice from changes")
    assert run(project, [])["sums"] == "added the changes of target"
    assert project.query("select sum(c) from sums") == [(2,)]
    assert project.query("select count() from lives") == [(2,)]


def test_rows_that_came_signed_have_no_lives(make_project: MakeProject) -> None:
    project = make_project("feed_signed")
    project.add_model(
        "target",
        {"unique_key": "id", "old_state": "stream", "change_feed": True},
        "select id, x, _version, if(_is_deleted, -1, 1)::Int8 as _sign from changes",
    )
    add_history(project)
    project.add_model("moment", {"materialized": "table"}, "select id from {{ as_of(ref('target'), version=1) }}")
    project.add_model("read", {"materialized": "table"}, "select id, _sign from {{ changes_since(ref('target')) }}")
    project.replace_rows("changes", STRUCTURE, [row(1, 1)])
    outcomes = project.run()
    assert outcomes["read"].status == "success"
    for name, caller in (("lives", "versions"), ("moment", "as_of")):
        assert f"{caller}: the model of " in outcomes[name].message
        assert "has `old_state: stream`" in outcomes[name].message


def test_the_sign_is_that_of_the_model(make_project: MakeProject) -> None:
    project = make_project("feed_sign")
    project.add_model(
        "target", {"unique_key": "id", "sign": "s", "change_feed": True}, "select * except x, x as _sign from changes"
    )
    add_history(project)
    run(project, [row(1, 1, x=-1)])
    assert project.query("select id from lives") == [(1,)]


def test_nobody_else_writes_into_a_view(make_project: MakeProject) -> None:
    project = make_project("feed_writers")
    configure(project)
    add_view(project)
    run(project, [row(1, 1)])
    project.command(
        f"create materialized view sums_mv to `{project.schema}`.`sums` as "
        "select x, sum(_sign) as c from target group by x"
    )
    outcome = project.run("--full-refresh", "--select", "sums")["sums"]
    assert outcome.status == "error"
    assert f"a materialized view must not write into it: {project.schema}.sums_mv." in " ".join(outcome.message.split())


@pytest.mark.parametrize(("lost_applies", "dies"), [(1, True), (2, False)])
@pytest.mark.parametrize("first", ["table", "view", "repair"])
def test_a_ledger_from_a_backup_gets_from_the_feed_what_it_lacks(
    make_project: MakeProject, lost_applies: int, dies: bool, first: str
) -> None:
    project = make_project(f"feed_restored_{lost_applies}_{dies}_{first}")
    configure(project, change_feed=True)
    add_view(project)
    project.add_model(
        "past", {"materialized": "view"}, "select * from {{ versioned_collapsing.changes_since(ref('target')) }}"
    )
    run(project, [row(1, 1), row(2, 1)])
    run(project, [row(1, 2)])
    project.command("create table backup as versioned_collapsing_ledger")
    project.command("insert into backup select * from versioned_collapsing_ledger")
    for version in range(3, 3 + lost_applies):
        changes = [row(2, version, is_deleted=True), row(3, version)]
        run(project, changes, "--select", "target")
    before = fed(project)
    if dies:
        die_before_the_apply_begins(project, [row(4, 9), row(1, 9, is_deleted=True)])
        assert fed(project) != before
    project.command("exchange tables backup and versioned_collapsing_ledger")

    if first == "view":
        said = run(project, [], "--select", "sums")["sums"]
        if dies:  # Its lock is there, as that of a run at work would be.
            assert said == "nothing has changed"
        else:
            assert said.startswith("filled from target")
            assert project.query("select sum(c) from sums") == [(2,)]
    elif first == "repair":
        project.operation("repair_collapse", model="target")
    run(project, [row(5, 5)])
    assert project.query("select sum(c) from sums") == [(3,)]
    assert fed(project) == [*before, (3 + lost_applies, 5, 0, 5, 1)]
    rows = "select id, _version from {} group by all having sum(_sign) > 0 order by id"
    assert project.query(rows.format("past")) == project.query(rows.format("target"))
    assert run(project, [])["sums"] == "nothing has changed"


@pytest.mark.parametrize("dies_again", [False, True])
def test_a_dead_rebuild_is_not_taken_for_an_apply_that_the_ledger_lacks(
    make_project: MakeProject, dies_again: bool
) -> None:
    """The rows that it fed are in the table, as those of an apply would be that was published."""
    project = make_project(f"feed_dead_rebuild_{dies_again}")
    configure(project, change_feed=True)
    run(project, [row(1, 1), row(2, 1)])
    run(project, [row(1, 2)])
    before = fed(project)
    project.replace_rows("changes", STRUCTURE, [row(1, 2), row(2, 1)])
    with dying({"target": FED}):
        assert project.run("--full-refresh")["target"].status == "error"
    assert fed(project) != before
    if dies_again:
        die_before_the_apply_begins(project, [row(4, 4)])
    run(project, [row(3, 3)])
    assert fed(project) == [*before, (3, 3, 0, 3, 1)]
