"""`versioned_collapsing_view`: sums that follow a table, filled once and exact from then on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.commands import Node
from tests.support.statements import STARTED, dying

MakeProject = Callable[[str], CollapsingProject]

STRUCTURE = "id Int64, region String, amount Int64, _version UInt64, _is_deleted Bool"
CONFIG = {"unique_key": "id"}
VIEW = {"materialized": "versioned_collapsing_view", "order_by": "region"}
SUMS = "select region, sum(amount * _sign) as total, sum(_sign) as c from {} group by region"
MODEL = SUMS.format("{{ ref('target') }}")
FILLED = "filled from target, follows it from here"
FOLLOWS = "follows target"


def rows(version: int) -> list[Row]:
    return [
        (key, ("EU", "US", "AP")[(key + version) % 3], key * version, version, key == version)
        for key in range(12)
    ]


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
    return bool(kept) and kept == project.query(
        f"{SUMS.format('target')} having c <> 0 order by region"
    )


def test_it_is_filled_from_an_old_table_and_follows_it(make_project: MakeProject) -> None:
    project = make(make_project, "view_first")
    assert run(project, None)["sums"].message == FILLED
    assert agrees(project)
    assert run(project, 2)["sums"].message == FOLLOWS
    assert agrees(project)
    run(project, 3, "--select", "target")
    assert agrees(project)


def test_it_is_rebuilt_when_its_definition_changes(make_project: MakeProject) -> None:
    project = make(make_project, "view_definition")
    run(project, None)
    project.add_model("sums", VIEW, MODEL.replace("amount", "amount * 2"))
    assert run(project, None)["sums"].message == FILLED
    assert not agrees(project)
    project.add_model("sums", {**VIEW, "order_by": ["region", "c"]}, MODEL)
    assert run(project, None)["sums"].message == FILLED
    assert agrees(project)
    query = (
        "select sorting_key from system.tables where database = 'view_definition' and name = 'sums'"
    )
    assert project.query(query) == [("region, c",)]


def test_it_is_rebuilt_with_a_full_refresh(make_project: MakeProject) -> None:
    project = make(make_project, "view_refresh")
    run(project, None)
    project.command("insert into sums values ('EU', 1, 1)")
    assert run(project, None, "--select", "sums")["sums"].message == FOLLOWS
    assert run(project, None, "--full-refresh", "--select", "sums")["sums"].message == FILLED
    assert agrees(project)
    # Of the table too: a view that is left out would keep the sums of the old rows.
    project.replace_rows("changes", STRUCTURE, rows(5))
    message = project.run("--full-refresh", "--select", "target")["target"].message
    assert "cannot be rebuilt alone. This materialized view reads from it" in message
    assert "the sums of the old rows: view_refresh.sums_mv. Rebuild" in message
    assert run(project, 5, "--full-refresh", "--select", "target+")["sums"].message == FILLED
    assert agrees(project)
    run(project, 6)
    assert agrees(project)


@pytest.mark.parametrize(
    "statement", ["drop table sums", "drop view sums_mv", "drop table sums_mv"]
)
def test_what_is_dropped_by_hand_is_made_again(make_project: MakeProject, statement: str) -> None:
    project = make(make_project, f"view_{statement.replace(' ', '_')}")
    run(project, None)
    project.command(statement)
    if statement != "drop table sums":
        run(project, 2, "--select", "target")
        assert not agrees(project)
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    run(project, 3)
    assert agrees(project)


def test_a_rebuild_that_died_is_begun_anew(make_project: MakeProject) -> None:
    """Before each statement of a first build and of a rebuild; the table goes on meanwhile."""
    project = make(make_project, "view_deaths")
    for death in range(8):
        project.add_model("sums", VIEW, MODEL.replace("total", "total ") + f" -- {death}")
        with dying({"sums": death}):
            outcome = project.run("--select", "sums")["sums"]
        if outcome.status == "success":
            break
        assert "sums died here" in outcome.message
        run(project, death + 2, "--select", "target")
        assert run(project, None, "--select", "sums")["sums"].message == FILLED, death
        assert agrees(project), death
        run(project, 20 + death, "--select", "target")
        assert agrees(project), death
    assert death > 3


@pytest.mark.parametrize("has_view", [False, True], ids=["first_build", "rebuild"])
def test_a_torn_table_is_completed_before_it_is_read(
    make_project: MakeProject, has_view: bool
) -> None:
    project = make(make_project, f"view_torn_{has_view}")
    if has_view:
        run(project, None)
    project.replace_rows("changes", STRUCTURE, rows(2))
    with dying({"target": STARTED}):
        assert "died here" in project.run("--select", "target")["target"].message
    project.add_model("sums", VIEW, f"{MODEL} -- another")
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    assert agrees(project)
    assert project.query("select max(_version) from target final where _sign = 1") == [(2,)]
    run(project, 3)
    assert agrees(project)


def test_views_of_stock_dbt_are_exact_too(make_project: MakeProject) -> None:
    project = make(make_project, "view_stock")
    stock = {
        "materialized": "materialized_view",
        "engine": "SummingMergeTree",
        "order_by": "region",
    }
    project.add_model("stock", stock, MODEL)
    run(project, None)
    with dying({"target": STARTED}):
        project.replace_rows("changes", STRUCTURE, rows(2))
        project.run("--select", "target")
    run(project, 3)
    assert agrees(project)
    assert agrees(project, "stock")


@pytest.mark.parametrize(
    ("config", "sql", "error"),
    [
        ({"order_by": None}, MODEL, "order_by is missing. Name the columns by which the sums are grouped."),
        ({"engine": "Memory"}, MODEL, "engine is 'Memory'; it takes an engine of the MergeTree family"),
        ({}, "select 1 as region", "select: the view reads from no versioned_collapsing model. It must `ref` exactly one versioned_collapsing model."),
        ({}, f"{MODEL} union all {MODEL.replace('target', 'other')}", "select: the view reads from other and target. It must `ref` exactly one"),
    ],
    ids=["order_by", "engine", "no_source", "two_sources"],
)  # fmt: skip
def test_errors(
    make_project: MakeProject,
    request: pytest.FixtureRequest,
    config: dict[str, object],
    sql: str,
    error: str,
) -> None:
    project = make(make_project, f"view_error_{request.node.callspec.id}")
    project.add_model("other", CONFIG, "select * from changes")
    project.add_model("sums", {**VIEW, **config}, sql)
    message = project.run("--select", "sums")["sums"].message
    assert "cannot be built as versioned_collapsing_view:" in message
    assert error in message


def test_a_key_that_may_be_null_says_what_to_declare(make_project: MakeProject) -> None:
    """And what it says to do works."""
    project = make_project("view_nullable")
    changes = "select toInt64(1) as id, toNullable('EU') as region, toInt64(5) as amount, toUInt64(1) as _version"
    project.add_model("target", CONFIG, changes)
    view = {**VIEW, "order_by": ["lower(region)", "c"], "partition_by": "region"}
    project.add_model("sums", view, MODEL)
    message = project.run()["sums"].message
    for problem in (
        "order_by: lower(region) is Nullable(String), but a key of a table cannot be null. Declare the `data_type`",
        "partition_by: region is Nullable(String)",
        "in the properties of target, and rebuild: dbt run --full-refresh --select target+. Or replace nulls",
    ):
        assert problem in message
    project.declare("target", {"region": "String"})
    outcomes = project.run("--full-refresh", "--select", "target+")
    assert outcomes["sums"].message == FILLED
    project.add_model("sums", {**view, "settings": {"allow_nullable_key": 1}}, MODEL + " -- one")
    project.declare("target", {"region": "Nullable(String)"})
    outcomes = project.run("--full-refresh", "--select", "target+")
    assert outcomes["sums"].message == FILLED


def test_a_view_that_the_rows_would_not_reach_is_refused(make_project: MakeProject) -> None:
    project = make(make_project, "view_second")
    project.command("create table regions (region String) engine = MergeTree order by region")
    join = "from regions inner join {{ ref('target') }} as target using (region)"
    project.add_model("sums", VIEW, MODEL.replace("from {{ ref('target') }}", join))
    for _ in range(2):  # Nor is it taken for current the next time.
        message = project.run("--select", "sums")["sums"].message
        assert "would not follow `view_second`.`target`" in message
        assert "Begin the select with target, and join the other tables to it." in message
    join = "from {{ ref('target') }} as target inner join regions using (region)"
    project.add_model("sums", VIEW, MODEL.replace("from {{ ref('target') }}", join))
    project.command("insert into regions values ('EU'), ('US'), ('AP')")
    assert run(project, 2)["sums"].message == FILLED
    run(project, 3, "--select", "target")
    assert agrees(project)


def test_a_view_without_its_table_says_what_to_build(make_project: MakeProject) -> None:
    project = make_project("view_no_table")
    project.add_model("target", CONFIG, "select * from changes")
    project.add_model("sums", VIEW, MODEL)
    message = project.run("--select", "sums")["sums"].message
    assert "view_no_table.target, which the view follows, does not exist" in message


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
    project.add_model(
        "sums", {**VIEW, "contract": {"enforced": True}}, f"{MODEL} settings max_threads = 1 -- one"
    )
    project.declare("sums", {"region": "String", "total": "Int64", "c": "Int64"})
    assert run(project, None, "--select", "sums")["sums"].message == FILLED
    assert agrees(project)
