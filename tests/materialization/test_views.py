"""`versioned_collapsing_view`: sums of a table, filled once, and kept from its change feed from then on."""

from __future__ import annotations

import re

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node
from tests.support.statements import STARTED, dying

STRUCTURE = "id Int64, region String, amount Int64, _version UInt64, _is_deleted Bool"
CONFIG = {"unique_key": "id"}
VIEW = {"materialized": "versioned_collapsing_view", "order_by": "region"}
SUMS = "select region, sum(amount * _sign) as total, sum(_sign) as c from {} group by region"
MODEL = SUMS.format("{{ ref('target') }}")
FILLED = "filled from target"
CHANGED = "added the changes of target"
NOTHING = "nothing has changed"


def rows(version: int) -> list[Row]:
    return [(key, ("EU", "US", "AP")[(key + version) % 3], key * version, version, key == version) for key in range(12)]


def make(make_project: MakeProject, schema: str) -> CollapsingProject:
    """A table that has rows, and a model of a view that is not built yet."""
    project = make_project(schema)
    project.set_variables(versioned_collapsing_block_rows=5)
    project.add_model("target", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, rows(1))
    assert project.run()["target"].status == "success"
    project.add_model("sums", VIEW, MODEL)
    return project


def run(project: CollapsingProject, version: int | None, *arguments: str) -> dict[str, Node]:
    project.replace_rows("changes", STRUCTURE, rows(version) if version else [])
    outcomes = project.run(*arguments)
    assert {outcome.status for outcome in outcomes.values()} <= {"success"}, outcomes
    return outcomes


def agrees(project: CollapsingProject, view: str = "sums") -> bool:
    kept = project.query(
        f"select region, sum(total), sum(c) as n from {view} group by region having n <> 0 order by region"
    )
    return bool(kept) and kept == project.query(f"{SUMS.format('target')} having c <> 0 order by region")


def test_it_is_filled_from_an_old_table_and_kept(make_project: MakeProject) -> None:
    project = make(make_project, "view_first")
    assert run(project, None)["sums"].message == FILLED
    assert agrees(project)
    assert run(project, 2)["sums"].message == CHANGED
    assert agrees(project)
    for version in (3, 4):
        run(project, version, "--select", "target")
        assert not agrees(project)
    assert run(project, None)["sums"].message == CHANGED
    assert agrees(project)
    assert run(project, None)["sums"].message == NOTHING


def test_it_is_filled_again_when_its_definition_changes(make_project: MakeProject) -> None:
    project = make(make_project, "view_definition")
    run(project, None)
    project.add_model("sums", VIEW, MODEL.replace("amount", "amount * 2"))
    assert run(project, None)["sums"].message == FILLED
    assert not agrees(project)
    project.add_model("sums", {**VIEW, "order_by": ["region", "lower(region)"]}, MODEL)
    assert run(project, None)["sums"].message == FILLED
    assert agrees(project)
    query = "select sorting_key from system.tables where database = 'view_definition' and name = 'sums'"
    assert project.query(query) == [("region, lower(region)",)]
    run(project, 2)
    assert agrees(project)


@pytest.mark.parametrize("repair", ["operation", "run"])
def test_it_is_filled_again_when_keys_were_repaired(make_project: MakeProject, repair: str) -> None:
    """Of rows that somebody else wrote, the feed has only what takes them back."""
    project = make(make_project, f"view_repair_{repair}")
    run(project, None)
    project.command("insert into target select * from target final where _sign = 1 limit 3")
    if repair == "operation":
        project.operation("repair_collapse", model="target", dry_run=False)
        assert run(project, None)["sums"].message == FILLED
    else:
        assert run(project, 2)["sums"].message == FILLED
    assert agrees(project)
    assert run(project, 3)["sums"].message == CHANGED
    assert agrees(project)


def test_a_full_refresh_fills_it_again(make_project: MakeProject) -> None:
    project = make(make_project, "view_refresh")
    run(project, None)
    project.command("insert into sums values ('EU', 1, 1)")
    assert run(project, None, "--select", "sums")["sums"].message == NOTHING
    assert run(project, None, "--full-refresh", "--select", "sums")["sums"].message == FILLED
    assert agrees(project)
    # Of the table alone, too: the view reads from another table then.
    run(project, 5, "--full-refresh", "--select", "target")
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    assert agrees(project)
    assert run(project, 6)["sums"].message == CHANGED
    assert agrees(project)


@pytest.mark.parametrize(
    "statement",
    [
        "drop table sums",
        "drop table target__changes",
        "truncate table target__changes",
        "alter table target__changes delete where _apply = 3 settings mutations_sync = 1",
    ],
    ids=["view", "feed", "emptied_feed", "one_apply"],
)
def test_what_is_lost_is_filled_again(
    make_project: MakeProject, request: pytest.FixtureRequest, statement: str
) -> None:
    project = make(make_project, f"view_lost_{request.node.callspec.id}")
    run(project, None)
    for version in (2, 3, 4):
        run(project, version, "--select", "target")
    project.command(statement)
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    if "target__changes" in statement:
        assert "the change feed of target does not reach back" in project.logged("JinjaLogInfo")
    assert agrees(project)
    assert run(project, 5)["sums"].message == CHANGED
    assert agrees(project)


def test_a_feed_that_was_off_is_seen(make_project: MakeProject) -> None:
    project = make(make_project, "view_off")
    run(project, None)
    run(project, 2, "--select", "target")
    project.add_model("target", {**CONFIG, "change_feed": False}, "select * from changes")
    run(project, 3, "--select", "target")
    message = project.run("--select", "sums")["sums"].message
    assert "target has `change_feed: false`, and a view is maintained from the change feeds" in message
    project.add_model("target", CONFIG, "select * from changes")
    run(project, 4, "--select", "target")
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    assert agrees(project)


def test_a_feed_has_only_what_views_have_not_used(make_project: MakeProject) -> None:
    project = make(make_project, "view_trimmed")
    assert project.query("exists table target__changes") == [(0,)]
    run(project, None)
    applies = []
    for version in range(2, 7):
        run(project, version)
        query = "select groupUniqArray(_apply) from target__changes"
        applies.append(sorted(project.query(query)[0][0]))
    assert {len(each) for each in applies} <= {1, 2}, applies
    assert applies[-1][-1] == 6
    # A view that is not run keeps them.
    project.add_model("more", VIEW, MODEL)
    run(project, 7)
    for version in (8, 9, 10):
        run(project, version, "--exclude", "more")
    assert run(project, None)["more"].message == CHANGED
    assert agrees(project, "more")


def test_repairs_fill_it_again(make_project: MakeProject) -> None:
    project = make(make_project, "view_repairs")
    run(project, None)
    project.command("insert into target (id, region, amount, _version, _sign) values (3, 'EU', 1, 0, 1)")
    run(project, None, "--full-refresh", "--select", "sums")
    project.operation("repair_collapse", model="target", dry_run=False)
    assert not agrees(project)
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    assert agrees(project)


def test_columns_that_come_later_are_in_the_feed(make_project: MakeProject) -> None:
    project = make(make_project, "view_columns")
    run(project, None)
    run(project, 2, "--select", "target")
    project.add_model(
        "target", {**CONFIG, "on_schema_change": "append_new_columns"}, "select *, amount * 3 as tax from changes"
    )
    run(project, 3, "--select", "target")
    assert run(project, None, "--select", "sums")["sums"].message == CHANGED
    assert agrees(project)
    project.add_model("sums", VIEW, MODEL.replace("amount", "(amount + tax - amount * 3)"))
    run(project, 4)
    project.command("alter table target modify column amount Int128")
    project.declare("target", {"amount": "Int128"})
    run(project, 5, "--select", "target")
    # Its sums have the wider type too from now on.
    assert run(project, 6)["sums"].message == FILLED
    assert run(project, 7)["sums"].message == CHANGED
    assert agrees(project)


def test_columns_that_the_table_works_out_are_in_the_feed(make_project: MakeProject) -> None:
    project = make(make_project, "view_worked_out")
    project.command("alter table target add column twice Int64 materialized amount * 2")
    project.command("alter table target add column thrice Int64 alias amount * 3")
    project.command("alter table target add column given Int64 ephemeral 0")
    project.add_model("sums", VIEW, MODEL.replace("amount", "(thrice - twice)"))
    assert run(project, None)["sums"].message == FILLED
    assert agrees(project)
    assert run(project, 2)["sums"].message == CHANGED
    assert agrees(project)


def test_a_column_that_the_feed_needs_is_refused(make_project: MakeProject) -> None:
    project = make(make_project, "view_reserved")
    project.add_model(
        "target", {**CONFIG, "on_schema_change": "append_new_columns"}, "select *, 1 as _apply from changes"
    )
    project.replace_rows("changes", STRUCTURE, rows(2))
    message = project.run("--select", "target")["target"].message
    assert "has a column with a name that the change feed needs: _apply. Rename it in the model" in message
    project.add_model(
        "target",
        {**CONFIG, "on_schema_change": "append_new_columns", "change_feed": False},
        "select *, 1 as _apply from changes",
    )
    assert run(project, 2, "--select", "target")


def test_tables_and_views_may_be_in_several_schemas(make_project: MakeProject) -> None:
    project = make(make_project, "view_schemas")
    for schema in ("view_schemas_left", "view_schemas_right"):
        project.command(f"create database {schema}")
    project.add_model("other", {**CONFIG, "schema": "left"}, "select * from changes")
    project.add_model(
        "sums",
        {**VIEW, "schema": "right"},
        "select a.region as region, sum(a.amount * a._sign * b._sign) as total, sum(a._sign * b._sign) as c "
        "from {{ ref('target') }} as a inner join {{ ref('other') }} as b on a.id = b.id group by region",
    )
    run(project, 2)
    assert agrees(project, "view_schemas_right.sums")
    assert run(project, 3)["sums"].message == "added the changes of other and target"
    assert agrees(project, "view_schemas_right.sums")
    assert run(project, None)["sums"].message == NOTHING


@pytest.mark.parametrize("is_fill", [True, False], ids=["fill", "changes"])
def test_a_run_that_died_is_begun_anew(make_project: MakeProject, is_exhaustive: bool, is_fill: bool) -> None:
    """Before every third statement, where it is not to be exhaustive; the table goes on meanwhile."""
    project = make(make_project, f"view_deaths_{is_fill}")
    run(project, None)
    for death in range(0, 30, 1 if is_exhaustive else 3):
        if is_fill:
            project.add_model("sums", VIEW, MODEL.replace("total", "total ") + f" -- {death}")
        run(project, 2 * death + 2, "--select", "target")
        with dying({"sums": death}):
            outcome = project.run("--select", "sums")["sums"]
        if outcome.status == "success":
            break
        assert "sums died here" in outcome.message
        if death % 2:
            run(project, 2 * death + 3, "--select", "target")
        run(project, None, "--select", "sums")
        assert agrees(project), death
    assert death > 5
    assert agrees(project)


@pytest.mark.parametrize("has_view", [False, True], ids=["fill", "changes"])
def test_a_torn_table_is_completed_before_it_is_read(make_project: MakeProject, has_view: bool) -> None:
    project = make(make_project, f"view_torn_{has_view}")
    if has_view:
        run(project, None)
    project.replace_rows("changes", STRUCTURE, rows(2))
    with dying({"target": STARTED}):
        assert "died here" in project.run("--select", "target")["target"].message
    message = run(project, None, "--select", "sums")["sums"].message
    assert message == (CHANGED if has_view else FILLED)
    assert agrees(project)
    assert project.query("select max(_version) from target final where _sign = 1") == [(2,)]
    run(project, 3)
    assert agrees(project)


def test_several_views_complete_a_torn_table_once(make_project: MakeProject) -> None:
    project = make(make_project, "view_several")
    names = [f"sums_{number}" for number in range(3)]
    for name in names:
        project.add_model(name, VIEW, MODEL)
    run(project, None)
    project.replace_rows("changes", STRUCTURE, rows(2))
    with dying({"target": STARTED}):
        assert "died here" in project.run("--select", "target")["target"].message
    project.set_profile(threads=4)
    project.set_variables(versioned_collapsing_lock_seconds=5)  # A busy machine is not dead.
    run(project, None, "--select", *names)
    assert project.query("select count(), uniqExact(id) from target final where _sign = 1") == [(11, 11)]
    assert all(agrees(project, name) for name in names)


def test_views_of_stock_dbt_are_exact_too(make_project: MakeProject) -> None:
    project = make(make_project, "view_stock")
    stock = {"materialized": "materialized_view", "engine": "SummingMergeTree", "order_by": "region"}
    project.add_model("stock", stock, MODEL)
    run(project, None)
    with dying({"target": STARTED}):
        project.replace_rows("changes", STRUCTURE, rows(2))
        project.run("--select", "target")
    run(project, 3)
    assert agrees(project)
    assert agrees(project, "stock")
    assert "journal" in project.query("select groupUniqArray(publish) from versioned_collapsing_ledger")[0][0]


@pytest.mark.parametrize(
    ("config", "sql", "error"),
    [
        ({"order_by": None}, MODEL, "order_by is missing. Name the columns by which the sums are grouped."),
        ({"engine": "Memory"}, MODEL, "engine is 'Memory'; it takes SummingMergeTree or MergeTree. Other engines lose rows"),
        ({"engine": "SummingMergeTree(total)"}, MODEL, "engine is 'SummingMergeTree(total)'; it takes"),
        ({"projections": [{"name": "p", "query": "select sum(c)"}]}, MODEL, "projections has no meaning for this materialization. A table of sums has no"),
        ({"chunks": 2}, MODEL, "chunks: there is no such option"),
        ({}, "select 1 as region", "select: the view reads from no versioned_collapsing model. `ref` at least one."),
        ({}, MODEL.replace("amount * _sign", "amount"), "target"),
        ({}, f"{MODEL} union all {MODEL}", "`.`target` occurs 2 times in the compiled select. `ref` each table once"),
    ],
    ids=["order_by", "engine", "other_engine", "projections", "chunks", "no_source", "no_sign", "twice"],
)  # fmt: skip
def test_errors(
    make_project: MakeProject, request: pytest.FixtureRequest, config: dict[str, object], sql: str, error: str
) -> None:
    project = make(make_project, f"view_error_{request.node.callspec.id}")
    project.add_model("other", CONFIG, "select * from changes")
    project.add_model("sums", {**VIEW, **config}, sql)
    message = project.run("--select", "sums")["sums"].message
    assert "cannot be built as versioned_collapsing_view:" in message
    assert error in message


def test_collapse_status_says_how_far_it_is(make_project: MakeProject) -> None:
    project = make(make_project, "view_status")
    run(project, 1)
    assert "view sums: up to date" in project.operation("collapse_status")
    run(project, 2, "--select", "target")
    status = project.operation("collapse_status")
    assert "view sums: has used apply 1 of 2 (dbt run --select sums)" in status
    assert re.search(r"change feed target__changes: \d+ rows of applies 2 to 2\n", status)
    run(project, 3, "--full-refresh", "--select", "target")
    status = project.operation("collapse_status")
    assert "view sums: not filled from this table (dbt run --select sums)" in status


def test_a_model_that_may_change_unseen_is_refused(make_project: MakeProject) -> None:
    """Only seeds, and tables that no model builds, are taken for constants."""
    project = make(make_project, "view_model")
    regions = {"materialized": "table", "engine": "MergeTree()", "order_by": "region"}
    project.add_model("regions", regions, "select 'EU' as region")
    join = "from {{ ref('target') }} as target inner join {{ ref('regions') }} as r using (region)"
    project.add_model("sums", VIEW, MODEL.replace("from {{ ref('target') }}", join))
    message = project.run("--select", "+sums")["sums"].message
    assert "regions is a model of the materialization table, and the view does not notice" in message
    project.add_model("regions", {"materialized": "ephemeral"}, "select 'EU' as region")
    assert run(project, None, "--select", "sums")["sums"].message == FILLED


def test_a_select_that_is_refused_leaves_no_lock(make_project: MakeProject) -> None:
    project = make(make_project, "view_no_lock")
    project.add_model("sums", VIEW, MODEL.replace("amount * _sign", "amount"))
    assert "does not multiply by the sign" in project.run("--select", "sums")["sums"].message
    assert project.query("exists table target__dbt_lock") == [(0,)]


def test_a_key_that_may_be_null_says_what_to_declare(make_project: MakeProject) -> None:
    """And what it says to do works."""
    project = make_project("view_nullable")
    changes = "select toInt64(1) as id, toNullable('EU') as region, toInt64(5) as amount, toUInt64(1) as _version"
    project.add_model("target", CONFIG, changes)
    view = {**VIEW, "order_by": ["region", "lower(region)"], "partition_by": "region"}
    project.add_model("sums", view, MODEL)
    message = project.run()["sums"].message
    for problem in (
        "order_by: lower(region) is Nullable(String), but a key of a table cannot be null. Replace nulls in the select",
        "partition_by: region is Nullable(String)",
        "in the properties of its table, and rebuild that table: dbt run --full-refresh --select target+",
    ):
        assert problem in message
    project.declare("target", {"region": "String"})
    outcomes = project.run("--full-refresh", "--select", "target+")
    assert outcomes["sums"].message == FILLED
    project.add_model("sums", {**view, "settings": {"allow_nullable_key": 1}}, MODEL + " -- one")
    project.declare("target", {"region": "Nullable(String)"})
    outcomes = project.run("--full-refresh", "--select", "target+")
    assert outcomes["sums"].message == FILLED


def test_a_view_without_its_table_says_what_to_build(make_project: MakeProject) -> None:
    project = make_project("view_no_table")
    project.add_model("target", CONFIG, "select * from changes")
    project.add_model("sums", VIEW, MODEL)
    message = project.run("--select", "sums")["sums"].message
    assert "`view_no_table`.`target`, which the view reads, does not exist" in message


def test_a_plain_view_in_its_place_is_refused(make_project: MakeProject) -> None:
    project = make(make_project, "view_place")
    project.command("create view sums as select 1 as x")
    message = project.run("--select", "sums")["sums"].message
    assert "is a view, and a table cannot replace it" in message


def test_a_contract_is_kept(make_project: MakeProject) -> None:
    project = make(make_project, "view_contract")
    project.add_model("sums", {**VIEW, "contract": {"enforced": True}}, MODEL)
    project.declare("sums", {"region": "String", "total": "Int64", "c": "UInt8"})
    message = project.run("--select", "sums")["sums"].message
    assert "enforced contract that failed" in message
    assert project.query("exists table sums") == [(0,)]
    project.add_model("sums", {**VIEW, "contract": {"enforced": True}}, f"{MODEL} settings max_threads = 1 -- one")
    project.declare("sums", {"region": "String", "total": "Int64", "c": "Int64"})
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    assert agrees(project)
