"""Every statement that the project sends to ClickHouse pins the settings that could change its result."""

from __future__ import annotations

import re

import pytest

from tests.support.macro_sources import environment, parsed, sources
from tests.support.macro_statements import Sent, macros_by_name, statements_sent
from tests.support.shop import REPOSITORY

# Statements that change the catalog or the session, independently of settings about rows.
WITHOUT_ROWS = re.compile(
    r"(alter|drop|undrop|system|rename|exchange|truncate|optimize|set|create materialized view)\b"
)
# There, everything except `adapter.query_on('clickhouse', …)` goes to Spark.
ON_SPARK = ("macros/change_sets/", "macros/materializations/change_set/", "tests/generic/no_unknown_fields.sql")
EXCEPTIONS = {
    "create table as": "a clone: what it says is a setting of the table, not of the statement",
    "select sleep(1)": "the lock waits",
    "select name as _dbt_name, value as _dbt_value from system.se": "reads the profile's settings",
}


def is_right(sent: Sent) -> bool:
    return sent.is_pinned or WITHOUT_ROWS.match(sent.text) is not None


def test_every_statement_names_its_settings() -> None:
    places = {
        name: (str(path.relative_to(REPOSITORY)), macro)
        for path in sources("macros", "tests/generic")
        for name, macro in macros_by_name(parsed(path)).items()
    }
    found = [
        (name, sent)
        for name, sent in statements_sent({name: macro for name, (_, macro) in places.items()})
        if sent.by == "adapter.query_on" or not places[name][0].startswith(ON_SPARK)
    ]
    assert len(found) > 100
    wrong = [(name, sent) for name, sent in found if not is_right(sent)]
    assert [each for each in wrong if each[1].text not in EXCEPTIONS] == []
    assert {sent.text for _, sent in wrong} == EXCEPTIONS.keys()


SETTINGS = "{{ versioned_collapsing.get_settings_sql() }}"


@pytest.mark.parametrize(
    ("source", "is_pinned"),
    [
        ("{% do run_query('select 1') %}", False),
        ("{% do run_query('select 1 ' ~ versioned_collapsing.get_settings_sql()) %}", True),
        ("{% set q = 'select 1' %}{% do run_query(q) %}", False),
        (f"{{% set q %}}select 1 {SETTINGS}{{% endset %}}{{% do run_query(q).rows %}}", True),
        (f"{{% set q %}}select 1 from (select 2 {SETTINGS}){{% endset %}}{{% do run_query(q) %}}", False),
        ("{% do run_query(versioned_collapsing.get_it_sql()) %}", True),
        ("{% do run_query(versioned_collapsing.get_other_sql()) %}", False),
        ("{% do versioned_collapsing.read('select 1') %}", False),
        ("{% do versioned_collapsing.read(versioned_collapsing.get_it_sql()) %}", True),
        (f"{{% call statement('s') %}}insert into t select 1 {SETTINGS}{{% endcall %}}", True),
        ("{% call statement('s') %}insert into t select 1{% endcall %}", False),
        ("{% do adapter.query_on('clickhouse', 'select 1') %}", False),
    ],
)  # fmt: skip
def test_a_statement_without_settings_is_found(source: str, is_pinned: bool) -> None:
    others = f"""
        {{% macro get_it_sql() %}}select 1 {SETTINGS}{{% endmacro %}}
        {{% macro get_other_sql() %}}select 1{{% endmacro %}}
        {{% macro read(query) %}}{{% do run_query(query) %}}{{% endmacro %}}
    """
    macros = macros_by_name(environment.parse(f"{others}{{% macro m() %}}{source}{{% endmacro %}}"))
    ((name, sent),) = statements_sent(macros)
    assert name == "m"
    assert sent.is_pinned == is_pinned


def test_a_statement_for_spark_is_none() -> None:
    source = "{% macro m() %}{% do adapter.query_on('spark', 'select 1') %}{% endmacro %}"
    assert list(statements_sent(macros_by_name(environment.parse(source)))) == []


@pytest.mark.parametrize("is_pinned", [True, False])
def test_a_generic_test_without_settings_is_found(is_pinned: bool) -> None:
    source = f"{{% test t(model) %}}select 1 {SETTINGS if is_pinned else ''}{{% endtest %}}"
    macros = macros_by_name(environment.parse(source))
    ((_, sent),) = statements_sent(macros)
    assert sent.is_pinned == is_pinned
