"""A change set that is a Python model, next to an SQL one for the same lines."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.change_set_project import ChangeSetProject, Situation

PARSE = "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'bigint', 'note': 'string'}, version='v')"
CHANGES = """
from pyspark.sql import functions as f
from pyspark.sql.window import Window


def model(dbt, session):
    dbt.config(materialized="change_set")
    lines = dbt.ref("stg_in_sql")
    assert "_line_id" not in lines.columns and lines.where("_raw_line is null").count() == 0
    assert all("in_python_changes__" in file for file in lines.inputFiles())  # parsed once
    events = lines.where("_reason is null and _version is not null")
    seen = [row._batch for row in events.select("_batch").distinct().orderBy("_batch").collect()]
    latest = Window.partitionBy("id").orderBy(f.desc("_version"))
    newest = events.withColumn("place", f.row_number().over(latest)).where("place = 1")
    return newest.select("id", "note", "_version", "_is_deleted", f.lit(str(seen)).alias("seen"))
"""
TABLE = """
{{ config(unique_key='id', contract={'enforced': false}) }}
select id, note, seen, _version, _is_deleted from {{ ref('in_python_changes') }}
"""


def test_a_change_set_in_python_has_the_rows_of_one_in_sql(tmp_path: Path) -> None:
    situation = Situation(
        "in_sql",
        PARSE,
        "one_change_per_key(EVENTS, key=['id'])",
        {"id": "Int64", "note": "Nullable(String)"},
        {"unique_key": "id"},
        select="id, note, _version, _is_deleted",
    )
    models = {"changes/in_python_changes.py": CHANGES, "current/in_python.sql": TABLE}
    project = ChangeSetProject(tmp_path, [situation], models=models)
    project.land("in_sql", 1, [json.dumps({"id": n, "v": 1, "note": "a"}) for n in range(4)])
    project.land("in_sql", 2, [json.dumps({"id": n, "v": n, "note": "b"}) for n in range(2, 6)])
    project.land("in_sql", 3, ["broken", json.dumps({"id": 0, "v": 9, "note": "c"})])
    outcomes = project.run(2, 3, 3)
    for outcome in outcomes:
        assert outcome.success, outcome.output
    found = project.queries(
        in_sql="select id, note, _version from shop.in_sql final where _sign = 1 order by id",
        in_python="select id, note, _version from shop.in_python final where _sign = 1 order by id",
        seen="select id, seen from shop.in_python final where _sign = 1 order by id",
    )
    assert found["in_python"] == found["in_sql"]
    assert found["in_sql"][0] == (0, "c", 9)
    assert dict(found["seen"]) == {0: "[3]"} | dict.fromkeys(range(1, 6), "[1, 2]")
    messages = [outcome.nodes["in_python"].message for outcome in outcomes]
    assert messages == ["batches 1-2: 6 states", "batch 3: 1 state, 1 cancel", "no new batches: nothing to change"]
