"""The page of errors has every message of the code and no other, and tests provoke them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.message_texts import GAP
from tests.support.messages import Message, messages, normalized
from tests.support.shop import REPOSITORY

PAGE = "docs/errors.md"
# A list item that begins with code.
_ENTRY = re.compile(r"^- (`+)(.+?)\1(?!`)", re.DOTALL | re.MULTILINE)
# Characters of a message that a test reads, if the message has as many in a row.
READ = 20
# Messages that no test reads, and why.
UNREAD: dict[str, str] = {}


def _entries() -> list[str]:
    _, _, *sections = re.split(r"^## ", (REPOSITORY / PAGE).read_text(), flags=re.MULTILINE)
    return [normalized(text) for _, text in _ENTRY.findall("\n".join(sections))]


def _is_of(entry: str, message: Message) -> bool:
    return re.fullmatch(".*".join(map(re.escape, entry.split(GAP))), message.text) is not None


def test_every_message_has_an_entry() -> None:
    entries = _entries()
    assert [
        message for message in messages() if not any(_is_of(entry, message) for entry in entries)
    ] == []


def test_every_entry_is_a_message() -> None:
    entries = _entries()
    assert [
        entry for entry in entries if not any(_is_of(entry, message) for message in messages())
    ] == []


def _read_by_tests() -> Iterator[str]:
    """The texts in the tests; patterns are read without their backslashes."""
    for folder in (REPOSITORY / "tests", *REPOSITORY.glob("plugins/*/tests")):
        for path in folder.rglob("*.py"):
            if path != Path(__file__):
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield normalized(node.value.replace("\\", ""))


def _is_read(message: Message, texts: str) -> bool:
    longest = max(message.parts, key=len)
    size = min(READ, len(longest))
    return any(
        part[at : at + size] in texts
        for part in message.parts
        for at in range(len(part) - size + 1)
    )


def test_tests_read_every_message() -> None:
    texts = "\n".join(_read_by_tests())
    unread = {message.text for message in messages() if not _is_read(message, texts)}
    assert unread == UNREAD.keys()
