"""What both engines' adapters have in common."""

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
    """A stock adapter as one of two engines: its macros always run as its own engine's.

    Stock adapters run macros on threads of their own, which know nothing of the node at work.
    """

    engine: ClassVar[Engine]
    stock: ClassVar[type[BaseAdapter]]

    def __init__(self, config: AdapterRequiredConfig, mp_context: SpawnContext, context: Context) -> None:
        super().__init__(config, mp_context)
        self._at_work = context

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> Any:
        """The stock adapter's: dbt derives module names from the name of the class."""
        return cls.stock.get_adapter_run_info(config)

    @property
    def is_embedded(self) -> bool:
        """Whether the engine runs in this process, or in a child of it."""
        raise NotImplementedError

    @property
    def node_at_work(self) -> Any:
        """The node that this thread works on."""
        return self._at_work.node

    def pre_model_hook(self, config: Any) -> Any:
        """What the stock adapter does before it runs a node.

        Raises:
            DbtRuntimeError: the node needs what only a server has.
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
        """Run a macro with this engine's macros, whatever engine is at work."""
        resolver: Any = macro_resolver or self.get_macro_resolver()
        project = project or self._package_instead(macro_name, resolver)
        with self._at_work.on_engine(self.engine):
            return super().execute_macro(macro_name, resolver, project, *args, **kwargs)

    def _package_instead(self, macro_name: str, resolver: Any) -> str | None:
        """This engine's package, if dbt would take the macro from the other engine's.

        By name alone, dbt takes the packages of both for built in.
        """
        others = {f"dbt_{engine}" for engine in ENGINES if engine != self.engine}
        found = resolver.find_macro_by_name(macro_name, self.config.project_name, None)
        return f"dbt_{self.engine}" if found and found.package_name in others else None


class EngineConnectionManager(SQLConnectionManager):
    """A stock connection manager as one of two engines': many connections are never opened."""

    _opening: ClassVar[threading.Lock] = threading.Lock()
    _cancelled: ClassVar[list[Connection]] = []

    @classmethod
    @contextmanager
    def opening(cls, connection: Connection) -> Iterator[None]:
        """Open ``connection`` within the block.

        Raises:
            DbtRuntimeError: dbt was interrupted, and cancelled it.
        """
        with cls._opening:
            if any(connection is cancelled for cancelled in cls._cancelled):
                raise DbtRuntimeError("dbt was interrupted before this node began. Run it again.")
            yield

    def cancel_open(self) -> list[str]:
        """Cancel what other threads do on this engine; the names of their connections.

        The stock manager opens each connection to see whether it is open: a ClickHouse run that
        is interrupted would start Spark. Here, what is not open cannot be opened afterwards.
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
