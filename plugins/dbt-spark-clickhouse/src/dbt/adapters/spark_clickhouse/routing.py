"""Which engine owns a node, and which engine is at work on this thread.

Everything in the adapter that depends on the engine asks here. ``engine_of`` is a pure function
of the node and of what it depends on; ``on_engine`` and ``current_engine`` hold the answer for
the time in which dbt works on that node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeGuard

from dbt_common.events.contextvars import get_node_info
from dbt_common.exceptions import DbtRuntimeError

Engine = Literal["spark", "clickhouse"]

SPARK: Engine = "spark"
CLICKHOUSE: Engine = "clickhouse"
ENGINES: tuple[Engine, Engine] = (SPARK, CLICKHOUSE)

# Node types that belong to no engine of their own: they run where their parents are.
_FOLLOW_THEIR_PARENTS = frozenset({"test", "unit_test", "analysis", "sql_operation"})
# The type of on-run-start and on-run-end hooks: dbt runs all of them on one connection.
_HOOK = "operation"

_current_engine: ContextVar[Engine | None] = ContextVar("current_engine", default=None)
_current_node: ContextVar[Any] = ContextVar("current_node", default=None)
_owner_of: Callable[[str], Engine | None] | None = None


def is_engine(name: str | None) -> TypeGuard[Engine]:
    """Whether ``name`` is one of the two engines."""
    return name in ENGINES


def validate_engine(name: str | None, owner: str) -> Engine:
    """The engine called ``name``.

    Raises:
        DbtRuntimeError: ``name`` is no engine. ``owner`` (a node, a source, the profile) is named.
    """
    if is_engine(name):
        return name
    raise DbtRuntimeError(
        f"{owner} has the database '{name}', which is no engine. In a project on the "
        "spark_clickhouse adapter the database of a node is the engine that owns it: set "
        "`+database: spark` or `+database: clickhouse` (in dbt_project.yml, a properties file or "
        "config()), or leave it out for the default of the profile."
    )


def current_engine() -> Engine | None:
    """The engine that this thread works on, or None while the project is parsed.

    `--no-introspect` opens no connections, so that dbt does not tell the adapter on which node it
    works; but it tells whoever listens to its events.
    """
    engine = _current_engine.get()
    if engine is None and _owner_of is not None:
        return _owner_of(get_node_info().get("unique_id", ""))
    return engine


def ask_for_owners(owner_of: Callable[[str], Engine | None]) -> None:
    """Have ``owner_of`` say which engine owns the node with a unique id, None for no node."""
    global _owner_of  # noqa: PLW0603  # dbt has one adapter at a time
    _owner_of = owner_of


@contextmanager
def on_engine(engine: Engine | None) -> Iterator[None]:
    """Work on ``engine`` within the block."""
    token = _current_engine.set(engine)
    try:
        yield
    finally:
        _current_engine.reset(token)


def current_node() -> Any:
    """The node that this thread works on, or None between nodes."""
    return _current_node.get()


@contextmanager
def working_on(node: Any, engine: Engine) -> Iterator[None]:
    """Work on ``node``, which ``engine`` owns, within the block."""
    token = _current_node.set(node)
    try:
        with on_engine(engine):
            yield
    finally:
        _current_node.reset(token)


def engine_named(database: str | None) -> Engine | None:
    """The engine that ``database`` names to the node at work, or None when it names none.

    dbt gives nodes without an engine of their own the profile's database, wherever they run: to
    such a node, its database names the engine at work.
    """
    node = current_node()
    if getattr(node, "resource_type", None) in _FOLLOW_THEIR_PARENTS and database == getattr(
        node, "database", None
    ):
        return current_engine()
    return database if is_engine(database) else None


def engine_of(node: Any, nodes: Mapping[str, Any], default: Engine) -> Engine:
    """The engine that owns ``node``.

    A model, seed, snapshot or source is owned by the engine that its ``database`` names. Tests,
    unit tests, analyses and inline queries follow their parents: Spark when all of them are
    Spark's, ClickHouse when any is ClickHouse's (ClickHouse can read what Spark wrote, not the
    other way round), ``default`` when there are none. An ephemeral model follows the models that
    use it, since it becomes part of their SQL, or else its parents. The project's hooks run on
    ``default``.

    Args:
        node: any node or source of the manifest.
        nodes: the nodes and sources of the manifest by unique id.
        default: the engine of the profile.

    Raises:
        DbtRuntimeError: the database is no engine, or an ephemeral model is used on both.
    """
    if node.resource_type == _HOOK:
        return default
    if getattr(node, "is_ephemeral_model", False):
        consumers = {engine_of(child, nodes, default) for child in _consumers(node, nodes)}
        if len(consumers) == len(ENGINES):
            raise DbtRuntimeError(
                f"The ephemeral model '{node.name}' is used by models of both engines, and its SQL "
                "cannot be both engines'. Materialize it as a table on Spark, which ClickHouse can "
                "read, or make one ephemeral model for each engine."
            )
        if consumers:
            return consumers.pop()
    elif hasattr(node, "database") and node.resource_type not in _FOLLOW_THEIR_PARENTS:
        return validate_engine(node.database, _describe(node))
    owners = {engine_of(parent, nodes, default) for parent in _parents(node, nodes)}
    if not owners:
        return default
    return SPARK if owners == {SPARK} else CLICKHOUSE


def _consumers(node: Any, nodes: Mapping[str, Any]) -> Iterable[Any]:
    return [
        child
        for child in nodes.values()
        if child.resource_type not in {"source", _HOOK, *_FOLLOW_THEIR_PARENTS}
        and node.unique_id in child.depends_on_nodes
    ]


def _parents(node: Any, nodes: Mapping[str, Any]) -> Iterable[Any]:
    tested = getattr(node, "tested_node_unique_id", None)
    parent_ids = [tested] if tested else node.depends_on.nodes
    return [nodes[parent_id] for parent_id in parent_ids if parent_id in nodes]


def _describe(node: Any) -> str:
    return f"{str(node.resource_type).capitalize()} '{getattr(node, 'name', node)}'"
