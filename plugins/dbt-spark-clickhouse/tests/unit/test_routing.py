"""Which engine a node belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine, engine_of, named_engine

Node = Callable[..., Any]

OWNED = ["model", "seed", "snapshot", "source", "function"]
FOLLOWING = ["test", "unit_test", "analysis", "sql_operation"]


def owner(node: Any, *others: Any, default: Engine = CLICKHOUSE) -> Engine:
    return engine_of(node, {each.unique_id: each for each in (node, *others)}, default)


@pytest.mark.parametrize("engine", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize("resource_type", OWNED)
def test_database_of_a_node_names_its_engine(node: Node, resource_type: str, engine: Engine) -> None:
    assert owner(node(resource_type, "it", engine)) == engine


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ([SPARK], SPARK),
        ([SPARK, SPARK], SPARK),
        ([CLICKHOUSE], CLICKHOUSE),
        ([SPARK, CLICKHOUSE], CLICKHOUSE),
        ([CLICKHOUSE, SPARK], CLICKHOUSE),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("parent_type", ["model", "seed", "snapshot", "source"])
@pytest.mark.parametrize("resource_type", FOLLOWING)
def test_node_without_an_engine_follows_its_parents(
    node: Node, resource_type: str, parent_type: str, parents: list[Engine], expected: Engine
) -> None:
    others = [node(parent_type, f"parent_{i}", engine) for i, engine in enumerate(parents)]
    # Their database is the profile's, whichever engine they run on.
    assert owner(node(resource_type, "it", CLICKHOUSE, *others), *others) == expected
    assert owner(node(resource_type, "it", SPARK, *others), *others) == expected


@pytest.mark.parametrize("default", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize("resource_type", [*FOLLOWING, "operation"])
def test_node_without_parents_runs_on_the_default_engine(node: Node, resource_type: str, default: Engine) -> None:
    assert owner(node(resource_type, "it"), default=default) == default


@pytest.mark.parametrize("default", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize("parent", [SPARK, CLICKHOUSE])
def test_hook_runs_on_the_default_engine_whatever_it_reads(node: Node, default: Engine, parent: Engine) -> None:
    model = node("model", "parent", parent)
    assert owner(node("operation", "it", None, model), model, default=default) == default


@pytest.mark.parametrize("engine", [SPARK, CLICKHOUSE])
def test_unit_test_follows_the_model_that_it_tests_not_its_inputs(node: Node, engine: Engine) -> None:
    tested = node("model", "tested", engine)
    inputs = [node("model", "spark", SPARK), node("model", "clickhouse", CLICKHOUSE)]
    unit_test = node("unit_test", "it", CLICKHOUSE, *inputs, tested_node_unique_id=tested.unique_id)
    assert owner(unit_test, tested, *inputs) == engine


def test_parent_that_is_not_in_the_manifest_does_not_count(node: Node) -> None:
    gone = node("model", "gone", SPARK)
    assert owner(node("test", "it", None, gone), default=CLICKHOUSE) == CLICKHOUSE


@pytest.mark.parametrize("consumer", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize("own", [SPARK, CLICKHOUSE])
def test_ephemeral_model_follows_the_model_that_uses_it(node: Node, own: Engine, consumer: Engine) -> None:
    ephemeral = node("model", "it", own, config={"materialized": "ephemeral"})
    assert owner(ephemeral, node("model", "consumer", consumer, ephemeral)) == consumer


def test_ephemeral_model_follows_consumers_through_ephemeral_models(node: Node) -> None:
    inner = node("model", "inner", CLICKHOUSE, config={"materialized": "ephemeral"})
    outer = node("model", "outer", CLICKHOUSE, inner, config={"materialized": "ephemeral"})
    assert owner(inner, outer, node("model", "consumer", SPARK, outer)) == SPARK


def test_ephemeral_model_that_only_a_test_uses_follows_its_parents(node: Node) -> None:
    parent = node("model", "parent", SPARK)
    ephemeral = node("model", "it", CLICKHOUSE, parent, config={"materialized": "ephemeral"})
    assert owner(ephemeral, parent, node("test", "test", CLICKHOUSE, ephemeral)) == SPARK


def test_ephemeral_model_of_both_engines_is_an_error_that_says_what_to_change(node: Node) -> None:
    ephemeral = node("model", "shared", CLICKHOUSE, config={"materialized": "ephemeral"})
    consumers = [node("model", f"on_{engine}", engine, ephemeral) for engine in (SPARK, CLICKHOUSE)]
    with pytest.raises(DbtRuntimeError) as error:
        owner(ephemeral, *consumers)
    assert error.value.msg == (
        "The ephemeral model 'shared' is used by models of both engines, and its SQL cannot be "
        "both engines'. Materialize it as a table on Spark, which ClickHouse can read, or make one "
        "ephemeral model for each engine."
    )


@pytest.mark.parametrize("database", ["duckdb", "Spark", "", None])
@pytest.mark.parametrize("resource_type", OWNED)
def test_database_that_is_no_engine_is_an_error_that_names_the_node(
    node: Node, resource_type: str, database: str | None
) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        owner(node(resource_type, "orders", database))
    assert error.value.msg == (
        f"{resource_type.capitalize()} 'orders' has the database '{database}', which is not an "
        "engine. In a project on the spark_clickhouse adapter the database of a node names the "
        "engine that owns it. Set `+database: spark` or `+database: clickhouse`, or the same with "
        "`adapter` (in dbt_project.yml, a properties file or config()), or leave it out for the default of the profile."
    )


@pytest.mark.parametrize(
    ("database", "config", "expected"),
    [
        (None, {}, None),
        ("spark", {}, "spark"),
        (None, {"adapter": "spark"}, "spark"),
        (None, {"meta": {"adapter": "spark"}}, "spark"),
        ("spark", {"adapter": "spark", "meta": {"adapter": "spark"}}, "spark"),
        (None, {"adapter": "duckdb"}, "duckdb"),  # It is rejected later, like an unknown database.
    ],
)
def test_adapter_means_what_database_means(
    node: Node, database: str | None, config: dict[str, Any], expected: str | None
) -> None:
    assert named_engine(database, node("model", "orders", config=config)) == expected


@pytest.mark.parametrize(
    ("database", "config", "found"),
    [
        ("spark", {"adapter": "clickhouse"}, "the database 'spark' and the adapter 'clickhouse'"),
        ("spark", {"meta": {"adapter": "clickhouse"}}, "the database 'spark' and in `meta` the adapter 'clickhouse'"),
        (
            None,
            {"adapter": "spark", "meta": {"adapter": "clickhouse"}},
            "the adapter 'spark' and in `meta` the adapter 'clickhouse'",
        ),
    ],
)
def test_two_engines_of_a_node_are_an_error(
    node: Node, database: str | None, config: dict[str, Any], found: str
) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        named_engine(database, node("model", "orders", config=config))
    assert error.value.msg == (
        f"Model 'orders' has {found}. Each names the engine that owns it. Set only one of them; a "
        "folder in dbt_project.yml may set another."
    )
