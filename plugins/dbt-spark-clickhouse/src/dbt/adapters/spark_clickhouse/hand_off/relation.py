"""Relations of both engines, and the relation through which ClickHouse reads a Spark table."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

from dbt.adapters.base.relation import BaseRelation, Policy
from dbt.adapters.clickhouse.relation import ClickHouseRelation
from dbt.adapters.contracts.relation import HasQuoting, RelationConfig
from dbt.adapters.spark.relation import SparkQuotePolicy, SparkRelation

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine, is_engine
from dbt.adapters.spark_clickhouse.core.types import quote


@dataclass(frozen=True, eq=False, repr=False)
class HandOffRelation(ClickHouseRelation):
    """A Spark table as ClickHouse reads it: a table function over the table's files."""

    reading: str = ""

    def render(self) -> str:
        return self.reading


@dataclass(frozen=True, eq=False, repr=False)
class SparkFilesRelation(SparkRelation):
    """A source that is a folder of files, read by Spark in place: text.`landing/orders`."""

    location: str = ""
    file_format: str = ""

    def render(self) -> str:
        return f"{self.file_format}.{quote(self.location, SPARK)}"


RELATION_CLASSES: dict[Engine, type[BaseRelation]] = {SPARK: SparkRelation, CLICKHOUSE: ClickHouseRelation}


def engine_of_relation(relation: object) -> Engine | None:
    """The engine that reads ``relation``, or None if it belongs to neither."""
    for engine, relation_class in RELATION_CLASSES.items():
        if isinstance(relation, relation_class):
            return engine
    return None


def without_engine(config: Any) -> Any:
    """A copy of a node or source whose database no longer names the engine.

    Neither engine has databases above its schemas, and the stock relation classes refuse them.
    """
    stripped = copy.copy(config)
    stripped.database = None
    return stripped


class RoutedRelation(BaseRelation):
    """Creates relations of the engine that owns them. It has no instances of its own.

    Each adapter binds a subclass to itself (``router``), which knows the manifest and the default engine.
    """

    router: ClassVar[Any] = None  # dbt evaluates annotations, and could not import a name here

    @staticmethod
    def bound_to(router: Any) -> type[RoutedRelation]:
        """The subclass that creates the relations of ``router``."""

        class Relation(RoutedRelation):
            pass

        Relation.router = router
        return Relation

    @classmethod
    def get_default_quote_policy(cls) -> Policy:
        # ClickHouse relations quote themselves, whatever the policy says.
        return SparkQuotePolicy()

    @classmethod
    def get_default_include_policy(cls) -> Policy:
        # Neither engine has databases above its schemas.
        return Policy(database=False)

    @classmethod
    def create(cls, database: str | None = None, schema: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """A relation of the engine that ``database`` names, else of the engine at work."""
        if cls.router is None:
            engine = database if is_engine(database) else CLICKHOUSE
        else:
            engine = cls.router.context.engine_named(database) or cls.router.engine
        return RELATION_CLASSES[engine].create(None, schema, *args, **kwargs)

    @classmethod
    def create_from(cls, quoting: HasQuoting, relation_config: RelationConfig, **kwargs: Any) -> Any:
        """The relation of a node or source. For a `ref` or `source`, it is made for the engine that reads it.

        Raises:
            DbtRuntimeError: the engine at work cannot read the `ref` or `source`.
        """
        if cls.router is None:
            return super().create_from(quoting, relation_config, **kwargs)
        return cls.router.relation_of(quoting, relation_config, is_reference=private_api.is_reference(kwargs), **kwargs)
