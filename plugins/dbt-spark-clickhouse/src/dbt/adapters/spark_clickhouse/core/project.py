"""What parts of the adapter need from the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from dbt.adapters.base.relation import BaseRelation

from dbt.adapters.spark_clickhouse.core.context import Context
from dbt.adapters.spark_clickhouse.core.engine import EngineAdapter
from dbt.adapters.spark_clickhouse.core.routing import Engine


class Project(Protocol):
    """A project and its two engines. The router implements it."""

    config: Any
    connections: Any
    context: Context
    engines: Mapping[Engine, EngineAdapter]
    home: Path
    project_root: Path

    @property
    def Relation(self) -> Any:  # dbt's name
        """The class of the nodes' relations."""

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The manifest's nodes and sources by unique id."""

    def call_named_engine(self, engine: Engine, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method ``name`` of the stock adapter of ``engine``."""

    def get_relation(self, database: Any, schema: Any, identifier: Any) -> Any:
        """The table of this name on the engine named by ``database``, or None."""

    def engine_of(self, node: Any) -> Engine:
        """The engine that owns ``node``."""

    def spark_node(self, relation: BaseRelation) -> Any:
        """The node or source of ``relation``, or None."""

    def spark_parents(self, node: Any) -> Iterator[Any]:
        """The Spark nodes and sources that ``node`` reads."""
