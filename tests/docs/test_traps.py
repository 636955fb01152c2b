"""The page of traps: ClickHouse answers each of its statements as the page says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.support.chdb_http import running_server
from tests.support.shop import REPOSITORY

PAGE = (REPOSITORY / "docs/traps.md").read_text()
BLOCKS = {
    f"{section.partition(chr(10))[0]} {number}": block
    for section in PAGE.split("\n## ")[1:]
    for number, block in enumerate(re.findall(r"```sql\n(.*?)```", section, re.DOTALL))
}
# A statement, and what the comment behind it says: rows or an error, and maybe why.
STATEMENT = re.compile(r"(.*?);(?: -- (.*?)(?:: .*)?)?\n", re.DOTALL)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with (
        running_server(tmp_path_factory.mktemp("traps")) as (host, port),
        clickhouse_connect.get_client(host=host, port=port) as client,
    ):
        yield client


@pytest.mark.parametrize("name", BLOCKS)
def test_block(client: Client, name: str) -> None:
    database = f"block_{list(BLOCKS).index(name)}"
    client.command(f"create database {database}")
    client.database = database
    answers = [
        (statement, said, _answer(client, statement, said))
        for statement, said in STATEMENT.findall(BLOCKS[name])
    ]
    assert any(said for _, said, _ in answers)
    for statement, said, answer in answers:
        assert answer == _expected(said), statement


def _answer(client: Client, statement: str, said: str) -> Any:
    try:
        if not said:
            client.command(statement)
            return []
        return client.query(statement).result_rows
    except DatabaseError as error:
        code = re.search(r"code: (\d+)", str(error))
        return f"error {code[1] if code else error}"


def _expected(said: str) -> Any:
    if not said or said == "nothing" or said.startswith("error"):
        return said if said.startswith("error") else []
    rows = ast.literal_eval(f"[{said}]")
    return [row if isinstance(row, tuple) else (row,) for row in rows]


def test_every_statement_is_run() -> None:
    assert [STATEMENT.sub("", block) for block in BLOCKS.values()] == [""] * len(BLOCKS)
