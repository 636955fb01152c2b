"""dbt's other commands on a project with both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest


def test_show_runs_on_spark_when_all_that_it_reads_is_sparks(later: Any) -> None:
    assert later.show_on_spark.success
    assert "| spark  |   1 |" in later.show_on_spark.output
    assert "| spark  |   2 |" in later.show_on_spark.output


def test_show_of_both_engines_runs_on_clickhouse_and_needs_no_spark(without_java: Any) -> None:
    assert without_java.show.success
    for part in ('"engine": "clickhouse"', '"order_id": 1', '"name": "Austria"'):
        assert part in without_java.show.output


def test_show_of_a_model_runs_on_its_engine(later: Any) -> None:
    assert later.show_spark_model.success
    assert later.show_clickhouse_model.success
    assert "|  2 | 2024-01-03 12:00:00 | third" in later.show_clickhouse_model.output


def test_timestamps_that_dbt_reads_from_spark_are_in_utc(later: Any) -> None:
    assert "|  2 | 2024-01-03 12:00:00 |" in later.show_spark_model.output
    assert later.loaded_at["source.mixed.built_by_spark.spark_events"].startswith("2024-01-03T12:00")


def test_listing_has_the_nodes_of_both_engines(later: Any) -> None:
    assert later.listing.success
    lines = (line for line in later.listing.output.splitlines() if line.startswith("{"))
    assert {
        node["name"]: node["resource_type"]
        for node in map(json.loads, lines)
        if node["resource_type"] not in ("test", "unit_test")
    } == {"countries": "seed", "spark_orders": "model", "ch_orders": "model", "report": "exposure"}


def test_freshness_is_that_of_the_sources_of_both_engines(later: Any) -> None:
    assert later.freshness.success
    assert later.freshness.failures().keys() == {"landing", "built_by_spark", "built_by_clickhouse"}
    assert {later.freshness.results[name][0] for name in later.freshness.failures()} == {"warn"}
    assert {name.split(".")[-1]: when[:26] for name, when in later.loaded_at.items()} == {
        "readings": "1970-01-01T00:00:00.000003",
        "spark_events": "2024-01-03T12:00:00+00:00",
        "ch_events": "2024-01-03T12:00:00+00:00",
    }


def test_operation_finds_the_relations_of_each_engine(later: Any) -> None:
    for line in (
        "spark twin: mixed.twin",
        "spark spark_orders: mixed.spark_orders",
        "spark ch_orders: none",
        "clickhouse twin: `mixed`.`twin`",
        "clickhouse spark_orders: none",
        "clickhouse ch_orders: `mixed`.`ch_orders`",
    ):
        assert line in later.find.output


def test_tests_fail_on_the_engine_of_what_they_read(later: Any) -> None:
    assert later.failing_tests.failures() == dict.fromkeys(
        ("fails_on_spark", "fails_on_clickhouse"), "Got 4 results, configured to fail if != 0"
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("spark_breaks_contract", "| id          | bigint          | string        |"),
        ("ch_breaks_contract", "| id          | Nullable(Int64)                | String "),
        ("ch_breaks_constraint", "Constraint `few` for table mixed.ch_breaks_constraint ("),
        ("ch_python", "only supports languages ['sql']; got \"python\""),
        ("spark_grants", "The embedded spark has no users to grant anything to."),
        ("ch_grants", "The embedded clickhouse has no users to grant anything to."),
    ],
)
def test_model_that_its_engine_cannot_build_fails(later: Any, model: str, message: str) -> None:
    assert message in later.refused.failures()[model]


def test_snapshot_on_spark_needs_another_format_than_parquet(later: Any) -> None:
    assert "Invalid file format: parquet" in later.snapshot_on_spark.failures()["spark_snapshot"]


def test_run_of_clickhouse_nodes_alone_starts_no_spark(without_java: Any) -> None:
    assert without_java.run.success
    assert without_java.run.failures() == {}
    assert {"ch_runs", "ch_orders", "ch_revenue"} <= without_java.run.results.keys()
    assert not without_java.spark_was_started


def test_operation_asks_both_engines_and_reads_a_table_without_a_ref(later: Any) -> None:
    assert later.operation.success
    assert "clickhouse has 12, spark 12, handed off 12" in later.operation.output


def test_spark_model_cannot_read_a_clickhouse_model(later: Any) -> None:
    assert not later.spark_reads_clickhouse.success
    assert set(later.spark_reads_clickhouse.failures()) == {"spark_reads_clickhouse"}
    assert (
        "Spark cannot read `mixed`.`ch_orders`, which ClickHouse owns. Data goes from Spark to "
        "ClickHouse: put the model that needs it on ClickHouse (`+database: clickhouse`), or what "
        "it needs on Spark." in later.spark_reads_clickhouse.failures()["spark_reads_clickhouse"]
    )


def test_compiled_sql_is_that_of_each_nodes_engine(project: Any, later: Any) -> None:
    assert later.compile.success
    file = f"file('{project.spark_table('spark_orders')}/*.parquet', 'Parquet', '`order_id` "
    assert file in later.compiled["ch_orders"]
    assert "from mixed.spark_orders where false" in later.compiled["spark_nothing"]
    assert f"from text.`{project.root}/landing/lines`" in later.compiled["spark_lines"]
    assert "from `mixed`.`ch_orders` as orders" in later.compiled["ch_revenue"]


def test_analysis_of_both_engines_is_compiled_for_clickhouse(later: Any) -> None:
    analysis = later.compiled["orders_of_both"]
    assert "select 'clickhouse' as engine" in analysis
    assert "inner join file('" in analysis


def test_sql_compiled_without_looking_at_the_engines_is_the_same(later: Any) -> None:
    assert later.compile_blindly.success
    assert {"ch_orders", "ch_runs", "spark_runs", "ch_twin"} <= later.compiled_blindly.keys()
    for name, sql in later.compiled_blindly.items():
        if not name.startswith("mixed-on-run-"):  # Their names contain the command.
            assert sql == later.compiled[name]


def test_catalog_has_both_engines_as_databases(later: Any) -> None:
    assert later.docs.success
    found = {
        unique_id.split(".")[-1]: entry["metadata"]["database"] for unique_id, entry in later.catalog["nodes"].items()
    }
    assert {name: found[name] for name in ("countries", "spark_orders", "spark_orders_view")} == {
        "countries": "spark",
        "spark_orders": "spark",
        "spark_orders_view": "spark",
    }
    assert {name: found[name] for name in ("ch_orders", "ch_revenue", "ch_orders_snapshot")} == {
        "ch_orders": "clickhouse",
        "ch_revenue": "clickhouse",
        "ch_orders_snapshot": "clickhouse",
    }
    assert later.catalog["errors"] is None


def test_catalog_keeps_relations_of_the_same_name_apart(later: Any) -> None:
    found = {engine: later.catalog["nodes"][f"model.mixed.{engine}_twin"] for engine in ("spark", "ch")}
    assert {entry["metadata"]["name"] for entry in found.values()} == {"twin"}
    assert list(found["spark"]["columns"]) == ["package_on", "dbt_on", "orders"]
    assert list(found["ch"]["columns"]) == ["package_on", "dbt_on", "parent_on"]


def test_descriptions_are_comments_on_each_engine(later: Any) -> None:
    orders = later.catalog["nodes"]["model.mixed.ch_orders"]
    assert orders["metadata"]["comment"] == "What was ordered, as ClickHouse has it."
    assert orders["columns"]["order_id"]["comment"] == "A number."
    # dbt-spark's catalog has no comments.
    assert "spark_orders: Comment | What was ordered, as Spark has it. |" in later.comments.output
    assert "spark_orders_view: order_id | bigint | A number." in later.comments.output


@pytest.mark.parametrize(
    ("node", "columns"),
    [
        ("model.mixed.ch_orders", {"order_id": "Int64", "country": "String", "amount": "Nullable(Decimal(18, 2))"}),
        ("model.mixed.spark_orders", {"order_id": "long", "country": "string", "amount": "decimal(18,2)"}),
    ],
)
def test_catalog_has_the_columns_in_the_types_of_their_engine(later: Any, node: str, columns: dict[str, str]) -> None:
    for catalog in (later.catalog, later.catalog_of_some):
        found = catalog["nodes"][node]["columns"]
        assert {name: column["type"] for name, column in found.items()} == columns


def test_catalog_has_the_sizes_of_tables(later: Any) -> None:
    for catalog in (later.catalog, later.catalog_of_some):
        found = catalog["nodes"]["model.mixed.ch_orders"]["stats"]
        assert {name: (each["label"], each["include"]) for name, each in found.items()} == {
            "rows": ("Stored Rows", True),
            "bytes": ("Size", True),
            "has_stats": ("Has Stats?", False),
        }
        assert found["rows"]["value"] == 12
        assert found["bytes"]["value"] > 0
    view = later.catalog["nodes"]["model.mixed.ch_revenue"]["stats"]
    assert list(view) == ["has_stats"]


def test_catalog_of_a_selection_has_nothing_else(later: Any) -> None:
    assert later.docs_of_some.success
    models = [name for name in later.catalog_of_some["nodes"] if name.startswith("model.")]
    assert sorted(models) == ["model.mixed.ch_orders", "model.mixed.spark_orders"]


def test_debug_tries_both_engines(project: Any, later: Any) -> None:
    assert later.debug.success
    for shown in (
        "database: clickhouse",
        "schema: mixed",
        f"home: {project.home}",
        "spark.method: session",
        "clickhouse.driver: chdb",
        "Connection test: [OK connection ok]",
    ):
        assert shown in later.debug.output
