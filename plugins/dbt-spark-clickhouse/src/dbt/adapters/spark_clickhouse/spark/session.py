"""The embedded Spark: its start, its settings, its jobs and its end."""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
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
from dbt.adapters.spark_clickhouse.spark.java import java_for_spark, starting
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord, last_end, record_of
from dbt.adapters.spark_clickhouse.spark.table_folders import repair_partitions
from dbt.adapters.spark_clickhouse.spark.undo import Undo

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# For each session, remote ones included: what the hand-off of a table to ClickHouse relies on, and what the parsers
# need.
SESSION_SETTINGS = {
    **dict.fromkeys(LOSING_SETTINGS, "false"),
    # parse_debezium takes 103 iterations, because nested functions read all forms of events. The default is 100.
    "spark.sql.analyzer.maxIterations": "1000",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.default": "parquet",
}
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# With little data, Spark spends most of its time on planning and in Java's compilers. Plans need not adapt while they
# run, generating code takes longer than interpreting expressions, and starting a task takes longer than its work.
_NOT_ADAPTIVE = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": str(os.cpu_count() or 1)}
OF_LITTLE_DATA = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.files.minPartitionNum": "1",
}
OF_MORE_DATA = {
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.files.minPartitionNum": str(os.cpu_count() or 1),
}
# Java's first compiler alone makes slower code in half the time. Java would then reserve only 48 MB for code, which
# Spark fills, instead of its usual 240. While its space for classes grows from the usual 21 MB, Java stops all threads
# twice to collect all garbage.
JAVA_OF_LITTLE_DATA = " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=512m"
# For a Spark that stays up and gets little data at a time. Its second compiler is told to compile only what is called
# ten times as often as the default asks for.
_OF_A_RESIDENT = {
    **_NOT_ADAPTIVE,
    # The code of each change set is generated once, not once per batch.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Nobody looks at old plans and jobs: they only fill the memory.
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

_LOCAL_FILES = Path(__file__).with_name("LocalFiles.java")

_start = threading.Lock()
_homes: list[Path] = []  # the home of the Spark that runs
_stops: list[Callable[[], None]] = []  # what stops it
_resident = threading.Event()
_is_little: list[Callable[[int], bool]] = []  # at most one
_since: list[int] = []  # when the oldest batch landed that the next run takes, if somebody has said so
_recorded: list[MetastoreRecord] = []  # the record of the Spark that runs, if no other process can change its metastore


def stay() -> None:
    """Make this process's Spark start with the settings for one that stays up."""
    _resident.set()


def expect(is_little: Callable[[int], bool]) -> None:
    """Say how to find out, before Spark starts, whether it will get little data.

    Args:
        is_little: answers for what has come since a time, in nanoseconds since 1970.
    """
    _is_little[:] = [is_little]


def expect_since(begin: int) -> None:
    """Say when the oldest batch landed that the next run takes, in nanoseconds since 1970. A Spark that stays up gets
    the settings for what has landed since then."""
    _since[:] = [begin]


def start_session(credentials: EmbeddedSparkCredentials, wait: int) -> None:
    """Start this process's Spark, unless it runs already.

    Data, metastore and logs go below ``credentials.home``. Spark and Java print to ``logs/spark.log`` there. The
    profile's `server_side_parameters` override every default.

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
            if _since:
                _suit(credentials, is_data_little=_is_data_little(home))
            return
        if metastore.URL_SETTING not in credentials.server_side_parameters:
            metastore.require_home(home)
        lock = store.share(home, wait)
        logs = home / "logs"
        logs.mkdir(exist_ok=True)
        metastore.clear_unfinished(home)
        own = default_settings(credentials, is_data_little=_is_data_little(home))
        restored = Undo(home).restore()
        record = own_record(credentials)
        if record:
            record.load()
        conf = SparkConf(loadDefaults=False).setAll(list({**own, **credentials.server_side_parameters}.items()))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        written = logs / "spark.log"
        with java_for_spark(written), starting(written), written.open("ab") as log:
            gateway = private_api.launch_gateway(
                conf, cwd=credentials.project_root, stdout=log, stderr=log, pass_fds=(lock,)
            )
            context = SparkContext(conf=conf, gateway=gateway)
            _homes.append(home)
            if not _has_own_metastore(context, own):
                record = None
            _recorded[:] = [record] if record else []
            _stops.append(partial(_stop, context, gateway, record))
            atexit.register(stop)
        session = SparkSession(context).builder.config(conf=conf).enableHiveSupport().getOrCreate()
        private_api.set_local_files(session, "dbt.LocalFiles", _LOCAL_FILES.read_text())
        if conf.get(metastore.URL_SETTING) == metastore.url(home):
            metastore.prepare(session, home, credentials.warehouse_location)
        private_api.silence_errors()
        repair_partitions(restored)


def _is_data_little(home: Path) -> bool:
    begin = _since.pop() if _since else last_end(home)
    try:
        return bool(_is_little) and _is_little[0](begin)
    except OSError:  # a batch has gone meanwhile
        return False


def _suit(credentials: EmbeddedSparkCredentials, *, is_data_little: bool) -> None:
    """Give the Spark that runs the settings for the data that it gets, except for those in the profile."""
    conf = running_session().conf
    for name, value in (OF_LITTLE_DATA if is_data_little else OF_MORE_DATA).items():
        if name not in credentials.server_side_parameters:
            conf.set(name, value)


def is_metastore_recorded() -> bool:
    """Whether nothing but this process's runs of dbt changes the metastore: a resident process does nothing else."""
    return _resident.is_set() and bool(_recorded)


def running_session() -> SparkSession:
    """The session of this process's Spark."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def stop() -> None:
    """End this process's Spark, if it has started one."""
    while _stops:
        _stops.pop()()


def _stop(context: SparkContext, gateway: Any, record: MetastoreRecord | None) -> None:
    """End the JVM, wait until it has released the metastore, and write down what the metastore holds."""
    context.stop()
    private_api.end_gateway(gateway)
    _homes.clear()
    _recorded.clear()
    if record:
        record.write()


def _require_home(home: Path) -> None:
    """Check that this process's Spark, if we started it, is that of ``home``.

    Raises:
        FailedToConnectError: it belongs to another home.
    """
    if _homes and _homes[0] != home:
        raise FailedToConnectError(
            f"This process's Spark works in {_homes[0]}, and {home} needs a Spark of its own. "
            "Start a separate dbt process for it."
        )


def own_record(credentials: EmbeddedSparkCredentials) -> MetastoreRecord | None:
    """The record of the metastore; None if the profile puts tables into another metastore."""
    if not metastore.is_own(credentials.server_side_parameters):
        return None
    settings = sorted(credentials.server_side_parameters.items())
    known = [*_versions(), credentials.warehouse_location, settings]
    return record_of(Path(credentials.home), hashlib.md5(str(known).encode()).hexdigest())


@cache
def _versions() -> list[str]:
    """The versions that determine Spark's default settings."""
    return [metadata.version(package) for package in (private_api.OWN_PACKAGE, "pyspark")]


def _has_own_metastore(context: SparkContext, own: Mapping[str, str]) -> bool:
    """Whether tables are in the metastore below ``home``, given that Spark's own files can say otherwise."""
    found = dict(context.getConf().getAll())
    others = [name for name, value in found.items() if own.get(name) != value]
    return metastore.is_own(others)


def default_settings(credentials: EmbeddedSparkCredentials, *, is_data_little: bool = False) -> dict[str, str]:
    """The defaults of the embedded Spark that the profile does not override."""
    home = Path(credentials.home)
    java, more = "", {}
    if _resident.is_set():
        java, more = _JAVA_OF_A_RESIDENT, _OF_A_RESIDENT | (OF_LITTLE_DATA if is_data_little else OF_MORE_DATA)
    elif is_data_little:
        java, more = JAVA_OF_LITTLE_DATA, _NOT_ADAPTIVE | OF_LITTLE_DATA
    return {
        "spark.master": "local[*]",
        "spark.app.name": "dbt",
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        JAVA_OPTIONS: (
            f"-Duser.timezone=UTC {quoted(f'-Dderby.stream.error.file={home}/logs/derby.log')} "
            f"-XX:+UseParallelGC{java_options()}{java}"
        ),
        metastore.URL_SETTING: metastore.url(home),
        "spark.sql.catalogImplementation": "hive",
        # HotSpot compiles no larger method, and parsing JSON generates such methods.
        "spark.sql.codegen.hugeMethodLimit": "8000",
        # Local data is small: the default of 200 partitions costs more than it saves.
        "spark.sql.shuffle.partitions": "8",
        # By default each folder is a task: listing 3,000 batches takes 8 s instead of 0.5.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(os.cpu_count() or 1),
        "spark.sql.warehouse.dir": credentials.warehouse_location,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **SESSION_SETTINGS,
        **more,
    }


def join_job_group() -> str:
    """Put this thread's jobs into a group of their own, and return its name."""
    from pyspark import SparkContext

    job_group = f"dbt-{uuid.uuid4()}"
    SparkContext.getOrCreate().setJobGroup(job_group, "dbt", interruptOnCancel=True)
    return job_group


def cancel_jobs(job_group: str) -> None:
    """Cancel the jobs of a thread, even if none of them is running right now."""
    from pyspark import SparkContext

    private_api.cancel_job_group(SparkContext.getOrCreate(), job_group, "dbt was interrupted")
