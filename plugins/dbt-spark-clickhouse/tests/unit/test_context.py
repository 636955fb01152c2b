"""What each thread works on."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.events.contextvars import log_contextvars

from dbt.adapters import spark_clickhouse
from dbt.adapters.spark_clickhouse.core.context import Context
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter

Node = Callable[..., Any]


@pytest.fixture
def context() -> Context:
    """A context to which dbt never says which node its events are about."""
    return Context(lambda unique_id: None)


def test_engine_and_node_at_work_last_for_the_block(context: Context, node: Node) -> None:
    outer, inner = node("model", "outer", SPARK), node("model", "inner", CLICKHOUSE)
    assert (context.engine, context.node) == (None, None)
    with context.on_node(outer, SPARK):
        with context.on_node(inner, CLICKHOUSE):
            assert (context.engine, context.node) == (CLICKHOUSE, inner)
        with pytest.raises(ZeroDivisionError), context.on_engine(CLICKHOUSE):
            raise ZeroDivisionError
        assert (context.engine, context.node) == (SPARK, outer)
    assert (context.engine, context.node) == (None, None)


def test_engine_at_work_is_that_of_the_thread(context: Context) -> None:
    seen: list[Engine | None] = []
    with context.on_engine(SPARK):
        thread = threading.Thread(target=lambda: seen.append(context.engine))
        thread.start()
        thread.join()
    assert seen == [None]


@pytest.mark.parametrize(
    ("database", "expected"), [(SPARK, SPARK), (CLICKHOUSE, CLICKHOUSE), ("shop", None), ("", None), (None, None)]
)
def test_database_names_an_engine_to_a_model(
    context: Context, node: Node, database: str | None, expected: Engine | None
) -> None:
    assert context.engine_named(database) == expected
    with context.on_node(node("model", "it", CLICKHOUSE), CLICKHOUSE):
        assert context.engine_named(database) == expected


def test_database_that_a_test_has_from_the_profile_names_the_engine_at_work(context: Context, node: Node) -> None:
    with context.on_node(node("test", "it", CLICKHOUSE), SPARK):
        assert context.engine_named(CLICKHOUSE) == SPARK
        assert context.engine_named(SPARK) == SPARK
    with context.on_node(node("test", "it", CLICKHOUSE), CLICKHOUSE):
        assert context.engine_named(CLICKHOUSE) == CLICKHOUSE
        assert context.engine_named(SPARK) == SPARK


def test_node_of_dbts_events_is_at_work_where_dbt_opens_no_connection(
    adapter: SparkClickHouseAdapter, node: Node
) -> None:
    orders = node("model", "orders", SPARK)
    adapter.set_macro_resolver(SimpleNamespace(nodes={orders.unique_id: orders}, sources={}))
    with log_contextvars(node_info={"unique_id": orders.unique_id}):
        assert (adapter.context.engine, adapter.type()) == (SPARK, SPARK)
        with adapter.context.on_engine(CLICKHOUSE):
            assert adapter.context.engine == CLICKHOUSE
    with log_contextvars(node_info={"unique_id": "model.project.gone"}):
        assert adapter.context.engine is None


def test_no_module_remembers_what_is_at_work() -> None:
    root = Path(str(spark_clickhouse.__file__)).parent
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text())
        assert [node for node in ast.walk(tree) if isinstance(node, ast.Global)] == []
        parts = path.relative_to(root).with_suffix("").parts
        module = import_module(".".join(("dbt.adapters.spark_clickhouse", *parts)).removesuffix(".__init__"))
        assert [name for name, value in vars(module).items() if isinstance(value, ContextVar)] == []


def test_adapters_work_apart(adapter: SparkClickHouseAdapter, context: Context) -> None:
    with adapter.context.on_engine(SPARK):
        assert (adapter.context.engine, context.engine) == (SPARK, None)
        assert SparkClickHouseAdapter.type() == "spark_clickhouse"
