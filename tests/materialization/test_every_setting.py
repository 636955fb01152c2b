"""A history of tables, views and tests under every setting that the server lists: right, or an error.

What dbt sends is recorded once and sent again under each setting as a profile has it: `--every-setting` tries them
one by one, the short form many at once, and splits those that go wrong or stop until it knows the setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.materialization.test_settings import (
    CONFIG,
    CUTTING,
    FIRST,
    LIVE,
    SECOND,
    STRUCTURE,
    THIRD,
    profiles,
)
from tests.support.collapsing_project import CollapsingProject, OperationError, Row
from tests.support.replay import Recording, Replayer, Stopped
from tests.support.server_settings import Candidate, candidates

MakeProject = Callable[[str], CollapsingProject]

# Patterns of names, and why the settings are left out.
EXCLUDED = {
    "allow_ddl|readonly|dialect|implicit_select": "stops every statement that makes something",
    "(?:input_format|output_format|format)_(?!null_as_default|defaults_for).*": "formats that no statement here reads or writes",
    "(?:s3|s3queue|azure|hdfs|iceberg|delta_lake|paimon|kafka|nats|rabbitmq|mysql|postgresql|mongodb|odbc|sqlite|external_storage|datalake|database_datalake|url|stream_like|rename_files|engine_(?:file|url)|object_storage)_.*": "storages that no statement here reads or writes",
    "(?:arrow|avro|geojson|arrow_flight_request|schema_inference|column_names_for_schema|file_like|handle_kafka)_.*": "formats of files",
    "(?:distributed|parallel_replicas|cluster|database_replicated|shared_merge_tree|insert_keeper|keeper|cloud|load_balancing|prefer_localhost|replication|hedged|insert_quorum|backup_restore|restore|backup|cluster_table|cluster_function).*": "clusters and replicas, of which there is none here",
    "(?:http|tcp|network|connect|connections|poll|send|receive|handshake|idle|interactive|drain|hsts|remote_filesystem|filesystem_cache|page_cache|distributed_cache|dns|wait_for_async)_.*|.*_timeout(?:_ms|_sec)?|.*_bandwidth(?:_.*)?|(?:max|min)_execution_speed(?:_.*)?|sleep_.*|.*backoff.*|.*_ms": "network, caches of files, times",
    "(?:log|opentelemetry|memory_profiler|query_profiler|metrics_perf|trace|jemalloc|print|query_metric_log|stacktrace|show_data_lake|framing|errors_output|query_metric|workload|os_threads).*": "logs",
    "(?:ai_function|ast_fuzzer|webassembly|promql|polyglot|vector_search|text_index|kql|prql|streaming|time_series|obfuscate|regexp_dict|dictionary|hnsw|page|reader_executor|memory_overcommit|memory_usage_overcommit).*": "features of the engine that no statement here uses",
}
# What ClickHouse stops with an error that names it; found again, one by one, by the long form.
STOPPING = frozenset(
    """
    """.split()
)
STOPPED = "stopped"
SCHEMA = "every_setting"
# Of LIVE, what `combine` keeps that the last change does not have.
PLAIN = [
    (1, 1, "EU", 7, 30),
    (2, 2, "EU", None, 20),
    *LIVE[2:],
]
WRONG_ROWS_SEEN = 8
COLUMNS = "id, part, region, top, _version"
SUMS = {"group_by": "region", "sums": "top", "count": "n"}
VIEW = "select region, sum(top * _sign) as top, sum(_sign) as n from {{ ref('plain') }} group by region"
PROJECTION = "select region, sum(top * _sign), sum(_sign) group by region"
KEY = {"unique_key": "id"}
TESTS = [
    "cancel_rows_match_state_rows",
    "final_equals_signed_sums",
    "net_sign_is_zero_or_one",
    "sign_is_unit",
    {"live_version_is_the_highest": KEY},
    {"one_live_row_per_key": KEY},
    {"pairs_share_a_partition": KEY},
    {"rows_waiting_to_collapse_below": {"rows": 2, "recent_partitions": 2}},
    {"live_rows_equal": {"truth": "truth", **KEY}},
]
# A state row twice, one without its cancel row in another partition, and another payload in the cancel row.
BROKEN = """
    insert into broken (id, part, region, top, _version, _sign)
    values (1, 1, 'EU', 100, 30, 1), (30, 1, 'EU', 1, 1, 1), (30, 1, 'US', 1, 1, -1),
        (31, 0, 'EU', 1, 1, 1), (31, 0, 'EU', 2, 1, -1)
"""


def values(rows: list[Row]) -> str:
    return ", ".join(str(row).replace("None", "null") for row in rows)


def make_history(project: CollapsingProject) -> Recording:
    """Three runs of which the second dies, then tests of right rows and of wrong ones, then operations."""
    recording = Recording(project.schema)
    project.set_variables(versioned_collapsing_lock_seconds=0)
    project.add_model("folded", CONFIG, "select * from changes")
    plain = {"unique_key": "id", "partition_by": "region"}
    projection = {"name": "by_region", "query": PROJECTION}
    project.add_model("plain", {**plain, "projections": [projection]}, "select * from changes")
    view = {"materialized": "versioned_collapsing_view", "order_by": "region"}
    project.add_model("sums", view, VIEW)
    declared = {"id": "Int64", "region": "String", "_version": "UInt64"}
    project.declare("plain", declared)
    for number, rows in enumerate((FIRST, SECOND, THIRD)):
        recording.prepare(
            project.client,
            f"create or replace table changes ({STRUCTURE}) engine = Memory",
            f"insert into changes values {values(rows)}",
        )
        with profiles({"folded": {}}, dying=number == 1), recording.recorded():
            outcomes = project.run()
        assert {name for name, outcome in outcomes.items() if outcome.status != "success"} == (
            {"folded"} if number == 1 else set()
        ), outcomes
    recording.prepare(
        project.client,
        "create table truth engine = Memory as select * except (_sign) from folded final where _sign = 1",
        "create table broken as folded",
        "insert into broken select * from folded",
        BROKEN,
    )
    # Not of `plain` by its model: its columns are declared in another file.
    aggregate = {"aggregate_agrees": {"aggregate": f"{SCHEMA}.sums", **SUMS}}
    project.add_properties(
        "tests",
        {
            "models": [
                {"name": "folded", "data_tests": TESTS},
            ],
            "sources": [
                {
                    "name": "wrong",
                    "schema": project.schema,
                    "tables": [
                        {"name": "broken", "data_tests": [*TESTS, aggregate]},
                        {"name": "plain", "data_tests": [aggregate]},
                    ],
                }
            ],
        },
    )
    with recording.recorded():
        outcomes = project.dbt("test")
        assert len(outcomes) == 20
        failed = {name for name, outcome in outcomes.items() if outcome.status == "fail"}
        assert len([name for name in failed if "wrong_broken" in name]) == WRONG_ROWS_SEEN
        for macro in ("collapse_status", "repair_collapse", "compact"):
            project.operation(macro, model="folded")
        project.operation("reconcile", model="folded", truth="truth")
        with pytest.raises(OperationError, match="differs"):
            project.operation("reconcile", model="folded", truth="broken")
    return recording


RESULTS = (
    f"select {COLUMNS} from folded final where _sign = 1 order by id",
    f"select {COLUMNS}, sum(_sign) as net from folded group by all having net <> 0 order by id",
    f"select {COLUMNS}, sum(_sign) as net from plain group by all having net <> 0 order by id",
    "select region, sum(top), sum(n) as live from sums group by region having live <> 0 order by region",
    "select id, max(_version) from folded__tombstones group by id order by id",
)


def problem(replayer: Replayer, settings: Sequence[Candidate]) -> str:
    """Where a history under some settings goes wrong, or nothing. One setting may stop it."""
    try:
        return replayer.difference({each.name: each.value for each in settings})
    except Stopped:
        return STOPPED if len(settings) > 1 else ""


def findings(replayer: Replayer, settings: Sequence[Candidate]) -> dict[str, str]:
    """The settings under which a history goes wrong, one by one, or together where none does alone."""
    seen = problem(replayer, settings)
    half = len(settings) // 2
    if not seen or not half:
        return {str(settings[0]): seen} if seen else {}
    found = {**findings(replayer, settings[:half]), **findings(replayer, settings[half:])}
    return found or ({} if seen == STOPPED else {" ".join(map(str, settings)): seen})


def in_groups(settings: Sequence[Candidate], size: int) -> Iterator[Sequence[Candidate]]:
    """Groups that have one value of a setting each."""
    rounds: list[list[Candidate]] = []
    seen = Counter[str]()
    for each in settings:
        if seen[each.name] == len(rounds):
            rounds.append([])
        rounds[seen[each.name]].append(each)
        seen[each.name] += 1
    for some in rounds:
        yield from (some[start : start + size] for start in range(0, len(some), size))


def test_every_setting_of_the_server(
    server: tuple[str, int], make_project: MakeProject, request: pytest.FixtureRequest
) -> None:
    is_long = request.config.getoption("--every-setting")
    replayer = Replayer.start(make_history(make_project(SCHEMA)), server, RESULTS)
    assert replayer.expected_rows(0) == LIVE
    assert replayer.expected_rows(1) == [(*row, 1) for row in LIVE]
    assert replayer.expected_rows(2) == [(*row, 1) for row in PLAIN]
    settings = [
        each
        for each in candidates(replayer.client, EXCLUDED)
        if each.name not in CUTTING and (is_long or str(each) not in STOPPING)
    ]
    assert len(settings) > 700
    with ThreadPoolExecutor(2) as threads:
        groups = in_groups(settings, 1 if is_long else 200)
        found = list(threads.map(lambda group: findings(replayer, group), groups))
    assert {name: seen for each in found for name, seen in each.items()} == {}
