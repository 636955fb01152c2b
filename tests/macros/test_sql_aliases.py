"""The names that SQL introduces are found in Jinja sources."""

from __future__ import annotations

import pytest
from dbt.adapters.clickhouse.relation import ClickHouseRelation

from tests.macros.harness import Project
from tests.support.macro_sources import environment
from tests.support.sql_aliases import aliases_in, as_columns, unreserved


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("select a.x as y, 1 as `z` from t as a", {"y", "z", "a"}),
        ("with w as (select 1), v as (select 2) select 3", {"w", "v"}),
        ("{% macro m() %}with\n  w as (select 1),\n\n  v as (\n select 2){% endmacro %}", {"w", "v"}),
        ("select arrayFilter((x, y) -> y, a, b), arrayMap(z -> z + 1, c)", {"x", "y", "z"}),
        ("{% set q %}select 1 as y{% endset %}{% do parts.append('count() as n') %}", {"y", "n"}),
        ("{% call statement('s') %}{{ a }} as y{% endcall %}", {"y"}),
        ("from {{ t }} as given_{{ loop.index }}", {"given_"}),
        ("select cast(x as String), cast(x as Array(Int8)) -- as y\n, {{ a }} as {{ b }}", set()),
        ("{# as y #}{% do exceptions.raise_compiler_error('as y') %}{% do log('as y') %}", set()),
        ("create table t as select 1", set()),
    ],
)  # fmt: skip
def test_names_that_sql_gives(source: str, names: set[str]) -> None:
    assert aliases_in(environment.parse(source)) == names


def test_columns_that_meet_them() -> None:
    names = ["_dbt_given", "stored", "_x"]
    assert unreserved(names) == ["_x", "stored"]
    assert as_columns(names) == ["_x", "given", "stored", "x"]


@pytest.mark.parametrize(
    ("after", "has_alias"),
    [
        ("", False),
        (" where x", False),
        (" as o", True),
        ("\nO inner join x", True),
        (" /* all of them */ as o", True),
        ("/* all */o", True),
        (" -- all of them\n  as o", True),
        (" # all of them\n o", True),
        (" -- as foo\nwhere x", False),
        (" /* as */ where /* as */ x", False),
    ],
)
def test_a_table_of_a_view_keeps_its_alias(project: Project, after: str, has_alias: bool) -> None:
    """The text that takes its place gets its name as alias only if it has none."""
    orders = ClickHouseRelation.create(schema="shop", identifier="orders")
    sql = f"select sum(_sign) from {orders}{after}"
    source = {"relation": orders}
    replaced = project.rendered("get_replaced_source_sql", sql=sql, source=source, rows_sql="select 1")
    alias = "" if has_alias else ' as "orders"'
    assert replaced.strip() == f"select sum(_sign) from (\nselect 1\n){alias}{after}".strip()
