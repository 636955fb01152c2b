"""The project's Jinja, compiled, kept from command to command.

dbt compiles each macro that a command calls, in each command anew. With nothing new, that was a third of a run. The
code depends only on the text and on the versions of Python, Jinja and dbt. It is kept beside what dbt itself keeps of
the project that it has parsed, and may be lost at any time.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
from importlib import metadata
from pathlib import Path
from types import CodeType

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.spark_clickhouse import private_api

logger = AdapterLogger("spark_clickhouse")

_FILE = "compiled_macros.marshal"
_DIGEST_SIZE = hashlib.sha256().digest_size
# Of more texts, only those of the last command are kept: the others may be of models and macros that have changed.
_MOST_TEXTS = 5000


class CompiledMacros(private_api.CompiledTexts):
    """The compiled texts of a process, by their hash."""

    def __init__(self) -> None:
        self._codes: dict[bytes, CodeType] = {}
        self._asked: set[bytes] = set()
        self._known_files: set[tuple[Path, int]] = set()  # with the time of writing
        self._is_changed = False

    def get(self, kind: str, text: str) -> CodeType | None:
        """The code of a text; None if it is unknown."""
        key = _key(kind, text)
        self._asked.add(key)
        return self._codes.get(key)

    def keep(self, kind: str, text: str, code: CodeType) -> None:
        """Keep the code of a text."""
        self._codes[_key(kind, text)] = code
        self._is_changed = True

    def load(self, folder: Path) -> None:
        """Read what an earlier command has written to ``folder``, if the versions are still the same."""
        path = folder / _FILE
        try:
            file = path, path.stat().st_mtime_ns
            if file in self._known_files:
                return
            content = path.read_bytes()
        except OSError:
            return
        self._known_files.add(file)
        digest, codes = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
        if digest == _digest(codes):  # marshal reads only what it has written itself
            self._codes = marshal.loads(codes) | self._codes

    def write(self, folder: Path) -> None:
        """Write to ``folder`` what has been compiled since the last time. A failure is only logged."""
        if not self._is_changed:
            return
        known = dict(self._codes)
        if len(known) > _MOST_TEXTS:
            known = {key: code for key, code in known.items() if key in self._asked}
        codes = marshal.dumps(known)
        draft = folder / f"{_FILE}.{os.getpid()}"
        try:
            draft.write_bytes(_digest(codes) + codes)
            draft.replace(folder / _FILE)
        except OSError as error:  # no command may fail for it
            logger.debug(f"The compiled macros were not kept: {error}")
            draft.unlink(missing_ok=True)
        self._is_changed = False


_compiled = CompiledMacros()


def use_compiled_macros(folder: Path) -> None:
    """Let dbt take compiled macros from ``folder``."""
    if not os.environ.get("DBT_MACRO_DEBUGGING"):  # with it, dbt compiles macros into files for a debugger
        _compiled.load(folder)
        private_api.keep_compiled(_compiled)


def write_compiled_macros(folder: Path) -> None:
    """Write to ``folder`` what this command has compiled."""
    _compiled.write(folder)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\n{text}".encode()).digest()


def _digest(codes: bytes) -> bytes:
    versions = [metadata.version(package) for package in ("dbt-common", "jinja2")]
    return hashlib.sha256(importlib.util.MAGIC_NUMBER + str(versions).encode() + codes).digest()
