"""Types as the project spells them, as the table has them, and as keys and policies can use them."""

from __future__ import annotations

import pytest

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node

# Spellings, and literals of them.
SPELLED = {
    "BIGINT": "1",
    "int": "2",
    "boolean": "true",
    "text": "'x'",
    "VARCHAR(10)": "'y'",
    "DOUBLE": "1.5",
    "DateTime64": "'2025-01-01 00:00:00.123'",
    "Decimal64(2)": "'1.23'",
    "DECIMAL(12, 2)": "'1.23'",
    "Enum('a','b')": "'a'",
    "FixedString(3)": "'abc'",
    "Nullable(FixedString(3))": "null",
    "LowCardinality(FixedString(3))": "'ab'",
    "LowCardinality(Nullable(FixedString(3)))": "'abc'",
    "Array(FixedString(2))": "['ab']",
    "Map(text, int)": "map('a', 1)",
    "Tuple(a int, `b c` Array(Tuple(x text, y int)))": "(1, [('x', 2)])",
    "TIMESTAMP": "'2025-01-01 00:00:00'",
    "JSON": "'{\"a\": 1}'",
    "Variant(text, int)": "'x'",
}
GIVEN = {"Map(text, int)", "Tuple(a int, `b c` Array(Tuple(x text, y int)))"}


class TestBuiltTwice:
    @pytest.fixture(scope="class")
    @classmethod
    def outcomes(cls, make_project: MakeProject) -> list[dict[str, Node]]:
        project = make_project("types_twice")
        columns = [
            f"cast({value} as {kind}) as c{at}" if kind in GIVEN else f"{value} as c{at}"
            for at, (kind, value) in enumerate(SPELLED.items())
        ]
        project.add_model("spelled", {"unique_key": "id"}, f"select 1 as id, {', '.join(columns)}, 1 as _version")
        project.declare("spelled", {f"c{at}": kind for at, kind in enumerate(SPELLED)})
        found = [f"cast({value} as {kind}) as c{at}" for at, (kind, value) in enumerate(SPELLED.items())]
        project.add_model(
            "found",
            {"unique_key": ["id", "c10"], "on_conflict": "error"},
            f"select 1 as id, {', '.join(found)}, 1 as _version",
        )
        project.add_model(
            "shared",
            {
                "unique_key": "id",
                "order_by": ["day", "id"],
                "partition_by": ["(day, toYear(day) )", "`id`  % 2"],
                "primary_key": "day",
            },
            "select {{ var('x') }} as x, toDate('2025-01-01') as day, 1 as id, x as _version",
        )
        project.add_model(
            "ticked",
            {
                "unique_key": ["i`d", "'s)'"],
                "sign": "si`gn)",
                "order_by": ["i`d", "'s)'", "x"],
                "settings": {"storage_policy": "default"},
            },
            "select {{ var('x') }} as x, 1 as `i``d`, 2 as `'s)'`, x as _version",
        )
        project.add_model(
            "quoted",
            {"unique_key": "id", "alias": "it's 'q'", "remember_deletes": "30 days"},
            "select {{ var('x') }} as x, 1 as id, x as _version",
        )
        project.add_model(
            "month",
            {"unique_key": "id", "partition_by": "dateTrunc('month', day)"},
            "select 1 as id, toDate('2025-01-01') as day, cast(null as Nullable(String)) as month, 'x' as `null`, {{ var('x') }} as _version",
        )
        project.add_model("computed", {"unique_key": "id"}, "select 1 as id, {{ var('x') }} as x, x as _version")
        runs = [project.run("--vars", "x: 1")]
        project.command("alter table computed add column twice Int64 materialized x * 2, add column also Int64 alias x")
        runs.append(project.run("--vars", "x: 2"))
        cls.project = project
        return runs

    project: CollapsingProject

    @pytest.mark.parametrize("model", ["spelled", "found", "shared", "ticked", "quoted", "month", "computed"])
    def test_status(self, outcomes: list[dict[str, Node]], model: str) -> None:
        for run in outcomes:
            assert run[model].status == "success", run[model].message

    def test_types_are_kept(self, outcomes: list[dict[str, Node]]) -> None:
        assert outcomes[1]["found"].message == "1 row: 1 duplicate"
        columns = "from system.columns where database = 'types_twice' and name like 'c%'"
        kept: dict[str, str] = dict(self.project.query(f"select name, type {columns} and table = 'found'"))
        assert kept["c10"] == "FixedString(3)"
        assert kept["c12"] == "LowCardinality(FixedString(3))"
        assert kept == dict(self.project.query(f"select name, type {columns} and table = 'spelled'"))

    def test_rows(self, outcomes: list[dict[str, Node]]) -> None:
        assert self.project.query("select x, twice, also, _sign from computed final") == [(2, 4, 2, 1)]
        assert self.project.query("select x, `i``d`, `'s)'` from ticked final where `si``gn)` = 1") == [(2, 1, 2)]


def test_greatest_and_least_do_not_depend_on_the_runs(make_project: MakeProject) -> None:
    """The same changes in one run and one by one give the same result; null and NaN are ignored."""
    project = make_project("policies_of_types")
    values = {
        "f": ("Float64", ["1", "nan", "0"]),
        "g": ("Nullable(Float32)", ["null", "nan", "2", "1"]),
        "h": ("Float64", ["nan", "nan"]),
        "s": ("LowCardinality(Nullable(String))", ["'b'", "null", "'a'"]),
        "t": ("Tuple(Int8, String)", ["(1, 'a')", "(2, 'b')", "(1, 'z')"]),
        "a": ("Array(UInt8)", ["[2]", "[1, 5]", "[2, 0]"]),
        "u": ("UInt64", ["0", "18446744073709551615", "1"]),
    }
    names = [f"{name}_{policy}" for name in values for policy in ("greatest", "least")]
    config = {"unique_key": "id", "combine": {name: name.split("_")[1] for name in names}}
    structure = ", ".join(f"{name} {values[name.split('_')[0]][0]}" for name in names)
    for table in ("in_one", "in_many"):
        project.command(f"create table {table}_changes (id Int64, {structure}, _version Int64) engine = Memory")
        project.add_model(table, config, f"select * from {table}_changes where _version in ({{{{ var('versions') }}}})")

    def value(name: str, version: int) -> str:
        given = values[name.split("_", maxsplit=1)[0]][1]
        return given[version % len(given)]

    versions = range(4)
    for version in versions:
        row = f"select 1, {', '.join(value(name, version) for name in names)}, {version}"
        for table in ("in_one", "in_many"):
            project.command(f"insert into {table}_changes {row}")
    assert project.run("--select", "in_one", "--vars", "versions: '0, 1, 2, 3'")["in_one"].status == "success"
    for version in versions:
        outcome = project.run("--select", "in_many", "--vars", f"versions: '{version}'")["in_many"]
        assert outcome.status == "success", outcome.message
    in_one, in_many = (
        project.query(f"select {', '.join(f'toString({name})' for name in names)} from {table} final")
        for table in ("in_one", "in_many")
    )
    assert in_one == in_many
    found = dict(zip(names, in_one[0], strict=True))
    assert (found["f_greatest"], found["f_least"], found["h_least"]) == ("1", "0", "nan")
    assert (found["g_greatest"], found["g_least"]) == ("2", "1")
    assert (found["s_greatest"], found["t_greatest"], found["a_least"]) == ("b", "(2,'b')", "[1,5]")


def test_keys_and_versions_from_text(make_project: MakeProject) -> None:
    project = make_project("keys_from_text")
    rows = [("1.00", "2025-01-01 00:00:00.001"), ("1.001", "2025-01-01 00:00:00"), ("2", "2025-01-01 00:00:00.0009")]
    project.replace_rows("changes", "id String, _version String", rows)
    project.add_model("target", {"unique_key": "id"}, "select * from changes")
    project.declare("target", {"id": "Decimal(9, 2)", "_version": "DateTime64(3, 'UTC')"})
    message = project.run()["target"].message
    assert "1 row: id does not fit Decimal(9, 2)" in message
    assert "1 row: _version does not fit DateTime64(3, 'UTC')" in message
    project.replace_rows("changes", "id String, _version String", rows[:1])
    assert project.run()["target"].message == "1 row: 1 state"
