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
_OTHER_CATALOGS = (URL_SETTING, "spark.hadoop.hive", "spark.hive", "spark.sql.catalog", "spark.sql.hive")


def url(home: Path) -> str:
    """Where Hive finds the metastore, which it creates there."""
    return f"jdbc:derby:;databaseName={home / 'metastore'};create=true"


def require_home(home: Path) -> None:
    """Check that Derby can be told of a folder.

    Raises:
        FailedToConnectError: its name has what ends a name in Derby's URL.
    """
    if ";" in str(home):
        raise FailedToConnectError(
            f"The embedded Spark cannot keep its metastore in {home}: the path contains `;`. Set "
            "`home` in the profile to another folder."
        )


def is_own(settings: Iterable[str]) -> bool:
    """Whether, with these settings of the profile, tables are in this metastore and in no other."""
    return not any(setting.startswith(_OTHER_CATALOGS) for setting in settings)


def clear_unfinished(home: Path) -> None:
    """Remove a metastore in which nothing is yet: Derby cannot open one that it did not finish."""
    if (home / "metastore").is_dir() and not _is_finished(home):
        shutil.rmtree(home / "metastore")


def hold_long_views(session: SparkSession, home: Path) -> None:
    """Let the metastore hold the text of views of any length.

    Hive declares it as `long varchar`, of which Derby takes 32,700 characters: the view of a table
    with some thirty columns that is parsed from JSON is longer. All or nothing is changed.
    """
    if not _is_finished(home):
        session.sql("show databases").collect()  # which creates it
    connection = private_api.jvm(session).java.sql.DriverManager.getConnection(url(home))
    try:
        connection.setAutoCommit(False)
        for column in _short_columns(connection):
            statement = connection.createStatement()
            statement.execute("alter table TBLS add column LONG_TEXT clob")
            statement.execute(f"update TBLS set LONG_TEXT = {column}")
            statement.execute(f"alter table TBLS drop column {column} restrict")
            statement.execute(f"rename column TBLS.LONG_TEXT to {column}")
        connection.commit()
    finally:
        connection.rollback()
        connection.close()


def _short_columns(connection: Any) -> list[str]:
    columns = connection.getMetaData().getColumns(None, None, "TBLS", "VIEW%TEXT")
    found = []
    while columns.next():
        if columns.getString("TYPE_NAME") == "LONG VARCHAR":
            found.append(str(columns.getString("COLUMN_NAME")))
    return found


def _is_finished(home: Path) -> bool:
    # Derby writes the properties last.
    return (home / "metastore" / "service.properties").exists()
