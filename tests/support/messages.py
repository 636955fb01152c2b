"""The error messages that users meet, as the sources of the project write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from tests.support import macro_messages, python_messages
from tests.support.macro_sources import sources
from tests.support.message_texts import GAP
from tests.support.shop import REPOSITORY

PYTHON = ("plugins/dbt-spark-clickhouse/src", "plugins/sqlfluff-plugin-versioned-collapsing/src")
SHORTEST = 8  # characters of the longest part of a message that can be searched for


@dataclass(frozen=True)
class Message:
    """A message and the file that has it, relative to the repository."""

    path: str
    text: str

    @property
    def parts(self) -> list[str]:
        """What is constant in the message, in its order."""
        return parts_of(self.text)


def parts_of(text: str) -> list[str]:
    """What stands around each `…` of a text."""
    return [part.strip() for part in text.split(GAP) if part.strip()]


def normalized(text: str) -> str:
    """A text with single spaces, and one `…` for several in a row."""
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
