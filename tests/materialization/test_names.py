"""Columns may have any name, keys any expression, and values any of their type."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node

# Those that statements could be taken for having themselves, and those that need quotes.
NAMES = [
    *("key", "from", "order", "name", "n", "row", "sign", "given", "changes", "changed", "stored"),
    *("live", "torn", "uncollapsed", "outcome", "unset", "duplicates", "conflicts", "highest"),
    *("is_deleted", "deleted_at", "is_tombstone", "is_live", "has_live", "live_version", "missing"),
    *("partition_id", "net_sign", "key_hash", "checksum", "states", "boundary"),
    *("a.b", "a-b", "it's", "c++", "x(", "Ünï"),
]
PAYLOAD = ", ".join(f"toInt64(10 * version) as `{name}`" for name in NAMES)
SELECT = f"""
with changes as (select number, {{{{ var('version') }}}} as version from numbers(5))
select toInt64(number) as `a b`, number % 2 as position, toDate('2025-01-01') as day, {PAYLOAD},
  toUInt64(version) as `my version`, version = 2 and number = 3 as `my delete`
from changes -- the last line"""
CONFIG: dict[str, Any] = {
    "unique_key": ["a b", "position"],
    "order_by": ["position", "a b", "my version"],
    "partition_by": ["toYear(day) * 100 + toMonth(day)", "`a b` in (1, 2)", "day::DateTime"],
    "version": "my version",
    "sign": "my sign",
    "is_deleted": "my delete",
    "alias": "its-table",
    "schema": "of its own",
}
MODELS: dict[str, dict[str, Any]] = {
    "plain": CONFIG,
    "combined": {**CONFIG, "alias": "other", "chunks": 2, "combine": dict.fromkeys(NAMES, "least")},
}


class TestNames:
    @pytest.fixture(scope="class")
    @classmethod
    def project(cls, make_project: MakeProject) -> CollapsingProject:
        """Changes, a delete and a key that comes back, in tables of which each has a torn key."""
        project = make_project("names")
        for name, config in MODELS.items():
            project.add_model(name, config, SELECT)
        for version in (1, 2, 3):
            outcomes = project.run("--vars", f"version: {version}")
            assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
            for config in MODELS.values():
                table = f"`names_of its own`.`{config['alias']}`"
                project.command(f"insert into {table} select * from {table} where `a b` = 1")
        return project

    @pytest.mark.parametrize("model", MODELS)
    def test_rows(self, project: CollapsingProject, model: str) -> None:
        table = f"`names_of its own`.`{MODELS[model]['alias']}`"
        live = project.query(f"select * except day from {table} final where `my sign` = 1 and `a b` <> 1 order by all")
        least = {key: 10 if model == "combined" and key != 3 else 30 for key in (0, 2, 3, 4)}
        assert live == sorted([(key, key % 2, *[amount] * len(NAMES), 3, 1) for key, amount in least.items()])

    @pytest.mark.parametrize("model", MODELS)
    def test_operations(self, project: CollapsingProject, model: str) -> None:
        with pytest.raises(OperationError, match="1 key to repair"):
            project.operation("repair_collapse", model=model)
        assert "1 torn key" in project.operation("collapse_status", model=model)
        table = f"`names_of its own`.`{MODELS[model]['alias']}`"
        truth = f"(select * from {table} final where `my sign` = 1)"
        assert "agrees with" in project.operation("reconcile", model=model, truth=truth)

    def test_an_error_names_the_model(self, project: CollapsingProject) -> None:
        project.add_model("plain", {**CONFIG, "partition_by": "day"}, SELECT)
        message = project.run("--vars", "version: 4", "--select", "plain")["plain"].message
        assert "partition_by is 'day', but `names_of its own`.`its-table` has " in message
        assert "--full-refresh --select plain" in message


def test_the_columns_of_clickhouse_itself(make_project: MakeProject) -> None:
    """A column of a user's that hides one of them would be read in its place: with the journal, rows were lost."""
    project = make_project("virtual_columns")
    engine = "VersionedCollapsingMergeTree(_sign, _version) partition by id % 2 order by id"
    structure = "id Int64, _version UInt64, _sign Int8"
    project.command(f"create table plain ({structure}) engine = {engine}")
    described = project.query(
        "describe table plain settings describe_include_virtual_columns = 1, describe_compact_output = 1"
    )
    names = [name for name, _, is_virtual in described if is_virtual]
    assert {"_part", "_partition_id", "_row_exists", "_table"} <= set(names)
    given = ", ".join(f"'x' as `{name}`" for name in names)
    signed = "select 1 as id, sum(_sign) as n"
    config = {"unique_key": "id", "partition_by": "id % 2"}
    project.add_model("given", config, f"select toInt64(1) as id, {given}, toUInt64(1) as _version")
    project.add_model("plain", config, "select * from changes")
    view = {"materialized": "versioned_collapsing_view", "order_by": ["id", *names]}
    project.add_model("summed", view, f"{signed}, {given} from {{{{ ref('plain') }}}} group by all")
    project.add_model("hidden", config, "select * from changes")
    project.command(f"create table hidden ({structure}, _part_offset Int64) engine = {engine}")
    project.add_properties("hidden", {"models": [{"name": "hidden", "data_tests": ["sign_is_unit"]}]})
    outcomes = project.run("--select", "given", "summed")
    for model in ("given", "summed"):
        message = outcomes[model].message
        assert ", which ClickHouse itself adds to every table. Rename the columns" in message
        assert set(names) <= set(re.findall(r"\w+", message))
    (tested,) = project.dbt("test").values()
    hidden = "has _part_offset, which hides the column that ClickHouse itself adds to every table"
    assert hidden in tested.message
    with pytest.raises(OperationError, match=hidden):
        project.operation("collapse_status", model="hidden")


# What equals nothing, or must be escaped.
VALUES = {
    "nan": "cast(nan as Float64)",
    "nullable_nan": "toNullable(nan)",
    "nans": "cast([nan, 1.5] as Array(Float64))",
    "enum": r"cast(1, 'Enum8(\'it\\\'s a\\\\b\' = 1)')",
    "dynamic": "cast('x', 'Dynamic')",
}


def test_values(make_project: MakeProject) -> None:
    """The same value again is a duplicate, and heals a row that is there twice."""
    project = make_project("special_values")
    columns = ", ".join(f"{value} as `{name}`" for name, value in VALUES.items())
    project.add_model(
        "target",
        {"unique_key": "id", "on_conflict": "error"},
        f"select toInt64(number) as id, {columns}, toUInt64(1) as _version from numbers(3)",
    )
    project.declare("target", {"nan": "Float32"})

    def run() -> Node:
        return project.run()["target"]

    assert run().message == "3 rows: 3 states"
    project.command("insert into target select * from target where id = 0")
    assert run().message == "3 rows: 2 duplicates, 1 repaired"
    assert project.query("select id, _sign from target final order by id") == [(0, 1), (1, 1), (2, 1)]
    assert "0 keys to repair" in project.operation("repair_collapse", model="target")
