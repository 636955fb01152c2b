"""What the metastore of the embedded Spark holds, written down when Spark ends.

When there was nothing new, most of the run went into starting Spark just to list its tables and to make the same
views again. The record answers that instead: schemas, tables and views, the statements that made the views, and the
columns that somebody has asked for. It is of no use once the metastore was opened by anybody else or with other
settings, which views keep, and gone as soon as a statement is about to change the metastore: a run that is killed
leaves none.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

Relations = list[dict[str, Any]]
Columns = list[dict[str, Any]]

_FILE = "metastore.json"
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
# The columns of such files are looked up when a view is made. Those of text and binaryFile are
# always the same, but for columns that are folders.
_INFERRED = re.compile(
    r"\b(?:(?:avro|csv|json|orc|parquet|xml)`?\s*\.\s*`"
    r"|(?!(?:text|binaryfile)\b)\w+`?\s*\.\s*`[^`]*[:/])",
    re.IGNORECASE,
)


class MetastoreRecord:
    """The record of one home. All threads of a process share it.

    Args:
        home: folder of the embedded stores.
        settings: stands for the settings of Spark; what was made with others counts for nothing.
    """

    def __init__(self, home: Path, settings: str) -> None:
        self._path = home / _FILE
        self._metastore = home / "metastore"
        self._settings = settings
        self._lock = threading.RLock()
        self._schemas: dict[str, Relations | None] | None = None  # None: nobody has looked
        self._views: dict[str, str] = {}  # the statements that made them
        self._columns: dict[str, Columns] = {}
        self._asked: set[str] = set()
        self._changes: list[str] = []  # the names that were changed, empty for those not known

    def load(self) -> None:
        """Read the record, if nobody has opened the metastore since, before Spark opens it."""
        with self._lock:
            self._read()

    def schemas(self) -> list[str] | None:
        """The schemas of the metastore, None if they are not known."""
        self.load()
        return None if self._schemas is None else list(self._schemas)

    def relations(self, schema: str) -> Relations | None:
        """The tables and views of a schema, None if they are not known."""
        self.load()
        return None if self._schemas is None else self._schemas.get(schema.lower(), [])

    def view_definition(self, schema: str, name: str) -> str:
        """The hash of the statement that made a view, empty if it is not known."""
        self.load()
        statement = self._views.get(f"{schema}.{name}".lower(), "")
        return hashlib.md5(statement.encode()).hexdigest() if statement else ""

    def columns(self, schema: str, name: str) -> Columns | None:
        """The columns of a table or view, None if they are not known."""
        self.load()
        return self._columns.get(f"{schema}.{name}".lower())

    def keep_columns(self, schema: str, name: str, columns: Columns, is_view: bool) -> None:
        """Keep the columns of a table or view until it changes. A view that reads what may change
        unseen keeps none."""
        key = f"{schema}.{name}".lower()
        with self._lock:
            if key in self._views or not is_view:
                self._columns[key] = columns

    def is_made(self, sql: str) -> bool:
        """Whether the view that ``sql`` creates is there, and was made by the same statement."""
        view = _VIEW.match(_without_comments(sql))
        self.load()
        return view is not None and self._views.get(_plain(view[1])) == sql

    def changes(self) -> int:
        """How often the metastore has been changed."""
        return len(self._changes)

    def changed_since(self, changes: int) -> set[str]:
        """The names that statements have changed since there were so many changes."""
        return set(self._changes[changes:])

    def before(self, sql: str) -> None:
        """Note that a statement is about to run on Spark, or has just ended, however it did."""
        statement = _without_comments(sql)
        if not _READS.match(statement):
            changed = None if _FUNCTION.match(statement) else _CHANGED.match(statement)
            self._change(_parts(changed[1])[-1] if changed else "")

    def before_any(self) -> None:
        """Note that statements are about to run on Spark of which nothing is known."""
        self._note("")

    def after_any(self, names: Iterable[str]) -> None:
        """Note which relations such statements have changed; an empty name for all."""
        for name in names:
            self._change(name)

    def _change(self, name: str) -> None:
        """Forget what holds no more once ``name`` is changed, all if it is not known."""
        with self._lock:
            self._note(name)
            self._forget(name)

    def _note(self, name: str) -> None:
        """Note that ``name`` changes: a run that is killed meanwhile leaves no record."""
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
        """Look up what is not known and was asked for, while Spark runs."""
        self.load()
        known = self._schemas or dict.fromkeys(schemas())
        for schema in [name for name, found in known.items() if found is None]:
            known[schema] = ask(schema) if schema in self._asked else None
        with self._lock:
            self._schemas = known

    def write(self) -> None:
        """Write down what is known, after Spark has ended."""
        with self._lock:
            stamp = self._stamp()
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
        """Note that the next run may ask for the relations of a schema too."""
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
        """What the file says; nothing where that does not hold any more."""
        try:
            content = json.loads(self._path.read_text())
        except ValueError:  # a power cut
            return {}
        is_known = isinstance(content, dict) and content.keys() == _KEYS
        found = (self._stamp(), self._settings)
        return content if is_known and (content["stamp"], content["settings"]) == found else {}

    def _stamp(self) -> dict[str, list[int]]:
        """When the metastore's files were written. Derby writes its log whenever it is opened."""
        files = [self._metastore / "service.properties", *(self._metastore / "log").glob("*")]
        stats = {file.name: file.stat() for file in files if file.exists()}
        return {name: [stat.st_mtime_ns, stat.st_size] for name, stat in stats.items()}

    def _forget(self, name: str) -> None:
        """Forget what is about to change, and the views that mention it; all if it is not known."""
        mentioned = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        views = {view for view, sql in self._views.items() if mentioned.search(sql)}
        for known in (self._views, self._columns):
            for key in list(known):
                if not name or key in views or name.lower() in key.split("."):
                    del known[key]


@cache
def record_of(home: Path, settings: str) -> MetastoreRecord:
    """The record of a home, one in a process for as long as no other process can change it."""
    return MetastoreRecord(home, settings)


def forget_records() -> None:
    """Look at the files again, when other processes may have changed a metastore."""
    record_of.cache_clear()


def _without_comments(sql: str) -> str:
    start = _COMMENTS.match(sql)
    return sql[start.end() :] if start else sql


def _parts(name: str) -> list[str]:
    found = re.findall(r"`(?:[^`]|``)+`|\w+", name)
    return [part.strip("`").replace("``", "`") for part in found]


def _plain(name: str) -> str:
    return ".".join(_parts(name)).lower()
