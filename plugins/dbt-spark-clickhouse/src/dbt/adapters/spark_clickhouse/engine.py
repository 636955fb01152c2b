"""What both engines' adapters have in common."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.contracts.connection import Connection
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.routing import Engine, on_engine


class EngineAdapter(BaseAdapter):
    """A stock adapter as one of two engines: its macros always run as its own engine's.

    Stock adapters run macros on threads of their own, which know nothing of the node at work.
    """

    engine: ClassVar[Engine]
    stock: ClassVar[type[BaseAdapter]]

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> Any:
        """The stock adapter's: dbt derives module names from the name of the class."""
        return cls.stock.get_adapter_run_info(config)

    def execute_macro(self, *args: Any, **kwargs: Any) -> Any:
        """Run a macro with this engine's macros, whatever engine is at work."""
        with on_engine(self.engine):
            return super().execute_macro(*args, **kwargs)


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
                raise DbtRuntimeError("dbt was interrupted.")
            yield

    def cancel_open(self) -> list[str]:
        """Cancel what other threads do on this engine; the names of their connections.

        The stock manager opens each connection to see whether it is open: a ClickHouse run that
        is interrupted would start Spark. Here, what is not open cannot be opened afterwards.
        """
        own = self.get_if_exists()
        with self.lock:
            others = [found for found in self.thread_connections.values() if found is not own]
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
