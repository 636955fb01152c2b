"""One ClickHouse for all tests of the invariants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.chdb_http import running_server
from tests.support.collapsing_projects import MakeProject, collapsing_projects


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeProject]:
    make_folder = tmp_path_factory.mktemp
    with running_server(make_folder("clickhouse")) as address, collapsing_projects(address, make_folder) as make:
        yield make
