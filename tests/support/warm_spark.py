"""A JVM that stays up for all Sparks of a test process, one at a time: most of the cost of a start is Java's.

Each dbt process still starts a Spark of its own in it, with its own settings, stores and metastore, and stops it. So
does a test that needs Spark without dbt. Tests of how Spark starts, dies or is locked have their own JVM.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import pyspark
from pyspark import SparkConf
from pyspark.serializers import UTF8Deserializer, read_int

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.spark.class_archive import java_options
from dbt.adapters.spark_clickhouse.spark.metastore import URL_SETTING
from dbt.adapters.spark_clickhouse.spark.session import JAVA_OF_LITTLE_DATA, OF_LITTLE_DATA, SESSION_SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STARTS_WITHIN = 300  # seconds; two on an otherwise idle machine
_MEMORY, _JAVA_OPTIONS = "spark.driver.memory", "spark.driver.extraJavaOptions"
_JAVA = ("-Duser.timezone=UTC ", f"-XX:+UseParallelGC{java_options()}")  # The file of Derby's log is between them.
# Nearly all data of tests is little, and the compilers do not change what Spark answers.
_OPTIONS = {_MEMORY: "4g", _JAVA_OPTIONS: "".join(_JAVA) + JAVA_OF_LITTLE_DATA}
# These change what Java does. Tests of its start set OWN_JVM.
_OF_JAVA = ("OWN_JVM", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "SPARK_CONF_DIR", "SPARK_HOME", "TZ")
_METASTORE = "org.apache.hadoop.hive.metastore.ObjectStore"


class Gateway(NamedTuple):
    """The address of the JVM."""

    port: int
    secret: str


class WarmSpark:
    """The JVM of this process, started when it is first asked for."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._gateway = Gateway(0, "")
        self._folder = Path()

    def gateway(self, environment: Mapping[str, str]) -> Gateway | None:
        """The address; None if a process with this environment needs another Java."""
        if _of_java(environment) != _of_java(os.environ):
            return None
        if self._process is None or self._process.poll() is not None:
            self._start()
        return self._gateway

    def _start(self) -> None:
        folder = self._folder = Path(tempfile.mkdtemp(prefix="warm-spark-"))
        told = folder / "gateway"
        command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit")]
        for name, value in _OPTIONS.items():
            command += ["--conf", f"{name}={value}"]
        with (folder / "spark.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "pyspark-shell"],
                cwd=folder,
                env={**os.environ, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)},
                stdin=subprocess.PIPE,  # It ends when this process does.
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for pytest.
            )
        atexit.register(self.stop)
        deadline = time.monotonic() + STARTS_WITHIN
        while not told.exists():
            assert self._process.poll() is None, (folder / "spark.log").read_text(errors="replace")
            assert time.monotonic() < deadline, "Java does not start"
            time.sleep(0.05)
        with told.open("rb") as connection:
            self._gateway = Gateway(read_int(connection), UTF8Deserializer().loads(connection))

    def stop(self) -> None:
        """Stop it, and whatever runs in it."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
            shutil.rmtree(self._folder, ignore_errors=True)


def _of_java(environment: Mapping[str, str]) -> dict[str, str | None]:
    return {name: environment.get(name) for name in _OF_JAVA if name != "TZ" or environment.get(name, "UTC") != "UTC"}


def use(warm: Gateway) -> None:
    """Make the adapter start Spark in this JVM, within the calling process, unless the profile needs another Java."""
    start, end = private_api.launch_gateway, private_api.end_gateway

    def launch_gateway(conf: SparkConf, **process: Any) -> Any:
        if _needs_another_java(conf):
            return start(conf, **process)
        found = _connect(warm, start, conf)
        # Hadoop reads the folder for relative paths from this property when it is first asked for a file.
        found.jvm.java.lang.System.setProperty("user.dir", str(process["cwd"]))
        found.jvm.org.apache.hadoop.fs.FileSystem.closeAll()
        found.metastore = conf.get(URL_SETTING) or ""
        return found

    def end_gateway(gateway: Any) -> None:
        if gateway.proc is not None:
            end(gateway)
            return
        _let_go_of_the_metastore(gateway.jvm, gateway.metastore)
        gateway.close()

    private_api.launch_gateway = launch_gateway
    private_api.end_gateway = end_gateway


@contextmanager
def warm_session() -> Iterator[SparkSession]:
    """A Spark session of this process, without dbt and without a metastore, with the settings that the adapter gives
    its sessions for little data."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": "local[2]",
        "spark.app.name": "tests",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
        **SESSION_SETTINGS,
        "spark.sql.shuffle.partitions": "1",
        **OF_LITTLE_DATA,
    }
    conf = SparkConf(loadDefaults=False).setAll([*settings.items()])
    warm = WARM.gateway(os.environ)
    assert warm
    gateway = _connect(warm, private_api.launch_gateway, conf)
    context = SparkContext(conf=conf, gateway=gateway)
    context.setLogLevel("OFF")
    try:
        yield SparkSession(context)
    finally:
        SparkSession(context).stop()
        gateway.close()
        SparkContext._gateway = SparkContext._jvm = None


def _connect(warm: Gateway, start: Callable[..., Any], conf: SparkConf) -> Any:
    """Have PySpark see the environment of a process that a JVM has started. The real one stays as it is: a thread that
    copies it meanwhile would miss a key."""
    import pyspark.java_gateway

    given = {**os.environ, "PYSPARK_GATEWAY_PORT": str(warm.port), "PYSPARK_GATEWAY_SECRET": warm.secret}
    with patch.object(pyspark.java_gateway, "os", SimpleNamespace(environ=given)):
        return start(conf)


def _needs_another_java(conf: SparkConf) -> bool:
    """Whether there are options for the start of Java in addition to the adapter's own."""
    found = dict(conf.getAll())
    begin, end = _JAVA
    options = found.pop(_JAVA_OPTIONS, "").removesuffix(JAVA_OF_LITTLE_DATA)
    if found.pop(_MEMORY, "") != _OPTIONS[_MEMORY] or not (options.startswith(begin) and options.endswith(end)):
        return True
    others = {name for name in found if name.startswith(("spark.driver.", "spark.jars", "spark.hadoop.fs."))}
    return not others <= {"spark.driver.bindAddress", "spark.driver.host"}


def _let_go_of_the_metastore(jvm: Any, url: str) -> None:
    """Close what Hive keeps open, and Derby, so that another JVM can open the folder."""
    from py4j.protocol import Py4JJavaError

    store = jvm.java.lang.Class.forName(_METASTORE)
    for name in ("pmf", "prop"):
        field = store.getDeclaredField(name)
        field.setAccessible(True)
        kept = field.get(None)
        if name == "pmf" and kept is not None:
            kept.close()
        field.set(None, None)
    if not url.startswith("jdbc:derby:"):
        return
    try:
        jvm.java.sql.DriverManager.getConnection(url.replace(";create=true", ";shutdown=true"))
    except Py4JJavaError as error:  # Derby reports its shutdown as an error
        if error.java_exception.getSQLState() not in ("08006", "XJ004"):
            raise


WARM = WarmSpark()
