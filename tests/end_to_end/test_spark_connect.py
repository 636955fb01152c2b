"""SQL and Python models on a remote Spark, through Spark Connect, and their tables in ClickHouse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import variables
from tests.support.connect_server import free_port, running_connect_server

COLUMNS = "columns={'id': 'bigint', 'v': 'bigint', 'note': 'string'}"
# How many rows have each note, computed by a function that runs in Python on the server.
NOTES = """
import pandas
from pyspark.sql import functions as f


def model(dbt, session):
    dbt.config(materialized="table")
    marks = session.createDataFrame(pandas.DataFrame({"note": ["a", "c"], "mark": [1, 3]}))
    shout = f.udf(lambda text: exclaim(text))
    rows = dbt.ref("stg_items").where("_version is not null").join(marks, "note", "left")
    return rows.groupBy(shout("note").alias("note"), "mark").agg(f.count("*").alias("lines"))


def exclaim(text):
    return text + "!"
"""
SEEN = """
{{ config(materialized='incremental') }}
select
  id,
  _version,
  _batch,
  timestamp '2026-01-01 10:00:00.123456' as at,
  cast(cast(id as decimal(16, 0)) / 10 as decimal(20, 3)) as tenth
from {{ ref('stg_items') }}
where _version is not null
{%- if is_incremental() %} and _batch > (select max(_batch) from {{ this }}) {%- endif %}
"""
MODELS = {
    "staging/notes.py": NOTES,
    "staging/seen.sql": SEEN,
    "current/notes_served.sql": "{{ config(materialized='table') }} select * from {{ ref('notes') }}",
    "current/seen_served.sql": "{{ config(materialized='table') }} select * from {{ ref('seen') }}",
    "staging/failing/asks_for_more.py": (
        "def model(dbt, session):\n    return dbt.ref('stg_items').select('nobody')\n"
    ),
    "staging/failing/raises.sql": (
        "{{ config(materialized='table') }} select raise_error('It fails.') as x from {{ ref('stg_items') }}"
    ),
}


def line(key: int, version: int, note: str) -> str:
    return json.dumps({"id": key, "v": version, "note": note})


def test_models_on_a_remote_spark(tmp_path: Path) -> None:
    port = free_port()
    output: dict[str, Any] = {
        "type": "spark_clickhouse",
        "schema": "shop",
        "threads": 2,
        "spark": {
            "method": "connect",
            "host": "localhost",
            "port": "{{ var('port', PORT) | as_number }}".replace("PORT", str(port)),
            "token": "{{ var('token', 'secret') }}",
            "warehouse": str(tmp_path / "warehouse"),
        },
    }
    situation = Situation(
        "items",
        f"parse_upserts(SOURCE, key=['id'], {COLUMNS}, version='v')",
        "one_change_per_key(EVENTS, key=['id'])",
        {"id": "Int64", "note": "Nullable(String)"},
        {"unique_key": "id"},
        select="id, note, _version, _is_deleted",
    )
    project = ChangeSetProject(tmp_path, [situation], output=output, models=MODELS)
    project.land("items", 1, [line(n, 1, "a") for n in range(4)])
    project.land("items", 2, [line(3, 2, "b"), line(9007199254740993, 2, "b"), "broken"])
    project.land("items", 3, [line(0, 9, "c"), line(3, 1, "old")])
    third = project.landing / "items" / "batch=000003"
    later = str(third.rename(tmp_path / "later"))
    other = free_port()
    failing = "path:models/staging/failing"
    with running_connect_server(tmp_path, port, "secret"):
        first, second, fails, refused, unheard = project.dbt(
            ["build", "--exclude", failing],
            ["mv", later, str(third)],
            ["build", "--exclude", failing],
            ["run", "--select", failing],
            ["run", "--select", "stg_items", *variables(token="wrong")],
            ["run", "--select", "stg_items", *variables(port=other)],
            zone="America/New_York",
        )
    for outcome in (first, second):
        assert outcome.success, outcome.why()
    found = project.queries(
        items="select id, note, _version from shop.items final where _sign = 1 order by id",
        notes="select note, mark, lines from shop.notes_served order by note",
        seen="select id, _batch, toString(at), toString(tenth) from shop.seen_served order by _batch, id",
        lines="select batch, raw_line from shop.cdc_quarantine final where _sign = 1",
    )
    assert found["items"] == [(0, "c", 9), (1, "a", 1), (2, "a", 1), (3, "b", 2), (9007199254740993, "b", 2)]
    assert found["notes"] == [("a!", 1, 4), ("b!", None, 2), ("c!", 3, 1), ("old!", None, 1)]
    ids = [(0, 1), (1, 1), (2, 1), (3, 1), (3, 2), (9007199254740993, 2), (0, 3), (3, 3)]
    at = "2026-01-01 10:00:00.123456"
    tenths = ["0", "0.1", "0.2", "0.3", "0.3", "900719925474099.3", "0", "0.3"]
    assert found["seen"] == [(*key, at, tenth) for key, tenth in zip(ids, tenths, strict=True)]
    assert found["lines"] == [(2, "broken")]
    said = fails.failures()
    assert "AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column" in said["asks_for_more"]
    assert said["raises"].endswith("[USER_RAISED_EXCEPTION] It fails. SQLSTATE: P0001")
    assert str(refused.exception).endswith(
        f"Spark Connect at localhost:{port} refuses the connection: Invalid authentication token. "
        "Correct `token` in the profile's `spark` block."
    )
    assert f"Spark Connect at localhost:{other} does not answer: " in str(unheard.exception)
    assert not (tmp_path / "home" / "logs" / "spark.log").exists()  # dbt has not started a JVM
