"""Commands that depend on another target's schema, or on what earlier commands did."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq


def test_sample_is_taken_of_the_spark_table_that_clickhouse_reads(elsewhere: Any) -> None:
    assert elsewhere.sample.success
    assert elsewhere.tables["events"] == [{"id": 1}]


def test_empty_run_reads_no_rows_of_spark_tables_and_of_files(project: Any, elsewhere: Any) -> None:
    assert elsewhere.empty.success
    assert elsewhere.tables["events_by_day"] == []
    assert pq.read_table(project.spark_table("spark_events", "elsewhere")).num_rows == 3
    assert pq.read_table(project.spark_table("spark_lines", "elsewhere")).num_rows == 0


def test_retry_runs_what_failed_on_either_engine_and_what_was_skipped(elsewhere: Any) -> None:
    assert "It needs repair." in elsewhere.fail.failures()["ch_fails_once"]
    assert "TABLE_OR_VIEW_NOT_FOUND" in elsewhere.fail.failures()["spark_fails_once"]
    assert elsewhere.fail.results["ch_after_failures"][0] == "skipped"
    assert elsewhere.repair.success
    assert elsewhere.retry.success
    models = {name for name in elsewhere.retry.results if not name.startswith("mixed-on-run")}
    assert models == {"ch_fails_once", "spark_fails_once", "ch_after_failures"}
    assert elsewhere.tables["after_failures"] == [{"id": 1}]


def test_failure_on_spark_ends_a_query_on_clickhouse_when_dbt_is_to_fail_fast(elsewhere: Any) -> None:
    assert "Spark cannot read" in elsewhere.fail_fast.failures()["spark_reads_clickhouse"]
    assert elsewhere.fail_fast.results["ch_endless"][0] == "skipped"


def test_ref_is_deferred_to_a_spark_table_of_another_schema(project: Any, elsewhere: Any) -> None:
    assert elsewhere.defer.failures() == {}
    assert {
        "ch_orders",
        "ch_folders",
        "relationships_ch_orders_country__code__ref_countries_",
        "tests_of_both_run_on_clickhouse",
        "spark_table_is_an_input_on_clickhouse",
        "tables_outside_the_folder_of_their_schema_are_inputs_on_clickhouse",
    } <= elsewhere.defer.results.keys()
    assert elsewhere.tables["orders"] == [{"orders": 12}]
    assert [row["folder"] for row in elsewhere.tables["folders"]] == ["a folder of its own", "the warehouse itself"]
    for table in ("countries", "spark_orders"):
        assert not project.spark_table(table, "elsewhere").exists()


def test_tables_and_views_of_clickhouse_are_cloned_without_their_parents(project: Any, elsewhere: Any) -> None:
    assert elsewhere.clone.failures() == {}
    assert elsewhere.tables["twin"] == [{"package_on": "clickhouse", "parent_on": "spark"}]
    assert len(elsewhere.tables["revenue"]) == 3
    assert not project.spark_table("twin", "elsewhere").exists()


def test_clone_of_a_spark_table_needs_another_format_than_parquet(elsewhere: Any) -> None:
    failure = elsewhere.clone_on_spark.failures()["spark_types"]
    assert "shallow clone requires file_format be set to 'delta'" in failure


def test_full_refresh_begins_incremental_models_of_both_engines_anew(project: Any, elsewhere: Any) -> None:
    assert elsewhere.refresh.success
    assert elsewhere.tables["runs"] == [{"run": 1}]
    folders = project.spark_table("spark_runs", "elsewhere").glob("run=*")
    assert [folder.name for folder in folders] == ["run=1"]


def test_modified_models_of_both_engines_are_selected_and_no_others(elsewhere: Any) -> None:
    listed = [line for line in elsewhere.modified.output.splitlines() if line.startswith("mixed.")]
    assert sorted(listed) == ["mixed.clickhouse.ch_nothing", "mixed.spark.spark_nothing"]


def test_clean_leaves_the_stores_alone(project: Any, elsewhere: Any) -> None:
    assert elsewhere.clean.success
    assert not (project.root / "target" / "catalog.json").exists()
    assert (project.home / "clickhouse").is_dir()
    assert project.spark_table("spark_orders").is_dir()
