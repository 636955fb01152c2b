"""A Spark Connect server on this machine, from PySpark's own jars."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

STARTS_WITHIN = 300  # seconds; less than ten on an otherwise idle machine


def free_port() -> int:
    """A free port on this machine."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


@contextmanager
def running_connect_server(folder: Path, port: int, token: str) -> Iterator[None]:
    """A server for the block. Its tables are in ``folder/warehouse``, its output in its log.

    Raises:
        AssertionError: it ended, or does not answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "spark.connect.grpc.binding.address": "localhost",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.driver.host": "127.0.0.1",
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.ui.enabled": "false",
    }
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", server]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": token,
        "TZ": "Asia/Kolkata",  # The server's time zone must not matter.
    }
    log = folder / "connect.log"
    with (
        log.open("ab") as output,
        subprocess.Popen(
            [*command, "spark-internal"], cwd=folder, env=environment, stdout=output, stderr=output
        ) as process,
    ):
        try:
            _wait(process, port, log)
            yield
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + STARTS_WITHIN
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("localhost", port)).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(log.read_text()[-8000:])
