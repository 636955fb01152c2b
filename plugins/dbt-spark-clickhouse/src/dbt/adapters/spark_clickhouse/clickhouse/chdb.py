"""The embedded ClickHouse engine, chDB, as dbt-clickhouse's client."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import clickhouse_connect
from clickhouse_connect.driver.exceptions import ClickHouseError
from dbt.adapters.clickhouse.query import quote_identifier
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.clickhouse import empty_definitions
from dbt.adapters.spark_clickhouse.core import store
from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedClickHouseCredentials

_start = threading.Lock()
# A client per folder that keeps the engine open. When its last client closes, the engine shuts down. Starting it again
# takes time, and 2.5 MB that it never releases.
_kept: dict[Path, Any] = {}
_keeping = threading.Lock()


def prepare(credentials: EmbeddedClickHouseCredentials) -> None:
    """Load chDB, if it will be used, before dbt starts its threads.

    While chDB is imported, it changes the working directory of the whole process.
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


class ChDbClient(private_api.EmbeddedClient):
    """dbt-clickhouse's client over clickhouse-connect, with chDB instead of a server."""

    def connect(self, credentials: EmbeddedClickHouseCredentials, settings: dict[str, Any]) -> Any:
        """Open a client of the stores, which no other process may use meanwhile."""
        self._folder = Path(credentials.home, "clickhouse")
        home = Path(credentials.home)
        store.hold(home, credentials.wait)
        with _keeping:
            for other in _kept.keys() - {self._folder}:  # a process can have only one engine
                _kept.pop(other).close()
            if store.is_shared(home) and not _kept:
                _kept[self._folder] = self._open()
        return self._open(**settings)

    def create_database(self, database: str) -> None:
        """Create the profile's database if it does not exist."""
        self.command(f"create database if not exists {quote_identifier(database)}")

    def _open(self, **settings: Any) -> Any:
        try:
            with _start, starting_in_utc():
                client = clickhouse_connect.get_client(
                    interface="chdb",
                    path=str(self._folder),
                    query_limit=0,
                    settings={**settings, "session_timezone": "UTC"},
                )
        except ClickHouseError as error:
            if empty_definitions.remove(self._folder):
                return self._open(**settings)
            raise FailedToConnectError(
                f"chDB could not open {self._folder}: {error}\n"
                "Check that the folder can be written. `home` in the profile says where it is."
                f"{empty_definitions.advice(self._folder)}"
            ) from error
        private_api.set_server_zone(client, UTC)
        return client

    def kill_queries(self) -> None:
        """Cancel every query of this process."""
        with closing(self._open()) as client:
            client.command("kill query where query_id != queryID() async")


@contextmanager
def starting_in_utc() -> Iterator[None]:
    """Start chDB in UTC: it takes the host's time zone when it starts, and results must not depend on that.

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
