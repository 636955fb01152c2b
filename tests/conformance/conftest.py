"""Runs dbt-tests-adapter through our adapter, or through the stock one of the engine.

Our adapter runs every class but those left out. The stock adapter runs those that are left out, to
show that it fails them, or with ``--stock=all`` every one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.credentials import EmbeddedSparkCredentials
from dbt.adapters.spark_clickhouse.spark_engine import default_settings
from tests.conformance.suite import shipped_name
from tests.support.chdb_http import running_server

pytest_plugins = ["dbt.tests.fixtures.project"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stock",
        nargs="?",
        choices=("left_out", "all"),
        const="left_out",
        help="run through the stock adapter what is left out, or all",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    stock = config.getoption("--stock")
    left_out = [item for item in items if _reason_to_leave_out(item)]
    if stock == "left_out":
        for item in left_out:
            item.add_marker(pytest.mark.xfail(reason=_reason_to_leave_out(item), strict=True))
        items[:] = left_out
    elif stock is None:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _reason_to_leave_out(item: pytest.Item) -> str | None:
    assert isinstance(item, pytest.Function)
    assert item.cls
    name = shipped_name(item.cls)
    reasons: dict[str, str] = item.module.LEFT_OUT
    return reasons.get(f"{name}") or reasons.get(f"{name}::{item.originalname}")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engines' folder: one for all tests, since one Spark serves them all."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def stock_profiles(home: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    if not request.config.getoption("--stock"):
        yield {}
        return
    session = {"type": "spark", "method": "session", "host": "localhost"}
    credentials = EmbeddedSparkCredentials(
        method="session", host="localhost", schema="", home=str(home)
    )
    spark = {**session, "server_side_parameters": default_settings(credentials)}
    with running_server(home / "clickhouse") as (host, port):
        clickhouse = {"type": "clickhouse", "driver": "http", "host": host, "port": port}
        yield {"spark": spark, "clickhouse": clickhouse}


@pytest.fixture(scope="class")
def dbt_profile_target(
    request: pytest.FixtureRequest, stock_profiles: dict[str, Any], home: Path
) -> dict[str, Any]:
    engine = request.module.ENGINE
    ours = {"type": "spark_clickhouse", "database": engine, "home": str(home)}
    return {"threads": 4, **stock_profiles.get(engine, ours)}


@pytest.fixture(scope="class")
def unique_schema() -> str:
    return f"test_{time.time_ns() // 1000}_{random.randint(0, 9999):04}"
