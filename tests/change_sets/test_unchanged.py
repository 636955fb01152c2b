"""Change sets without new batches: which are rebuilt, which stay, and what their targets do; one is in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import Outcome, variables

PARSE = "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'bigint', 'note': 'string'}, version='v')"
READER = "{{ config(materialized='table', database='spark') }} select * from {{ ref('read_changes') }}"
NOTHING = ("success", "no new batches: nothing to change")
OUTPUT = {"type": "spark_clickhouse", "schema": "shop", "threads": 4, "spark": {"method": "session"}}
ELSEWHERE = {"spark.hadoop.fs.defaultFS": "file:///"}
HOOK = "select count() from {{ ref('hooked_changes') }}"


PYTHON = """
from pyspark.sql import functions as f
from pyspark.sql.window import Window


def model(dbt, session):
    dbt.config(materialized="change_set")
    lines = dbt.ref("stg_alone")
    assert "_line_id" not in lines.columns and lines.where("_raw_line is null").count() == 0
    assert all("in_python_changes__" in file for file in lines.inputFiles())  # parsed once
    events = lines.where("_reason is null and _version is not null")
    seen = [row._batch for row in events.select("_batch").distinct().orderBy("_batch").collect()]
    latest = Window.partitionBy("id").orderBy(f.desc("_version"))
    newest = events.withColumn("place", f.row_number().over(latest)).where("place = 1")
    return newest.select("id", "note", "_version", "_is_deleted", f.lit(str(seen)).alias("seen"))
"""
OF_PYTHON = """
{{ config(unique_key='id', contract={'enforced': false}) }}
select id, note, seen, _version, _is_deleted from {{ ref('in_python_changes') }}
"""
CORRECTED = """
{{ config(unique_key='id', contract={'enforced': false}) }}
select id, note, _version, _is_deleted from {{ ref('in_python_changes') }}
union all
select id, note, _version, _is_deleted from {{ ref('corrections') }}
"""
CORRECTIONS = """
{{ config(materialized='table') }}
select toInt64(1) as id, 'corrected' as note, toInt64(9) as _version, false as _is_deleted
where {{ var('is_corrected', false) }}
"""


def situation(name: str) -> Situation:
    changes = "one_change_per_key(EVENTS, key=['id'])"
    types = {"id": "Int64", "note": "Nullable(String)"}
    config: dict[str, Any] = {"unique_key": "id"}
    if name == "hooked":
        config["post_hook"] = HOOK
    return Situation(name, PARSE, changes, types, config, select="id, note, _version, _is_deleted")


def test_a_change_set_stays_while_nobody_needs_another(tmp_path: Path) -> None:
    names = ("alone", "read", "hooked")
    models = {
        "staging/reader.sql": READER,
        "changes/in_python_changes.py": PYTHON,
        "current/in_python.sql": OF_PYTHON,
        "current/corrections.sql": CORRECTIONS,
        "current/corrected.sql": CORRECTED,
    }
    project = ChangeSetProject(tmp_path, map(situation, names), models=models, output=OUTPUT)
    for name in names:
        project.land(name, 1, [json.dumps({"id": 1, "v": 1, "note": "a"})])
    log = tmp_path / "home" / "logs" / "spark.log"

    def run(*arguments: str) -> tuple[dict[str, str], Outcome, bool]:
        log.unlink(missing_ok=True)
        [outcome] = project.dbt(["run", *arguments])
        assert outcome.success, outcome.why()
        ids = {name: project.change_set(name, ["id"], suffix="__manifest")[0][0] for name in names}
        return ids, outcome, log.exists()

    first, _, has_started = run()
    assert has_started

    # `reader` must find only what is new, which is nothing. `alone` has no other reader.
    second, outcome, _ = run("--exclude", "reader")
    assert second["alone"] == first["alone"]
    assert second["read"] != first["read"]
    assert second["hooked"] != first["hooked"]
    assert {outcome.nodes[name] for name in names} == {NOTHING}

    # An empty one is correct for any reader.
    third, outcome, has_started = run("--exclude", "reader")
    assert third == second
    assert not has_started
    assert {outcome.nodes[name] for name in names} == {NOTHING}

    # Another view may have other columns.
    staging = tmp_path / "project" / "models" / "staging" / "stg_alone.sql"
    staging.write_text(f"{staging.read_text()} -- changed")
    fourth, outcome, _ = run("--exclude", "reader")
    assert fourth["alone"] != third["alone"]
    assert fourth["read"] == third["read"]
    assert outcome.nodes["alone"] == NOTHING

    project.land("alone", 2, ["broken", json.dumps({"id": 2, "v": 2, "note": "b"})])
    fifth, outcome, has_started = run("--select", "alone_changes+")
    assert fifth["alone"] != fourth["alone"]
    assert outcome.nodes["alone"] == ("success", "batch 2: 1 state")

    # Spark lists the landing zone, because it may be elsewhere, and finds the same.
    profiles = tmp_path / "project" / "profiles.yml"
    profile = profiles.read_text()
    profiles.write_text(
        profile.replace('"spark": {', f'"spark": {{"server_side_parameters": {json.dumps(ELSEWHERE)}, ')
    )
    _, outcome, has_started = run("--exclude", "reader")
    assert has_started
    assert {outcome.nodes[name] for name in names} == {NOTHING}
    profiles.write_text(profile)

    # The change set in Python has not seen the second batch.
    assert outcome.nodes["in_python"] == ("success", "batch 2: 1 state")
    rows = project.queries(rows="select id, note, seen, _version from shop.in_python final where _sign = 1 order by id")
    assert rows["rows"] == [(1, "a", "[1]", 1), (2, "b", "[2]", 2)]

    # The table alone, with what it has already applied.
    _, outcome, has_started = run("--select", "alone")
    assert outcome.nodes["alone"] == NOTHING
    assert not has_started

    # A model that reads something else beside such a change set.
    _, outcome, has_started = run("--select", "corrections", "corrected", *variables(is_corrected=True))
    assert outcome.nodes["corrected"] == ("success", "no new batches: 1 state, 1 cancel")
    assert not has_started
    rows = project.queries(rows="select id, note from shop.corrected final where _sign = 1 order by id")
    assert rows["rows"] == [(1, "corrected"), (2, "b")]

    assert project.live_rows() == {"alone": [(1, "a"), (2, "b")], "read": [(1, "a")], "hooked": [(1, "a")]}
