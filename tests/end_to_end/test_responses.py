"""What dbt and ClickHouse record about a run: `adapter_response` in run_results.json, and the statements in
query_log."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.shop import REPOSITORY

# A process has one embedded engine, so it is opened here first, with a log of all queries.
_RUN_ALL = """
import json, pathlib, sys
import clickhouse_connect
from dbt.cli.main import dbtRunner

folder, statements = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
path = f"{folder / 'home' / 'clickhouse'}?config-file={folder / 'log.xml'}"
client = clickhouse_connect.get_client(interface="chdb", path=path, query_limit=0)
kept, rows = [], []
places = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
for statement in statements:
    if statement == "run":
        outcome = dbtRunner().invoke(["--quiet", "run", *places])
        assert outcome.success, [result.message for result in outcome.result.results]
        kept.append(json.loads((folder / "target" / "run_results.json").read_text()))
    elif statement.startswith("select"):
        rows.append([list(map(str, row)) for row in client.query(statement).result_rows])
    else:
        client.command(statement)
print("\\x1e" + json.dumps([kept, rows]))
"""
LOG = (
    "<clickhouse><query_log><database>system</database><table>query_log</table>"
    "<flush_interval_milliseconds>86400000</flush_interval_milliseconds></query_log></clickhouse>"
)
CHANGES = "create or replace table shop.changes engine = Memory as select * from values('id Int64, x Int64, _version Int64, _is_deleted Bool', {})"
MODELS = {
    "orders": "{{ config(materialized='versioned_collapsing', unique_key='id') }} select * from shop.changes",
    "sums": "{{ config(materialized='versioned_collapsing_view', order_by='id') }} "
    "{{ versioned_collapsing.signed_sums(ref('orders'), 'id', ['x']) }}",
}
LEDGER = "run_id, status, rows_read, keys, states, cancels, deletes, duplicates, late, unmerged, conflicts, tombstoned"
LEDGER += ", rebalanced, superseded, synthetic, truncates"
STATEMENTS = """
select event_time, query_duration_ms, read_rows, written_rows, memory_usage, query
from system.query_log
where type = 'QueryFinish'
  and log_comment in (
    select concat('versioned_collapsing ', argMax(run_id, at))
    from shop.versioned_collapsing_ledger
    where model = 'orders'
  )
order by event_time_microseconds
""".strip()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], list[Any]]:
    """The responses of two runs by model, and the rows of ClickHouse's log and of the ledger."""
    folder = tmp_path_factory.mktemp("responses")
    for name in ("home/clickhouse", "models"):
        (folder / name).mkdir(parents=True)
    (folder / "log.xml").write_text(LOG)
    output = {"type": "spark_clickhouse", "schema": "shop", "home": str(folder / "home")}
    project = {
        "name": "versioned_collapsing",
        "profile": "shop",
        "macro-paths": [str(REPOSITORY / "macros")],
        "flags": {"send_anonymous_usage_stats": False},
    }
    profiles = {"shop": {"target": "embedded", "outputs": {"embedded": output}}}
    for name, content in {"dbt_project.yml": project, "profiles.yml": profiles}.items():
        (folder / name).write_text(json.dumps(content))  # JSON is YAML
    for name, sql in MODELS.items():
        (folder / "models" / f"{name}.sql").write_text(sql)
    steps = [
        "create database shop",
        CHANGES.format("(1, 10, 1, false), (2, 20, 1, false)"),
        "run",
        CHANGES.format("(1, 11, 2, false), (2, 20, 2, true), (3, 30, 1, false), (3, 30, 1, false)"),
        "run",
        "system flush logs query_log",
        STATEMENTS,
        f"select {LEDGER} from shop.versioned_collapsing_ledger where status = 'applied' order by at",
        "select run_id from shop.versioned_collapsing_ledger where status = 'filled' order by at",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", _RUN_ALL, str(folder), json.dumps(steps)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results, rows = json.loads(ended.stdout.partition("\x1e")[2])
    return [
        {result["unique_id"].split(".")[-1]: result["adapter_response"] for result in run["results"]} for run in results
    ], rows


def test_run_results_have_what_the_ledger_has(kept: tuple[list[dict[str, Any]], list[Any]]) -> None:
    responses, (_, ledger, _) = kept
    for response, row in zip(responses, ledger, strict=True):
        names = LEDGER.split(", ")
        assert [str(response["orders"][name]) for name in names] == row
        assert response["orders"]["code"] == "OK"
        assert response["orders"]["batches"] == []
    assert [response["orders"]["rows_affected"] for response in responses] == [2, 4]
    assert responses[1]["orders"]["_message"] == ("4 rows: 2 states, 2 cancels, 1 delete, 1 duplicate")
    assert [responses[1]["orders"][name] for name in ("states", "cancels", "deletes")] == [2, 2, 1]


def test_run_results_have_the_run_of_a_view(kept: tuple[list[dict[str, Any]], list[Any]]) -> None:
    responses, (_, _, filled) = kept
    assert [[response["sums"]["run_id"]] for response in responses] == filled
    assert responses[1]["sums"]["_message"] == "added the changes of orders"


def test_statements_of_a_run_are_found_in_the_query_log(kept: tuple[list[dict[str, Any]], list[Any]]) -> None:
    responses, (logged, _, _) = kept
    queries = [row[-1] for row in logged]
    comment = f"log_comment = 'versioned_collapsing {responses[1]['orders']['run_id']}'"
    assert all(comment in query for query in queries)
    assert sum("shop.changes" in query for query in queries) >= 1, queries
    assert any(int(written) > 0 for *_, written, _, _ in logged)
