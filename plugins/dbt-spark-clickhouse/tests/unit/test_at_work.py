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
from dbt.adapters.spark_clickhouse.adapter import SparkClickHouseAdapter
from dbt.adapters.spark_clickhouse.at_work import AtWork
from dbt.adapters.spark_clickhouse.routing import CLICKHOUSE, SPARK, Engine

Node = Callable[..., Any]


@pytest.fixture
def at_work() -> AtWork:
    """What is worked on where dbt never says which node its events are of."""
    return AtWork(lambda unique_id: None)


def test_engine_and_node_at_work_last_for_the_block(at_work: AtWork, node: Node) -> None:
    outer, inner = node("model", "outer", SPARK), node("model", "inner", CLICKHOUSE)
    assert (at_work.engine, at_work.node) == (None, None)
    with at_work.on_node(outer, SPARK):
        with at_work.on_node(inner, CLICKHOUSE):
            assert (at_work.engine, at_work.node) == (CLICKHOUSE, inner)
        with pytest.raises(ZeroDivisionError), at_work.on_engine(CLICKHOUSE):
            raise ZeroDivisionError
        assert (at_work.engine, at_work.node) == (SPARK, outer)
    assert (at_work.engine, at_work.node) == (None, None)


def test_engine_at_work_is_that_of_the_thread(at_work: AtWork) -> None:
    seen: list[Engine | None] = []
    with at_work.on_engine(SPARK):
        thread = threading.Thread(target=lambda: seen.append(at_work.engine))
        thread.start()
        thread.join()
    assert seen == [None]


@pytest.mark.parametrize(
    ("database", "expected"), [(SPARK, SPARK), (CLICKHOUSE, CLICKHOUSE), ("shop", None), ("", None), (None, None)]
)
def test_database_names_an_engine_to_a_model(
    at_work: AtWork, node: Node, database: str | None, expected: Engine | None
) -> None:
    assert at_work.engine_named(database) == expected
    with at_work.on_node(node("model", "it", CLICKHOUSE), CLICKHOUSE):
        assert at_work.engine_named(database) == expected


def test_database_that_a_test_has_from_the_profile_names_the_engine_at_work(at_work: AtWork, node: Node) -> None:
    with at_work.on_node(node("test", "it", CLICKHOUSE), SPARK):
        assert at_work.engine_named(CLICKHOUSE) == SPARK
        assert at_work.engine_named(SPARK) == SPARK
    with at_work.on_node(node("test", "it", CLICKHOUSE), CLICKHOUSE):
        assert at_work.engine_named(CLICKHOUSE) == CLICKHOUSE
        assert at_work.engine_named(SPARK) == SPARK


def test_node_of_dbts_events_is_at_work_where_dbt_opens_no_connection(
    adapter: SparkClickHouseAdapter, node: Node
) -> None:
    orders = node("model", "orders", SPARK)
    adapter.set_macro_resolver(SimpleNamespace(nodes={orders.unique_id: orders}, sources={}))
    with log_contextvars(node_info={"unique_id": orders.unique_id}):
        assert (adapter.at_work.engine, adapter.type()) == (SPARK, SPARK)
        with adapter.at_work.on_engine(CLICKHOUSE):
            assert adapter.at_work.engine == CLICKHOUSE
    with log_contextvars(node_info={"unique_id": "model.project.gone"}):
        assert adapter.at_work.engine is None


def test_no_module_remembers_what_is_at_work() -> None:
    for path in Path(str(spark_clickhouse.__file__)).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        assert [node for node in ast.walk(tree) if isinstance(node, ast.Global)] == []
        module = import_module(f"dbt.adapters.spark_clickhouse.{path.stem}".removesuffix(".__init__"))
        assert [name for name, value in vars(module).items() if isinstance(value, ContextVar)] == []


def test_adapters_work_apart(adapter: SparkClickHouseAdapter, at_work: AtWork) -> None:
    with adapter.at_work.on_engine(SPARK):
        assert (adapter.at_work.engine, at_work.engine) == (SPARK, None)
        assert SparkClickHouseAdapter.type() == "spark_clickhouse"
