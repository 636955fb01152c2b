"""The router passes on, or does itself, everything that the stock adapters can do."""

from __future__ import annotations

import inspect
import re
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.clickhouse.impl import ClickHouseAdapter
from dbt.adapters.clickhouse.relation import ClickHouseRelation
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.relation import SparkRelation
from dbt_common import exceptions
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter
from dbt.adapters.spark_clickhouse.private_api import TESTED_VERSIONS, PrivateApiError
from dbt.adapters.spark_clickhouse.router import delegation
from dbt.adapters.spark_clickhouse.router.connections import RoutedConnections
from dbt.adapters.spark_clickhouse.router.delegation import ToBothEngines, ToOneEngine

STOCK: dict[Engine, type[BaseAdapter]] = {SPARK: SparkAdapter, CLICKHOUSE: ClickHouseAdapter}
# Constants of the base class that neither stock adapter overrides.
SHARED = {"CATALOG_INTEGRATIONS", "MAX_SCHEMA_METADATA_RELATIONS"}
# Attributes that only the stock adapters' own code reads.
PRIVATE_TO_STOCK = {
    "COLUMN_NAMES",
    "ConnectionManager",
    "HUDI_METADATA_COLUMNS",
    "INFORMATION_COLUMNS_REGEX",
    "INFORMATION_OWNER_REGEX",
    "INFORMATION_STATISTICS_REGEX",
    "RelationInfo",
}
# Classes that the router defines as well.
CLASSES = {"AdapterSpecificConfigs", "Column", "Relation"}
TABLES = {"one": delegation.tabled(ToOneEngine), "both": delegation.tabled(ToBothEngines), "own": delegation.OWN}


def provider(name: str) -> type:
    """The class from which the router inherits the attribute ``name``."""
    return next(cls for cls in SparkClickHouseAdapter.__mro__ if name in vars(cls))


@pytest.mark.parametrize("stock", STOCK.values())
def test_public_attributes_of_a_stock_adapter_are_all_classified(stock: type[BaseAdapter]) -> None:
    public = {name for name, _ in inspect.getmembers_static(stock) if not name.startswith("_")}
    tables = [*TABLES.values(), SHARED, PRIVATE_TO_STOCK, CLASSES]
    assert {name: sum(name in table for table in tables) for name in public} == dict.fromkeys(public, 1)
    assert delegation.unclassified(stock) == set()


def test_tables_have_nothing_that_neither_stock_adapter_has() -> None:
    tabled = frozenset().union(*TABLES.values())
    assert {name for name in tabled if not any(hasattr(s, name) for s in STOCK.values())} == set()
    assert len(tabled) > 100


def test_what_the_router_answers_itself_is_defined_there() -> None:
    for name in TABLES["own"] | CLASSES:
        assert provider(name).__module__.startswith("dbt.adapters.spark_clickhouse.")
        assert provider(name) not in (ToOneEngine, ToBothEngines)


def test_methods_of_clickhouse_alone_are_those_that_spark_lacks() -> None:
    lines = inspect.getsource(ToOneEngine).partition("# ClickHouse's alone")[2].splitlines()
    names = {line.split("=")[0].strip() for line in lines if "=" in line}
    assert names <= TABLES["one"] - set(dir(SparkAdapter))


class NewerClickHouseAdapter(ClickHouseAdapter):
    """An adapter with a method that is in no table."""

    def swap_partitions(self) -> str:
        return "swapped"


def test_method_of_a_newer_stock_adapter_is_an_error_when_it_is_called(
    monkeypatch: pytest.MonkeyPatch, adapter: SparkClickHouseAdapter
) -> None:
    assert delegation.unclassified(NewerClickHouseAdapter) == {"swap_partitions"}
    monkeypatch.setattr(delegation, "STOCK_ADAPTERS", (NewerClickHouseAdapter,))
    monkeypatch.setattr(NewerClickHouseAdapter, "__module__", "dbt.adapters.clickhouse.impl", raising=False)
    delegation.refuse_unclassified(adapter)
    routed: Any = adapter
    with pytest.raises(PrivateApiError) as error:
        routed.swap_partitions("argument")
    versions = {name: version(name) for name in ("dbt-spark-clickhouse", "dbt-clickhouse")}
    assert error.value.msg == (
        f"dbt-spark-clickhouse {versions['dbt-spark-clickhouse']} does not work with "
        f"dbt-clickhouse {versions['dbt-clickhouse']}, which has a new method "
        "adapter.swap_partitions(). It is not known whether the method is for one engine or for both. "
        "Install the version that it was tested with, pip install "
        f"'dbt-clickhouse=={TESTED_VERSIONS['dbt-clickhouse']}', or a newer dbt-spark-clickhouse."
    )


@pytest.mark.parametrize("name", sorted(TABLES["both"]))
def test_methods_of_both_reach_both(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    reached: list[Any] = []
    for engine, each in adapter.engines.items():
        monkeypatch.setattr(each, name, lambda *args, of=engine: reached.append((of, adapter.engine, args)))
    getattr(adapter, name)("argument")
    assert reached == [(engine, engine, ("argument",)) for engine in (SPARK, CLICKHOUSE)]


def test_constants_that_are_left_alone_are_the_same_in_both_stock_adapters() -> None:
    for name in SHARED:
        assert len({repr(getattr(each, name)) for each in (BaseAdapter, *STOCK.values())}) == 1


@pytest.mark.parametrize("stock", STOCK.values())
def test_what_macros_may_call_on_a_stock_adapter_they_may_call_on_the_router(stock: type[BaseAdapter]) -> None:
    assert stock._available_ <= SparkClickHouseAdapter._available_
    assert set(stock._parse_replacements_) <= set(SparkClickHouseAdapter._parse_replacements_)
    assert all(hasattr(SparkClickHouseAdapter, name) for name in stock._available_)


@pytest.mark.parametrize("engine", [SPARK, CLICKHOUSE])
def test_delegates_reach_the_engine_at_work_and_no_other(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    reached: list[Any] = []
    delegates = TABLES["one"]
    for name in delegates:
        for owner, each in adapter.engines.items():
            if hasattr(each, name):
                monkeypatch.setattr(
                    each, name, lambda *args, of=owner, name=name, **kwargs: reached.append((of, name, args, kwargs))
                )
    with adapter.context.on_engine(engine):
        for name in delegates:
            reached.clear()
            if hasattr(STOCK[engine], name):
                getattr(adapter, name)("argument", option=True)
                assert reached == [(engine, name, ("argument",), {"option": True})]
            else:
                with pytest.raises(DbtRuntimeError) as error:
                    getattr(adapter, name)()
                (other,) = set(STOCK) - {engine}
                assert error.value.msg == (f"adapter.{name}() is not available on {engine}: only dbt-{other} has it.")
                assert reached == []


def test_router_has_what_dbt_asks_of_connections() -> None:
    package = Path(str(import_module("dbt.compilation").__file__)).parent
    asked = {
        found
        for folder in ("cli", "config", "context", "parser", "task")
        for path in (package / folder).rglob("*.py")
        for found in re.findall(r"adapter\.connections\.(\w+)", path.read_text())
    }
    assert asked
    assert {name for name in asked if not hasattr(RoutedConnections, name)} == set()


def test_relation_among_the_arguments_goes_before_the_engine_at_work(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[Any] = []
    for engine, each in adapter.engines.items():
        monkeypatch.setattr(each, "drop_relation", lambda relation, of=engine: dropped.append((of, relation)))
    on_spark = SparkRelation.create(schema="shop", identifier="orders")
    on_clickhouse = ClickHouseRelation.create(schema="shop", identifier="orders")
    with adapter.context.on_engine(CLICKHOUSE):
        adapter.drop_relation(on_spark)
    with adapter.context.on_engine(SPARK):
        adapter.drop_relation(relation=on_clickhouse)
    assert dropped == [(SPARK, on_spark), (CLICKHOUSE, on_clickhouse)]


@pytest.mark.parametrize("asked", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize("context", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize("name", ["get_relation", "list_relations", "check_schema_exists"])
def test_database_that_is_an_engine_goes_before_the_engine_at_work(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch, name: str, context: Engine, asked: Engine
) -> None:
    reached: list[Any] = []

    def record(engine: Engine, *arguments: Any) -> list[str]:
        reached.append((engine, arguments))
        return ["found"]

    for engine, each in adapter.engines.items():
        monkeypatch.setattr(each, name, partial(record, engine))
    names = ("shop", "orders") if name == "get_relation" else ("shop",)
    with adapter.context.on_engine(context):
        getattr(adapter, name)(asked, *names)
        getattr(adapter, name)(None, *names)
    # A stock adapter never sees the name of an engine, because neither has databases.
    assert reached == [(asked, (None, *names)), (context, (None, *names))]


@pytest.mark.parametrize("engine", [SPARK, CLICKHOUSE])
def test_properties_are_those_of_the_engine_at_work(adapter: SparkClickHouseAdapter, engine: Engine) -> None:
    stock = adapter.engines[engine]
    with adapter.context.on_engine(engine):
        assert adapter.type() == stock.type() == engine
        assert adapter.Column is stock.Column
        assert adapter.CONSTRAINT_SUPPORT == stock.CONSTRAINT_SUPPORT
        assert adapter.behavior is stock.behavior


def test_python_models_are_run_as_by_the_stock_adapter(adapter: SparkClickHouseAdapter) -> None:
    spark = adapter.engines[SPARK]
    with adapter.context.on_engine(SPARK):
        assert adapter.python_submission_helpers == spark.python_submission_helpers
        assert adapter.default_python_submission_method == spark.default_python_submission_method
    with adapter.context.on_engine(CLICKHOUSE):
        for name in ("python_submission_helpers", "default_python_submission_method"):
            with pytest.raises(exceptions.NotImplementedError):
                getattr(adapter, name)


def test_adapter_has_its_own_type_while_the_project_is_parsed(adapter: SparkClickHouseAdapter) -> None:
    assert adapter.type() == "spark_clickhouse"
    assert adapter.engine == "clickhouse"
