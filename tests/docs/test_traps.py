"""The traps: ClickHouse answers each statement as the page says."""

from __future__ import annotations

from collections.abc import Iterator

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client

from tests.support.chdb_http import running_server
from tests.support.page import assert_answers, blocks
from tests.support.shop import REPOSITORY

SECTIONS = (REPOSITORY / "docs/which_engine.md").read_text().split("\n### Wrong: ")[1:]
STATEMENTS = {
    f"{section.splitlines()[0]} {number}": block.text
    for section in SECTIONS
    for number, block in enumerate(blocks(section))
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with (
        running_server(tmp_path_factory.mktemp("traps")) as (host, port),
        clickhouse_connect.get_client(host=host, port=port) as client,
    ):
        yield client


@pytest.mark.parametrize("name", STATEMENTS)
def test_block(client: Client, name: str) -> None:
    assert " -- " in STATEMENTS[name]
    database = f"block_{list(STATEMENTS).index(name)}"
    client.command(f"create database {database}")
    client.database = database
    assert_answers(client, STATEMENTS[name])
