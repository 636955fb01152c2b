"""Mistakes in models that a run finds before it asks Spark for anything. tests/macros has more options."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.support.commands import dbt
from tests.support.shop import REPOSITORY

FOLDERS = {
    "staging": {"+database": "spark", "+materialized": "view"},
    "changes": {"+database": "spark", "+materialized": "change_set"},
    "current": {"+database": "clickhouse", "+materialized": "versioned_collapsing", "+unique_key": "id"},
    "marts": {"+database": "clickhouse", "+materialized": "versioned_collapsing_view"},
}
PARSE = (
    "{{{{ versioned_collapsing.{macro}(source('landing', 'lines'), key=['id'], columns={{'id': 'bigint', "
    "'country': 'string'}}, version='id') }}}}"
)
TABLE = "{{ config(meta={'order_by': 'id'}) }}\nselect * from {{ ref('lines_changes') }}"
MODELS = {
    "staging/stg_lines": PARSE.format(macro="parse_upserts"),
    "changes/lines_changes": "{{ versioned_collapsing.one_change_per_key(ref('stg_lines'), key=['id']) }}",
    "current/lines": TABLE,
    "staging/misspelt": PARSE.format(macro="parse_upsert"),
    "marts/without_package": "select id, {{ signed_count() }} as n from {{ ref('lines') }} group by id",
    "marts/of_nobody": "{% set mine = ['id'] %}{{ mine.copy() }} {{ nobodys(range(1)) }}",
    "current/schema_change": "{{ config(on_schema_change='append') }}" + TABLE,
}
SOURCES = {
    "sources": [
        {
            "name": "landing",
            "database": "spark",
            "tables": [{"name": "lines", "external": {"location": "landing/lines", "file_format": "text"}}],
        }
    ],
}
CALLS = [
    "model.consumer.misspelt calls versioned_collapsing.parse_upsert, but versioned_collapsing has no such macro. "
    "Did you mean parse_upserts?",
    "model.consumer.of_nobody calls nobodys, but there is no such macro.",
    "model.consumer.without_package calls signed_count, but there is no such macro. "
    "Write versioned_collapsing.signed_count.",
]
OPTION = "on_schema_change is 'append'; it takes 'fail', 'append_new_columns' or 'ignore'."


def test_a_mistake_is_found_before_spark_is_asked(tmp_path: Path) -> None:
    output = {"type": "spark_clickhouse", "schema": "shop"}
    files = {
        "packages.yml": {"packages": [{"local": str(REPOSITORY)}]},
        "dbt_project.yml": {
            "name": "consumer",
            "profile": "consumer",
            "flags": {"send_anonymous_usage_stats": False},
            "models": {"consumer": FOLDERS},
        },
        "profiles.yml": {"consumer": {"target": "it", "outputs": {"it": output}}},
        "models/sources.yml": SOURCES,
    }
    texts = {path: yaml.safe_dump(content) for path, content in files.items()}
    texts |= {f"models/{name}.sql": text for name, text in MODELS.items()}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    home = tmp_path / "home"
    installed, calls, option = dbt(
        home, ["deps"], ["run"], ["run", "--select", "stg_lines", "schema_change"], folder=tmp_path
    )
    assert installed.success, installed.why()
    for run, said in ((calls, CALLS), (option, ["model.consumer.schema_change cannot be built", OPTION])):
        assert run.nodes == {}, run.why()
        assert [text for text in said if text not in run.output] == [], run.why()
        assert "called by" not in run.output
    assert not (home / "metastore").exists()
