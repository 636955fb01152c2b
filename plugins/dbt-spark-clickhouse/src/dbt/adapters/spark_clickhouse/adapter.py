"""The router: one dbt adapter in front of two stock adapters."""

from __future__ import annotations

import copy
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from dbt.adapters.base import available
from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.base.meta import available_property
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.clickhouse.impl import ClickHouseAdapter, ClickHouseConfig
from dbt.adapters.contracts.connection import AdapterRequiredConfig
from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.factory import FACTORY
from dbt.adapters.spark.impl import SparkAdapter, SparkConfig
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import routing, store
from dbt.adapters.spark_clickhouse.clickhouse_engine import RoutedClickHouseAdapter, prepare
from dbt.adapters.spark_clickhouse.connections import RoutedConnections
from dbt.adapters.spark_clickhouse.credentials import ADAPTER_TYPE, SparkClickHouseCredentials
from dbt.adapters.spark_clickhouse.hand_off import HandOffs
from dbt.adapters.spark_clickhouse.relation import (
    RELATION_CLASSES,
    HandOffRelation,
    RoutedRelation,
    SparkFilesRelation,
    engine_of_relation,
    without_engine,
)
from dbt.adapters.spark_clickhouse.routing import (
    CLICKHOUSE,
    ENGINES,
    SPARK,
    Engine,
    current_engine,
    on_engine,
)
from dbt.adapters.spark_clickhouse.spark_engine import RoutedSparkAdapter

if TYPE_CHECKING:
    import agate

STOCK_ADAPTERS = (SparkAdapter, ClickHouseAdapter)


@dataclass
class SparkClickHouseConfig(SparkConfig, ClickHouseConfig):
    """Node configs of both engines."""


def _delegate(name: str) -> Callable[..., Any]:
    def call(self: SparkClickHouseAdapter, *args: Any, **kwargs: Any) -> Any:
        return self.call_engine(name, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"``{name}`` of the stock adapter of the engine at work."
    return call


def _public_methods() -> set[str]:
    return {
        name
        for adapter in STOCK_ADAPTERS
        for name in dir(adapter)
        if not name.startswith("_") and callable(getattr(adapter, name))
    } - {"AdapterSpecificConfigs", "Column", "ConnectionManager", "Relation"}


class _Delegates:
    """Each public method of either stock adapter, passed on to the engine at work."""

    _available_ = SparkAdapter._available_ | ClickHouseAdapter._available_
    _parse_replacements_: ClassVar[dict[str, Callable[..., Any]]] = {
        **SparkAdapter._parse_replacements_,
        **ClickHouseAdapter._parse_replacements_,
    }


for _name in sorted(_public_methods()):
    setattr(_Delegates, _name, _delegate(_name))


class SparkClickHouseAdapter(_Delegates, BaseAdapter):
    """Sends everything that dbt asks to stock dbt-spark or to stock dbt-clickhouse.

    The engine is that of a relation among the arguments, else that which a ``database`` argument
    names, else the engine at work (see ``connection_named``), else the profile's default.
    """

    Relation = RoutedRelation
    AdapterSpecificConfigs = SparkClickHouseConfig
    connections: Any  # RoutedConnections: no connection manager, though dbt takes it for one

    def __init__(self, config: AdapterRequiredConfig, mp_context: SpawnContext) -> None:
        profile = cast(SparkClickHouseCredentials, config.credentials)
        self.config = config
        self.project_root = Path(getattr(config, "project_root", Path.cwd())).resolve()
        credentials = profile.engine_credentials(self.project_root)
        self.home = Path(credentials[0].home)
        self.default_engine = routing.validate_engine(profile.database, "The profile")
        self._configs = {
            engine: _with_credentials(config, block)
            for engine, block in zip(ENGINES, credentials, strict=True)
        }
        self.engines: dict[Engine, BaseAdapter] = {
            SPARK: RoutedSparkAdapter(self._configs[SPARK], mp_context),
            CLICKHOUSE: RoutedClickHouseAdapter(self._configs[CLICKHOUSE], mp_context),
        }
        self.connections = RoutedConnections(self)
        self.Relation = RoutedRelation.bound_to(self)
        self.hand_offs = HandOffs(self, credentials[0].warehouse_location, profile.s3_endpoint)
        routing.ask_for_owners(self._owner_of)
        # dbt finds the adapter by the type of its credentials, which is the engine at work.
        FACTORY.adapters.update(dict.fromkeys(ENGINES, cast(Any, self)))

    # Which engine

    @classmethod
    def type(cls) -> str:
        """The type of the engine at work; the adapter's own while the project is parsed."""
        return current_engine() or ADAPTER_TYPE

    @property
    def engine(self) -> Engine:
        """The engine at work, or the profile's default."""
        return current_engine() or self.default_engine

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The manifest's nodes and sources by unique id; empty until the project is parsed."""
        manifest = self.engines[CLICKHOUSE].get_macro_resolver()
        return ChainMap(getattr(manifest, "nodes", {}), getattr(manifest, "sources", {}))

    def engine_of(self, node: Any) -> Engine:
        """The engine that owns ``node``."""
        return routing.engine_of(node, self.nodes, self.default_engine)

    def _owner_of(self, unique_id: str) -> Engine | None:
        node = self.nodes.get(unique_id)
        return self.engine_of(node) if node else None

    @available
    def validate_engine(self, name: str, node: Any = None) -> Engine:
        """The engine called ``name``; an error that names ``node`` when it is none."""
        return routing.validate_engine(name, f"Node '{node.name}'" if node else "A node")

    def call_engine(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method ``name`` of the stock adapter that the arguments, or the node at work,
        belong to.

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
            raise DbtRuntimeError(f"adapter.{name}() is not there on {engine}.")
        with on_engine(engine):
            return method(*args, **kwargs)

    def on_both(self, name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call the method ``name`` of both stock adapters."""
        return [self.call_named_engine(engine, name, *args, **kwargs) for engine in ENGINES]

    # Relations

    @available_property
    def Column(self) -> Any:
        """The column class of the engine at work."""
        return self.engines[self.engine].Column

    def relation_of(
        self, quoting: Any, node: RelationConfig, is_reference: bool, **kwargs: Any
    ) -> BaseRelation:
        """The relation of ``node``; for a `ref` or `source`, as the engine at work reads it.

        Raises:
            DbtRuntimeError: the engine at work cannot read the relation.
        """
        # Only a unit test's fixtures, ephemeral stand-ins for their inputs, ask for their relation.
        is_stand_in = getattr(node, "is_ephemeral_model", False)
        owner = self.validate_engine(node.database) if is_stand_in else self.engine_of(node)
        consumer = current_engine() or owner
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
        quoting = self._configs[owner] if is_node else quoting
        relation = RELATION_CLASSES[owner].create_from(quoting, without_engine(node), **kwargs)
        if owner == SPARK and external and external.location and external.file_format:
            return SparkFilesRelation(
                path=relation.path,
                location=str(self.project_root / external.location)
                if current_engine() and "://" not in external.location
                else external.location,
                file_format=external.file_format,
                **{key: kwargs[key] for key in ("limit", "event_time_filter") if key in kwargs},
            )
        return relation

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
        """A Spark relation as the engine at work reads it. A unit test asks for its inputs by
        nothing but their schema and name."""
        if type(relation) is not SparkRelation:
            return relation
        node = self.spark_node(relation)
        if self.engine == CLICKHOUSE:
            return self.hand_offs.by_location(relation, node)
        return self._own_relation(SPARK, self.config, node) if node else relation

    def spark_node(self, relation: BaseRelation) -> Any:
        """The node or source of which ``relation`` is, or None."""
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

    @available.parse_none
    def get_relation(
        self, database: str | None, schema: str, identifier: str
    ) -> BaseRelation | None:
        """The relation in the database, or None. ``database`` is an engine, or empty."""
        engine, database = self._named(database)
        found = self.call_named_engine(engine, "get_relation", database, schema, identifier)
        return cast(BaseRelation | None, found)

    def list_relations(self, database: str | None, schema: str) -> list[BaseRelation]:
        """The relations of a schema."""
        engine, database = self._named(database)
        return list(self.call_named_engine(engine, "list_relations", database, schema))

    @available.parse(lambda *a, **k: False)
    def check_schema_exists(self, database: str | None, schema: str) -> bool:
        """Whether the schema is there."""
        engine, database = self._named(database)
        return bool(self.call_named_engine(engine, "check_schema_exists", database, schema))

    def list_schemas(self, database: str | None) -> list[str]:
        """The schemas of an engine.

        dbt asks with the database of the relations whose schemas it is about to create: relations
        of Spark have None there, relations of ClickHouse an empty string.
        """
        engine: Engine = self._named(database)[0] if database else _NO_DATABASE[database]
        return list(self.call_named_engine(engine, "list_schemas", database or None))

    def _named(self, database: str | None) -> tuple[Engine, str | None]:
        engine = routing.engine_named(database)
        return (engine, None) if engine else (self.engine, database)

    # From one engine to the other

    @available.parse(lambda *a, **k: None)
    def query_on(self, engine: Engine, sql: str) -> agate.Table:
        """The rows of ``sql``, run on ``engine`` whatever engine is at work."""
        _, table = self.call_named_engine(engine, "execute", sql, fetch=True)
        return table

    @available.parse(lambda *a, **k: None)
    def query_if_there(self, sql: str) -> agate.Table | None:
        """The rows of ``sql``, which reads files, on Spark; None when their folder is not there."""
        try:
            return self.query_on(SPARK, sql)
        except Exception as error:
            if "[PATH_NOT_FOUND]" in str(error):
                return None
            raise

    @available.parse(lambda *a, **k: None)
    def hand_off(
        self, schema: str, identifier: str, file_format: str | None = None
    ) -> BaseRelation:
        """A Spark table that is not a node, as ClickHouse reads it; checked like any other.

        ``file_format`` is what `create table … using` names; Parquet if it is None.

        Raises:
            DbtRuntimeError: the table is not what Spark wrote, or not as ClickHouse reads it.
        """
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        return self.hand_offs.verified(own, file_format)

    # Connections

    @contextmanager
    def connection_named(
        self, name: str, query_header_context: Any = None, should_release_connection: bool = True
    ) -> Iterator[None]:
        """Work on a node: connections under its name, and its engine at work, within the block."""
        node = query_header_context
        engine = self.engine_of(node) if node is not None else self.engine
        prepare(self._configs[CLICKHOUSE].credentials)
        with ExitStack() as stack:
            stack.enter_context(routing.working_on(node, engine))
            for adapter in self.engines.values():
                stack.enter_context(adapter.connection_named(name, node, should_release_connection))
            yield

    def acquire_connection(self, name: str | None = None) -> Any:
        """Name this thread's connections; neither is opened before it is used."""
        return dict(zip(ENGINES, self.on_both("acquire_connection", name), strict=True))[
            self.engine
        ]

    def release_connection(self) -> None:
        """Release this thread's connections."""
        self.on_both("release_connection")

    def cleanup_connections(self) -> None:
        """Close all connections; let other processes at the embedded stores unless Spark runs."""
        self.on_both("cleanup_connections")
        store.release(self.home)

    def clear_transaction(self) -> None:
        """Neither engine has transactions."""

    def commit_if_has_connection(self) -> None:
        """Neither engine has transactions."""

    def cancel_open_connections(self) -> list[str]:
        """Cancel what runs on either engine; the names of the connections."""
        return sorted({name for names in self.on_both("cancel_open_connections") for name in names})

    def debug_query(self) -> None:
        """Run a query on each engine."""
        self.on_both("debug_query")

    def nice_connection_name(self) -> str:
        """The name of this thread's connections."""
        return self.engines[self.engine].nice_connection_name()

    # The manifest

    def set_macro_resolver(self, macro_resolver: Any) -> None:
        """Give both engines the manifest."""
        self.on_both("set_macro_resolver", macro_resolver)

    def get_macro_resolver(self) -> Any:
        """The manifest."""
        return self.engines[CLICKHOUSE].get_macro_resolver()

    def clear_macro_resolver(self) -> None:
        """Take the manifest back."""
        self.on_both("clear_macro_resolver")

    def set_macro_context_generator(self, macro_context_generator: Any) -> None:
        """Contexts are made with the project's config, whichever engine asks."""

        def generate(macro: Any, _config: Any, resolver: Any, package: str | None) -> Any:
            return macro_context_generator(macro, self.config, resolver, package)

        self.on_both("set_macro_context_generator", generate)

    # Running nodes

    def pre_model_hook(self, config: Any) -> Any:
        """Check, before a node runs, the Spark tables that it reads."""
        context = self.call_engine("pre_model_hook", config)
        node = config.model
        is_compiled = getattr(node, "compiled", False)  # seeds are not, nor is what dbt clones
        if self.engine == SPARK and node.resource_type in ("model", "seed", "snapshot"):
            self.hand_offs.forget_lost(node)
        if is_compiled and node.resource_type != "unit_test":
            if self.engine == SPARK:
                self.hand_offs.require_parents(node)
            else:
                self.hand_offs.verify_parents(node)
        return context

    @available
    def cache_added(self, relation: BaseRelation | None) -> str:
        """Cache a relation. dbt does so for each relation that a node has built; a Spark table
        that ClickHouse reads gets its receipt then."""
        if relation is not None and getattr(relation, "dbt_created", False):
            self.hand_offs.record(relation)
        added: str = self.call_engine("cache_added", relation)
        return added

    def set_relations_cache(
        self,
        relation_configs: Iterable[RelationConfig],
        clear: bool = False,
        required_schemas: set[BaseRelation] | None = None,
    ) -> None:
        """Fill ClickHouse's cache. Spark's fills itself schema by schema at the first look, so
        that a run without Spark nodes starts no JVM; unless nodes must not look."""
        configs = list(relation_configs)
        may_look = getattr(getattr(self.config, "args", None), "INTROSPECT", True)
        for engine in (CLICKHOUSE,) if may_look else ENGINES:
            mine = [
                without_engine(config) for config in configs if self.engine_of(config) == engine
            ]
            schemas = {
                relation
                for relation in required_schemas or ()
                if engine_of_relation(relation) == engine
            }
            if mine:
                self.call_named_engine(engine, "set_relations_cache", mine, clear, schemas or None)
        if clear and may_look:
            self.engines[SPARK].cache.clear()

    # Docs

    def get_filtered_catalog(
        self,
        relation_configs: Iterable[RelationConfig],
        used_schemas: frozenset[tuple[str, str]],
        relations: set[BaseRelation] | None = None,
    ) -> tuple[agate.Table, list[Exception]]:
        """One catalog of both engines; the engine is the database."""
        from dbt_common.clients.agate_helper import merge_tables

        configs = list(relation_configs)
        tables, errors = [], []
        for engine in ENGINES:
            mine = [
                without_engine(config) for config in configs if self.engine_of(config) == engine
            ]
            wanted = relations and {r for r in relations if engine_of_relation(r) == engine}
            if not mine or (relations is not None and not wanted):
                continue
            schemas = frozenset(("", schema) for database, schema in used_schemas)
            catalog, failed = self.call_named_engine(
                engine, "get_filtered_catalog", mine, schemas, wanted
            )
            tables.append(_with_database(catalog, engine))
            errors += failed
        return merge_tables(tables), errors

    # Settings

    @property
    def cache(self) -> Any:  # type: ignore[override]  # an attribute in stock adapters
        """The relations that the engine at work has cached."""
        return self.engines[self.engine].cache

    @available_property
    def behavior(self) -> Any:
        """Behaviour flags of the engine at work."""
        return self.engines[self.engine].behavior

    @property
    def CONSTRAINT_SUPPORT(self) -> Any:  # type: ignore[override]  # a constant in stock adapters
        """Which constraints the engine at work supports."""
        return self.engines[self.engine].CONSTRAINT_SUPPORT

    @property
    def python_submission_helpers(self) -> Any:
        """How the engine at work runs Python models."""
        return self.engines[self.engine].python_submission_helpers

    @property
    def default_python_submission_method(self) -> str:
        """How the engine at work runs Python models when none is named."""
        return self.engines[self.engine].default_python_submission_method


_NO_DATABASE: dict[str | None, Engine] = {None: SPARK, "": CLICKHOUSE}


def _with_credentials(config: Any, credentials: Any) -> Any:
    own = copy.copy(config)
    own.credentials = credentials
    return own


def _with_database(catalog: agate.Table, engine: Engine) -> agate.Table:
    import agate

    if "table_database" not in catalog.column_names:
        return catalog
    named = catalog.compute([("engine", agate.Formula(agate.Text(), lambda row: engine))])
    kept = named.exclude(["table_database"]).rename({"engine": "table_database"})
    return kept.select(catalog.column_names)
