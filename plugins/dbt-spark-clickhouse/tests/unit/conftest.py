"""Nodes and adapters without a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters
from dbt.deprecations import reset_deprecations

from dbt.adapters.spark_clickhouse.core.credentials import SparkClickHouseCredentials
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter

Node = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the profile's folder for the stores, wherever the tests run."""
    monkeypatch.delenv("SPARK_CLICKHOUSE_HOME", raising=False)


@pytest.fixture(autouse=True)
def no_deprecations() -> None:
    """dbt counts deprecations per process, so those of other tests are removed first."""
    reset_deprecations()


@pytest.fixture
def node() -> Node:
    """Makes a node as the manifest has it: with a kind, a name, an engine and parents."""

    def make(resource_type: str, name: str, database: str | None = None, *parents: Any, **more: Any) -> Any:
        config = more.pop("config", {})
        parent_ids = [parent.unique_id for parent in parents]
        return SimpleNamespace(
            resource_type=resource_type,
            name=name,
            unique_id=f"{resource_type}.project.{name}",
            database=database,
            schema="shop",
            identifier=name,
            is_ephemeral_model=config.get("materialized") == "ephemeral",
            depends_on=SimpleNamespace(nodes=parent_ids),
            depends_on_nodes=parent_ids,
            config=_Config({"materialized": "table", **config}),
            quoting_dict={},
            **{"compiled": resource_type != "seed", **more},
        )

    return make


class _Config(dict[str, Any]):
    """A node's config, whose keys can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


@pytest.fixture
def make_adapter(tmp_path: Path) -> Iterator[Callable[..., SparkClickHouseAdapter]]:
    """Makes the adapter for a project in ``tmp_path``, given keys of its profile. Neither engine runs."""
    reset_adapters()

    def make(**profile: Any) -> SparkClickHouseAdapter:
        config: Any = SimpleNamespace(
            credentials=SparkClickHouseCredentials.from_dict(profile),
            project_root=str(tmp_path),
            quoting={},
            log_cache_events=False,
            flags={},
        )
        return SparkClickHouseAdapter(config, get_context("spawn"))

    yield make
    reset_adapters()


@pytest.fixture
def adapter(make_adapter: Callable[..., SparkClickHouseAdapter]) -> SparkClickHouseAdapter:
    """The adapter for a project in ``tmp_path``. Neither engine runs."""
    return make_adapter()
