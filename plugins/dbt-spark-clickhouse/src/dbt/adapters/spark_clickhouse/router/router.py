"""The router between two stock adapters: it picks the engine and calls its adapter."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core import routing
from dbt.adapters.spark_clickhouse.core.context import Context
from dbt.adapters.spark_clickhouse.core.engine import EngineAdapter
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, ENGINES, SPARK, Engine
from dbt.adapters.spark_clickhouse.hand_off.hand_offs import HandOffs
from dbt.adapters.spark_clickhouse.hand_off.lost_tables import LostTables
from dbt.adapters.spark_clickhouse.hand_off.places import SparkFiles
from dbt.adapters.spark_clickhouse.hand_off.relation import engine_of_relation
from dbt.adapters.spark_clickhouse.router.delegation import ToBothEngines, ToOneEngine


class Router(ToOneEngine, ToBothEngines, BaseAdapter):
    """The base of all parts of the adapter.

    A call goes to the engine of a relation among the arguments, else to the engine that a ``database`` argument
    names, else to the engine at work, else to the profile's default.
    """

    connections: Any  # RoutedConnections, which is not a connection manager, although dbt treats it as one
    context: Context
    default_engine: Engine
    engines: Mapping[Engine, EngineAdapter]
    engine_configs: Mapping[Engine, Any]
    hand_offs: HandOffs
    lost_tables: LostTables
    spark_files: SparkFiles
    landed: dict[str, list[dict[str, Any]]]  # batches by landing zone
    macro_context: Callable[..., Mapping[str, Any]]  # what dbt defines for a macro, given the macro and the rest
    home: Path
    project_root: Path
    target_folder: Path  # where dbt keeps what it has parsed

    # Which engine

    @property
    def engine(self) -> Engine:
        """The engine at work, or the profile's default."""
        return self.context.engine or self.default_engine

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The manifest's nodes and sources by unique id; empty until the project is parsed."""
        manifest = self.get_macro_resolver()
        return ChainMap(getattr(manifest, "nodes", {}), getattr(manifest, "sources", {}))

    def engine_of(self, node: Any) -> Engine:
        """The engine that owns ``node``."""
        return routing.engine_of(node, self.nodes, self.default_engine)

    def owner_of(self, unique_id: str) -> Engine | None:
        """The engine that owns the node with this unique id; None if there is no such node."""
        node = self.nodes.get(unique_id)
        return self.engine_of(node) if node else None

    @available
    def named_engine(self, database: str | None, node: Any = None) -> Engine:
        """The engine that the config of ``node`` names, else that of the profile."""
        name = routing.named_engine(database, node) or self.default_engine
        return routing.validate_engine(name, f"Node '{node.name}'" if node else "A node")

    def spark_node(self, relation: BaseRelation) -> Any:
        """The node or source of ``relation``, or None."""
        name = (relation.schema, relation.identifier)
        nodes = self.nodes.values()
        deferred = (getattr(node, "defer_relation", None) for node in nodes)
        return next(
            (
                node
                for node in (*nodes, *filter(None, deferred))
                if (node.schema, getattr(node, "identifier", None)) == name
                if self.engine_of(node) == SPARK
            ),
            None,
        )

    def spark_parents(self, node: Any) -> Iterator[Any]:
        """The Spark nodes and sources that ``node`` reads, directly or through ephemeral models."""
        nodes = self.nodes
        for parent_id in getattr(getattr(node, "depends_on", None), "nodes", []):
            parent = nodes.get(parent_id)
            if parent is None:
                continue
            if getattr(parent, "is_ephemeral_model", False):
                yield from self.spark_parents(parent)
            elif parent.resource_type != "function" and self.engine_of(parent) == SPARK:
                yield parent

    # Calls of the stock adapters

    def call_engine(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method ``name`` of one stock adapter, chosen by the arguments or else by the node at work.

        Raises:
            DbtRuntimeError: that engine's adapter has no such method.
        """
        relations = (engine_of_relation(value) for value in (*args, *kwargs.values()))
        engine = next((found for found in relations if found), self.engine)
        return self.call_named_engine(engine, name, *args, **kwargs)

    def call_named_engine(self, engine: Engine, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method ``name`` of the stock adapter of ``engine``."""
        method = getattr(self.engines[engine], name, None)
        if method is None:
            (other,) = set(ENGINES) - {engine}
            raise DbtRuntimeError(f"adapter.{name}() is not available on {engine}: only dbt-{other} has it.")
        with self.context.on_engine(engine):
            return method(*args, **kwargs)

    def call_both(self, name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call the method ``name`` of both stock adapters. Spark's result comes first."""
        return [self.call_named_engine(engine, name, *args, **kwargs) for engine in ENGINES]

    # The manifest

    def get_macro_resolver(self) -> Any:
        """The manifest."""
        return self.engines[CLICKHOUSE].get_macro_resolver()

    def set_macro_context_generator(self, macro_context_generator: Any) -> None:
        """Set how contexts are made: always with the project's config, whichever engine asks."""

        def generate(macro: Any, _config: Any, resolver: Any, package: str | None) -> Any:
            return macro_context_generator(macro, self.config, resolver, package)

        self.macro_context = generate
        self.call_both("set_macro_context_generator", generate)
