"""The engine and the node that each thread works on.

Each adapter has one ``Context``, which alone tracks both. dbt tells the adapter which node a thread works on when it
names the thread's connections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from dbt_common.events.contextvars import get_node_info

from dbt.adapters.spark_clickhouse.core.routing import FOLLOW_THEIR_PARENTS, Engine, is_engine


class Context:
    """What the threads of one adapter work on.

    ``owner_of`` returns the engine that owns the node with a given unique id, or None if there is no such node.
    """

    def __init__(self, owner_of: Callable[[str], Engine | None]) -> None:
        self._owner_of = owner_of
        self._engine: ContextVar[Engine | None] = ContextVar("engine", default=None)
        self._node: ContextVar[Any] = ContextVar("node", default=None)

    @property
    def engine(self) -> Engine | None:
        """The engine that this thread works on, or None while the project is parsed.

        With `--no-introspect` dbt opens no connections and so does not tell the adapter which node it works on. The
        context of dbt's log events still does.
        """
        return self._engine.get() or self._owner_of(get_node_info().get("unique_id", ""))

    @property
    def node(self) -> Any:
        """The node that this thread works on, or None between nodes."""
        return self._node.get()

    @contextmanager
    def on_engine(self, engine: Engine | None) -> Iterator[None]:
        """Work on ``engine`` within the block."""
        token = self._engine.set(engine)
        try:
            yield
        finally:
            self._engine.reset(token)

    @contextmanager
    def on_node(self, node: Any, engine: Engine) -> Iterator[None]:
        """Work on ``node``, which ``engine`` owns, within the block."""
        token = self._node.set(node)
        try:
            with self.on_engine(engine):
                yield
        finally:
            self._node.reset(token)

    def engine_named(self, database: str | None) -> Engine | None:
        """The engine that ``database`` means to the node at work, or None if it means none.

        dbt gives nodes that belong to no engine, such as tests, the profile's database wherever they run. For such a
        node, its database therefore means the engine at work.
        """
        follows = getattr(self.node, "resource_type", None) in FOLLOW_THEIR_PARENTS
        if follows and database == getattr(self.node, "database", None):
            return self.engine
        return database if is_engine(database) else None
