"""`on_schema_change`: columns that only the model or only the table has."""

from __future__ import annotations

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject


def configure(project: CollapsingProject, **config: object) -> None:
    project.add_model("target", {"unique_key": "id", **config}, "select * from changes")


def apply(project: CollapsingProject, structure: str, rows: list[Row]) -> str:
    project.replace_rows("changes", f"id Int64, {structure}, _version Int64", rows)
    outcome = project.run()["target"]
    assert outcome.status == "success", outcome.message
    return outcome.message


def failure(project: CollapsingProject, structure: str) -> str:
    project.replace_rows("changes", f"id Int64, {structure}, _version Int64", [])
    outcome = project.run()["target"]
    assert outcome.status == "error"
    return outcome.message


def test_append_adds_columns_and_keeps_those_that_are_gone(make_project: MakeProject) -> None:
    project = make_project("schema_append")
    configure(project, on_schema_change="append_new_columns")
    apply(project, "x Int64, gone String", [(1, 1, "a", 1), (2, 2, "b", 1)])
    apply(project, "x Int64, y Nullable(Int64), z String", [(1, 5, 6, "z", 2), (3, 7, 8, "z", 1)])
    columns = "id, x, gone, y, z, _version"
    assert project.query(f"select {columns} from target final where _sign = 1 order by id") == [
        (1, 5, "a", 6, "z", 2),
        (2, 2, "b", None, "", 1),
        (3, 7, "", 8, "z", 1),
    ]
    # Rows from before the column cancel as they are stored.
    apply(project, "x Int64, y Nullable(Int64), z String", [(2, 9, 9, "y", 2)])
    project.command("optimize table target final")
    assert project.query(f"select {columns}, _sign from target order by id") == [
        (1, 5, "a", 6, "z", 2, 1),
        (2, 9, "b", 9, "y", 2, 1),
        (3, 7, "", 8, "z", 1, 1),
    ]


def test_the_same_rows_again_are_duplicates(make_project: MakeProject) -> None:
    project = make_project("schema_again")
    configure(project, on_schema_change="append_new_columns")
    apply(project, "x Int64, gone String", [(1, 1, "a", 1)])
    rows: list[Row] = [(1, 5, 6, 2)]
    apply(project, "x Int64, y Int64", rows)
    assert apply(project, "x Int64, y Int64", rows) == "1 row: 1 duplicate"


def test_ignore_leaves_the_columns_as_they_are(make_project: MakeProject) -> None:
    project = make_project("schema_ignore")
    configure(project, on_schema_change="ignore")
    apply(project, "x Int64, gone String", [(1, 1, "a", 1)])
    apply(project, "x Int64, y Int64", [(1, 5, 6, 2)])
    assert project.query("select * from target final") == [(1, 5, "a", 2, 1)]


def test_dbts_own_default_is_not_taken_for_the_projects_choice(make_project: MakeProject) -> None:
    project = make_project("schema_fail")
    configure(project)
    apply(project, "x Int64", [(1, 1, 1)])
    message = failure(project, "y Int64")
    assert "the model adds y and drops x. Set on_schema_change" in message
    assert "Set on_schema_change to append_new_columns or ignore" in message


@pytest.mark.parametrize(
    ("change", "structure", "error"),
    [
        ({"old_state": "stream"}, "day Date, y Int64, _sign Int8", "with `old_state: stream` the model must have the columns of"),
        ({}, "x Int64, y Int64", "the change set lacks day, which belongs to unique_key, version, order_by or partition_by"),
        ({}, "day Date, x String", "x is String in the model and Int64 in"),
    ],
    ids=["stream", "required", "type"],
)  # fmt: skip
def test_what_cannot_be_brought_in_line(
    make_project: MakeProject, change: dict[str, object], structure: str, error: str
) -> None:
    project = make_project(f"schema_bad_{abs(hash(error)) % 10**6}")
    config = {"partition_by": "toYYYYMM(day)", "on_schema_change": "append_new_columns"}
    configure(project, **config)
    project.replace_rows("changes", "id Int64, day Date, x Int64, _version Int64", [])
    assert project.run()["target"].status == "success"
    configure(project, **config, **change)
    assert error in failure(project, structure)


def test_a_new_column_in_order_by_needs_a_full_refresh(make_project: MakeProject) -> None:
    project = make_project("schema_required")
    configure(project, on_schema_change="append_new_columns", partition_by="x")
    apply(project, "x Int64", [(1, 1, 1)])
    configure(project, on_schema_change="append_new_columns", partition_by="y")
    assert "partition_by is 'y'" in failure(project, "x Int64, y Int64")


def test_a_new_column_must_not_count_in_old_rows(make_project: MakeProject) -> None:
    project = make_project("schema_combine")
    append = {"on_schema_change": "append_new_columns"}
    configure(project, **append)
    apply(project, "x Int64", [(1, 1, 1)])
    for policy in ("first", "least", "greatest", "coalesce"):
        configure(project, **append, combine={"z": policy})
        message = failure(project, "x Int64, z Int64")
        assert f"combine: z is new, has the policy '{policy}' and is Int64" in message
        assert "Declare a Nullable data_type" in message
    configure(project, **append, combine={"z": "least"})
    apply(project, "x Int64, z Nullable(Int64)", [(1, 1, 50, 2)])
    assert project.query("select z from target final where _sign = 1") == [(50,)]


def test_a_name_in_another_case_is_another_column(make_project: MakeProject) -> None:
    project = make_project("schema_case")
    configure(project, on_schema_change="append_new_columns")
    apply(project, "x Int64", [(1, 1, 1)])
    apply(project, "X Int64", [(1, 5, 2)])
    warnings = project.logged("JinjaLogWarning")
    assert "the new column X differs from x only in case" in warnings
    assert project.query("select x, X from target final where _sign = 1") == [(1, 5)]
