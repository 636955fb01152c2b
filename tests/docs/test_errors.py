"""Each entry of the page of errors adds something to a message of the code, and tests provoke every message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.message_texts import GAP
from tests.support.messages import Message, messages, normalized, parts_of
from tests.support.shop import REPOSITORY

PAGE = "docs/errors.md"
# A list item that begins with code, and the text that follows.
_ENTRY = re.compile(r"^- (`+)(.+?)\1(?!`)(.*?)(?=\n- |\n\n|\Z)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"dbt (?:run|run-operation|build|parse)\b[^.]*")
# Characters in a row of a message, outside of commands, that are enough to know it by in an entry and in a test.
ENTERED, READ = 15, 20
# Messages that no test reads, and why.
UNREAD = {
    "Extract … has no usable line. Its lines are in the quarantine. Correct them, or remove the extract.": (
        "needs one more table of extracts, on Spark; the other reasons to stop have tests"
    ),
}


def _entries() -> dict[str, str]:
    """The messages that the page has, and what it adds to each."""
    _, _, *sections = re.split(r"^## ", (REPOSITORY / PAGE).read_text(), flags=re.MULTILINE)
    return {normalized(text): added.strip() for _, text, added in _ENTRY.findall("\n".join(sections))}


def _is_in(message: Message, text: str, enough: int) -> bool:
    """Whether a text has so many characters in a row of a message, or all of it if it has less."""
    parts = [part.strip(" .,:;'`") for part in parts_of(_COMMAND.sub(GAP, message.text))]
    size = min(enough, max(map(len, parts)))
    return any(part[at : at + size] in text for part in parts for at in range(len(part) - size + 1))


def _matches() -> list[tuple[str, Message]]:
    """Entries with the messages that they are about."""
    patterns = {entry: re.compile(".*".join(map(re.escape, entry.split(GAP)))) for entry in _entries()}
    return [
        (entry, message)
        for entry, pattern in patterns.items()
        for message in messages()
        if pattern.fullmatch(message.text) and _is_in(message, entry, ENTERED)
    ]


def test_every_entry_is_about_a_message() -> None:
    assert len(_entries()) > 50
    assert _entries().keys() - {entry for entry, _ in _matches()} == set()


def test_every_entry_says_more_than_its_message() -> None:
    assert [entry for entry, added in _entries().items() if not added] == []


def _read_by_tests() -> Iterator[str]:
    """The texts in the tests; patterns are read without their backslashes."""
    for folder in (REPOSITORY / "tests", *REPOSITORY.glob("plugins/*/tests")):
        for path in folder.rglob("*.py"):
            if path != Path(__file__):
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield normalized(node.value.replace("\\", ""))


def test_tests_read_every_message() -> None:
    texts = "\n".join(_read_by_tests())
    unread = {message.text for message in messages() if not _is_in(message, texts, READ)}
    assert unread == UNREAD.keys()
