"""`which_engine` measures engines on a user's own table, and says which to take."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying

STRUCTURE = "id UInt64, status LowCardinality(String), amount Decimal(12, 2), _version UInt64, _is_deleted UInt8"
ORDERS = (
    "select toUInt64(number) as id, toLowCardinality(['new', 'paid', 'sent'][number % 3 + 1]) as status, "
    "toDecimal64(number % 100, 2) as amount, toUInt64(1) as _version from numbers(3000)"
)
CHANGES = (
    "select toUInt64(number * 7) as id, 'paid' as status, toDecimal64(5, 2) as amount, toUInt64(2) as _version, "
    "number % 5 = 0 as _is_deleted from numbers(450)"
)


def make(make_project: MakeProject, schema: str, **config: Any) -> CollapsingProject:
    project = make_project(schema)
    project.add_model("orders", {"unique_key": "id", **config}, ORDERS)
    project.run()
    project.command(f"create table changes engine = MergeTree order by id as {CHANGES}")
    return project


def figures(printed: str) -> dict[str, list[str]]:
    """The cells of the table, by way."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in printed.splitlines()]
    return {line[0]: line[1:] for line in lines if len(line) == 6}


def databases(project: CollapsingProject) -> list[Any]:
    return project.query("select name from system.databases where name like '%which_engine%'")


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    project = make(make_project, "measured")
    source = {"name": "raw", "schema": "measured", "tables": [{"name": "odd"}, {"name": "gone"}]}
    project.add_properties("sources", {"sources": [source]})
    return project


def which(project: CollapsingProject, model: str, **arguments: Any) -> str:
    printed = project.operation("which_engine", model=model, trials=1, **arguments)
    assert databases(project) == []
    return printed


def test_every_way_comes_to_the_same_rows_and_only_signs_keep_a_view_right(project: CollapsingProject) -> None:
    printed = which(project, "orders", changes="measured.changes")
    assert "3000 rows of 3000, and 450 changes (17 new, 343 updated, 86 deleted)" in printed
    assert "Sums of amount by status." in printed
    found = figures(printed)
    assert {way: cells[-1] for way, cells in found.items() if way != "way"} == {
        "MergeTree, rows appended": "no",
        "ReplacingMergeTree": "no",
        "lightweight update": "no",
        "versioned_collapsing": "yes",
    }
    assert all(float(n) > 0 for way, cells in found.items() if way != "way" for n in cells[:-1])
    cheapest = re.search(r"Take (.*): nothing follows the table, and a write with 10 reads", printed)
    assert cheapest is not None
    totals = {
        way: float(cells[0]) + 10 * float(cells[3])
        for way, cells in found.items()
        if way not in ("way", "MergeTree, rows appended")
    }
    assert totals[cheapest[1]] - min(totals.values()) < 0.02  # the figures are rounded


@pytest.mark.parametrize(
    ("changes", "views", "advice"),
    [
        (CHANGES, True, "Take versioned_collapsing: views follow the table, and views of the other ways go wrong"),
        (f"select * from ({CHANGES}) where id >= 3000", True, "Take MergeTree: no change is of a row that is there."),
        (f"select *, 0 as _is_deleted from ({ORDERS})", False, "Take a copy (materialized: table"),
    ],
    ids=["views", "new rows", "most rows"],
)
def test_what_decides(project: CollapsingProject, changes: str, views: bool, advice: str) -> None:
    project.command(f"create or replace table some engine = Memory as {changes}")
    assert advice in which(project, "orders", changes="measured.some", views=views)


def test_a_source_with_any_columns_and_made_up_changes(project: CollapsingProject) -> None:
    project.command(
        "create table odd (`Order-ID` String, line UInt16, `a b` LowCardinality(Nullable(String)), tags Array(String), "
        "m Map(String, Int8), at DateTime64(3, 'UTC'), f Nullable(Float64), qty Nullable(Int32), v UInt64) "
        "engine = ReplacingMergeTree(v) order by (`Order-ID`, line)"
    )
    for version in (1, 2):
        project.command(
            "insert into odd select 'o' || toString(number % 500), number % 3, if(number % 5 = 0, null, 'g' || toString"
            "(number % 4)), ['x'], map('k', 1), now64(3), if(number % 7 = 0, null, 1.5), if(number % 11 = 0, null, "
            f"number), {version} from numbers(1500)"
        )
    printed = which(project, "odd", unique_key=["Order-ID", "line"], rows=800)
    assert re.search(r"\d{3} rows of 1500, and \d+ changes \(0 new, \d+ updated, 0 deleted\), made up", printed)
    assert "Sums of qty by a b." in printed
    assert len(figures(printed)) == 5


ERRORS = {
    "an unknown model": ({"model": "order"}, "no model, seed, snapshot or source 'order'. Do you mean 'orders'?"),
    "no table": ({"model": "gone", "unique_key": "id"}, "gone has no table yet. Build it first"),
    "no key": ({"model": "odd"}, "the key is not known: the model has no unique_key. Add it: unique_key: "),
    "columns": (
        {"model": "orders", "changes": "measured.numbers", "sums": "price", "rows": 0},
        "which_engine:\n    - orders has no column price.*the changes have no column status. They have id.*rows is 0. Give a whole number above 0",
    ),
    "no rows": ({"model": "orders", "changes": "measured.nothing"}, "3000 rows and 0 changes. It needs some of both"),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_leave_nothing_behind(project: CollapsingProject, arguments: dict[str, Any], message: str) -> None:
    project.command("create table if not exists odd (id UInt8) engine = Memory")
    project.command("create or replace table numbers (id UInt64) engine = Memory")
    project.command("create or replace table nothing engine = Memory as select * from changes where false")
    with pytest.raises(OperationError, match=f"(?s){message}"):
        which(project, **arguments)
    assert databases(project) == []


def test_what_an_interrupted_operation_leaves_is_dropped_by_the_next(project: CollapsingProject) -> None:
    with dying({"materialized view": 0}), pytest.raises(OperationError):
        project.operation("which_engine", model="orders", trials=1)
    assert databases(project) == [("measured__which_engine_orders",)]
    which(project, "orders")
