"""What the metastore of the embedded Spark holds, written down when Spark ends.

When there was nothing new, most of the run went into starting Spark just to list its tables and to make the same
views again. The record answers that instead: schemas, tables and views, the statements that made the views, and the
columns that somebody has asked for. While Spark runs, a resident run asks it too, until a statement changes the
metastore.

It is invalid once the metastore has been opened without it or with other settings, which views keep. It is deleted as
soon as a statement is about to change the metastore, so a killed run leaves none.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

Relations = list[dict[str, Any]]
Columns = list[dict[str, Any]]

_FILE = "metastore.json"
CLOCK_TICK = 20_000_000  # nanoseconds; the clocks of most file systems tick every 1 to 10 milliseconds
TRIES = 50  # one second in all
_KEYS = {"schemas", "views", "columns", "stamp", "settings"}
_COMMENTS = re.compile(r"(?:\s+|/\*.*?\*/|--[^\n]*(?:\n|$))*", re.DOTALL)
# Not `set`: a view is resolved with the settings under which it was made.
_READS = re.compile(r"(select|with|show|desc|describe|explain|values|from)\b", re.IGNORECASE)
_NAME = r"((?:`(?:[^`]|``)+`|\w+)(?:\s*\.\s*(?:`(?:[^`]|``)+`|\w+))*)"
_VIEW = re.compile(rf"create\s+or\s+replace\s+view\s+{_NAME}", re.IGNORECASE)
_CHANGED = re.compile(
    r"(?:create|replace|alter|drop|insert|merge|update|delete|truncate|msck|refresh|cache|uncache)\s+"
    r"(?:(?:or\s+replace|global|temporary|temp|external|into|overwrite|from|repair|lazy|table|view|"
    r"function|schema|database|namespace|if\s+not\s+exists|if\s+exists)\s+)*" + _NAME,
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"(?:create|drop|refresh)\s+(?:(?:or|replace|temporary|temp)\s+)*function\b", re.IGNORECASE)
# The columns of such files are looked up when a view is made. Those of text and binaryFile are always the same, except
# for columns from folder names.
_INFERRED = re.compile(
    r"\b(?:(?:avro|csv|json|orc|parquet|xml)`?\s*\.\s*`"
    r"|(?!(?:text|binaryfile)\b)\w+`?\s*\.\s*`[^`]*[:/])",
    re.IGNORECASE,
)


def last_end(home: Path) -> int:
    """When Spark last ended, in nanoseconds since 1970; 0 if that is unknown."""
    path = home / _FILE
    return path.stat().st_mtime_ns if path.is_file() else 0


class MetastoreRecord:
    """The record of one home. All threads of a process share it.

    Args:
        home: folder of the embedded stores.
            settings: identifies Spark's settings; a record made with others is ignored.
    """

    def __init__(self, home: Path, settings: str) -> None:
        self._path = home / _FILE
        self._metastore = home / "metastore"
        self._settings = settings
        self._lock = threading.RLock()
        self._schemas: dict[str, Relations | None] | None = None  # None: not listed yet
        self._views: dict[str, str] = {}  # the statements that made them
        self._columns: dict[str, Columns] = {}
        self._asked: set[str] = set()
        self._changes: list[str] = []  # the names that were changed; an empty text if unknown

    def load(self) -> None:
        """Read the record before Spark opens the metastore, unless something has opened it since."""
        with self._lock:
            self._read()

    def schemas(self) -> list[str] | None:
        """The schemas of the metastore; None if unknown."""
        self.load()
        found = self._schemas
        return None if found is None else list(found)

    def relations(self, schema: str) -> Relations | None:
        """The tables and views of a schema; None if unknown."""
        self.load()
        found = self._schemas
        return None if found is None else found.get(schema.lower(), [])

    def view_statement(self, schema: str, name: str) -> str:
        """The statement that made a view; empty if unknown."""
        self.load()
        return self._views.get(f"{schema}.{name}".lower(), "")

    def columns(self, schema: str, name: str) -> Columns | None:
        """The columns of a table or view; None if unknown."""
        self.load()
        return self._columns.get(f"{schema}.{name}".lower())

    def keep_columns(self, schema: str, name: str, columns: Columns, is_view: bool) -> None:
        """Keep the columns of a table or view until it changes. They are not kept for a view whose sources can change
        unseen."""
        key = f"{schema}.{name}".lower()
        with self._lock:
            if key in self._views or not is_view:
                self._columns[key] = columns

    def is_made(self, sql: str) -> bool:
        """Whether the view that ``sql`` creates exists, and was made by the same statement."""
        view = _VIEW.match(_without_comments(sql))
        self.load()
        return view is not None and self._views.get(_plain(view[1])) == sql

    def changes(self) -> int:
        """The number of changes to the metastore so far."""
        return len(self._changes)

    def changed_since(self, changes: int) -> set[str]:
        """The names that statements have changed since the number of changes was ``changes``."""
        return set(self._changes[changes:])

    def before(self, sql: str) -> None:
        """Note that a statement is about to run on Spark, or has just ended, successfully or not."""
        statement = _without_comments(sql)
        if not _READS.match(statement):
            changed = None if _FUNCTION.match(statement) else _CHANGED.match(statement)
            self._change(_parts(changed[1])[-1] if changed else "")

    def before_any(self) -> None:
        """Note that unknown statements are about to run on Spark."""
        self._note("")

    def after_any(self, names: Iterable[str]) -> None:
        """Note which relations those statements have changed; an empty name stands for all."""
        for name in names:
            self._change(name)

    def _change(self, name: str) -> None:
        """Forget what is no longer true once ``name`` has changed; everything if the name is empty."""
        with self._lock:
            self._note(name)
            self._forget(name)

    def _note(self, name: str) -> None:
        """Note that ``name`` changes, and delete the record: a run that is killed meanwhile leaves none."""
        with self._lock:
            self._read()
            self._changes.append(name)
            self._schemas = None
            self._path.unlink(missing_ok=True)

    def after(self, sql: str) -> None:
        """Note that a statement has run on Spark."""
        view = _VIEW.match(_without_comments(sql))
        if view is not None and not _INFERRED.search(sql):
            with self._lock:
                self._views[_plain(view[1])] = sql

    def capture(self, schemas: Callable[[], Iterable[str]], ask: Callable[[str], Relations]) -> None:
        """While Spark runs, look up what was asked for and is unknown."""
        self.load()
        before = self.changes()
        known = self._schemas or dict.fromkeys(schemas())
        for schema in [name for name, found in known.items() if found is None]:
            known[schema] = ask(schema) if schema in self._asked else None
        with self._lock:
            if self.changes() == before:  # else a statement has changed them meanwhile
                self._schemas = known

    def write(self) -> None:
        """Write the record, after Spark has ended."""
        with self._lock:
            stamp = self.stamp()
            if self._schemas is None or not stamp:
                return
            content = {
                "schemas": self._schemas,
                "views": self._views,
                "columns": self._columns,
                "settings": self._settings,
                "stamp": stamp,
            }
            draft = self._path.with_suffix(".draft")
            draft.write_text(json.dumps(content))
            draft.replace(self._path)

    def note_schema(self, schema: str) -> None:
        """Note that the next run may ask for the relations of this schema too."""
        self._asked.add(schema.lower())

    def _read(self) -> None:
        if self._schemas is not None or not self._path.exists():
            return
        content = self._parsed()
        if not content:
            self._path.unlink()
            return
        self._views = content["views"] | self._views
        self._columns = content["columns"] | self._columns
        self._asked |= {name for name, found in content["schemas"].items() if found is not None}
        self._schemas = content["schemas"]

    def _parsed(self) -> dict[str, Any]:
        """The contents of the file; empty if they are no longer valid."""
        try:
            content = json.loads(self._path.read_text())
        except ValueError:  # after a power cut
            return {}
        is_known = isinstance(content, dict) and content.keys() == _KEYS
        found = (self.stamp(), self._settings)
        return content if is_known and (content["stamp"], content["settings"]) == found else {}

    def settled_stamp(self) -> dict[str, list[int]]:
        """The stamp, as soon as a further write would change it. That takes a moment after the last write. Empty if
        writes do not cease, or if the file system counts whole seconds."""
        for _ in range(TRIES):
            found = self.stamp()
            written = [at for at, _ in found.values()]
            if all(at % 10**9 == 0 for at in written):
                return {}
            if min(abs(time.time_ns() - at) for at in written) >= CLOCK_TICK:
                return found
            time.sleep(CLOCK_TICK / 1e9)
        return {}

    def stamp(self) -> dict[str, list[int]]:
        """When each of the metastore's files was last written, in nanoseconds, and how large it is. Derby writes its
        log whenever it is opened or changed."""
        files = [self._metastore / "service.properties", *(self._metastore / "log").glob("*")]
        found = {}
        for file in files:
            with suppress(FileNotFoundError):  # Derby removes old logs
                stat = file.stat()
                found[file.name] = [stat.st_mtime_ns, stat.st_size]
        return found

    def _forget(self, name: str) -> None:
        """Forget what is about to change, and the views that mention it; everything if the name is empty."""
        mentioned = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        # The first condition takes a fortieth of the time of the second, and is seldom true.
        views = {view for view, sql in self._views.items() if name.lower() in sql.lower() and mentioned.search(sql)}
        for known in (self._views, self._columns):
            for key in list(known):
                if not name or key in views or name.lower() in key.split("."):
                    del known[key]


@cache
def record_of(home: Path, settings: str) -> MetastoreRecord:
    """The record of a home: one per process, as long as no other process can change it."""
    return MetastoreRecord(home, settings)


def forget_records() -> None:
    """Read the files again the next time, because other processes may change a metastore now."""
    record_of.cache_clear()


def _without_comments(sql: str) -> str:
    start = _COMMENTS.match(sql)
    return sql[start.end() :] if start else sql


def _parts(name: str) -> list[str]:
    found = re.findall(r"`(?:[^`]|``)+`|\w+", name)
    return [part.strip("`").replace("``", "`") for part in found]


def _plain(name: str) -> str:
    return ".".join(_parts(name)).lower()
