"""What the adapters of both engines have in common."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext
from typing import Any, ClassVar

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.contracts.connection import AdapterRequiredConfig, Connection
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.context import Context
from dbt.adapters.spark_clickhouse.core.routing import ENGINES, Engine


class EngineAdapter(BaseAdapter):
    """A stock adapter as one of two engines: its macros always run for its own engine.

    Stock adapters run macros on threads of their own, which do not know the node at work.
    """

    engine: ClassVar[Engine]
    stock: ClassVar[type[BaseAdapter]]

    def __init__(self, config: AdapterRequiredConfig, mp_context: SpawnContext, context: Context) -> None:
        super().__init__(config, mp_context)
        self._at_work = context

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> Any:
        """The stock adapter's run info: dbt derives module names from the class name."""
        return cls.stock.get_adapter_run_info(config)

    @property
    def is_embedded(self) -> bool:
        """Whether the engine runs in this process or in a child process."""
        raise NotImplementedError

    @property
    def node_at_work(self) -> Any:
        """The node that this thread works on."""
        return self._at_work.node

    def pre_model_hook(self, config: Any) -> Any:
        """What the stock adapter does before it runs a node.

        Raises:
                DbtRuntimeError: the node needs a feature that only a server has.
        """
        if self.is_embedded and config.get("grants"):
            raise DbtRuntimeError(
                f"The embedded {self.engine} has no users to grant anything to. Leave `grants` "
                "out where the profile names no server."
            )
        return super().pre_model_hook(config)

    def execute_macro(
        self, macro_name: str, macro_resolver: Any = None, project: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Run a macro with this engine's macros, whichever engine is at work."""
        resolver: Any = macro_resolver or self.get_macro_resolver()
        project = project or self._package_instead(macro_name, resolver)
        with self._at_work.on_engine(self.engine):
            return super().execute_macro(macro_name, resolver, project, *args, **kwargs)

    def _package_instead(self, macro_name: str, resolver: Any) -> str | None:
        """This engine's package, if dbt would take the macro from the other engine's package.

        Without a package name, dbt treats the packages of both as built in.
        """
        others = {f"dbt_{engine}" for engine in ENGINES if engine != self.engine}
        found = resolver.find_macro_by_name(macro_name, self.config.project_name, None)
        return f"dbt_{self.engine}" if found and found.package_name in others else None


class EngineConnectionManager(SQLConnectionManager):
    """A stock connection manager as one of two engines'. Many of its connections are never opened."""

    _opening: ClassVar[threading.Lock] = threading.Lock()
    _cancelled: ClassVar[list[Connection]] = []

    @classmethod
    @contextmanager
    def opening(cls, connection: Connection) -> Iterator[None]:
        """Open ``connection`` within the block.

        Raises:
                DbtRuntimeError: dbt was interrupted and has cancelled the connection.
        """
        with cls._opening:
            if any(connection is cancelled for cancelled in cls._cancelled):
                raise DbtRuntimeError("dbt was interrupted before this node began. Run it again.")
            yield

    def cancel_open(self) -> list[str]:
        """Cancel what other threads do on this engine. Return the names of their connections.

        The stock manager opens each connection to see whether it is open: interrupting a ClickHouse run would start
        Spark. Here, a connection that is not open yet can no longer be opened.
        """
        others = private_api.connections_of_others(self)
        with self._opening:
            self._cancelled.extend(others)
        working = [connection for connection in others if connection.state == "open"]
        for connection in working:
            self.cancel(connection)
        return [connection.name for connection in working if connection.name]

    def cleanup_all(self) -> None:
        """Close all connections."""
        self._cancelled.clear()
        super().cleanup_all()
