"""The relations of both engines: which one a node has, and which ones exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from dbt.adapters.base import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, ENGINES, SPARK, Engine
from dbt.adapters.spark_clickhouse.hand_off.places import below
from dbt.adapters.spark_clickhouse.hand_off.relation import (
    RELATION_CLASSES,
    HandOffRelation,
    SparkFilesRelation,
    engine_of_relation,
    without_engine,
)
from dbt.adapters.spark_clickhouse.router.router import Router

_NO_DATABASE: dict[str | None, Engine] = {None: SPARK, "": CLICKHOUSE}


class Relations(Router):
    """Creates and finds relations."""

    # The relation of a node

    def relation_of(self, quoting: Any, node: RelationConfig, is_reference: bool, **kwargs: Any) -> BaseRelation:
        """The relation of ``node``; for a `ref` or `source`, as the engine at work reads it.

        Raises:
            DbtRuntimeError: the engine at work cannot read the relation.
        """
        # Only the fixtures of a unit test ask for their own relation: ephemeral nodes in place of the test's inputs.
        is_stand_in = getattr(node, "is_ephemeral_model", False)
        owner = self.named_engine(node.database) if is_stand_in else self.engine_of(node)
        consumer = self.context.engine or owner
        own = self._own_relation(owner, quoting, node, **kwargs)
        if not is_reference or owner == consumer:
            return own
        if consumer == SPARK:
            raise DbtRuntimeError(
                f"Spark cannot read {own}, which ClickHouse owns. Data goes from Spark to "
                "ClickHouse: put the model that needs it on ClickHouse (`+database: clickhouse`), "
                "or what it needs on Spark."
            )
        return self.hand_offs.relation(node, own, **kwargs)

    def _own_relation(self, owner: Engine, quoting: Any, node: Any, **kwargs: Any) -> BaseRelation:
        external = getattr(node, "external", None)
        is_node = hasattr(quoting, "credentials")
        quoting = self.engine_configs[owner] if is_node else quoting
        relation = RELATION_CLASSES[owner].create_from(quoting, without_engine(node), **kwargs)
        if owner == SPARK and external and external.location and external.file_format:
            return SparkFilesRelation(
                path=relation.path,
                location=below(str(self.project_root), external.location) if self.context.engine else external.location,
                file_format=external.file_format,
                **private_api.reference_options(kwargs),
            )
        return relation

    # Which relations exist

    @available.parse_list
    def get_columns_in_relation(self, relation: BaseRelation) -> list[Any]:
        """The columns of ``relation``, in the types of the engine at work."""
        relation = self._as_read(relation)
        if isinstance(relation, HandOffRelation | SparkFilesRelation):
            sql = f"select * from {relation}"
            columns = self.call_named_engine(self.engine, "get_column_schema_from_query", sql)
        else:
            columns = self.call_engine("get_columns_in_relation", relation)
        return list(columns)

    def _as_read(self, relation: BaseRelation) -> BaseRelation:
        """A Spark relation as the engine at work reads it. For the inputs of a unit test, dbt passes only schema and
        name."""
        if type(relation) is not SparkRelation:
            return relation
        node = self.spark_node(relation)
        if self.engine == CLICKHOUSE:
            return self.hand_offs.by_location(relation, node)
        return self._own_relation(SPARK, self.config, node) if node else relation

    @available.parse_none
    def get_relation(self, database: str | None, schema: str, identifier: str) -> BaseRelation | None:
        """The relation, or None. ``database`` is an engine, or empty."""
        engine, database = self._named(database)
        found = self.call_named_engine(engine, "get_relation", database, schema, identifier)
        return cast(BaseRelation | None, found)

    def list_relations(self, database: str | None, schema: str) -> list[BaseRelation]:
        """The relations of a schema."""
        engine, database = self._named(database)
        return list(self.call_named_engine(engine, "list_relations", database, schema))

    @available.parse(lambda *a, **k: False)
    def check_schema_exists(self, database: str | None, schema: str) -> bool:
        """Whether the schema exists."""
        engine, database = self._named(database)
        return bool(self.call_named_engine(engine, "check_schema_exists", database, schema))

    def list_schemas(self, database: str | None) -> list[str]:
        """The schemas of an engine.

        dbt passes the database of the relations whose schemas it is about to create. It is None for relations of Spark
        and an empty string for relations of ClickHouse.
        """
        engine: Engine = self._named(database)[0] if database else _NO_DATABASE[database]
        return list(self.call_named_engine(engine, "list_schemas", database or None))

    def _named(self, database: str | None) -> tuple[Engine, str | None]:
        engine = self.context.engine_named(database)
        return (engine, None) if engine else (self.engine, database)

    # dbt's cache of relations

    @property
    def cache(self) -> Any:  # type: ignore[override]  # an attribute in stock adapters
        """The relations that the engine at work has cached."""
        return self.engines[self.engine].cache

    @available
    def cache_added(self, relation: BaseRelation | None) -> str:
        """Cache a relation. dbt does so for each relation that a node has built. A Spark table that ClickHouse reads
        gets its receipt at that moment."""
        if relation is not None and private_api.was_built(relation):
            self.hand_offs.record(relation)
        added: str = self.call_engine("cache_added", relation)
        return added

    def set_relations_cache(
        self,
        relation_configs: Iterable[RelationConfig],
        clear: bool = False,
        required_schemas: set[BaseRelation] | None = None,
    ) -> None:
        """Fill ClickHouse's cache. Spark's cache fills itself, schema by schema on first use, so that a run without
        Spark nodes starts no JVM. If nodes may not introspect, both are filled here."""
        configs = list(relation_configs)
        may_look = private_api.may_introspect(self.config)
        for engine in (CLICKHOUSE,) if may_look else ENGINES:
            mine = [without_engine(config) for config in configs if self.engine_of(config) == engine]
            schemas = {relation for relation in required_schemas or () if engine_of_relation(relation) == engine}
            if mine:
                self.call_named_engine(engine, "set_relations_cache", mine, clear, schemas or None)
        if clear and may_look:
            self.engines[SPARK].cache.clear()
