"""One ClickHouse for all tests of the invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.chdb_http import running_server
from tests.support.collapsing_project import CollapsingProject


@pytest.fixture(scope="session")
def make_project(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], CollapsingProject]]:
    with running_server(tmp_path_factory.mktemp("clickhouse")) as address:
        yield lambda schema: CollapsingProject(tmp_path_factory.mktemp(schema), address, schema)
