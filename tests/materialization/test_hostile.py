"""Names, values and keys that are as odd, or as large, as ClickHouse lets them be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError
from tests.support.collapsing_projects import MakeProject

# Besides each ASCII character: those that look like others or like nothing, and one beyond 16 bits.
LOOKALIKES = "\x80é\u00a0\u200b\u2028\u202e\u2019\uff07\ufe6a\ufeff\U0001f98a"
# Of Jinja, SQL, comments, drivers; names that differ in their case or their composition alone.
WORDS = ["{{ x }}", "{% raw %}", "{# x", "--", "/*", "*/", "; drop table x", "$$", "a\r\nb", "``"]
WORDS += ["Name", "name", "e\u0301", "%(x)s", "%s", "{x:String}", "null", "''", "order-id", "order"]
# A constant without an alias has the name of a column that is called as the constant is written.
WORDS += ["-1", "true", "false", "toInt8(1)", "toInt8(-1)", "now64(6, 'UTC')"]
CHARACTERS = [chr(code) for code in range(1, 128) if chr(code) not in '"\\'] + [*LOOKALIKES]
KEYS = ["order-id", "`", "{{ x }}", "a\r\nb", "--", "%s", "'", "e\u0301", "\U0001f98a", "?"]
NAMES = sorted({*CHARACTERS, *WORDS, "x'y", "x`y"} - {*KEYS})
# dbt renders what is in YAML; there these are no names.
DECLARED = [name for name in NAMES if name == "{" or name[0] != "{"]
CONFIG: dict[str, Any] = {
    "unique_key": KEYS,
    "version": "my -- version",
    "is_deleted": "; gone",
    "sign": "%sign%",
    "change_feed": True,
}
MODELS: dict[str, dict[str, Any]] = {
    "plain": {
        **CONFIG,
        "order_by": KEYS[::-1],
        "partition_by": "`%s` % 2",
        "indexes": [{"name": "by_x", "definition": "`x'y` type minmax granularity 1"}],
        "projections": [{"name": "sums", "query": "select `order`, sum(`%sign%`) group by `order`"}],
    },
    "combined": {
        **CONFIG,
        "chunks": 2,
        "combine": {name: ("coalesce", "greatest", "first")[at % 3] for at, name in enumerate(DECLARED)},
    },
}
LIVE = "select * except `%sign%` from {} final where `%sign%` = 1 order by all"


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


class TestNames:
    @pytest.fixture(scope="class")
    @classmethod
    def project(cls, make_project: MakeProject) -> CollapsingProject:
        """Three keys in three versions, of which the last deletes one; a torn key in between."""
        project = make_project("hostile_names")
        columns = [f"{quoted(name)} Int64" for name in KEYS]
        columns += [f"{quoted(name)} Nullable(String)" for name in NAMES]
        project.command(
            f"create table source (`my -- version` UInt64, `; gone` Bool, {', '.join(columns)}) engine = Memory"
        )
        for name, config in MODELS.items():
            project.add_model(name, config, "select * from source")
        project.declare("combined", dict.fromkeys(DECLARED, "Nullable(Int64)"))
        project.add_model(
            "view",
            {"materialized": "versioned_collapsing_view", "order_by": "`$$`", "settings": {"allow_nullable_key": 1}},
            "select `$$`, sum(toInt64(`x``y`) * `%sign%`) as `it's`, sum(`%sign%`) as n\n"
            "from {{ ref('plain') }} group by `$$`",
        )
        for version in (1, 2, 3):
            values = [f"'{version * at}'" if at % 5 else "null" for at in range(len(NAMES))]
            selected = [version, f"{version} = 3 and number = 2", *["number"] * len(KEYS), *values]
            project.command("truncate table source")
            project.command(f"insert into source select {', '.join(map(str, selected))} from numbers(3)")
            outcomes = project.run()
            assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
            if version == 2:
                for name in MODELS:
                    project.command(f"insert into {name} select * from {name} where `order-id` = 1")
        return project

    def test_rows(self, project: CollapsingProject) -> None:
        for name, config in MODELS.items():
            columns = ", ".join(map(quoted, [*KEYS, "my -- version", *NAMES]))
            live = project.query(LIVE.format(name).replace("* except `%sign%`", columns))
            combine = config.get("combine", {})
            values = [
                (1 if combine.get(column) == "first" else 3) * at if at % 5 else None for at, column in enumerate(NAMES)
            ]
            texts = [tuple(None if value is None else str(value) for value in row) for row in live]
            expected = [(*[key] * len(KEYS), 3, *values) for key in range(2)]
            assert texts == [tuple(None if value is None else str(value) for value in row) for row in expected], name

    def test_view(self, project: CollapsingProject) -> None:
        at, group = (NAMES.index(name) for name in ("x`y", "$$"))
        sums = project.query("select `$$`, sum(`it's`), sum(n) as c from view group by `$$` having c <> 0")
        assert sums == [(str(3 * group) if group % 5 else None, 6 * at, 2)]

    def test_operations(self, project: CollapsingProject) -> None:
        project.command("insert into plain select * from plain where `order-id` = 1")
        with pytest.raises(OperationError, match="1 key to repair"):
            project.operation("repair_collapse", model="plain")
        project.operation("repair_collapse", model="plain", dry_run=False)
        assert "0 torn keys" in project.operation("collapse_status", model="plain")
        truth = f"({LIVE.format('plain')})"
        assert "agrees with" in project.operation("reconcile", model="plain", truth=truth)


def test_values_of_50_megabytes(make_project: MakeProject) -> None:
    project = make_project("hostile_values")
    project.add_model(
        "target",
        {"unique_key": "id", "combine": {"kept": "coalesce"}},
        "select 1 as id, concat(repeat(repeat('x', 1000000), 50), '{{ var('version') }}') as replaced,\n"
        "if({{ var('version') }} = 1, repeat(repeat('y', 1000000), 50), null) as kept,\n"
        "toUInt64({{ var('version') }}) as _version",
    )
    said = [project.run("--vars", f"version: {version}")["target"].message for version in (1, 2, 2)]
    assert said == ["1 row: 1 state", "1 row: 1 state, 1 cancel", "1 row: 1 duplicate"]
    live = "select length(replaced), right(replaced, 2), length(kept), _version from target final"
    assert project.query(live) == [(50_000_001, "x2", 50_000_000, 2)]


def test_messages_show_the_begin_of_a_long_key(make_project: MakeProject) -> None:
    project = make_project("hostile_keys")
    select = "select repeat('é', 1000000) as id, {{ var('x') }} as x, toUInt64(1) as _version"
    project.add_model("target", {"unique_key": "id"}, select)
    project.declare("target", {"x": "Int8"})
    assert project.run("--vars", "x: 1")["target"].status == "success"
    begin = f"('{'é' * 199}…"
    refused = project.run("--vars", "x: 1000")["target"].message
    assert f"x does not fit Int8. Examples (id, _version): {begin}, 1)\n" in refused
    project.add_model("target", {"unique_key": "id", "on_conflict": "error"}, select)
    refused = project.run("--vars", "x: 2")["target"].message
    assert f"Examples (id, _version): {begin}, 1)." in refused
    with pytest.raises(OperationError) as error:
        project.operation("reconcile", model="target", truth="(select concat(id, 'x') as id, x, _version from target)")
    assert f"missing     1  ('{'é' * 198}…\n" in str(error.value)
    assert len(str(error.value)) < 3000
