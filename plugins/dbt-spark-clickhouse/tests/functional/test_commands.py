"""dbt's other commands on a project of both engines."""

from __future__ import annotations

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


def test_catalog_has_both_engines_as_databases(later: Any) -> None:
    assert later.docs.success
    found = {
        unique_id.split(".")[-1]: entry["metadata"]["database"]
        for unique_id, entry in later.catalog["nodes"].items()
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


@pytest.mark.parametrize(
    ("node", "columns"),
    [
        (
            "model.mixed.ch_orders",
            {"order_id": "Int64", "country": "String", "amount": "Nullable(Decimal(18, 2))"},
        ),
        (
            "model.mixed.spark_orders",
            {"order_id": "long", "country": "string", "amount": "decimal(18,2)"},
        ),
    ],
)
def test_catalog_has_the_columns_in_the_types_of_their_engine(
    later: Any, node: str, columns: dict[str, str]
) -> None:
    for catalog in (later.catalog, later.catalog_of_some):
        found = catalog["nodes"][node]["columns"]
        assert {name: column["type"] for name, column in found.items()} == columns


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
