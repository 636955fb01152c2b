"""What a statement on the embedded Spark reads, once Spark has resolved it: relations and files."""

from __future__ import annotations

import hashlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.spark_clickhouse.hand_off.files import RECEIPT
from dbt.adapters.spark_clickhouse.landing.batches import is_listed
from dbt.adapters.spark_clickhouse.private_api import PrivateApiError, SparkPlan

# Leaves of a plan that read nothing, or what another part of the plan is.
_CONSTANT = {"OneRowRelation", "LocalRelation", "Range", "CTERelationRef"}
_FILES = "LogicalRelation"
# Spark makes a constant of such a text when it parses the statement.
_NOW = re.compile(r"['\"]\s*now\b", re.IGNORECASE)
# Texts and comments, which say nothing; and names, among them those of folders.
_TOKENS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--[^\n]*|/\*.*?\*/|`((?:[^`]|``)*)`""", re.DOTALL)
# Of a pattern, Spark tells only the files and folders that it found.
_PATTERN = re.compile(r"[*?\[{\\]")
# A file may be written twice within one tick of the clock that stamps it.
_TICK, _COARSE_TICK = 0.1, 2.5  # seconds


@dataclass(frozen=True)
class StatementInputs:
    """What a statement read.

    Args:
        relations: the tables and views of the metastore, as `schema.name` in lower case.
        folders: the folders of this machine, each with its state, see ``folder_state``.
    """

    relations: tuple[str, ...]
    folders: dict[str, str]

    def are_unchanged(self) -> bool:
        """Whether each folder is as it was."""
        return all(folder_state(folder) == state for folder, state in self.folders.items())


def inputs_of(handle: Any, sql: str) -> StatementInputs | None:
    """What the statement reads that a session of dbt-spark has resolved and not run yet.

    None where its rows may depend on anything else: on the time, on functions that are not Spark's
    own, on files elsewhere, in a form that is not known here, or just written.
    """
    try:
        plan = SparkPlan(handle)
        return _inputs(plan) if _is_determined(plan, sql) else None
    except (OSError, PrivateApiError):
        return None


def _is_determined(plan: SparkPlan, sql: str) -> bool:
    texts = [sql, *(view.text for view in plan.views())]
    names = (name for text in texts for name in _TOKENS.findall(text))
    says_more = any(map(_NOW.search, texts)) or any(map(_PATTERN.search, names))
    return plan.is_deterministic() and not says_more


def _inputs(plan: SparkPlan) -> StatementInputs | None:
    relations = {view.name.lower() for view in plan.views()}
    folders: dict[str, str] = {}
    for leaf in plan.leaves():
        if leaf.kind in _CONSTANT:
            continue
        files = leaf.files() if leaf.kind == _FILES else None
        folder = _local(files.root) if files else None
        if not files or folder is None or _listed_files(folder) != files.listed:
            return None
        if not _is_settled(folder):
            return None
        folders[folder] = folder_state(folder)
        if files.table:
            relations.add(files.table.lower())
    if any("." not in relation for relation in relations):  # of this session alone
        return None
    return StatementInputs(tuple(sorted(relations)), folders)


def _local(path: str) -> str | None:
    scheme, _, rest = path.partition(":")
    return rest if scheme == "file" and rest.startswith("/") else None


def folder_state(folder: str) -> str:
    """A hash of the files below a folder, or of a file: their names, and what the file system says
    that changes whenever they do. Receipts count for nothing: Spark does not read them.

    Raises:
        OSError: it cannot be listed.
    """
    known = [
        f"{path}:{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"
        for path, stat in _files(folder)
        if not Path(path).name.lstrip(".").startswith(RECEIPT)
    ]
    return hashlib.md5("\n".join(sorted(known)).encode()).hexdigest()


def _files(folder: str) -> list[tuple[str, os.stat_result]]:
    root = Path(folder)
    if not root.is_dir():
        return [(folder, root.stat())]
    paths = [
        Path(parent, name) for parent, _, names in os.walk(root, onerror=_raise, followlinks=True) for name in names
    ]
    return [(str(path), path.stat()) for path in paths]


def _raise(error: OSError) -> None:
    raise error


def _listed_files(folder: str) -> set[tuple[str, int, int]]:
    """The files below a folder as Spark lists them: path, bytes, and milliseconds since 1970."""
    return {
        (path, stat.st_size, stat.st_mtime_ns // 1_000_000)
        for path, stat in _files(folder)
        if all(map(is_listed, Path(path).relative_to(folder).parts))
    }


def _is_settled(folder: str) -> bool:
    now = time.time()
    return all(
        stat.st_ctime + (_TICK if stat.st_ctime_ns % 1_000_000_000 else _COARSE_TICK) < now
        for _, stat in _files(folder)
    )
