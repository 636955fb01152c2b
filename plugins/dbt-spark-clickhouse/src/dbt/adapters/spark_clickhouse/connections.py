"""What dbt asks of an adapter's connection manager, passed on to both engines'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.spark_clickhouse.credentials import ADAPTER_TYPE

if TYPE_CHECKING:
    from dbt.adapters.spark_clickhouse.adapter import SparkClickHouseAdapter


class RoutedConnections:
    """The connections of both engines."""

    TYPE = ADAPTER_TYPE

    def __init__(self, adapter: SparkClickHouseAdapter) -> None:
        self._adapter = adapter

    @property
    def _at_work(self) -> Any:
        return self._adapter.engines[self._adapter.engine].connections

    def set_query_header(self, query_header_context: dict[str, Any]) -> None:
        """Comment the statements of both engines."""
        for adapter in self._adapter.engines.values():
            adapter.connections.set_query_header(query_header_context)

    def cleanup_all(self) -> None:
        """Close all connections of both engines."""
        for adapter in self._adapter.engines.values():
            adapter.connections.cleanup_all()

    def get_thread_connection(self) -> Any:
        """This thread's connection to the engine at work."""
        return self._at_work.get_thread_connection()

    def get_if_exists(self) -> Any:
        """This thread's connection to the engine at work, or None."""
        return self._at_work.get_if_exists()

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Run a statement on the engine at work."""
        return self._at_work.execute(*args, **kwargs)
