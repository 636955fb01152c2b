"""`dbt build` on both engines: what is built where, and with whose macros."""

from __future__ import annotations

import math
from typing import Any

import pyarrow.parquet as pq

Rows = dict[str, list[dict[str, Any]]]

ORDERS = [
    {"order_id": 4 * i + n, "country": country, "amount": f"{n * 10.5:.2f}".rstrip("0").rstrip(".")}
    for i, country in enumerate(["AT", "IN", "JP"])
    for n in range(1, 5)
]


def spark_rows(project: Any, table: str) -> list[dict[str, Any]]:
    """The rows of a Spark table, read from its files."""
    rows: list[dict[str, Any]] = pq.read_table(project.spark_table(table)).to_pylist()
    return rows


def spark_rows_by_id(project: Any, table: str) -> list[dict[str, Any]]:
    return sorted(spark_rows(project, table), key=lambda row: int(row["id"]))


def test_first_build_succeeds(first_build: Any) -> None:
    assert first_build.failures() == {}
    assert first_build.success


def test_second_build_succeeds(later: Any) -> None:
    assert later.build.failures() == {}
    assert later.build.success


def test_every_kind_of_node_was_built_and_tested(first_build: Any) -> None:
    assert {
        "countries",
        "spark_orders",
        "spark_orders_view",
        "spark_long_view",
        "spark_nothing",
        "spark_runs",
        "ch_orders",
        "ch_runs",
        "ch_orders_by_country",
        "ch_revenue",
        "ch_orders_snapshot",
        "ch_events_snapshot",
        "ch_notes",
        "ch_events_by_day",
        "spark_events_by_day",
        "report",
        "unique_countries_code",
        "relationships_spark_orders_country__code__ref_countries_",
        "relationships_spark_orders_order_id__order_id__ref_ch_orders_",
        "relationships_ch_orders_country__code__ref_countries_",
        "accepted_values_ch_orders_country__AT__IN__JP",
        "spark_tests_run_on_spark",
        "clickhouse_tests_run_on_clickhouse",
        "tests_of_both_run_on_clickhouse",
        "orders_are_numbered_by_country_on_spark",
        "files_of_a_source_are_an_input_on_spark",
        "spark_table_is_an_input_on_clickhouse",
        "files_of_a_source_and_a_spark_seed_are_inputs_on_clickhouse",
        "tables_outside_the_folder_of_their_schema_are_inputs_on_clickhouse",
        "mixed-on-run-start-0",
        "mixed-on-run-end-0",
    } <= first_build.results.keys()


def test_clickhouse_table_has_the_rows_of_the_spark_table(tables: Rows) -> None:
    assert tables["orders"] == ORDERS


def test_view_reads_an_ephemeral_model_across_engines(tables: Rows) -> None:
    assert tables["revenue"] == [{"name": name, "amount": "105"} for name in ("Austria", "India", "日本")]


def test_materialized_view_follows_its_table(tables: Rows) -> None:
    assert [row["country"] for row in tables["orders_by_country"]] == ["AT", "IN", "JP"]
    assert {row["orders"] for row in tables["orders_by_country"]} <= {4, 8}


def test_empty_spark_table_is_an_empty_clickhouse_table_of_the_same_types(tables: Rows) -> None:
    assert tables["nothing"] == []
    assert tables["nothing_columns"] == [
        {"name": "order_id", "type": "Nullable(Int64)"},
        {"name": "country", "type": "Nullable(String)"},
        {"name": "amount", "type": "Nullable(Decimal(18, 2))"},
    ]


def test_snapshot_of_unchanged_rows_does_not_grow(tables: Rows) -> None:
    assert tables["snapshot"] == [{"orders": len(ORDERS)}]


def test_snapshot_of_a_spark_table_has_its_rows(tables: Rows) -> None:
    assert tables["events_snapshot"] == [
        {"id": i, "dbt_valid_from": f"2024-01-0{i + 1} 12:00:00.000000", "dbt_valid_to": None} for i in range(3)
    ]


def test_spark_table_is_joined_with_a_seed_of_clickhouse(tables: Rows) -> None:
    notes = ["first", "second", "third"]
    assert tables["events"] == [{"id": i, "note": note} for i, note in enumerate(notes)]


def test_batches_of_both_engines_have_the_rows_of_their_day(project: Any, tables: Rows) -> None:
    days = [f"2024-01-0{day}" for day in (1, 2, 3)]
    assert tables["events_by_day"] == [{"id": i, "happened_at": f"{day} 12:00:00.000000"} for i, day in enumerate(days)]
    folders = sorted(project.spark_table("spark_events_by_day").glob("day=*"))
    assert [folder.name for folder in folders] == [f"day={day}" for day in days]
    assert [pq.read_table(folder).num_rows for folder in folders] == [1, 1, 1]


def test_relations_of_the_same_name_are_kept_apart(project: Any, tables: Rows) -> None:
    (on_spark,) = spark_rows(project, "twin")
    (on_clickhouse,) = tables["twin"]
    assert on_spark["orders"] == 12
    assert on_clickhouse["parent_on"] == "spark"


def test_packages_dispatch_to_the_engine_of_the_node(project: Any, tables: Rows) -> None:
    (on_spark,) = spark_rows(project, "twin")
    (on_clickhouse,) = tables["twin"]
    assert (on_spark["package_on"], on_clickhouse["package_on"]) == ("spark", "clickhouse")
    # The package overrides this macro on Spark only.
    assert (on_spark["dbt_on"], on_clickhouse["dbt_on"]) == ("varchar(9)", "String")


def test_values_of_a_seed_are_the_same_on_spark_and_reach_clickhouse(project: Any, tables: Rows) -> None:
    *numbered, nan, without = spark_rows_by_id(project, "measurements")
    assert numbered == [{"id": 1, "amount": 9007199254740993, "name": "O'Brien", "ratio": 0.1}]
    assert math.isnan(nan.pop("ratio"))
    assert nan == {"id": 2, "amount": None, "name": None}
    assert without == {"id": 3, "amount": -9007199254740993, "name": r"C:\new, 100%", "ratio": None}
    assert tables["measurements"] == [
        {"id": 1, "amount": 9007199254740993, "name": "O'Brien", "ratio": "0.1"},
        {"id": 2, "amount": None, "name": None, "ratio": "nan"},
        {"id": 3, "amount": -9007199254740993, "name": r"C:\new, 100%", "ratio": None},
    ]


def test_text_files_reach_clickhouse_through_a_spark_model(tables: Rows) -> None:
    assert tables["lines"] == [{"line": "one"}, {"line": "two"}]


def test_parquet_files_of_a_source_are_read_by_both_engines(project: Any, tables: Rows) -> None:
    assert sorted(spark_rows(project, "spark_readings"), key=str) == [
        {"sensor": 1, "doubled": 1.0},
        {"sensor": 2, "doubled": None},
        {"sensor": None, "doubled": 5.0},
    ]
    assert tables["readings"] == [
        {"sensor": 1, "reading": 0.5, "country": "Austria"},
        {"sensor": 2, "reading": None, "country": None},
        {"sensor": None, "reading": 2.5, "country": None},
    ]


def test_spark_tables_outside_the_folder_of_their_schema_are_found(tables: Rows) -> None:
    assert tables["folders"] == [{"folder": "a folder of its own"}, {"folder": "the warehouse itself"}]


def test_each_engine_has_its_own_nodes_only(project: Any, tables: Rows) -> None:
    assert tables["countries"] == []
    assert [row["name"] for row in tables["spark_in_clickhouse"]] == []
    assert list(project.spark_table("").glob("ch_*")) == []


def test_failures_are_stored_on_the_engine_of_the_test(project: Any, tables: Rows) -> None:
    assert tables["clickhouse_failures"] == [{"order_id": i} for i in (9, 10, 11, 12)]
    on_spark = pq.read_table(project.spark_table("fails_on_spark", "dbt_test__audit"))
    assert sorted(on_spark["order_id"].to_pylist()) == [9, 10, 11, 12]
    assert tables["failures"] == [{"name": "clickhouse_tests_run_on_clickhouse"}]
    stored = project.home / "warehouse" / "failures.db"
    assert [folder.name for folder in stored.iterdir()] == ["spark_tests_run_on_spark"]


def test_hooks_of_a_model_run_on_its_engine(project: Any, tables: Rows) -> None:
    assert tables["hooks"] == 2 * [{"model": "ch_orders", "orders": 12}]
    assert spark_rows(project, "spark_hooks") == 2 * [{"model": "spark_orders", "orders": 12}]


def test_statements_on_both_engines_are_commented_with_their_node(project: Any, later: Any) -> None:
    log = (project.root / "logs" / "dbt.log").read_text()
    for node in ("model.mixed.spark_orders", "model.mixed.ch_orders"):
        assert f'On {node}: /* {{"app": "dbt", ' in log
        assert f'"node_id": "{node}"}} */' in log


def test_hooks_of_the_project_run_on_the_default_engine(tables: Rows) -> None:
    builds = [row["stage"] for row in tables["commands"] if row["command"] == "build"]
    assert sorted(builds) == 2 * ["end on clickhouse"] + 2 * ["start"]


def test_hooks_of_the_project_reach_the_other_engine_by_query_on(project: Any) -> None:
    assert spark_rows(project, "builds") == 2 * [{"engine": "spark"}]


def test_incremental_models_of_both_engines_grow(project: Any, tables: Rows) -> None:
    assert [row["run"] for row in tables["runs"]] == [1, 2]
    partitions = sorted(folder.name for folder in project.spark_table("spark_runs").glob("run=*"))
    assert partitions == ["run=1", "run=2"]


def test_macro_that_dbt_clickhouse_overrides_is_its_own_there_and_dbts_on_spark(project: Any, tables: Rows) -> None:
    assert {row["is_incremental_of"] for row in tables["runs"]} == {"dbt_clickhouse"}
    assert {row["is_incremental_of"] for row in spark_rows(project, "spark_runs")} == {"dbt"}


def test_macro_that_both_packages_define_is_that_of_the_engine(project: Any, tables: Rows) -> None:
    assert {row["partition_cols_of"] for row in tables["runs"]} == {"dbt_clickhouse"}
    assert tables["orders_partition"] == [{"partition_key": "(country)"}]
    assert {row["partition_cols_of"] for row in spark_rows(project, "spark_runs")} == {"dbt_spark"}


def test_second_command_parses_only_what_has_changed(first_build: Any, later: Any) -> None:
    assert "Unable to do partial parsing" in first_build.output  # another target was used before
    for outcome in (later.build, later.show_on_spark, later.compile, later.docs):
        assert "Running with dbt" in outcome.output
        assert "Unable to do partial parsing" not in outcome.output


def test_expected_errors_and_the_progress_of_spark_are_not_in_a_pipe(first_build: Any) -> None:
    assert "SQLQueryContextLogger" not in first_build.output
    assert "Spark [" not in first_build.output
