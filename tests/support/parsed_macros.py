"""Importing this module imports dbt, and parses the macros of this project and of its adapters.

Forks of the process do not repeat this work.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from dbt.clients.jinja_static import statically_extract_macro_calls
from dbt_common.clients.jinja import extract_toplevel_blocks, parse
from dbt_common.tests import enable_test_caching

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("global_project", "spark", "clickhouse", "spark_clickhouse")
BLOCKS = {"macro", "materialization", "test", "data_test"}


def _files() -> Iterator[Path]:
    folders = [REPOSITORY / "macros", REPOSITORY / "tests" / "generic"]
    for package in PACKAGES:
        folders += map(Path, importlib.import_module(f"dbt.include.{package}").__path__)
    for folder in folders:
        yield from folder.rglob("*.sql")


def _parse(file: Path) -> None:
    """Parse a file as dbt does. dbt keeps the result in a cache meant for its own tests."""
    for block in extract_toplevel_blocks(file.read_text().strip(), BLOCKS, collect_raw_data=False):
        macro = str(block.full_block)
        parse(macro)
        statically_extract_macro_calls(macro, {})


enable_test_caching()
# chDB is not imported here: it starts threads, which a fork would not inherit.
for module in ("dbt.cli.main", "dbt.adapters.spark_clickhouse", "pyspark.sql"):
    importlib.import_module(module)
for path in _files():
    _parse(path)
