"""What dead runs left of the embedded Spark's tables.

Spark writes the files of a new table before it registers it, unregisters a table before it deletes the files, and moves
the files of an insert into place one by one. A run that dies in between leaves files without a table, or half an
insert. The next run gets rid of both. Before a `create table`, it removes a folder that no table names. Before an
insert, it keeps hard links to the existing files, which are put back unless the insert finishes.

Only folders below the home of the embedded stores are ever touched: other processes may be working on any other folder,
and their metastores may know it.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.spark_clickhouse.private_api import SparkCatalog
from dbt.adapters.spark_clickhouse.spark.undo import Undo, forget, put_back

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = AdapterLogger("spark_clickhouse")

_PART = r"(?:`(?:[^`]|``)+`|\w+)"
_TABLE = rf"(?P<table>{_PART}(?:\s*\.\s*{_PART})*)"
_COMMENTS = re.compile(r"(?:\s+|/\*.*?\*/|--[^\n]*(?:\n|$))*", re.DOTALL)
_CREATE = re.compile(rf"create\s+(?:or\s+replace\s+)?table\s+(?:if\s+not\s+exists\s+)?{_TABLE}", re.IGNORECASE)
_INSERT = re.compile(rf"insert\s+(?:into|overwrite)\s+(?:table\s+)?{_TABLE}", re.IGNORECASE)
_HAS_LOCATION = re.compile(r"\blocation\s+['\"]", re.IGNORECASE)
_LISTINGS = 10  # tries
_LOCATION = re.compile(r"^Location: (.*)$", re.MULTILINE)
# Their own logs record which of their files count.
_TRANSACTIONAL = {"delta", "iceberg", "hudi"}

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class TableFolders:
    """The folders of an embedded Spark's tables below ``home``."""

    home: Path

    @contextmanager
    def executing(self, sql: str) -> Iterator[None]:
        """Run ``sql`` within the block so that it can be run again, wherever it dies."""
        start = _COMMENTS.match(sql)
        statement = sql[start.end() if start else 0 :]
        created = _CREATE.match(statement)
        if created and not _HAS_LOCATION.search(statement):
            self._clear(created["table"])
        inserted = _INSERT.match(statement)
        with self._whole(inserted["table"]) if inserted else nullcontext():
            yield

    def _is_own(self, folder: Path | None) -> bool:
        return folder is not None and folder.resolve().is_relative_to(self.home.resolve())

    def _clear(self, table: str) -> None:
        """Remove the folder in which Spark would put a new table, if no table names it.

        Spark refuses to create a table in a folder that has files.
        """
        spark = _session()
        catalog = SparkCatalog(spark)
        identifier = _identifier(spark, catalog, table)
        if identifier is None or catalog.has_table(identifier):
            return
        folder = _local(catalog.default_location(identifier))
        if folder is None or not self._is_own(folder) or not folder.is_dir():
            return
        if not any(folder.iterdir()):
            return
        if others := _tables_at(spark, folder):
            logger.warning(
                f"{folder} contains files, but the table {table} does not exist. The files stay, "
                f"because the folder also belongs to {others[0]}"
            )
            return
        logger.warning(f"Removing files that an interrupted run left of {table.replace('`', '')}")
        shutil.rmtree(folder)

    @contextmanager
    def _whole(self, table: str) -> Iterator[None]:
        """Make the statements of the block change the files of a table completely or not at all.

        Spark's own appends and overwrites are neither atomic nor isolated from each other.
        """
        spark = _session()
        catalog = SparkCatalog(spark)
        identifier = _identifier(spark, catalog, table)
        if identifier is None or not catalog.has_table(identifier):
            yield
            return
        found = catalog.table(identifier)
        folder = _local(found.location)
        is_transactional = found.provider in _TRANSACTIONAL
        if folder is None or is_transactional or not self._is_own(folder) or not folder.is_dir():
            yield
            return
        with _locks[found.name]:
            kept = Undo(self.home).keep(found.name, folder)
            try:
                yield
            except BaseException:
                put_back(kept)
                _refresh(spark, found.name)
                raise
            forget(kept)


def repair_partitions(tables: list[str]) -> None:
    """Tell the metastore the partitions of tables whose files were put back."""
    spark = _session()
    for table in tables:
        _refresh(spark, table)


def _refresh(spark: SparkSession, table: str) -> None:
    catalog = SparkCatalog(spark)
    schema, _, name = table.partition(".")
    identifier = _identifier(spark, catalog, f"`{schema}`.`{name}`")
    if identifier is None or not catalog.has_table(identifier):
        return
    found = catalog.table(identifier)
    if found.is_partitioned:
        spark.sql(f"msck repair table {found.quoted} sync partitions")
    spark.sql(f"refresh table {found.quoted}")


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def _identifier(spark: SparkSession, catalog: SparkCatalog, table: str) -> Any:
    """A table's name as Spark parses it; None if the table is not in the session's own catalog."""
    if spark.catalog.currentCatalog() != "spark_catalog":
        return None
    parts = catalog.parts(table)
    if len(parts) == 3 and parts[0] == "spark_catalog":
        parts = parts[1:]
    return catalog.identifier(parts) if len(parts) <= 2 else None


def _local(uri: str | None) -> Path | None:
    """The local folder that ``uri`` names; None if it names another place."""
    parts = urlsplit(uri or "other:")
    return Path(unquote(parts.path)) if parts.scheme in ("", "file") else None


def _listed(spark: SparkSession, database: str) -> list[Any]:
    """The tables of a schema. They are listed again if a temporary view, which Spark lists too, was dropped
    meanwhile."""
    from pyspark.errors import AnalysisException

    listing = f"show table extended in `{database}` like '*'"
    for _ in range(_LISTINGS):
        try:
            return list(spark.sql(listing).collect())
        except AnalysisException as error:
            if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
                raise
    return list(spark.sql(listing).collect())


def _tables_at(spark: SparkSession, folder: Path) -> list[str]:
    """The tables of the metastore that are in ``folder``, above it or below it."""
    found = []
    for (database,) in spark.sql("show databases").collect():
        for row in _listed(spark, database):
            for uri in _LOCATION.findall(row["information"]):
                other = _local(uri)
                if other and (other.is_relative_to(folder) or folder.is_relative_to(other)):
                    found.append(f"{database}.{row['tableName']}")
    return found
