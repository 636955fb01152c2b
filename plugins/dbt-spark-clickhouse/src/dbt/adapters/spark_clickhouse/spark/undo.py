"""The files of tables as they were before an insert. They are put back unless the insert finishes.

Hard links to them are in a folder below ``undo``, which also names their original folder.
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
    """What is kept for the tables below ``home``."""

    home: Path

    @property
    def _folder(self) -> Path:
        return self.home / "undo"

    def keep(self, name: str, folder: Path) -> Path:
        """Hard links to the files of a table; they survive the deletion of the files."""
        kept = self._folder / name
        if kept.exists():
            put_back(kept)
        draft = kept.with_name(f"{name}{_DRAFT}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        is_here = folder.is_relative_to(self.home)
        (draft / "location").write_text(str(folder.relative_to(self.home) if is_here else folder))
        shutil.copytree(folder, draft / "files", copy_function=_link)
        draft.rename(kept)
        return kept

    def has_kept(self) -> bool:
        """Whether an insert has not finished, or has not yet."""
        return any(self._folder.glob("*"))

    def restore(self) -> list[str]:
        """Put back the files of each table whose insert did not finish. Return the names of the tables.

        Call this only while Spark does not run.
        """
        for draft in self._folder.glob(f"*{_DRAFT}"):
            shutil.rmtree(draft, ignore_errors=True)
        kept = (path for path in self._folder.glob("*") if path.suffix != _DRAFT)
        return [put_back(path) for path in sorted(kept)]


def put_back(kept: Path) -> str:
    """Replace the current files of a table by those that were kept. Return its name."""
    files, folder = kept / "files", kept.parents[1] / (kept / "location").read_text()
    if files.is_dir():  # else it died after it had put them back
        logger.warning(f"Undoing an interrupted insert into {kept.name}")
        replaced = kept.with_name(f"{kept.name}.replaced{_DRAFT}")
        shutil.rmtree(replaced, ignore_errors=True)
        if folder.exists():  # moved aside, because a cancelled task may still write into it
            folder.rename(replaced)
        folder.parent.mkdir(parents=True, exist_ok=True)
        files.rename(folder)
        shutil.rmtree(replaced, ignore_errors=True)
    forget(kept)
    return kept.name


def forget(kept: Path) -> None:
    """Delete what was kept for a table, whose files stay as they are."""
    done = kept.with_name(f"{kept.name}.done{_DRAFT}")
    shutil.rmtree(done, ignore_errors=True)
    shutil.rmtree(kept.rename(done), ignore_errors=True)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
