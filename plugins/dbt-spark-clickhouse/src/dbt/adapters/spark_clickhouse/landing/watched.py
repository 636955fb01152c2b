"""What a resident run watches to know whether there is work to do."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.spark_clickhouse.landing.batches import is_listed, local_files, local_folder

Seen = dict[str, int]  # the modification time of each file or folder, in nanoseconds since 1970


@dataclass(frozen=True)
class LandingZones:
    """The landing zones of a project.

    Args:
            folders: those that are local folders.
            others: those that only Spark can list.
    """

    folders: tuple[Path, ...]
    others: tuple[str, ...]

    @classmethod
    def of(cls, manifest: Any, project_root: Path) -> LandingZones:
        """The landing zones of a manifest's sources."""
        locations = {
            str(source.external.location)
            for source in manifest.sources.values()
            if source.external and source.external.location
        }
        found = {location: local_folder(location) for location in sorted(locations)}
        return cls(
            tuple(project_root / folder for folder in found.values() if folder),
            tuple(location for location, folder in found.items() if not folder),
        )

    def __str__(self) -> str:
        names = [*(os.path.relpath(folder) for folder in self.folders), *self.others]
        return (
            ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "no folder of batches"
        )

    def batches(self) -> Seen:
        """The batches that have landed, by folder. A folder counts as changed when a file in it is added, removed or
        renamed."""
        return {
            entry.path: entry.stat().st_mtime_ns
            for folder in self.folders
            for entry in _entries(folder)
            if is_listed(entry.name)
        }

    def bytes_since(self, begin: int) -> int:
        """The bytes in batches that have changed since a time, in nanoseconds since 1970."""
        changed = (folder for folder, at in self.batches().items() if at >= begin)
        return sum(file.size for folder in changed if Path(folder).is_dir() for file in local_files(Path(folder)))


@dataclass(frozen=True)
class ProjectFolders:
    """The folders from which dbt read a project. dbt writes nothing into them."""

    root: Path
    folders: frozenset[Path]

    @classmethod
    def of(cls, manifest: Any, root: Path) -> ProjectFolders:
        """The folders of a manifest's files."""
        places = {(file.path.project_root, file.path.searched_path) for file in manifest.files.values()}
        found = (root / folder for own, folder in places if Path(own).resolve() == root)
        return cls(root, frozenset(found))

    def files(self) -> Seen:
        """The files in the folders, and the files next to them that control how dbt reads them."""
        beside = (path for path in _files(self.root, is_deep=False) if path.suffix in (".yml", ".yaml"))
        found = itertools.chain(beside, *map(_files, self.folders))
        return {str(path): path.stat().st_mtime_ns for path in found}


def _files(folder: Path, *, is_deep: bool = True) -> Iterator[Path]:
    for entry in _entries(folder):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if not entry.is_dir():
            yield Path(entry)
        elif is_deep:
            yield from _files(Path(entry))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:  # nothing has landed yet
        return []
