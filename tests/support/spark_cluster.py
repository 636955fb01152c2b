"""A Spark cluster on this machine, from PySpark's own jars: a standalone master, two workers, the Thrift server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark

from tests.support.connect_server import free_port

HOST = "127.0.0.1"
STARTS_WITHIN = 300  # seconds; less than fifteen on an otherwise idle machine
WORKERS = 2
_SPARK = Path(pyspark.__file__).parent
# Runs a command, prints its process id, and kills it and all its children when the process that started this is gone.
_SUPERVISOR = '"$@" </dev/null & echo $!; exec 3>&1 1>&2; cat >/dev/null; kill -KILL 0'
_EXECUTOR = "CoarseGrainedExecutorBackend"
# Derby, as Hive sets it up, stores no views as long as those of the shop. The embedded Spark's metastore does.
_MAKE_METASTORE = """
import sys
from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.spark.session import start_session

place = {"home": sys.argv[1], "project_root": sys.argv[1]}
start_session(EmbeddedSparkCredentials(method=SparkMethod.SESSION, host="", schema="default", **place), 0)
"""


class Daemon:
    """A Spark process with its children, in a process group of its own. Its output goes to its log."""

    def __init__(self, folder: Path, name: str, command: list[str], memory: str) -> None:
        self.log = folder / f"{name}.log"
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_LOCAL_IP": HOST,
            "TZ": "Asia/Kolkata",  # A server's time zone must not matter.
        }
        with self.log.open("ab") as output:
            self._supervisor = subprocess.Popen(
                ["bash", "-c", _SUPERVISOR, name, *command],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        assert self._supervisor.stdout
        self.pid = int(self._supervisor.stdout.readline())

    def processes(self) -> dict[int, str]:
        """The commands of the group's processes, by id."""
        found = {}
        for folder in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                is_of_group = os.getpgid(int(folder.name)) == self._supervisor.pid
                # A process that has ended has no command.
                if is_of_group and (command := (folder / "cmdline").read_bytes()):
                    found[int(folder.name)] = command.decode().replace("\0", " ")
        return found

    def is_alive(self) -> bool:
        """Whether the main process runs."""
        return Path(f"/proc/{self.pid}").exists()

    def wait_for_port(self, port: int) -> None:
        """Wait until it listens on the port.

        Raises:
            AssertionError: it ended, or does not listen.
        """
        end = time.monotonic() + STARTS_WITHIN
        while self.is_alive() and time.monotonic() < end:
            try:
                socket.create_connection((HOST, port)).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(self.log.read_text()[-8000:])

    def kill(self) -> None:
        """Kill it at once, with all its children."""
        with suppress(ProcessLookupError):
            os.killpg(self._supervisor.pid, signal.SIGKILL)
        self._supervisor.communicate()
        while self.processes():  # They end one by one.
            time.sleep(0.05)


class SparkCluster:
    """A cluster whose processes can each be killed. Tables are in ``folder/warehouse``.

    Args:
        folder: for everything that the cluster writes.
        settings: of Spark, in addition to the cluster's own.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any] | None = None) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self.warehouse = folder / "warehouse"
        self.port = free_port()
        self._settings = dict(settings or {})
        self._master_port = free_port()
        self._master = f"spark://{HOST}:{self._master_port}"
        self._daemons: dict[str, Daemon] = {}

    def start(self) -> None:
        """Start the master, and then all others at once. Return when dbt can connect."""
        master = ["org.apache.spark.deploy.master.Master", "--host", HOST, "--webui-port", "0"]
        daemon = self._start("master", "spark-class", *master, "--port", str(self._master_port))
        subprocess.run([sys.executable, "-c", _MAKE_METASTORE, str(self._folder)], check=True)
        daemon.wait_for_port(self._master_port)
        for number in range(WORKERS):
            self.start_worker(number)
        self.start_thrift_server()

    def stop(self) -> None:
        """Stop every process."""
        for daemon in self._daemons.values():
            daemon.kill()

    def start_worker(self, number: int) -> None:
        """Start a worker with a folder of its own, one core, and memory for one executor."""
        host = f"127.0.0.{2 + number}"  # Spark runs a task twice only if the hosts differ.
        worker = ["org.apache.spark.deploy.worker.Worker", "--host", host, "--webui-port", "0"]
        worker += ["--cores", "1", "--memory", "1g", "--work-dir", f"{self._folder}/work-{number}"]
        self._start(f"worker-{number}", "spark-class", *worker, self._master)

    def start_thrift_server(self) -> None:
        """Start the Thrift server, which is the driver of the cluster. Return when dbt can connect."""
        java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        derby = f"-Dderby.stream.error.file={self._folder}/derby.log"
        settings = {
            "spark.driver.bindAddress": HOST,
            "spark.driver.extraJavaOptions": f"{java} {derby}",
            "spark.driver.host": HOST,
            "spark.executor.extraJavaOptions": java,
            "spark.executor.memory": "700m",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                f"jdbc:derby:;databaseName={self._folder}/metastore;create=true"
            ),
            "spark.master": self._master,
            "spark.sql.shuffle.partitions": 4,
            "spark.sql.warehouse.dir": self.warehouse,
            "spark.ui.enabled": "false",
            **self._settings,
        }
        server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
        command = ["--class", server]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        command += ["spark-internal", "--hiveconf", f"hive.server2.thrift.bind.host={HOST}"]
        for transport in ("thrift", "thrift.http"):
            command += ["--hiveconf", f"hive.server2.{transport}.port={self.port}"]
        self._start("thrift", "spark-submit", *command, memory="1g").wait_for_port(self.port)

    def _start(self, name: str, program: str, *arguments: str, memory: str = "256m") -> Daemon:
        command = [str(_SPARK / "bin" / program), *arguments]
        self._daemons[name] = Daemon(self._folder, name, command, memory)
        return self._daemons[name]

    def kill_worker(self, number: int) -> None:
        """Kill a worker with its executors, as if its machine were lost."""
        self._daemons[f"worker-{number}"].kill()

    def kill_thrift_server(self) -> None:
        """Kill the driver, and with it every session and statement."""
        self._daemons["thrift"].kill()

    def mend(self) -> None:
        """Restart what has been killed."""
        for number in range(WORKERS):
            if not self._daemons[f"worker-{number}"].is_alive():
                self.start_worker(number)
        if not self._daemons["thrift"].is_alive():
            self.start_thrift_server()

    def executors(self) -> list[int]:
        """The processes in which tasks run."""
        return [
            pid
            for daemon in self._daemons.values()
            for pid, command in daemon.processes().items()
            if _EXECUTOR in command
        ]

    def kill_executors(self) -> list[int]:
        """Kill every executor. The master makes the workers start new ones."""
        executors = self.executors()
        for pid in executors:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return executors

    def processes(self) -> dict[int, str]:
        """The command of every process that still runs, by id."""
        return {pid: c for daemon in self._daemons.values() for pid, c in daemon.processes().items()}

    def environment(self) -> dict[str, str]:
        """The variables that the target `cluster` of profiles.yml needs."""
        return {"SPARK_HOST": HOST, "SPARK_PORT": str(self.port), "SPARK_WAREHOUSE": str(self.warehouse)}

    def profile(self) -> dict[str, Any]:
        """The `spark` block of a profile."""
        return {
            "method": "thrift",
            "host": HOST,
            "port": self.port,
            "user": "dbt",
            "warehouse": str(self.warehouse),
            "poll_interval": 1,
        }


@contextmanager
def running_cluster(folder: Path, settings: Mapping[str, Any] | None = None) -> Iterator[SparkCluster]:
    """A cluster for the block. It leaves no process behind, even if this one is killed.

    Raises:
        AssertionError: a process ended, does not answer, or is left over.
    """
    cluster = SparkCluster(folder, settings)
    with ExitStack() as stack:
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster
    assert cluster.processes() == {}
