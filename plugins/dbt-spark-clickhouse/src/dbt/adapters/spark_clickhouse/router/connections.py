"""The connections of both engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.clickhouse.chdb import prepare
from dbt.adapters.spark_clickhouse.core import store
from dbt.adapters.spark_clickhouse.core.compiled_macros import write_compiled_macros
from dbt.adapters.spark_clickhouse.core.credentials import ADAPTER_TYPE
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, ENGINES, SPARK
from dbt.adapters.spark_clickhouse.router.router import Router
from dbt.adapters.spark_clickhouse.spark.metastore_record import forget_records

logger = AdapterLogger("spark_clickhouse")


class RoutedConnections:
    """What dbt asks of an adapter's connection manager, passed on to that of one engine or of both."""

    TYPE = ADAPTER_TYPE

    def __init__(self, router: Router) -> None:
        self._router = router

    @property
    def _at_work(self) -> Any:
        return self._router.engines[self._router.engine].connections

    def set_query_header(self, query_header_context: dict[str, Any]) -> None:
        """Set the comment for the statements of both engines."""
        for adapter in self._router.engines.values():
            adapter.connections.set_query_header(query_header_context)

    def cleanup_all(self) -> None:
        """Close all connections of both engines."""
        for adapter in self._router.engines.values():
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


class ConnectionsOfBoth(Router):
    """Opens, names and closes connections. Each engine's connection opens on first use."""

    @contextmanager
    def connection_named(
        self, name: str, query_header_context: Any = None, should_release_connection: bool = True
    ) -> Iterator[None]:
        """Within the block, work on a node: under its name and on its engine."""
        node = query_header_context
        engine = self.engine_of(node) if node is not None else self.engine
        prepare(self.engine_configs[CLICKHOUSE].credentials)
        with ExitStack() as stack:
            stack.enter_context(self.context.on_node(node, engine))
            for adapter in self.engines.values():
                stack.enter_context(adapter.connection_named(name, node, should_release_connection))
            yield

    def acquire_connection(self, name: str | None = None) -> Any:
        """Name this thread's connections; neither opens before it is used."""
        return dict(zip(ENGINES, self.call_both("acquire_connection", name), strict=True))[self.engine]

    def cleanup_connections(self) -> None:
        """Close all connections. Free the embedded stores for other processes, unless Spark runs."""
        self._capture_metastore()
        write_compiled_macros(self.target_folder)
        self.call_both("cleanup_connections")
        store.release(self.home)
        store.release_schemas()
        if not private_api.is_spark_running():
            forget_records()

    def _capture_metastore(self) -> None:
        """Record Spark's metastore, so that the next run need not start Spark to read it. A failure is only logged."""
        try:
            spark: Any = self.engines[SPARK]
            spark.capture_metastore()
        except Exception as error:  # noqa: BLE001  # no run may fail for it
            logger.debug(f"What Spark's metastore holds was not recorded: {error}")

    def clear_transaction(self) -> None:
        """Neither engine has transactions."""

    def commit_if_has_connection(self) -> None:
        """Neither engine has transactions."""

    def cancel_open_connections(self) -> list[str]:
        """Cancel what runs on either engine. Return the names of the connections."""
        return sorted({name for names in self.call_both("cancel_open_connections") for name in names})

    def nice_connection_name(self) -> str:
        """The name of this thread's connections."""
        return self.engines[self.engine].nice_connection_name()
