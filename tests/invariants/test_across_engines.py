"""A ClickHouse table compared with a reference on Spark."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import dbt, variables
from tests.support.shop import REPOSITORY

REFERENCE = """
{{ config(database='spark', materialized='table', file_format='parquet') }}
select
  id,
  concat('name ', cast(id as string)) as name,
  cast(id * {{ var('factor') }} as decimal(12, 2)) as amount,
  timestamp '2025-01-01 00:00:00.5' as updated_at,
  {# Names that engines have for files and their rows. #}
  {% for name in ('_metadata', '_path', '_file', '_size', '_time', '_etag', '_row_number', '_headers', 'file_path') %}
  concat('{{ name }} ', cast(id as string)) as {{ name }}{{ ',' if not loop.last }}
  {% endfor %}
from range(1000)
"""
ORDERS = """
{{ config(materialized='versioned_collapsing', unique_key='id') }}
select *, toUInt64(1) as _version from {{ ref('reference') }}
"""
TEST = {"live_rows_equal": {"arguments": {"reference": "ref('reference')", "unique_key": "id"}}}
PROJECT = {
    "name": "versioned_collapsing",
    "profile": "versioned_collapsing",
    "macro-paths": [str(REPOSITORY / "macros"), str(REPOSITORY / "tests" / "generic")],
    "flags": {"send_anonymous_usage_stats": False},
}


def test_live_rows_equal_a_relation_of_spark(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text(json.dumps(PROJECT))
    (project / "models" / "reference.sql").write_text(REFERENCE)
    (project / "models" / "orders.sql").write_text(ORDERS)
    properties = {"models": [{"name": "orders", "data_tests": [TEST]}]}
    (project / "models" / "models.yml").write_text(json.dumps(properties))
    here = ["--project-dir", str(project)]
    built, changed, tested = dbt(
        tmp_path / "home",
        ["build", *here, *variables(factor=1)],
        ["run", "--select", "reference", *here, *variables(factor=2)],
        ["test", *here, *variables(factor=2)],
    )
    assert built.success, built.why()
    assert changed.success, changed.why()
    ((status, message),) = tested.nodes.values()
    assert status == "fail"
    assert "Got 999 results" in message  # all but id 0, whose amount is 0
