"""Stock dbt-clickhouse, plus a driver for the embedded ClickHouse engine (chDB)."""

from __future__ import annotations

import importlib
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timezone
from pathlib import Path
from typing import Any

import clickhouse_connect
from clickhouse_connect.driver.exceptions import ClickHouseError
from dbt.adapters.clickhouse.connections import ClickHouseConnectionManager
from dbt.adapters.clickhouse.credentials import ClickHouseCredentials
from dbt.adapters.clickhouse.dbclient import ChRetryableException
from dbt.adapters.clickhouse.impl import ClickHouseAdapter
from dbt.adapters.clickhouse.logger import logger
from dbt.adapters.clickhouse.query import quote_identifier
from dbt.adapters.contracts.connection import Connection
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.spark_clickhouse import store, upstream
from dbt.adapters.spark_clickhouse.credentials import EmbeddedClickHouseCredentials
from dbt.adapters.spark_clickhouse.engine import EngineAdapter, EngineConnectionManager
from dbt.adapters.spark_clickhouse.routing import CLICKHOUSE

_start = threading.Lock()


def prepare(credentials: EmbeddedClickHouseCredentials) -> None:
    """Load chDB, if it is to be used, before dbt works on several threads.

    While it is imported, chDB changes the working directory of the whole process.
    """
    if credentials.driver == "chdb":
        try:
            importlib.import_module("chdb")
        except ImportError as error:
            raise FailedToConnectError(
                "The embedded ClickHouse is not installed: "
                "pip install 'dbt-spark-clickhouse[embedded]'. "
                "For a server, name its `host` in the profile's `clickhouse` block."
            ) from error


class ChDbClient(upstream.EmbeddedClient):
    """dbt-clickhouse's client over clickhouse-connect, on chDB in place of a server."""

    def connect(self, credentials: EmbeddedClickHouseCredentials, settings: dict[str, Any]) -> Any:
        """Open a client of the stores; no other process may use them meanwhile."""
        self._folder = Path(credentials.home, "clickhouse")
        store.hold(Path(credentials.home), credentials.wait)
        return self._open(**settings)

    def create_database(self, database: str) -> None:
        """Create the profile's database if it is not there."""
        self.command(f"create database if not exists {quote_identifier(database)}")

    def _open(self, **settings: Any) -> Any:
        try:
            with _start, _utc():
                client = clickhouse_connect.get_client(
                    interface="chdb",
                    path=str(self._folder),
                    query_limit=0,
                    settings={**settings, "session_timezone": "UTC"},
                )
        except ClickHouseError as error:
            raise FailedToConnectError(f"chDB could not open {self._folder}: {error}") from error
        upstream.set_server_zone(client, timezone.utc)
        return client

    def kill_queries(self) -> None:
        """Cancel every query of this process."""
        with closing(self._open()) as client:
            client.command("kill query where query_id != queryID() async")


class RoutedClickHouseConnectionManager(EngineConnectionManager, ClickHouseConnectionManager):
    """dbt-clickhouse's connections, with `driver: chdb` besides http and native."""

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection, on chDB or on a server as the credentials say."""
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

    def cancel(self, connection: Connection) -> None:
        """Cancel what runs. On chDB that is every query: dbt cancels all, or none."""
        closer = threading.Thread(target=super().cancel, args=(connection,))
        closer.start()
        while closer.is_alive():
            # A client waits for its query to end before it closes.
            if isinstance(connection.handle, ChDbClient):
                connection.handle.kill_queries()
            closer.join(0.1)


class RoutedClickHouseAdapter(EngineAdapter, ClickHouseAdapter):
    """dbt-clickhouse as one of two engines."""

    engine = CLICKHOUSE
    stock = ClickHouseAdapter
    ConnectionManager = RoutedClickHouseConnectionManager

    @property
    def is_embedded(self) -> bool:
        """Whether ClickHouse is chDB."""
        return bool(self.config.credentials.driver == "chdb")


@contextmanager
def _connecting(credentials: ClickHouseCredentials) -> Iterator[None]:
    """Connect to a server within the block. What is tried again meanwhile is not printed.

    Raises:
        FailedToConnectError: there is none, or it refuses; the message says what to check.
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
    """What went wrong first, in one line."""
    while before := error.__cause__ or error.__context__:
        error = before
    return str(error).strip().split("\n")[0]


@contextmanager
def _utc() -> Iterator[None]:
    """chDB takes the host's time zone when it starts; results must not depend on it.

    ``os.environ`` stays as it is: a thread that copies it meanwhile would miss a key.
    """
    os.putenv("TZ", "UTC")
    try:
        yield
    finally:
        if "TZ" in os.environ:
            os.putenv("TZ", os.environ["TZ"])
        else:
            os.unsetenv("TZ")
