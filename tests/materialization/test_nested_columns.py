"""Columns with nested types or odd names, in tables that were made by hand."""

from __future__ import annotations

from typing import Any

from tests.support.collapsing_projects import MakeProject

# For each column: its name in SQL, its type, and its value in a version.
COLUMNS = {
    "`map`": ("Map(String, Array(Nullable(Int64)))", "map('it''s', [{v}, null], '', [])"),
    "`tuple`": ("Tuple(a Int64, `b c` Nullable(String))", "({v}, if({v} = 1, null, 'x'))"),
    "`nested.x`": ("Array(Int64)", "range({v})"),
    "`nested.y`": ("Array(String)", "arrayMap(i -> toString(i), range({v}))"),
    "`json`": ("JSON(a Int64)", """'{{"a": {v}, "b": {{"c": [1, {v}], "d.e": null}}}}'"""),
    "`dynamic`": ("Dynamic", "if({v} = 1, 1::Dynamic, 'text'::Dynamic)"),
    "`variant`": ("Variant(Int64, String)", "'v{v}'"),
    "`low`": ("LowCardinality(Nullable(String))", "if({v} = 2, null, 'l{v}')"),
    "`point`": ("Tuple(Float64, Float64)", "(-{v} / 3, 0)"),
    "`a``b`": ("Int64", "{v}"),
    "`ünï cödé`": ("DateTime64(9, 'Asia/Kolkata')", "toDateTime64({v}, 9)"),
    "`select`": ("Enum8('it\\'s' = 1, 'b' = 2, 'c' = 3)", "{v}"),
    "`{{ x }}`": ("UInt256", "bitShiftLeft(toUInt256({v}), 200)"),
    "`%s`": ("FixedString(3)", "'{v}'"),
}
KEY = "`the 'key'`"


def raw(text: str) -> str:
    """A text that Jinja returns unchanged."""
    return "{% raw %}" + text + "{% endraw %}"


def select(version: int) -> str:
    values = ", ".join(
        f"cast({value.format(v=version)} as {kind}) as {name}" for name, (kind, value) in COLUMNS.items()
    )
    return (
        f"select number as {KEY}, {values}, toUInt64({version}) as _version, number % 4 = {version} as _is_deleted "
        "from numbers(8)"
    )


MODELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "chunked_in_a_contract": {"chunks": 3, "contract": {"enforced": True}},
}


def test_columns_with_structure(make_project: MakeProject) -> None:
    project = make_project("nested")
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
    declared = {raw(name[1:-1].replace("``", "`")): kind for name, kind in types.items()}
    for version in (1, 2, 3):
        for name, config in MODELS.items():
            project.add_model(name, {"unique_key": "the 'key'", **config}, raw(select(version)))
        if version == 1:
            for name, config in MODELS.items():
                if "contract" in config:
                    project.declare(name, {"the 'key'": "UInt64", **declared, "_version": "UInt64"})
                project.command(
                    f"create table {name} ({KEY} UInt64, {columns}, _version UInt64, _sign Int8) "
                    f"engine = VersionedCollapsingMergeTree(_sign, _version) order by {KEY}"
                )
                project.operation("adopt_table", model=name)
        project.build("--threads", "4")
        project.command(f"create or replace table expected engine = Memory as {select(version)}")
        names = ", ".join(f"toString({name})" for name in COLUMNS)
        of = f"select {KEY}, {names}, _version from"
        expected = project.query(f"{of} expected where not _is_deleted order by {KEY}")
        assert len(expected) == 6
        for name in MODELS:
            assert project.query(f"{of} {name} final where _sign = 1 order by {KEY}") == expected, name
            assert project.query(f"select sum(_sign) from {name}") == [(6,)], name
