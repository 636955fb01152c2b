"""Empty definitions of tables in the embedded ClickHouse.

If the disk is full, ClickHouse can write a table's definition as an empty file, although `create table` or `alter
table` succeeds. The engine does not start if it finds such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("spark_clickhouse")

# Names of helper tables, which the next run creates again. `__dbt_backup` is not one of them: it can be the only copy
# of a table. Neither are the tombstones of a table that a full refresh replaces.
_HELPER = re.compile("__dbt_(?!backup|build__tombstones)")


def remove(folder: Path) -> bool:
    """Remove the empty definitions of helper tables. Return whether there were any.

    Args:
        folder: the engine's folder, after it failed to open.
    """
    names = []
    for path in _find(folder):
        if _HELPER.search(path.stem):
            path.unlink()
            names.append(unquote(path.stem))
    if names:
        logger.warning(
            "ClickHouse could not write the definitions of some helper tables, probably because"
            " the disk was full. The empty files are removed, and the next run creates the tables"
            f" again: {', '.join(sorted(names))}"
        )
    return bool(names)


def advice(folder: Path) -> str:
    """Return what to do about the other empty definitions, or an empty text."""
    return "".join(
        f"\nClickHouse could not write the definition of {unquote(path.stem)}, probably because the"
        f" disk was full. This file is empty: {path}\nRestore it from a backup. Without a backup,"
        " remove it, and rebuild the model that the table belongs to:"
        " dbt run --full-refresh --select <model>+"
        for path in _find(folder)
    )


def _find(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.glob("store/*/*/*.sql")):
        if path.stat().st_size == 0:
            yield path
