"""That the names which SQL gives are found in Jinja sources."""

from __future__ import annotations

import pytest

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
