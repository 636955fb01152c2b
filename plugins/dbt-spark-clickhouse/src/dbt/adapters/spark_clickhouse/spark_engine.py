"""Stock dbt-spark, plus an embedded Spark for its session method."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import upstream
from dbt.adapters.spark_clickhouse.engine import EngineAdapter, EngineConnectionManager
from dbt.adapters.spark_clickhouse.literals import spark_literal
from dbt.adapters.spark_clickhouse.routing import SPARK
from dbt.adapters.spark_clickhouse.spark_errors import with_advice, without_stack
from dbt.adapters.spark_clickhouse.spark_session import cancel_jobs, join_job_group, start_session
from dbt.adapters.spark_clickhouse.table_folders import TableFolders

logger = AdapterLogger("spark_clickhouse")


def in_utc(kinds: list[str], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of a session with its timestamps in UTC, where PySpark's are local times."""
    return tuple(map(_in_utc, kinds, row))


def _in_utc(kind: str, value: Any) -> Any:
    if kind != "timestamp" or value is None:
        return value
    return value.astimezone(UTC).replace(tzinfo=None)


class RoutedSparkConnectionManager(EngineConnectionManager, SparkConnectionManager):
    """dbt-spark's connections; the session method starts the embedded Spark."""

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection, in this process or to a cluster as the credentials say."""
        credentials = connection.credentials
        is_session = credentials.method == SparkConnectionMethod.SESSION
        is_new_session = is_session and connection.state != "open"
        if is_new_session:
            start_session(credentials, credentials.wait)
        with cls.opening(connection):
            opened = super().open(connection)
            if is_new_session:
                opened.handle.job_group = join_job_group()
                upstream.set_session_rows(opened.handle, in_utc)
                upstream.set_session_literals(opened.handle, spark_literal)
            return opened

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Errors of Spark without the stack of Java, which goes to dbt's log."""
        try:
            with super().exception_handler(sql):
                yield
        except DbtRuntimeError as error:
            logger.debug(error.msg)
            error.msg = with_advice(without_stack(error.msg))
            raise

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        """Run a statement; on the embedded Spark one that can be run again, wherever it ends."""
        connection = self.get_thread_connection()
        if connection.credentials.method != SparkConnectionMethod.SESSION:
            return super().add_query(sql, *args, **kwargs)
        _ = connection.handle  # which opens it
        with TableFolders(Path(connection.credentials.home)).executing(sql):
            return super().add_query(sql, *args, **kwargs)

    def cancel(self, connection: Connection) -> None:
        """Cancel what the connection's thread is doing, and what it would do next."""
        super().cancel(connection)
        if job_group := getattr(connection.handle, "job_group", None):
            cancel_jobs(job_group)


class RoutedSparkAdapter(EngineAdapter, SparkAdapter):
    """dbt-spark as one of two engines."""

    engine = SPARK
    stock = SparkAdapter
    ConnectionManager = RoutedSparkConnectionManager

    @property
    def is_embedded(self) -> bool:
        """Whether Spark runs on this machine, in a JVM of this process."""
        return bool(self.config.credentials.method == SparkConnectionMethod.SESSION)
