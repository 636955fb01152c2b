"""The files of tables as they were before an insert, which are put back unless it ends.

A folder below ``undo`` has hard links to them, and names the folder that they are of.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("spark_clickhouse")

_DRAFT = ".draft"


@dataclass(frozen=True)
class Undo:
    """What is kept of the tables below ``home``."""

    home: Path

    @property
    def _folder(self) -> Path:
        return self.home / "undo"

    def keep(self, name: str, folder: Path) -> Path:
        """Hard links to the files of a table; they last when the files' own names are gone."""
        kept = self._folder / name
        if kept.exists():
            put_back(kept)
        draft = kept.with_name(f"{name}{_DRAFT}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        (draft / "location").write_text(str(folder))
        shutil.copytree(folder, draft / "files", copy_function=_link)
        draft.rename(kept)
        return kept

    def restore(self) -> list[str]:
        """Put back the files of each table into which an insert did not come to its end.

        To be called when Spark does not run. Returns the names of the tables.
        """
        for draft in self._folder.glob(f"*{_DRAFT}"):
            shutil.rmtree(draft, ignore_errors=True)
        kept = (path for path in self._folder.glob("*") if path.suffix != _DRAFT)
        return [put_back(path) for path in sorted(kept)]


def put_back(kept: Path) -> str:
    """Put the files that were kept of a table in place of those that are there; its name."""
    files, folder = kept / "files", Path((kept / "location").read_text())
    if files.is_dir():  # or it died after it had put them back
        logger.warning(f"Undoing an interrupted insert into {kept.name}")
        replaced = kept.with_name(f"{kept.name}.replaced{_DRAFT}")
        shutil.rmtree(replaced, ignore_errors=True)
        if folder.exists():  # moved, because a task that was cancelled may still write
            folder.rename(replaced)
        folder.parent.mkdir(parents=True, exist_ok=True)
        files.rename(folder)
        shutil.rmtree(replaced, ignore_errors=True)
    forget(kept)
    return kept.name


def forget(kept: Path) -> None:
    """Delete what was kept of a table, whose files stay as they are."""
    done = kept.with_name(f"{kept.name}.done{_DRAFT}")
    shutil.rmtree(done, ignore_errors=True)
    shutil.rmtree(kept.rename(done), ignore_errors=True)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
