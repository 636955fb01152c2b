"""Pages of the documentation that tests follow literally: their blocks are files, statements and commands."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.support.shop import REPOSITORY

_BLOCK = re.compile(r"```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PATH = re.compile(r"`([\w/=.-]+\.(?:yml|sql|json))`")
# A statement, and the expectation in the comment after it: rows or an error, and perhaps a reason.
_STATEMENT = re.compile(r"(.*?);(?: -- (.*?)(?:: .*)?)?\n", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a page. It is a file if the text between it and the previous block names a path."""

    language: str
    text: str
    path: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, given as a path in the repository or as text."""
    text = (REPOSITORY / page).read_text() if page.endswith(".md") else page
    found = []
    end = 0
    for block in _BLOCK.finditer(text):
        named = _PATH.findall(text[end : block.start()])
        language, content = block.groups()
        is_file = named and language in ("yaml", "sql", "json")
        found.append(Block(language, content, named[-1] if is_file else ""))
        end = block.end()
    return found


def assert_answers(client: Client, statements: str) -> None:
    """ClickHouse answers each statement as the comment after it says.

    Raises:
        AssertionError: it does not, or there is text that is not a statement.
    """
    assert _STATEMENT.sub("", statements) == ""
    for statement, said in _STATEMENT.findall(statements):
        answer = _answer(client, statement, said)
        assert answer == _expected(said), f"{answer}: {statement}"


def is_said(text: str, said: str) -> bool:
    """Whether the lines of a text appear together in what was printed, in order."""
    lines = re.sub(r"(\\ )?…", ".*", re.escape(_plain(text)))
    return re.search(f"^{lines}$", _plain(said), re.MULTILINE) is not None


def _plain(text: str) -> str:
    """A text without colours and column widths."""
    lines = (" ".join(line.split()) for line in re.sub(r"\x1b\[\d+m", "", text).splitlines())
    return re.sub("-{2,}", "--", "\n".join(lines))


def _answer(client: Client, statement: str, said: str) -> Any:
    try:
        if not said:
            client.command(statement)
            return []
        return [tuple(row) for row in client.query(statement).result_rows]
    except DatabaseError as error:
        code = re.search(r"code: (\d+)", str(error))
        return f"error {code[1] if code else error}"


def _expected(said: str) -> Any:
    if said.startswith("error"):
        return said
    rows = ast.literal_eval(f"[{said}]") if said != "nothing" else []
    return [row if isinstance(row, tuple) else (row,) for row in rows]
