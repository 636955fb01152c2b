"""Stock dbt-clickhouse, plus `driver: chdb` for the embedded ClickHouse engine."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.clickhouse.connections import ClickHouseConnectionManager
from dbt.adapters.clickhouse.credentials import ClickHouseCredentials
from dbt.adapters.clickhouse.dbclient import ChRetryableException
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt.adapters.clickhouse.impl import ClickHouseAdapter
from dbt.adapters.clickhouse.logger import logger
from dbt.adapters.contracts.connection import AdapterResponse, Connection
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtRuntimeError
from urllib3.exceptions import HTTPError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.clickhouse.chdb import ChDbClient
from dbt.adapters.spark_clickhouse.core.engine import EngineAdapter, EngineConnectionManager
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE
from dbt.adapters.spark_clickhouse.core.spark_errors import UNKNOWN, causes

if TYPE_CHECKING:
    import agate

# What dbt's docs site shows about a table. It formats the numbers that have these names.
_STATISTICS = """
select
  database as table_schema,
  name as table_name,
  'Stored Rows' as `stats:rows:label`,
  toInt64(total_rows) as `stats:rows:value`,
  'With cancel rows, and what they cancel, until both are merged' as `stats:rows:description`,
  true as `stats:rows:include`,
  'Size' as `stats:bytes:label`,
  toInt64(total_bytes) as `stats:bytes:value`,
  'On disk, compressed' as `stats:bytes:description`,
  true as `stats:bytes:include`
from system.tables
where total_rows is not null and total_bytes is not null and not startsWith(engine, 'Materialized')
"""


class RoutedClickHouseConnectionManager(EngineConnectionManager, ClickHouseConnectionManager):
    """dbt-clickhouse's connections, with `driver: chdb` in addition to http and native."""

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection to chDB or to a server, depending on the credentials."""
        credentials = connection.credentials
        with cls.opening(connection):
            if connection.state == "open" or credentials.driver != "chdb":
                with _connecting(credentials):
                    opened: Connection = super().open(connection)  # type: ignore[no-untyped-call]
                return opened
            return cls.retry_connection(
                connection,
                connect=lambda: ChDbClient(credentials),
                logger=logger,
                retry_limit=0,
                retryable_exceptions=[ChRetryableException],
            )

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Add advice to errors of the connection to a server."""
        try:
            with super().exception_handler(sql):
                yield
        except DbtRuntimeError as error:
            lost = [cause for cause in causes(error) if isinstance(cause, HTTPError)]
            if lost and not isinstance(error, FailedToConnectError):
                credentials: Any = self.profile.credentials
                error.msg = (
                    f"The connection to ClickHouse at {credentials.host}:{credentials.port} is "
                    f"lost: {_reason(lost[-1])}. {UNKNOWN}"
                )
            raise

    def cancel(self, connection: Connection) -> None:
        """Cancel running queries. On chDB this cancels every query; dbt cancels all or none anyway."""
        closer = threading.Thread(target=super().cancel, args=(connection,))
        closer.start()
        while closer.is_alive():
            # Closing a client waits for its query to end.
            if isinstance(connection.handle, ChDbClient):
                connection.handle.kill_queries()
            closer.join(0.1)


class RoutedClickHouseAdapter(EngineAdapter, ClickHouseAdapter):
    """dbt-clickhouse as one of two engines."""

    engine = CLICKHOUSE
    stock = ClickHouseAdapter
    ConnectionManager = RoutedClickHouseConnectionManager
    have_read: Callable[[str], None]  # checks the Spark tables that a statement has read

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement.

        Raises:
                DbtRuntimeError: it failed, or what it read has changed since it was checked.
        """
        try:
            answer: tuple[AdapterResponse, agate.Table] = super().execute(sql, auto_begin, fetch, limit)
            return answer
        finally:
            self.have_read(sql)

    @property
    def is_embedded(self) -> bool:
        """Whether ClickHouse is chDB."""
        return bool(self.config.credentials.driver == "chdb")

    def insert_parquet(self, table: str, parquet: bytes) -> None:
        """Insert Parquet into a table with the same column names.

        Raises:
            DbtRuntimeError: the driver cannot do it, or ClickHouse refuses.
        """
        handle = self.connections.get_thread_connection().handle
        if not isinstance(handle, ChHttpClient):
            raise DbtRuntimeError(
                "`hand_off: push` sends Parquet over HTTP. Set `driver: http` in the profile's "
                "`clickhouse` block, and the port of HTTP."
            )
        with self.connections.exception_handler(f"insert into {table} format Parquet"):
            private_api.client_of(handle).raw_insert(
                table,
                insert_block=parquet,
                fmt="Parquet",
                settings={"async_insert": 0, "input_format_null_as_default": 0},
            )

    def get_filtered_catalog(self, *args: Any) -> tuple[agate.Table, list[Exception]]:
        """The catalog, plus the rows and bytes of tables, which dbt-clickhouse leaves out."""
        catalog, errors = super().get_filtered_catalog(*args)
        if not catalog.column_names:  # ClickHouse has none of these relations, or cannot be reached
            return catalog, errors
        with self.connection_named("catalog_statistics"):
            _, statistics = self.execute(_STATISTICS, fetch=True)
        names = ["table_schema", "table_name"]
        return catalog.join(statistics, names, names), errors


@contextmanager
def _connecting(credentials: ClickHouseCredentials) -> Iterator[None]:
    """Connect to a server within the block. Retries are not printed.

    Raises:
        FailedToConnectError: there is no server, or it refuses; the message says what to check.
    """
    loggers = [logging.getLogger(name) for name in ("urllib3", "clickhouse_connect")]
    levels = [found.level for found in loggers]
    for found in loggers:
        found.setLevel(logging.CRITICAL)
    try:
        yield
    except FailedToConnectError as error:
        raise FailedToConnectError(
            f"dbt cannot connect to ClickHouse at {credentials.host}:{credentials.port}, as "
            f"{credentials.user}: {_reason(error)}\n"
            "Check that the server runs, and host, port, secure, user and password in the "
            "profile's `clickhouse` block.\n"
            "Without `host`, ClickHouse is embedded and needs no server."
        ) from error
    finally:
        for found, level in zip(loggers, levels, strict=True):
            found.setLevel(level)


def _reason(error: BaseException) -> str:
    """The root cause, in one line."""
    while before := error.__cause__ or error.__context__:
        error = before
    return str(error).strip().split("\n")[0]
