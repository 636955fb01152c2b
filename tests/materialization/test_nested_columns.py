"""Columns with nested types or odd names, in tables that were made by hand."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize("contract", [False, True], ids=["", "contract"])
@pytest.mark.parametrize("chunks", [1, 3])
def test_columns_with_structure(make_project: MakeProject, chunks: int, contract: bool) -> None:
    project = make_project(f"nested_{chunks}_{contract}")
    config: dict[str, Any] = {"unique_key": "the 'key'", "chunks": chunks}
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
    project.command(
        f"create table target ({KEY} UInt64, {columns}, _version UInt64, _sign Int8) "
        f"engine = VersionedCollapsingMergeTree(_sign, _version) order by {KEY}"
    )
    project.add_model("target", config, raw(select(1)))
    project.operation("adopt_table", model="target")
    if contract:
        config["contract"] = {"enforced": True}
        declared = {raw(name[1:-1].replace("``", "`")): kind for name, kind in types.items()}
        project.declare("target", {"the 'key'": "UInt64", **declared, "_version": "UInt64"})
    for version in (1, 2, 3):
        project.add_model("target", config, raw(select(version)))
        assert project.run("--threads", "4")["target"].status == "success"
        project.command(f"create or replace table expected engine = Memory as {select(version)}")
        names = ", ".join(f"toString({name})" for name in COLUMNS)
        of = f"select {KEY}, {names}, _version from"
        live = project.query(f"{of} target final where _sign = 1 order by {KEY}")
        assert live == project.query(f"{of} expected where not _is_deleted order by {KEY}")
        assert len(live) == 6
        assert project.query("select sum(_sign) from target") == [(6,)]
