"""Definitions of tables that ClickHouse could not write, as the disk was full.

ClickHouse does not notice: `create table` and `alter table` succeed, the file of the definition is
empty, and an embedded engine that finds such a file does not start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("spark_clickhouse")

# What a run makes anew; dbt keeps an old table as a backup while it replaces it.
_MADE_ANEW = re.compile("__dbt_(?!backup)")


def remove(folder: Path) -> bool:
    """Remove the empty definitions of tables that runs make anew; whether there were any.

    Args:
        folder: of the engine, which is not open.
    """
    names = []
    for path in _find(folder):
        if _MADE_ANEW.search(path.stem):
            path.unlink()
            names.append(unquote(path.stem))
    if names:
        logger.warning(
            "The disk was full when ClickHouse wrote the definitions of these tables. They are"
            f" removed, and runs make them anew: {', '.join(sorted(names))}"
        )
    return bool(names)


def advice(folder: Path) -> str:
    """What to do about the empty definitions of other tables, if there are any."""
    return "".join(
        f"\nThe disk was full when ClickHouse wrote the definition of {name}, which is empty:"
        f" {path}. Restore the file from a backup. Or remove it, and with it the table, and build"
        f" the table again: dbt run --full-refresh --select {name}+"
        for path in _find(folder)
        if (name := unquote(path.stem))
    )


def _find(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.glob("store/*/*/*.sql")):
        if path.stat().st_size == 0:
            yield path
