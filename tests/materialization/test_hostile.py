"""Names, values and keys as odd, or as large, as ClickHouse allows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

# Besides all ASCII characters: some that look like others or are invisible, and one beyond 16 bits.
LOOKALIKES = "\x80é\u00a0\u200b\u2028\u202e\u2019\uff07\ufe6a\ufeff\U0001f98a"
# From Jinja, SQL, comments and drivers; names that differ only in case or in Unicode composition.
WORDS = ["{{ x }}", "{% raw %}", "{# x", "--", "/*", "*/", "; drop table x", "$$", "a\r\nb", "``"]
WORDS += ["Name", "name", "e\u0301", "%(x)s", "%s", "{x:String}", "null", "''", "order-id", "order"]
# A constant without an alias is named by its own text, which can also be the name of a column.
WORDS += ["-1", "true", "false", "toInt8(1)", "toInt8(-1)", "now64(6, 'UTC')"]
# Names that statements might use themselves.
WORDS += ["key", "from", "row", "sign", "given", "changes", "changed", "stored", "live", "unbalanced", "uncollapsed"]
WORDS += ["outcome", "unset", "duplicates", "conflicts", "highest", "is_deleted", "deleted_at", "is_tombstone"]
WORDS += ["is_live", "has_live", "live_version", "missing", "partition_id", "net_sign", "key_hash", "checksum"]
WORDS += ["states", "boundary", "a.b", "a-b", "c++", "x(", "Ünï"]
CHARACTERS = [chr(code) for code in range(1, 128) if chr(code) not in '"\\'] + [*LOOKALIKES]
KEYS = ["order-id", "`", "{{ x }}", "a\r\nb", "--", "%s", "'", "e\u0301", "\U0001f98a", "?"]
NAMES = sorted({*CHARACTERS, *WORDS, "x'y", "x`y"} - {*KEYS})
# dbt renders YAML, where these are not names.
DECLARED = [name for name in NAMES if name == "{" or name[0] != "{"]
POLICIES = ("coalesce", "greatest", "first")
COMBINE = {name: POLICIES[at % 3] for at, name in enumerate(DECLARED)}
CONFIG: dict[str, Any] = {
    "unique_key": KEYS,
    "version": "my -- version",
    "is_deleted": "; gone",
    "sign": "%sign%",
    "change_feed": True,
    "schema": "of its own",
    "alias": "its-table, the other's",
    "order_by": [*KEYS[::-1], "my -- version"],
    "partition_by": ["`%s` % 2", "`order-id` in (1, 2)", "`order-id`::DateTime"],
    "indexes": [{"name": "by_x", "definition": "`x'y` type minmax granularity 1"}],
    "projections": [{"name": "sums", "query": "select `order`, sum(`%sign%`) group by `order`"}],
    "chunks": 2,
    "combine": COMBINE,
}
TABLE = f"`hostile_names_of its own`.`{CONFIG['alias']}`"
LIVE = f"select {{}} from {TABLE} final where `%sign%` = 1 order by all"


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


class TestNames:
    @pytest.fixture(scope="class")
    @classmethod
    def project(cls, make_project: MakeProject) -> CollapsingProject:
        """Three keys in three versions, the last of which deletes one; an unbalanced key in between."""
        project = make_project("hostile_names")
        columns = [f"{quoted(name)} Int64" for name in KEYS]
        columns += [f"{quoted(name)} Nullable(String)" for name in NAMES]
        project.command(
            f"create table source (`my -- version` UInt64, `; gone` Bool, {', '.join(columns)}) engine = Memory"
        )
        project.add_model("plain", CONFIG, "select * from source")
        project.declare("plain", dict.fromkeys(DECLARED, "Nullable(Int64)"))
        sums = "sum(toInt64(`x``y`) * `%sign%`) as `it's`, sum(`%sign%`) as n"
        select = f"select `$$`, {sums}\nfrom {{{{ ref('plain') }}}} group by `$$`"
        project.add_view("view", "`$$`", select, settings={"allow_nullable_key": 1})
        for version in (1, 2, 3):
            values = [f"'{version * at}'" if at % 5 else "null" for at in range(len(NAMES))]
            selected = [version, f"{version} = 3 and number = 2", *["number"] * len(KEYS), *values]
            project.command("truncate table source")
            project.command(f"insert into source select {', '.join(map(str, selected))} from numbers(3)")
            project.build()
            if version == 2:
                project.command(f"insert into {TABLE} select * from {TABLE} where `order-id` = 1")
        return project

    def test_rows(self, project: CollapsingProject) -> None:
        live = project.query(LIVE.format(", ".join(map(quoted, [*KEYS, "my -- version", *NAMES]))))
        values = [(1 if COMBINE.get(name) == "first" else 3) * at if at % 5 else None for at, name in enumerate(NAMES)]
        texts = [tuple(None if value is None else str(value) for value in row) for row in live]
        expected = [(*[key] * len(KEYS), 3, *values) for key in range(2)]
        assert texts == [tuple(None if value is None else str(value) for value in row) for row in expected]

    def test_view(self, project: CollapsingProject) -> None:
        at, group = (NAMES.index(name) for name in ("x`y", "$$"))
        sums = project.query("select `$$`, sum(`it's`), sum(n) as c from view group by `$$` having c <> 0")
        assert sums == [(str(3 * group) if group % 5 else None, 6 * at, 2)]

    def test_operations(self, project: CollapsingProject) -> None:
        project.command(f"insert into {TABLE} select * from {TABLE} where `order-id` = 1")
        with pytest.raises(OperationError, match="1 key to repair"):
            project.operation("rebalance", model="plain")
        assert "1 unbalanced key" in project.operation("collapse_status", model="plain")
        project.operation("rebalance", model="plain", dry_run=False)
        assert "0 unbalanced keys" in project.operation("collapse_status", model="plain")
        reference = f"({LIVE.format('* except `%sign%`')})"
        assert "agrees with" in project.operation("reconcile", model="plain", reference=reference)

    def test_an_error_names_the_model(self, project: CollapsingProject) -> None:
        project.add_model("plain", {**CONFIG, "partition_by": "`%s`"}, "select * from source")
        message = project.run("--select", "plain")["plain"].message
        assert "partition_by is '" in message
        assert f", but {TABLE} has " in message
        assert "--full-refresh --select plain" in message


def test_the_columns_of_clickhouse_itself(make_project: MakeProject) -> None:
    """A user's column that hides one of them would be read in its place: with the journal, rows were lost."""
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


# Values that equal nothing, or must be escaped.
VALUES = {
    "nan": "cast(nan as Float64)",
    "nullable_nan": "toNullable(nan)",
    "nans": "cast([nan, 1.5] as Array(Float64))",
    "enum": r"cast(1, 'Enum8(\'it\\\'s a\\\\b\' = 1)')",
    "dynamic": "cast('x', 'Dynamic')",
}


def test_values_that_equal_nothing(make_project: MakeProject) -> None:
    """The same value again is a duplicate, and repairs a row that is stored twice."""
    columns = ", ".join(f"{value} as `{name}`" for name, value in VALUES.items())
    select = f"select toInt64(number) as id, {columns}, toUInt64(1) as _version from numbers(3)"
    table = Table(make_project("special_values"), select=select, on_conflict="error")
    table.project.declare("target", {"nan": "Float32"})
    assert table.apply() == "3 rows: 3 states"
    table.command("insert into target select * from target where id = 0")
    assert table.apply() == "3 rows: 2 duplicates, 1 rebalanced"
    assert table.query("select id, _sign from target final order by id") == [(0, 1), (1, 1), (2, 1)]
    assert "0 keys to repair" in table.operation("rebalance", model="target")


def test_messages_show_the_begin_of_a_long_key(make_project: MakeProject) -> None:
    select = "select repeat('é', 1000000) as id, {{ var('x') }} as x, toUInt64(1) as _version"
    table = Table(make_project("hostile_keys"), select=select)
    table.project.declare("target", {"x": "Int8"})
    table.apply((), "--vars", "x: 1")
    begin = f"('{'é' * 199}…"
    refused = table.fail((), "--vars", "x: 1000")
    assert f"x does not fit Int8. Examples (id, _version): {begin}, 1)\n" in refused
    table.configure(select, on_conflict="error")
    assert f"Examples (id, _version): {begin}, 1)." in table.fail((), "--vars", "x: 2")
    with pytest.raises(OperationError) as error:
        table.operation(
            "reconcile", model="target", reference="(select concat(id, 'x') as id, x, _version from target)"
        )
    assert f"missing ('{'é' * 198}…, unexpected ('" in str(error.value)
    assert len(str(error.value)) < 3000
