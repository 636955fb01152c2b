"""Stock dbt-spark, plus an embedded Spark for its session method."""

from __future__ import annotations

import atexit
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import metastore, store, upstream
from dbt.adapters.spark_clickhouse.credentials import EmbeddedSparkCredentials
from dbt.adapters.spark_clickhouse.engine import EngineAdapter, EngineConnectionManager
from dbt.adapters.spark_clickhouse.java import require_java, starting
from dbt.adapters.spark_clickhouse.literals import spark_literal
from dbt.adapters.spark_clickhouse.routing import SPARK
from dbt.adapters.spark_clickhouse.table_folders import TableFolders, repair_partitions

if TYPE_CHECKING:
    from pyspark import SparkContext

logger = AdapterLogger("spark_clickhouse")

_start = threading.Lock()
_PLAN = re.compile(r"(; line \d+ pos \d+);\n.*", re.DOTALL)
_OF_A_STACK = re.compile(r"\s+at \S+\(.*\)|\s+\.\.\. \d+ more|Driver stacktrace:|JVM stacktrace:")


def start_session(credentials: EmbeddedSparkCredentials, wait: int) -> None:
    """Start this process's Spark, unless it runs already.

    Data, metastore and logs go below ``credentials.home``. What Spark and Java print goes to
    ``logs/spark.log`` there. `server_side_parameters` of the profile override every default.

    Raises:
        DbtRuntimeError: another process uses the folder.
        FailedToConnectError: there is no Java, or Spark does not start.
    """
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError as error:
        raise FailedToConnectError(
            "The embedded Spark is not installed: pip install 'dbt-spark-clickhouse[embedded]'. "
            "For a cluster, name its `method` and `host` in the profile's `spark` block."
        ) from error
    from pyspark.sql import SparkSession

    with _start:
        if upstream.is_spark_running():
            return
        home = Path(credentials.home)
        lock = store.share(home, wait)
        logs = home / "logs"
        logs.mkdir(exist_ok=True)
        metastore.clear_unfinished(home)
        restored = TableFolders(home).restore()
        conf = SparkConf(loadDefaults=False).setAll(
            list({**default_settings(credentials), **credentials.server_side_parameters}.items())
        )
        require_java(logs / "spark.log")
        with starting(logs / "spark.log"), (logs / "spark.log").open("ab") as log:
            gateway = upstream.launch_gateway(
                conf, cwd=credentials.project_root, stdout=log, stderr=log, pass_fds=(lock,)
            )
            context = SparkContext(conf=conf, gateway=gateway)
            atexit.register(_stop, context, gateway)
        session = SparkSession(context).builder.config(conf=conf).enableHiveSupport().getOrCreate()
        if conf.get(metastore.URL_SETTING) == metastore.url(home):
            metastore.hold_long_views(session, home)
        upstream.silence_errors()
        repair_partitions(restored)


def in_utc(kinds: list[str], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of a session with its timestamps in UTC, where PySpark's are local times."""
    return tuple(map(_in_utc, kinds, row))


def _in_utc(kind: str, value: Any) -> Any:
    if kind != "timestamp" or value is None:
        return value
    return value.astimezone(timezone.utc).replace(tzinfo=None)


def join_job_group() -> str:
    """Have Spark know the jobs of this thread by a name of their own, which is returned."""
    from pyspark import SparkContext

    job_group = f"dbt-{uuid.uuid4()}"
    SparkContext.getOrCreate().setJobGroup(job_group, "dbt", interruptOnCancel=True)
    return job_group


def without_stack(message: str) -> str:
    """What Java says of an error, and not where it happened, nor Spark's plan of the statement."""
    message = _PLAN.sub(r"\1", message)
    return "\n".join(line for line in message.splitlines() if not _OF_A_STACK.match(line)).strip()


def with_advice(message: str) -> str:
    """An error of Spark, and what to do about it where Spark does not say so."""
    if "[LOCATION_ALREADY_EXISTS]" not in message:
        return message
    return (
        f"{message}\nA run that died can have left the folder, or it belongs to a table of another "
        "metastore. dbt removes what it left in the embedded stores only. If nothing else uses the "
        "folder, delete it and run the command again."
    )


def cancel_jobs(job_group: str) -> None:
    """Cancel the jobs of a thread, also those between which it is now."""
    from pyspark import SparkContext

    upstream.cancel_job_group(SparkContext.getOrCreate(), job_group, "dbt was interrupted")


def _stop(context: SparkContext, gateway: Any) -> None:
    """End the JVM, and wait until it has let go of the metastore."""
    context.stop()
    upstream.end_gateway(gateway)


def default_settings(credentials: EmbeddedSparkCredentials) -> dict[str, str]:
    """The settings of the embedded Spark that the profile does not override."""
    home = Path(credentials.home)
    return {
        "spark.master": "local[*]",
        "spark.app.name": "dbt",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": (
            f"-Duser.timezone=UTC -Dderby.stream.error.file={home / 'logs' / 'derby.log'} "
            "-XX:+UseParallelGC"
        ),
        metastore.URL_SETTING: metastore.url(home),
        "spark.sql.catalogImplementation": "hive",
        # HotSpot compiles no method that is larger, and parsing JSON makes such ones.
        "spark.sql.codegen.hugeMethodLimit": "8000",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.session.timeZone": "UTC",
        # Local data is small: the stock 200 partitions cost more than they save.
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.sources.default": "parquet",
        "spark.sql.warehouse.dir": credentials.warehouse_location,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


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
