"""Python models on the embedded Spark, and how ClickHouse reads their tables."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.commands import Outcome, run_all

EVENTS = """
select 1 as id, 'a' as who, timestamp '2026-01-01 10:00:00' as at union all
select 2, 'a', timestamp '2026-01-01 10:05:00' union all
select 3, 'a', timestamp '2026-01-01 12:00:00' union all
select 4, 'b', timestamp '2026-01-01 10:00:00'
"""
SESSIONS = """

from dataclasses import dataclass

from pyspark.sql import functions as f
from pyspark.sql.window import Window


@dataclass
class Pause:
    minutes: "int"


def model(dbt, session):
    dbt.config(materialized="table", partition_by="who", packages=["pyspark>=4"])
    pause = Pause(minutes=dbt.config.get("pause"))
    of_one = Window.partitionBy("who").orderBy("at")
    events = dbt.ref("events")
    gap = f.col("at").cast("long") - f.lag("at").over(of_one).cast("long")
    begins = events.withColumn("begins", f.coalesce(gap > pause.minutes * 60, f.lit(True)).cast("int"))
    numbered = begins.withColumn("number", f.sum("begins").over(of_one))
    shout = f.udf(lambda text: exclaim(text))
    return numbered.groupBy("who", "number").agg(f.count("*").alias("events")).withColumn("shout", shout("who"))


def exclaim(text):
    return text + "!"
"""
OF_PANDAS = """
import pandas


def model(dbt, session):
    dbt.config(materialized="table", alias="Rows_of_pandas")
    return pandas.DataFrame({"id": [1, 2], "at": pandas.to_datetime(["2026-01-01", None]), "\\U0001f600 `q`": ["x", None]})
"""
OF_PANDAS_ON_SPARK = """
import pyspark.pandas


def model(dbt, session):
    return dbt.ref("events").pandas_api()
"""
GROWING = """
def model(dbt, session):
    dbt.config(materialized="incremental")
    events = dbt.ref("events")
    if dbt.is_incremental:
        last = session.sql(f"select max(id) from {dbt.this}").first()[0]
        return events.where(events.id > last + 2)
    return events.where(events.id <= 1)
"""
BROKEN = {
    "fails": (
        "\n\ndef model(dbt, session):\n    rows = dbt.ref('events')\n    return rows.select(1 / 0)\n",
        "{path}, line 5, in model\n    return rows.select(1 / 0)\nZeroDivisionError: division by zero",
    ),
    "asks_for_more": (
        "def model(dbt, session):\n    rows = dbt.ref('events')\n    return rows.select('nobody')\n",
        "{path}, line 3, in model\n    return rows.select('nobody')\nAnalysisException: [UNRESOLVED_COLUMN",
    ),
    "fails_later": (
        "from pyspark.sql.functions import udf\n\n\n@udf\ndef half(number):\n    return str(number // 0)\n\n\n"
        "def model(dbt, session):\n    return dbt.ref('events').select(half('id').alias('half'))\n",
        '{path}", line 6, in half',
    ),
    "returns_a_list": (
        "def model(dbt, session):\n    return [1]\n",
        "The Python model returns_a_list returned an object of type list. Return a DataFrame of Spark, of pandas, or of pandas on Spark.",
    ),
    "needs_more": (
        "def model(dbt, session):\n    dbt.config(packages=['pandas', 'numpy<1', 'nobody-has-it'])\n    return None\n",
        "needs packages that are missing or have another version where dbt runs. Install them: pip install 'numpy<1' 'nobody-has-it'",
    ),
}
CHANGES_A_VIEW = """
def model(dbt, session):
    dbt.config(materialized="table")
    dbt.ref("changed")
    session.sql("create or replace view py.changed as select 2 as x")
    return session.range(1)
"""
MODELS = {
    "spark/changed.sql": "{{ config(materialized='view') }} select 1 as x",
    "spark/kept.sql": "{{ config(materialized='view') }} select 1 as x",
    "spark/changes_a_view.py": CHANGES_A_VIEW,
    "spark/events.sql": f"{{{{ config(materialized='table') }}}} {EVENTS}",
    "spark/sessions.py": SESSIONS,
    "spark/of_pandas.py": OF_PANDAS,
    "spark/of_pandas_on_spark.py": OF_PANDAS_ON_SPARK,
    "spark/growing.py": GROWING,
    "clickhouse/read_sessions.sql": "select * from {{ ref('sessions') }} order by who, number",
    "clickhouse/read_pandas.sql": "select * from {{ ref('of_pandas') }}",
}
SCHEMA = """
models:
  - name: sessions
    config: {pause: 30}
    data_tests:
      - count_is:
          arguments: {rows: 3}
"""
TEST = """
{% test count_is(model, rows) %}
select n from (select count(*) as n from {{ model }}) as counted where n <> {{ rows }}
{% endtest %}
"""


@dataclass(frozen=True)
class Ran:
    """What happened to the models, and the folder of the project."""

    folder: Path
    first: Outcome
    again: Outcome
    shown: dict[str, Outcome]
    broken: Outcome


SHOWN = {
    "sessions": "select * from {{ ref('read_sessions') }} order by who, number",
    "pandas": "select * from {{ ref('read_pandas') }} order by id",
    "growing": "select id from {{ ref('growing') }} order by id",
    "on_spark": "select who, id from {{ ref('of_pandas_on_spark') }} order by id",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("python_models")
    broken = {f"spark/broken/{name}.py": code for name, (code, _) in BROKEN.items()}
    for name, code in (MODELS | broken).items():
        file = folder / "models" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    (folder / "models" / "schema.yml").write_text(SCHEMA)
    (folder / "macros").mkdir()
    (folder / "macros" / "count.sql").write_text(TEST)
    output = {"type": "spark_clickhouse", "schema": "py", "home": str(folder / "home"), "threads": 2}
    profiles = {"py": {"target": "embedded", "outputs": {"embedded": output}}}
    (folder / "profiles.yml").write_text(json.dumps(profiles))
    project = {
        "name": "py",
        "profile": "py",
        "models": {"py": {"spark": {"+database": "spark"}, "clickhouse": {"+materialized": "table"}}},
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(json.dumps(project))
    shows = [("show", "--inline", query, "--output", "json") for query in SHOWN.values()]
    outcomes = run_all(
        [
            ("build", "--exclude", "path:models/spark/broken"),
            ("build", "--exclude", "path:models/spark/broken"),
            *shows,
            ("run", "--select", "path:models/spark/broken"),
        ],
        folder,
        environment={**os.environ, "TZ": "Asia/Kolkata"},
        seconds=400,
    )
    first, again, *shown, failed = outcomes
    return Ran(folder, first, again, dict(zip(SHOWN, shown, strict=True)), failed)


def _rows(outcome: Outcome) -> list[dict[str, object]]:
    found = outcome.output
    rows: list[dict[str, object]] = json.loads(found[found.index("{") : found.rindex("}") + 1])["show"]
    return rows


def test_python_models_are_built_and_handed_to_clickhouse(ran: Ran) -> None:
    for outcome in (ran.first, ran.again):
        assert outcome.success, outcome.why()
    assert [tuple(row.values()) for row in _rows(ran.shown["sessions"])] == [
        (1, 2, "a!", "a"),
        (2, 1, "a!", "a"),
        (1, 1, "b!", "b"),
    ]
    assert (ran.folder / "home" / "warehouse" / "py.db" / "sessions" / "who=a").is_dir()


def test_frames_of_pandas_keep_their_values(ran: Ran) -> None:
    assert _rows(ran.shown["pandas"]) == [
        {"id": 1, "at": "2026-01-01T00:00:00", "😀 `q`": "x"},
        {"id": 2, "at": None, "😀 `q`": None},
    ]
    assert len(_rows(ran.shown["on_spark"])) == 4


def test_a_view_that_a_model_has_changed_is_made_again(ran: Ran) -> None:
    """A view that no model has changed is still known from when it was made."""
    log = (ran.folder / "logs" / "dbt.log").read_text()
    assert log.count("\ncreate or replace view py.changed") == 2
    assert log.count("\ncreate or replace view py.kept") == 1


def test_an_incremental_model_adds_rows(ran: Ran) -> None:
    assert [row["id"] for row in _rows(ran.shown["growing"])] == [1, 4]


@pytest.mark.parametrize("name", BROKEN)
def test_an_error_points_at_the_line_of_the_model(ran: Ran, name: str) -> None:
    path = ran.folder / "models" / "spark" / "broken" / f"{name}.py"
    message = " ".join(ran.broken.failures()[name].split())  # dbt indents some of it
    assert " ".join(BROKEN[name][1].format(path=path).split()) in message
    assert not {"py4j", "+- Relation"} & set(message.split())
