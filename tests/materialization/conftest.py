"""One ClickHouse for all tests of the materialization."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.chdb_http import running_server
from tests.support.collapsing_projects import MakeProject, collapsing_projects


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    with running_server(tmp_path_factory.mktemp("clickhouse")) as address:
        yield address


@pytest.fixture(scope="session")
def make_project(server: tuple[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeProject]:
    with collapsing_projects(server, tmp_path_factory.mktemp) as make:
        yield make
