"""The batches of a landing zone, listed as Spark would list them, but without Spark."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BATCH = re.compile(r"batch=([0-9]+)/[^/]+", re.ASCII)
_TAIL = re.compile(r"[^/]+/[^/]+/[^/]+$")
_GLOB = re.compile(r"[*?\[\]{}\\]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HOST = re.compile(r"//[^/]")
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class LandedFile:
    """A file: its path, its path within the landing zone, its size in bytes, and its modification time in microseconds
    since 1970."""

    path: str
    place: str
    size: int
    written_at: int


def local_folder(location: str) -> Path | None:
    """The local folder that ``location`` names. None for a URL of another store, and for a pattern, which Spark would
    expand."""
    scheme = _SCHEME.match(location)
    path = location[scheme.end() :] if scheme else location
    is_elsewhere = scheme and (scheme[1] != "file" or _HOST.match(path))
    return None if is_elsewhere or _GLOB.search(location) else Path(path)


def local_files(folder: Path) -> Iterator[LandedFile]:
    """The files below a local folder.

    Raises:
            OSError: a folder cannot be listed.
    """
    for root, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        folders[:] = filter(is_listed, folders)
        for name in filter(is_listed, names):
            path = Path(root, name)
            stat = path.stat()
            if stat.st_size:
                place = path.relative_to(folder).as_posix()
                yield LandedFile(path.as_posix(), place, stat.st_size, stat.st_mtime_ns // 1000)


def _raise(error: OSError) -> None:
    raise error


def is_listed(name: str) -> bool:
    """Whether Spark lists a file or folder of this name (HadoopFSUtils.shouldFilterOutPathName)."""
    if name.startswith(("_common_metadata", "_metadata")):
        return True
    is_partition = name.startswith("_") and "=" in name
    return not name.endswith("._COPYING_") and (is_partition or not name.startswith((".", "_")))


def batches(files: Iterable[LandedFile], name: str) -> list[dict[str, Any]]:
    """The batches of the landing zone called ``name``, each with ``batch``, ``files``, ``hash``, ``times``,
    ``landed_at`` (when its last file was written, in microseconds since 1970) and ``example``, one of its files. Files
    outside any batch are reported per folder, with a ``batch`` of None.

    ``hash`` covers the last three parts of each path with the file's size, ``times`` the same with its modification
    time. Spark computes both in the same way.
    """
    groups: dict[tuple[int | None, str], list[LandedFile]] = defaultdict(list)
    for file in files:
        batch = _batch(file.place)
        folder = file.place.rpartition("/")[0] if batch is None else ""
        groups[batch, folder].append(file)
    rows = [_row(batch, found, name) for (batch, _), found in groups.items()]
    return sorted(rows, key=lambda row: (row["batch"] is not None, row["batch"] or 0, row["example"]))


def _batch(place: str) -> int | None:
    found = _BATCH.fullmatch(place)
    number = int(found[1]) if found else None
    return None if number is None or number > _LARGEST else number


def _row(batch: int | None, files: list[LandedFile], name: str) -> dict[str, Any]:
    others = f" and {len(files) - 1} more beside it" if len(files) > 1 else ""
    return {
        "batch": batch,
        "files": len(files),
        "hash": _hash(f"{_tail(file.path)}:{file.size}" for file in files),
        "times": _hash(f"{_tail(file.path)}:{file.written_at}" for file in files),
        "landed_at": max(file.written_at for file in files),
        "example": f"{name}/{min(file.place for file in files)}{others}",
    }


def _hash(texts: Iterable[str]) -> str:
    return hashlib.md5(",".join(sorted(texts)).encode()).hexdigest()


def _tail(path: str) -> str:
    found = _TAIL.search(path)
    return found[0] if found else ""
