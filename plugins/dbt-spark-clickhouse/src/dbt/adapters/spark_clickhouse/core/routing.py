"""Which engine owns a node: a function of the node and its parents.

``context`` tracks which engine each thread is using.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeGuard

from dbt_common.exceptions import DbtRuntimeError

Engine = Literal["spark", "clickhouse"]

SPARK: Engine = "spark"
CLICKHOUSE: Engine = "clickhouse"
ENGINES: tuple[Engine, Engine] = (SPARK, CLICKHOUSE)

# Node types that belong to no engine: they run where their parents are.
FOLLOW_THEIR_PARENTS = frozenset({"test", "unit_test", "analysis", "sql_operation"})
# The node type of on-run-start and on-run-end hooks: dbt runs all of them on one connection.
_HOOK = "operation"


def is_engine(name: str | None) -> TypeGuard[Engine]:
    """Whether ``name`` is one of the two engines."""
    return name in ENGINES


def validate_engine(name: str | None, owner: str) -> Engine:
    """The engine called ``name``.

    Raises:
            DbtRuntimeError: ``name`` is not an engine. The message names the ``owner`` (a node, a source, the profile).
    """
    if is_engine(name):
        return name
    raise DbtRuntimeError(
        f"{owner} has the database '{name}', which is not an engine. In a project on the "
        "spark_clickhouse adapter the database of a node names the engine that owns it. Set "
        "`+database: spark` or `+database: clickhouse`, or the same with `adapter` (in "
        "dbt_project.yml, a properties file or config()), or leave it out for the default of the "
        "profile."
    )


def named_engine(database: str | None, node: Any) -> str | None:
    """The engine that a node's config names: its ``database``, or the equivalent ``adapter`` in its config or its
    `meta`. None if it names none.

    Raises:
        DbtRuntimeError: they name different ones.
    """
    config = getattr(node, "config", None) or {}
    given = {
        "the database": database,
        "the adapter": config.get("adapter"),
        "in `meta` the adapter": (config.get("meta") or {}).get("adapter"),
    }
    names = {where: name.strip() for where, name in given.items() if name}
    if len(set(names.values())) > 1:
        listed = " and ".join(f"{where} '{name}'" for where, name in names.items())
        raise DbtRuntimeError(
            f"{_describe(node)} has {listed}. Each names the engine that owns it. Set only one of "
            "them; a folder in dbt_project.yml may set another."
        )
    return next(iter(names.values()), None)


def engine_of(node: Any, nodes: Mapping[str, Any], default: Engine) -> Engine:
    """The engine that owns ``node``.

    The ``database`` of a model, seed, snapshot or source names its engine. Tests, unit tests, analyses and inline
    queries follow their parents: Spark if all of them are Spark's, ClickHouse if any is ClickHouse's (ClickHouse can
    read what Spark wrote, but not the reverse), ``default`` if there are none. An ephemeral model becomes part of the
    SQL of the models that use it and so follows them; if there are none, it follows its parents. The project's hooks
    run on ``default``.

    Args:
        node: any node or source of the manifest.
        nodes: the nodes and sources of the manifest by unique id.
        default: the engine of the profile.

    Raises:
        DbtRuntimeError: the database is not an engine, or models of both engines use an ephemeral model.
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
    elif hasattr(node, "database") and node.resource_type not in FOLLOW_THEIR_PARENTS:
        return validate_engine(node.database, _describe(node))
    owners = {engine_of(parent, nodes, default) for parent in _parents(node, nodes)}
    if not owners:
        return default
    return SPARK if owners == {SPARK} else CLICKHOUSE


def _consumers(node: Any, nodes: Mapping[str, Any]) -> Iterable[Any]:
    return [
        child
        for child in nodes.values()
        if child.resource_type not in {"source", _HOOK, *FOLLOW_THEIR_PARENTS}
        and node.unique_id in child.depends_on_nodes
    ]


def _parents(node: Any, nodes: Mapping[str, Any]) -> Iterable[Any]:
    tested = getattr(node, "tested_node_unique_id", None)
    parent_ids = [tested] if tested else node.depends_on.nodes
    return [nodes[parent_id] for parent_id in parent_ids if parent_id in nodes]


def _describe(node: Any) -> str:
    return f"{str(node.resource_type).capitalize()} '{getattr(node, 'name', node)}'"
