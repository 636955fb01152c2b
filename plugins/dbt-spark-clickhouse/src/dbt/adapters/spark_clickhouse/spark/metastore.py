"""The metastore of the embedded Spark: Hive's, in Derby."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.spark_clickhouse import private_api

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URL_SETTING = "spark.hadoop.javax.jdo.option.ConnectionURL"
# Where Hive keeps absolute paths: tables and columns of the metastore.
_PLACES = (("DBS", "DB_LOCATION_URI"), ("SDS", "LOCATION"), ("SERDE_PARAMS", "PARAM_VALUE"))
_OTHER_CATALOGS = (URL_SETTING, "spark.hadoop.hive", "spark.hive", "spark.sql.catalog", "spark.sql.hive")


def url(home: Path) -> str:
    """The URL at which Hive finds the metastore, or creates it."""
    return f"jdbc:derby:;databaseName={home / 'metastore'};create=true"


def require_home(home: Path) -> None:
    """Check that a Derby URL can contain the folder's name.

    Raises:
        FailedToConnectError: the name contains a character that ends a name in Derby's URL.
    """
    if ";" in str(home):
        raise FailedToConnectError(
            f"The embedded Spark cannot keep its metastore in {home}: the path contains `;`. Set "
            "`home` in the profile to another folder."
        )


def is_own(settings: Iterable[str]) -> bool:
    """Whether, with these settings of the profile, all tables are in this metastore."""
    return not any(setting.startswith(_OTHER_CATALOGS) for setting in settings)


def clear_unfinished(home: Path) -> None:
    """Remove a metastore that holds nothing yet: Derby cannot open one that it has not finished."""
    if (home / "metastore").is_dir() and not _is_finished(home):
        shutil.rmtree(home / "metastore")


def prepare(session: SparkSession, home: Path, warehouse: str) -> None:
    """Let the metastore store the text of views of any length, and find its tables after ``home`` was moved or copied.
    Either all is changed or nothing."""
    if not _is_finished(home):
        session.sql("show databases").collect()  # creates the metastore
    connection = private_api.jvm(session).java.sql.DriverManager.getConnection(url(home))
    try:
        connection.setAutoCommit(False)
        _hold_long_views(connection)
        if Path(warehouse).parent == home:
            _follow_home(connection, Path(warehouse))
        connection.commit()
    finally:
        connection.rollback()
        connection.close()


def _hold_long_views(connection: Any) -> None:
    """Hive declares the text as `long varchar`, which Derby limits to 32,700 characters. A view of some thirty columns
    that are parsed from JSON is longer."""
    for column in _short_columns(connection):
        statement = connection.createStatement()
        statement.execute("alter table TBLS add column LONG_TEXT clob")
        statement.execute(f"update TBLS set LONG_TEXT = {column}")
        statement.execute(f"alter table TBLS drop column {column} restrict")
        statement.execute(f"rename column TBLS.LONG_TEXT to {column}")


def _short_columns(connection: Any) -> list[str]:
    columns = connection.getMetaData().getColumns(None, None, "TBLS", "VIEW%TEXT")
    found = []
    while columns.next():
        if columns.getString("TYPE_NAME") == "LONG VARCHAR":
            found.append(str(columns.getString("COLUMN_NAME")))
    return found


def _follow_home(connection: Any, warehouse: Path) -> None:
    """Change the absolute paths that Hive keeps. With those of the old place, Spark would write there, and ClickHouse
    would read here. Tables of a warehouse that the profile named before stay where they are: none of their folders is
    here."""
    metadata = connection.getMetaData()
    # A first start that died may not have made all tables of Hive.
    places = [(table, column) for table, column in _PLACES if metadata.getTables(None, None, table, None).next()]
    if _PLACES[0] not in places:
        return
    for before in _texts(connection, "select DB_LOCATION_URI from DBS where NAME = 'default'"):
        if before != f"file:{warehouse}":
            _change_places(connection, places, before, warehouse)


def _change_places(connection: Any, places: list[tuple[str, str]], before: str, warehouse: Path) -> None:
    queries = [f"select {column} from {table} where {column} is not null" for table, column in places]
    found = [place for query in queries for place in _texts(connection, query) if place.startswith(f"{before}/")]
    if not any((warehouse / place.removeprefix(f"{before}/")).is_dir() for place in found):
        return
    for table, column in places:
        changed = connection.prepareStatement(
            f"update {table} set {column} = cast(? as varchar(4000)) || substr({column}, {len(before) + 1}) "
            f"where {column} = ? or substr({column}, 1, {len(before) + 1}) = ?"
        )
        for position, text in enumerate((f"file:{warehouse}", before, f"{before}/"), 1):
            changed.setString(position, text)
        changed.execute()


def _texts(connection: Any, query: str) -> list[str]:
    rows = connection.createStatement().executeQuery(query)
    found = []
    while rows.next():
        found.append(str(rows.getString(1)))
    return found


def _is_finished(home: Path) -> bool:
    # Derby writes the properties last, so that they mark a finished metastore.
    return (home / "metastore" / "service.properties").exists()
