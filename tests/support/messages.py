"""The error messages that users see, as written in the project's sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from tests.support import macro_messages, python_messages
from tests.support.macro_sources import sources
from tests.support.message_texts import GAP
from tests.support.shop import REPOSITORY

PYTHON = tuple(
    f"plugins/{name}/src"
    for name in ("dbt-spark-clickhouse", "sink-conformance", "sqlfluff-plugin-versioned-collapsing")
)
SHORTEST = 8  # minimum length of a message's longest constant part, by which it can be searched


@dataclass(frozen=True)
class Message:
    """A message and the file that has it, relative to the repository."""

    path: str
    text: str

    @property
    def parts(self) -> list[str]:
        """The constant parts of the message, in order."""
        return parts_of(self.text)


def parts_of(text: str) -> list[str]:
    """The parts around each `…` of a text."""
    return [part.strip() for part in text.split(GAP) if part.strip()]


def normalized(text: str) -> str:
    """A text with single spaces, and one `…` in place of several in a row."""
    return re.sub(rf"{GAP}(\s*{GAP})+", GAP, " ".join(text.split()))


@cache
def messages() -> list[Message]:
    """All messages, by file."""
    macros = sources("macros", "tests/generic")
    modules = [path for folder in PYTHON for path in sorted((REPOSITORY / folder).rglob("*.py"))]
    found = [
        *((path, text) for path in macros for text in macro_messages.texts_in(path)),
        *((path, text) for path in modules for text in python_messages.texts_in(path)),
    ]
    texts = dict.fromkeys((path.relative_to(REPOSITORY).as_posix(), normalized(text)) for path, text in found)
    return [Message(path, text) for path, text in texts if max(map(len, parts_of(text)), default=0) >= SHORTEST]
