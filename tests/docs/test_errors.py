"""The page of errors has every message of the code and no other, and tests provoke them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.message_texts import GAP
from tests.support.messages import Message, messages, normalized, parts_of
from tests.support.shop import REPOSITORY

PAGE = "docs/errors.md"
# A list item that begins with code.
_ENTRY = re.compile(r"^- (`+)(.+?)\1(?!`)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"dbt (?:run|run-operation|build|parse)\b[^.]*")
# Characters in a row of a message, outside of commands, that are enough to know it by in an entry and in a test.
ENTERED, READ = 15, 20
# Messages that no test reads, and why.
UNREAD = {
    "… has no rows of …": "needs a table between landing zone and change set that lacks a batch, on Spark",
    "Extract … has no usable line. Its lines are in the quarantine. Correct them, or remove the extract.": (
        "needs one more table of extracts, on Spark; the other reasons to stop have tests"
    ),
}


def _entries() -> list[str]:
    _, _, *sections = re.split(r"^## ", (REPOSITORY / PAGE).read_text(), flags=re.MULTILINE)
    return [normalized(text) for _, text in _ENTRY.findall("\n".join(sections))]


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


def test_every_message_has_an_entry_and_every_entry_a_message() -> None:
    matches = _matches()
    assert set(messages()) - {message for _, message in matches} == set()
    assert set(_entries()) - {entry for entry, _ in matches} == set()
    assert len(_entries()) == len(set(_entries()))


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
