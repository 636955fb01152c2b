"""What an interrupt does to connections that were never opened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from dbt.adapters.contracts.connection import Connection
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter


@pytest.fixture(params=[SPARK, CLICKHOUSE])
def engine(request: pytest.FixtureRequest) -> Engine:
    engine: Engine = request.param
    return engine


@pytest.fixture
def connection(adapter: SparkClickHouseAdapter, engine: Engine) -> Iterator[Connection]:
    """Another thread's connection that has a name, was never opened, and has been cancelled by dbt."""
    manager = adapter.engines[engine].connections
    made: list[Connection] = []
    thread = threading.Thread(target=lambda: made.append(manager.set_connection_name("model.shop.orders")))
    thread.start()
    thread.join()
    assert adapter.cancel_open_connections() == []
    yield made[0]
    manager.cleanup_all()


def test_connection_is_not_opened_to_be_cancelled(connection: Connection) -> None:
    assert connection.state == "init"


def test_cancelled_connection_cannot_be_opened(
    adapter: SparkClickHouseAdapter, engine: Engine, connection: Connection
) -> None:
    manager: Any = adapter.engines[engine].connections
    with pytest.raises(DbtRuntimeError) as error, manager.opening(connection):
        pytest.fail("It was opened.")
    assert error.value.msg == "dbt was interrupted before this node began. Run it again."


def test_next_command_of_the_process_opens_connections_again(
    adapter: SparkClickHouseAdapter, engine: Engine, connection: Connection
) -> None:
    adapter.cleanup_connections()
    manager: Any = adapter.engines[engine].connections
    opened = False
    with manager.opening(connection):
        opened = True
    assert opened
