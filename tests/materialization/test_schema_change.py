"""`on_schema_change`: columns that only the model or only the table has."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

APPEND: dict[str, Any] = {"on_schema_change": "append_new_columns"}


def give(table: Table, columns: str) -> Table:
    """Set the columns of the changes."""
    table.columns = f"id Int64, {columns}, _version Int64"
    return table


def make(make_project: MakeProject, schema: str, columns: str, rows: list[Row], **options: Any) -> Table:
    table = give(Table(make_project(schema), **options), columns)
    table.apply(rows)
    return table


def test_append_adds_columns_and_keeps_those_that_are_gone(make_project: MakeProject) -> None:
    rows: list[Row] = [(1, 1, "a", 1), (2, 2, "b", 1)]
    table = give(
        make(make_project, "schema_append", "x Int64, gone String", rows, **APPEND),
        "x Int64, y Nullable(Int64), z String",
    )
    table.apply([(1, 5, 6, "z", 2), (3, 7, 8, "z", 1)])
    assert (
        "added y, z, with the default in stored rows until they change. To take the values of earlier changes: "
        "dbt run --full-refresh --select target"
    ) in table.project.logged("JinjaLogInfo")
    columns = "id, x, gone, y, z, _version"
    assert table.live(columns) == [(1, 5, "a", 6, "z", 2), (2, 2, "b", None, "", 1), (3, 7, "", 8, "z", 1)]
    # Rows from before the column was added are cancelled as they are stored.
    table.apply([(2, 9, 9, "y", 2)])
    table.command("optimize table target final")
    table.check([(1, 5, "a", 6, "z", 2), (2, 9, "b", 9, "y", 2), (3, 7, "", 8, "z", 1)], columns)


def test_the_same_rows_again_are_duplicates(make_project: MakeProject) -> None:
    table = give(
        make(make_project, "schema_again", "x Int64, gone String", [(1, 1, "a", 1)], **APPEND), "x Int64, y Int64"
    )
    table.apply([(1, 5, 6, 2)])
    assert table.apply([(1, 5, 6, 2)]) == "1 row: 1 duplicate"


def test_ignore_leaves_the_columns_as_they_are(make_project: MakeProject) -> None:
    table = make(make_project, "schema_ignore", "x Int64, gone String", [(1, 1, "a", 1)], on_schema_change="ignore")
    give(table, "x Int64, y Int64").apply([(1, 5, 6, 2)])
    table.check([(1, 5, "a", 2)])


def test_dbts_own_default_is_not_taken_for_the_projects_choice(make_project: MakeProject) -> None:
    message = give(make(make_project, "schema_fail", "x Int64", [(1, 1, 1)]), "y Int64").fail()
    assert "the model adds y and drops x. Set on_schema_change" in message
    assert "Set on_schema_change to append_new_columns or ignore" in message


@pytest.mark.parametrize(
    ("options", "changed", "columns", "error"),
    [
        ({"partition_by": "x"}, {"partition_by": "x", "old_state": "stream"}, "x Int64, y Int64, _sign Int8", "with `old_state: stream` the model must have the columns of"),
        ({"partition_by": "day"}, {"partition_by": "day"}, "x Int64, y Int64", "the change set lacks day, which belongs to unique_key, version, order_by or partition_by"),
        ({}, {}, "day Date, x String", "x is String in the model and Int64 in"),
        ({"partition_by": "x"}, {"partition_by": "y"}, "day Date, x Int64, y Int64", "partition_by is 'y'"),
    ],
    ids=["stream", "required", "type", "partition"],
)  # fmt: skip
def test_what_cannot_be_brought_in_line(
    make_project: MakeProject, options: Any, changed: Any, columns: str, error: str
) -> None:
    rows: list[Row] = [(1, dt.date(2025, 1, 1), 1, 1)]
    table = make(make_project, f"schema_bad_{len(error)}", "day Date, x Int64", rows, **APPEND, **options)
    table.configure(**APPEND, **changed)
    assert error in give(table, columns).fail()


def test_a_new_column_must_not_count_in_old_rows(make_project: MakeProject) -> None:
    table = give(make(make_project, "schema_combine", "x Int64", [(1, 1, 1)], **APPEND), "x Int64, z Int64")
    for policy in ("first", "least", "greatest", "coalesce"):
        table.configure(**APPEND, combine={"z": policy})
        message = table.fail()
        assert f"combine: z is new, has the policy '{policy}' and is Int64" in message
        assert "Declare a Nullable data_type" in message
    table.configure(**APPEND, combine={"z": "least"})
    give(table, "x Int64, z Nullable(Int64)").apply([(1, 1, 50, 2)])
    table.check([(50,)], "z")


def test_a_name_in_another_case_is_another_column(make_project: MakeProject) -> None:
    table = make(make_project, "schema_case", "x Int64", [(1, 1, 1)], **APPEND)
    give(table, "X Int64").apply([(1, 5, 2)])
    assert "the new column X differs from x only in case" in table.project.logged("JinjaLogWarning")
    table.check([(1, 5)], "x, X")
