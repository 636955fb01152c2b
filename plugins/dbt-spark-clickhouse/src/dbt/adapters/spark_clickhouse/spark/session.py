"""The embedded Spark: its start, its settings, its jobs and its end."""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import threading
import uuid
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core import store
from dbt.adapters.spark_clickhouse.core.credentials import LOSING_SETTINGS, EmbeddedSparkCredentials
from dbt.adapters.spark_clickhouse.spark import metastore
from dbt.adapters.spark_clickhouse.spark.class_archive import java_options, quoted
from dbt.adapters.spark_clickhouse.spark.java import require_java, starting
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord, record_of
from dbt.adapters.spark_clickhouse.spark.table_folders import repair_partitions
from dbt.adapters.spark_clickhouse.spark.undo import Undo

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Of each session, the remote ones too: what the hand-off of a table to ClickHouse builds on, and
# what the parsers need.
SESSION_SETTINGS = {
    **dict.fromkeys(LOSING_SETTINGS, "false"),
    # parse_debezium takes 103 steps: functions within functions read all forms of events. The
    # default is 100.
    "spark.sql.analyzer.maxIterations": "1000",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.default": "parquet",
}
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# Of a Spark that stays and gets little at a time. Most of what it takes is planning, and Java's
# compiler, which here compiles only what is called ten times as often as it otherwise asks for.
_OF_A_RESIDENT = {
    # Plans of little data need not change on the way.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    # The code of each change set is made once, and not once a batch.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Nobody looks at the plans and jobs of before: they only fill the memory.
    "spark.sql.maxPlanStringLength": "1000",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "1000",
}
_JAVA_OF_A_RESIDENT = (
    " -XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000"
    " -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)

_start = threading.Lock()
_homes: list[Path] = []  # that of the Spark that runs
_stops: list[Callable[[], None]] = []  # what ends it
_resident = threading.Event()


def stay() -> None:
    """Have the Spark of this process start with the settings of one that gets little at a time."""
    _resident.set()


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

    home = Path(credentials.home)
    with _start:
        if private_api.is_spark_running():
            _require_home(home)
            return
        if metastore.URL_SETTING not in credentials.server_side_parameters:
            metastore.require_home(home)
        lock = store.share(home, wait)
        logs = home / "logs"
        logs.mkdir(exist_ok=True)
        metastore.clear_unfinished(home)
        restored = Undo(home).restore()
        record = own_record(credentials)
        if record:
            record.load()
        conf = SparkConf(loadDefaults=False).setAll(
            list({**default_settings(credentials), **credentials.server_side_parameters}.items())
        )
        require_java(logs / "spark.log")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        with starting(logs / "spark.log"), (logs / "spark.log").open("ab") as log:
            gateway = private_api.launch_gateway(
                conf, cwd=credentials.project_root, stdout=log, stderr=log, pass_fds=(lock,)
            )
            context = SparkContext(conf=conf, gateway=gateway)
            _homes.append(home)
            if not _has_own_metastore(context, credentials):
                record = None
            _stops.append(partial(_stop, context, gateway, record))
            atexit.register(stop)
        session = SparkSession(context).builder.config(conf=conf).enableHiveSupport().getOrCreate()
        if conf.get(metastore.URL_SETTING) == metastore.url(home):
            metastore.hold_long_views(session, home)
        private_api.silence_errors()
        repair_partitions(restored)


def running_session() -> SparkSession:
    """The session of this process's Spark."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def stop() -> None:
    """End this process's Spark, if it has started one."""
    while _stops:
        _stops.pop()()


def _stop(context: SparkContext, gateway: Any, record: MetastoreRecord | None) -> None:
    """End the JVM, wait until it has let go of the metastore, and record what is in it."""
    context.stop()
    private_api.end_gateway(gateway)
    _homes.clear()
    if record:
        record.write()


def _require_home(home: Path) -> None:
    """See that this process's Spark is that of ``home``, if it is one of ours.

    Raises:
        FailedToConnectError: it is that of another.
    """
    if _homes and _homes[0] != home:
        raise FailedToConnectError(
            f"This process's Spark works in {_homes[0]}, and {home} needs a Spark of its own. "
            "Start a separate dbt process for it."
        )


def own_record(credentials: EmbeddedSparkCredentials) -> MetastoreRecord | None:
    """What is known of the metastore; None where the profile says that tables are in another."""
    if not metastore.is_own(credentials.server_side_parameters):
        return None
    settings = sorted(credentials.server_side_parameters.items())
    known = [*_versions(), credentials.warehouse_location, settings]
    return record_of(Path(credentials.home), hashlib.md5(str(known).encode()).hexdigest())


@cache
def _versions() -> list[str]:
    """The versions that decide what settings Spark has when the profile says nothing."""
    return [metadata.version(package) for package in (private_api.OWN_PACKAGE, "pyspark")]


def _has_own_metastore(context: SparkContext, credentials: EmbeddedSparkCredentials) -> bool:
    """Whether tables are in the metastore below ``home``, whatever Spark's own files say."""
    found = dict(context.getConf().getAll())
    own = default_settings(credentials)
    others = [name for name, value in found.items() if own.get(name) != value]
    return metastore.is_own(others)


def default_settings(credentials: EmbeddedSparkCredentials) -> dict[str, str]:
    """The settings of the embedded Spark that the profile does not override."""
    home = Path(credentials.home)
    is_resident = _resident.is_set()
    return {
        "spark.master": "local[*]",
        "spark.app.name": "dbt",
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        JAVA_OPTIONS: (
            f"-Duser.timezone=UTC {quoted(f'-Dderby.stream.error.file={home}/logs/derby.log')} "
            f"-XX:+UseParallelGC{java_options()}{_JAVA_OF_A_RESIDENT if is_resident else ''}"
        ),
        metastore.URL_SETTING: metastore.url(home),
        "spark.sql.catalogImplementation": "hive",
        # HotSpot compiles no method that is larger, and parsing JSON makes such ones.
        "spark.sql.codegen.hugeMethodLimit": "8000",
        # Local data is small: the stock 200 partitions cost more than they save.
        "spark.sql.shuffle.partitions": "8",
        # By default each folder is a task, and 3,000 batches take 8 s to list instead of 0.5.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(os.cpu_count() or 1),
        "spark.sql.warehouse.dir": credentials.warehouse_location,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **SESSION_SETTINGS,
        **(_OF_A_RESIDENT if is_resident else {}),
    }


def join_job_group() -> str:
    """Have Spark know the jobs of this thread by a name of their own, which is returned."""
    from pyspark import SparkContext

    job_group = f"dbt-{uuid.uuid4()}"
    SparkContext.getOrCreate().setJobGroup(job_group, "dbt", interruptOnCancel=True)
    return job_group


def cancel_jobs(job_group: str) -> None:
    """Cancel the jobs of a thread, also those between which it is now."""
    from pyspark import SparkContext

    private_api.cancel_job_group(SparkContext.getOrCreate(), job_group, "dbt was interrupted")
