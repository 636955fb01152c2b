"""A Spark cluster and ClickHouse over HTTP, each behind a relay, for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from tests.cluster.relay import HOST, Relay, relaying
from tests.support import shop
from tests.support.chdb_http import start_server, stop_server
from tests.support.spark_cluster import SparkCluster, running_cluster

PASSWORD = "secret"


class Front:
    """ClickHouse over HTTP, which can be killed and restarted."""

    def __init__(self, store: Path, password: str = PASSWORD) -> None:
        self._store = store
        self._password = password
        self.start()

    def start(self) -> None:
        """Start it on its data."""
        self.process, self.port = start_server(self._store, password=self._password)

    def stop(self) -> None:
        """Stop it."""
        stop_server(self.process)

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.communicate()


class Servers:
    """The servers of a project: Spark, ClickHouse, and the relays to both."""

    def __init__(self, cluster: SparkCluster, front: Front, thrift: Relay, http: Relay) -> None:
        self.cluster = cluster
        self.front = front
        self.thrift = thrift
        self.http = http

    def mend(self) -> None:
        """Restart what has been killed, and break nothing more."""
        for relay in (self.thrift, self.http):
            relay.when("", lambda: None)
        self.cluster.mend()
        if self.front.process.poll() is not None:
            self.front.start()
            self.http.target = self.front.port

    def environment(self, target: str = "cluster") -> dict[str, Any]:
        """The environment that profiles.yml needs."""
        return {
            **self.cluster.environment(),
            "SPARK_PORT": str(self.thrift.port),
            "CLICKHOUSE_HOST": HOST,
            "CLICKHOUSE_PORT": str(self.http.port),
            "CLICKHOUSE_PASSWORD": PASSWORD,
            "DBT_TARGET": target,
        }

    def client(self) -> AbstractContextManager[Client]:
        """A client that connects to ClickHouse directly."""
        return shop.clickhouse_server((HOST, self.front.port), PASSWORD)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(folder / "spark"))
        front = Front(folder / "clickhouse")
        stack.callback(front.stop)
        thrift = stack.enter_context(relaying(cluster.port))
        http = stack.enter_context(relaying(front.port))
        yield Servers(cluster, front, thrift, http)
