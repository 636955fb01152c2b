"""What counts as equal: values of a reference in other types, nulls and zeros of an aggregate, the last partitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError
from tests.support.commands import Node

# Type and value in the table, the value of the reference, and whether they are equal.
# fmt: off
VALUES = [
    ("Decimal(12, 2)", "1.23", "1.23::Decimal(12, 4)", True),
    ("Decimal(12, 2)", "1.23", "1.2345::Decimal(12, 4)", False),
    ("Decimal(12, 2)", "'1.15'", "1.15::Float64", True),
    ("Decimal(12, 2)", "'1.15'", "1.151::Float64", False),
    ("Decimal(12, 2)", "1.2", "'1.20'", True),
    ("Decimal(12, 2)", "1.2", "'1.201'", False),
    ("Decimal(12, 2)", "1.2", "null::Nullable(Decimal(12, 2))", False),
    ("Nullable(Decimal(12, 2))", "null", "null::Nullable(Float64)", True),
    ("Nullable(Decimal(12, 2))", "null", "'many'", False),
    ("Float64", "1.5", "1.50::Decimal(9, 2)", True),
    ("Float64", "nan", "nan::Float32", True),
    ("Float32", "16777216", "16777217::Int64", False),
    ("Int64", "5", "5::UInt8", True),
    ("UInt8", "5", "261::Int64", False),
    ("UInt8", "5", "5.5::Float64", False),
    ("Int64", "5", "'+05'", True),
    ("Int64", "5", "'5.0001'", False),
    ("UInt128", "0", "'340282366920938463463374607431768211456'", False),
    ("Date", "'2025-03-02'", "'2025-03-02'", True),
    ("Date", "'2025-03-02'", "'2025-03-02T00:00:00.000Z'", True),
    ("Date", "'2025-03-02'", "'2025-02-30'", False),
    ("Date", "'2020-07-27'", "toDate32('2200-01-01')", False),
    ("Date", "'2025-03-02'", "toDateTime('2025-03-02 10:00:00', 'UTC')", False),
    ("DateTime('UTC')", "'2025-03-02 10:00:00'", "toDateTime64('2025-03-02 10:00:00.000', 3, 'UTC')", True),
    ("DateTime('UTC')", "'2025-03-02 10:00:00'", "toDateTime64('2025-03-02 10:00:00.500', 3, 'UTC')", False),
    ("DateTime('UTC')", "'2025-03-02 10:00:00'", "'2025-03-02T10:00:00.000'", True),
    ("DateTime('UTC')", "'2025-03-02 10:00:00'", "'2025-03-02 10:00:00.5'", False),
    ("DateTime64(3, 'UTC')", "'2025-03-02 10:00:00.500'", "'2025-03-02 10:00:00.5'", True),
    ("Enum('a' = 1, 'b' = 2)", "'a'", "'a'", True),
    ("Enum('a' = 1, 'b' = 2)", "'a'", "'c'", False),
    ("LowCardinality(Nullable(String))", "'x'", "'x'", True),
    ("String", "'1.5'", "1.5::Float64", True),
    ("FixedString(3)", "'abc'", "'abc'", True),
    ("Bool", "true", "1::UInt8", True),
    ("Bool", "true", "2::UInt8", False),
    ("Array(Decimal(9, 2))", "[1.23]", "[1.23::Decimal(9, 3)]", True),
    ("Array(Decimal(9, 2))", "[1.23]", "[1.239::Decimal(9, 3)]", False),
    ("Array(Float64)", "[nan]", "[nan::Float64]", True),
    ("Map(String, Int8)", "map('a', 5)", "map('a', 261::Int64)", False),
    ("Tuple(a Int64)", "tuple(7)", "tuple(7)::Tuple(a Int64)", True),
]
# fmt: on
DIFFERENT = [f"c{i}" for i, (*_, is_same) in enumerate(VALUES) if not is_same]

# A table of (id, part, amount, _version, _sign), its tests, and their messages; None if they pass.
Case = tuple[str, str, str, dict[str, Any], list[str]]
KEYED = {"unique_key": "id"}
SUMS = {"group_by": "part", "sums": "amount"}
TWO_IN_11 = "(1, 9, 1, 1, 1), (2, 10, 1, 1, 1), (3, 11, 1, 1, 1), (3, 11, 1, 2, 1)"
CASES: dict[str, Case] = {
    "last_number": ("Int64", TWO_IN_11, "one_live_row_per_key", {**KEYED, "recent_partitions": 1},
                    ["more than one live row"]),
    "last_of_negative_numbers": ("Int64", "(1, -10, 1, 1, 1), (2, -9, 1, 1, 1), (2, -9, 1, 2, 1)",
                                 "one_live_row_per_key", {**KEYED, "recent_partitions": 1}, ["more than one live row"]),
    "last_date": ("Date32", "(1, '1960-01-01', 1, 1, 1), (2, '2025-01-31', 1, 1, 1), (2, '2025-01-31', 1, 2, 1)",
                  "one_live_row_per_key", {**KEYED, "recent_partitions": 1}, ["more than one live row"]),
    "last_but_one": ("Int64", "(1, 9, 1, 1, 1), (1, 9, 1, 2, 1), (2, 10, 1, 1, 1), (3, 11, 1, 1, 1)",
                     "one_live_row_per_key", {**KEYED, "recent_partitions": 2}, []),
    "null_and_zero": ("Int64", "(1, 0, 5, 1, 1), (1, 0, 5, 1, -1), (1, 0, null, 2, 1)", "aggregate_agrees",
                      {**SUMS, "aggregate": "(select 0 as part, 0 as amount, 1 as live_rows)"}, []),
    "dead_group_with_values": ("Int64", "(1, 0, 5, 1, 1)", "aggregate_agrees",
                               {**SUMS, "aggregate": "values('part Int64, amount Float64, live_rows Int64', (0, 5, 1), (1, 500, 0))"},
                               ["the aggregate has other values: amount"]),
    "dead_group": ("Int64", "(1, 0, 5, 1, 1), (2, 1, 5, 1, 1), (2, 1, 5, 1, -1)", "aggregate_agrees",
                   {**SUMS, "aggregate": "(select 0 as part, 5 as amount, 1 as live_rows)"}, []),
    "one_group_of_all": ("Int64", "(1, 0, 5, 1, 1), (2, 1, 6, 1, 1)", "aggregate_agrees",
                         {"group_by": [], "sums": "amount", "aggregate": "(select 11 as amount, 2 as live_rows)"}, []),
    "one_group_of_all_differs": ("Int64", "(1, 0, 5, 1, 1), (2, 1, 6, 1, 1)", "aggregate_agrees",
                                 {"group_by": [], "sums": "amount", "sample": 1, "aggregate": "(select 12 as amount, 2 as live_rows)"},
                                 ["the aggregate has other values: amount"]),
    "zeros_of_both_signs": ("Int64", "(1, 0, 0.0, 1, 1), (1, 0, -0.0, 1, -1)", "cancel_rows_match_state_rows", {},
                            ["the cancel row differs from the state row in amount"]),
    "lone_cancel_row": ("Int64", "(1, 0, 5, 1, -1)", "rows_waiting_to_collapse_below", {"rows": 1}, []),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(make_project: Callable[[str], CollapsingProject]) -> CollapsingProject:
    project = make_project("compared")
    columns = ", ".join(f"c{i} {kind}" for i, (kind, *_) in enumerate(VALUES))
    project.command(
        f"create table live (id Int64, {columns}, _version UInt64, _sign Int8) "
        "engine = VersionedCollapsingMergeTree(_sign, _version) order by id"
    )
    project.command(f"insert into live select 1, {', '.join(v for _, v, *_ in VALUES)}, 1, 1")
    given = ", ".join(f"{value} as c{i}" for i, (*_, value, _) in enumerate(VALUES))
    project.command(f"create view reference as select 1 as id, {given}")
    project.add_model("live", {"unique_key": "id"}, "select 1 as id, 1 as _version")
    same = [f"c{i}" for i, (*_, is_same) in enumerate(VALUES) if is_same]
    reference = {"reference": "compared.reference", "unique_key": "id"}
    tables: list[dict[str, Any]] = [
        {
            "name": "live",
            "data_tests": [
                described("live_rows_equal", "all_values", reference),
                described("live_rows_equal", "same_values", {**reference, "columns": ["id", *same]}),
            ],
        }
    ]
    for name, (part, rows, test, arguments, _) in CASES.items():
        project.command(
            f"create table {name} (id Int64, part {part}, amount Nullable(Float64), _version UInt64, _sign Int8) "
            "engine = VersionedCollapsingMergeTree(_sign, _version) partition by part order by id"
        )
        project.command(f"system stop merges {name}")
        project.command(f"insert into {name} settings optimize_on_insert = 0 values {rows}")
        tables.append({"name": name, "data_tests": [described(test, f"case_{name}", arguments)]})
    sources = [{"name": "elsewhere", "schema": "compared", "tables": tables}]
    (project.folder / "models" / "sources.yml").write_text(json.dumps({"sources": sources}))
    return project


def described(test: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    config = {"store_failures": True, "schema": "failures"}
    return {test: {"name": name, "arguments": arguments, "config": config}}


@pytest.fixture(scope="module")
def outcomes(project: CollapsingProject) -> dict[str, Node]:
    return project.dbt("test")


def test_values_that_differ_are_named(project: CollapsingProject, outcomes: dict[str, Node]) -> None:
    assert outcomes["all_values"].status == "fail", outcomes["all_values"].message
    failing = "select failing_condition, differing_columns from compared_failures.all_values"
    ((condition, differing),) = project.query(failing)
    assert set(differing) ^ set(DIFFERENT) == set()
    assert differing == DIFFERENT
    assert condition == f"other values than in the reference: {', '.join(DIFFERENT)}"
    assert outcomes["same_values"].status == "pass", outcomes["same_values"].message


def test_reconcile_compares_in_the_same_way(project: CollapsingProject) -> None:
    for names, differs in (
        ([f"c{i}" for i, (*_, is_same) in enumerate(VALUES) if is_same], False),
        (["c1"], True),
        (["c5", "c0"], True),
        (["c25"], "c25" in DIFFERENT),
    ):
        arguments = {"model": "live", "reference": "compared.reference", "columns": names}
        if differs:
            with pytest.raises(OperationError, match="0 keys missing, 0 unexpected, 0 doubled, 1 with other"):
                project.operation("reconcile", **arguments)
        else:
            assert "agrees with" in project.operation("reconcile", **arguments)


@pytest.mark.parametrize("name", CASES)
def test_case(project: CollapsingProject, outcomes: dict[str, Node], name: str) -> None:
    *_, conditions = CASES[name]
    outcome = outcomes[f"case_{name}"]
    assert outcome.status == ("fail" if conditions else "pass"), outcome.message
    rows = project.query(f"select failing_condition from compared_failures.case_{name}")
    assert [condition for (condition,) in rows] == conditions
