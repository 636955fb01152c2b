"""A history of tables, views and tests under every setting that the server lists: correct, or an error.

dbt's statements are recorded once, and sent again under each setting as if a profile had it. `--every-setting` tries
the settings one by one. The short form tries many at once, and splits groups that go wrong or stop until it knows the
setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.materialization.test_settings import CONFIG, CUTTING, FIRST, LIVE, SECOND, STRUCTURE, THIRD, profiles
from tests.support.collapsing_project import CollapsingProject, OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.replay import Recording, Replayer, Stopped
from tests.support.server_settings import Candidate, candidates

pytestmark = pytest.mark.timeout(6 * 3600)

# Reasons to exclude settings, and patterns of their names.
EXCLUDED = {
    "every statement that makes something stops": "allow_ddl readonly dialect implicit_select",
    "statements pin it; where dbt counts the failing rows of a test, it stops for want of a row": """
        empty_result_for_aggregation_by_empty_set""",
    "statements pin it; dbt's own list of tables has the same text of a view in other quotes": """
        show_create_query_identifier_quoting_*""",
    "formats and files that no statement here reads or writes": """
        input_format_[!nd]* output_format_* format_* arrow_* avro_* geojson_* schema_inference_* column_names_for_schema_*
        file_like_* engine_file_* rename_files_*""",
    "storages and sources that no statement here reads or writes": """
        s3_* s3queue_* azure_* hdfs_* iceberg_* delta_lake_* datalake_* kafka_* handle_kafka_* nats_* rabbitmq_* mysql_*
        postgresql_* mongodb_* odbc_* sqlite_* external_storage_* url_* engine_url_* stream_like_* object_storage_*
        dictionary_* regexp_dict_*""",
    "clusters, replicas and backups, of which there are none here": """
        distributed_* parallel_replicas_* cluster_* database_replicated_* shared_merge_tree_* keeper_* insert_keeper_*
        cloud_* load_balancing_* prefer_localhost_* replication_* hedged_* insert_quorum* backup_* restore_*""",
    "network, caches of files, and how long something may take": """
        http_* tcp_* network_* connect_* connections_* poll_* send_* receive_* handshake_* idle_* interactive_* drain_*
        hsts_* dns_* remote_filesystem_* filesystem_cache_* page_* wait_for_async_* sleep_* *_timeout *_timeout_ms
        *_timeout_sec *_bandwidth *_bandwidth_* max_*execution_time* *_execution_speed *_execution_speed_* *backoff* *_ms""",
    "logs and profilers": """
        log_* opentelemetry_* memory_profiler_* query_profiler_* metrics_perf_* query_metric_* trace_* jemalloc_* print_*
        framing_* errors_output_* workload os_threads_*""",
    "features that no statement here uses": """
        ai_function_* ast_fuzzer_* webassembly_* promql_* polyglot_* vector_search_* hnsw_* text_index_* time_series_*
        reader_executor_* memory_overcommit_* memory_usage_overcommit_*""",
}
# Settings with which ClickHouse stops with an error. The short form excludes them, or it would search for each in its
# group.
STOPPING = """
    compatibility=20.8 default_max_bytes_in_join=0 force_index_by_date=1 force_optimize_projection=1
    force_primary_key=1 ignore_drop_queries_probability=1 implicit_transaction=1 join_algorithm=direct
    join_algorithm=ie_join join_on_disk_max_files_to_merge=0 join_on_disk_max_files_to_merge=1
    make_distributed_plan=1 max_ast_depth=0 max_ast_depth=1 max_ast_elements=1 max_bytes_before_external_group_by=1
    max_bytes_before_external_join=1 max_bytes_in_distinct=1 max_bytes_in_join=1 max_bytes_in_set=1
    max_bytes_ratio_before_external_distinct=1 max_bytes_ratio_before_external_group_by=1
    max_bytes_ratio_before_external_join=1 max_bytes_ratio_before_external_sort=1 max_bytes_to_read=1
    max_bytes_to_read_leaf=1 max_bytes_to_sort=1 max_columns_to_read=1 max_concurrent_queries_for_all_users=1
    max_concurrent_queries_for_user=1 max_expanded_ast_elements=0 max_expanded_ast_elements=1 max_memory_usage=1
    max_memory_usage_for_user=1 max_os_cpu_wait_time_ratio_to_throw=1 max_parser_backtracks=1 max_parser_depth=1
    max_partitions_to_read=1 max_query_size=1 max_recursive_cte_evaluation_depth=0
    max_recursive_cte_evaluation_depth=1 max_result_bytes=1 max_result_rows=1 max_rows_in_join=1 max_rows_in_set=1
    max_rows_to_group_by=1 max_rows_to_read=1 max_rows_to_read_leaf=1 max_rows_to_sort=1 max_sessions_for_user=1
    max_subquery_depth=1 max_table_size_to_drop=1 max_temporary_columns=1 max_temporary_non_const_columns=1
    memory_tracker_fault_probability=1 merge_tree_coarse_index_granularity=0 merge_tree_coarse_index_granularity=1
    min_free_disk_ratio_to_perform_insert=1 page=1 partial_merge_join_rows_in_right_blocks=0 parts_to_throw_insert=1
    query_plan_optimize_join_order_algorithm=dpsize rewrite_in_to_join=1 run_query_in_background=1
    single_join_prefer_left_table=0
"""
STOPPED = "stopped"
SCHEMA = "every_setting"
# Of LIVE, without the values that `combine` keeps from earlier changes.
PLAIN = [(1, 1, "EU", 7, 30), (2, 2, "EU", None, 20), *LIVE[2:]]
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
    {"live_rows_equal": {"reference": "reference", **KEY}},
]
# A state row twice, one without its cancel row in another partition, and a cancel row with another payload.
BROKEN = """
    insert into broken (id, part, region, top, _version, _sign)
    values (1, 1, 'EU', 100, 30, 1), (30, 1, 'EU', 1, 1, 1), (30, 1, 'US', 1, 1, -1),
        (31, 0, 'EU', 1, 1, 1), (31, 0, 'EU', 2, 1, -1)
"""


def values(rows: list[Row]) -> str:
    return ", ".join(str(row).replace("None", "null") for row in rows)


def make_history(project: CollapsingProject) -> Recording:
    """Three runs, the second of which dies; then tests on correct and on wrong rows; then operations."""
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
        "create table reference engine = Memory as select * except (_sign) from folded final where _sign = 1",
        "create table broken as folded",
        "insert into broken select * from folded",
        BROKEN,
    )
    # Not for `plain` by its model, whose columns are declared in another file.
    aggregate = {"aggregate_agrees": {"aggregate": f"{SCHEMA}.sums", **SUMS}}
    project.add_properties(
        "tests",
        {
            "models": [{"name": "folded", "data_tests": TESTS}],
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
        for macro in ("collapse_status", "rebalance", "compact"):
            project.operation(macro, model="folded")
        project.operation("reconcile", model="folded", reference="reference")
        with pytest.raises(OperationError, match="differs"):
            project.operation("reconcile", model="folded", reference="broken")
    return recording


RESULTS = (
    f"select {COLUMNS} from folded final where _sign = 1 order by id",
    f"select {COLUMNS}, sum(_sign) as net from folded group by all having net <> 0 order by id",
    f"select {COLUMNS}, sum(_sign) as net from plain group by all having net <> 0 order by id",
    "select region, sum(top), sum(n) as live from sums group by region having live <> 0 order by region",
    "select id, max(_version) from folded__tombstones group by id order by id",
)


def problem(replayer: Replayer, settings: Sequence[Candidate]) -> str:
    """Where a history goes wrong under these settings, or empty. A single setting may also stop it."""
    try:
        return replayer.difference({each.name: each.value for each in settings})
    except Stopped:
        return STOPPED if len(settings) > 1 else ""


def findings(replayer: Replayer, settings: Sequence[Candidate]) -> dict[str, str]:
    """The settings under which a history goes wrong: single ones, or several if none does so alone."""
    seen = problem(replayer, settings)
    half = len(settings) // 2
    if not seen or not half:
        return {str(settings[0]): seen} if seen else {}
    found = {**findings(replayer, settings[:half]), **findings(replayer, settings[half:])}
    return found or ({} if seen == STOPPED else {" ".join(map(str, settings)): seen})


def in_groups(settings: Sequence[Candidate], size: int) -> Iterator[Sequence[Candidate]]:
    """Groups with one value of each setting."""
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
        for each in candidates(replayer.client, " ".join(EXCLUDED.values()).split())
        if each.name not in CUTTING and (is_long or str(each) not in STOPPING.split())
    ]
    assert len(settings) > 700
    with ThreadPoolExecutor(2) as threads:
        groups = in_groups(settings, 1 if is_long else 200)
        found = list(threads.map(lambda group: findings(replayer, group), groups))
    assert {name: seen for each in found for name, seen in each.items()} == {}
