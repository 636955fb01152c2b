"""Tables of a thousand columns and more."""

from __future__ import annotations

from tests.support.collapsing_projects import MakeProject


def name(at: int) -> str:
    return f"a_column_number_{at:04d}"


def test_two_thousand_declared_columns(make_project: MakeProject) -> None:
    """Each is given as nullable text, so that every value is cast and checked."""
    project = make_project("wide_declared")
    columns = ", ".join(f"toNullable('{at}') as {name(at)}" for at in range(2000))
    project.add_model("target", {"unique_key": "id"}, f"select 1 as id, {columns}, 1 as _version")
    project.declare("target", {name(at): "Int64" for at in range(2000)})
    assert project.run()["target"].message == "1 row: 1 state"
    assert project.query(f"select {name(0)}, {name(1999)} from target") == [(0, 1999)]


def test_a_thousand_combined_columns(make_project: MakeProject) -> None:
    project = make_project("wide_combined")
    columns = ", ".join(f"toNullable(toInt64({{{{ var('x') }}}})) as {name(at)}" for at in range(1000))
    config = {"unique_key": "id", "combine": {name(at): "greatest" for at in range(1000)}}
    project.add_model("target", config, f"select 1 as id, {columns}, {{{{ var('version') }}}} as _version")
    assert project.run("--vars", "{x: 5, version: 1}")["target"].message == "1 row: 1 state"
    assert project.run("--vars", "{x: 3, version: 2}")["target"].message == "1 row: 1 state, 1 cancel"
    assert project.query(f"select {name(0)}, {name(999)} from target final where _sign = 1") == [(5, 5)]
