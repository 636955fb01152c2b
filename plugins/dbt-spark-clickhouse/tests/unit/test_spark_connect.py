"""Spark Connect without a server: what users read if there is none, or if it is lost."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql import SparkSession

from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.spark import engine as spark_engine
from dbt.adapters.spark_clickhouse.spark.connect import RemoteSession, advising, connect

UNKNOWN = (
    "dbt does not know whether the statement was completed and does not repeat it: run the command "
    "again when the server answers."
)


def credentials(**keys: Any) -> EmbeddedSparkCredentials:
    return EmbeddedSparkCredentials(method=SparkMethod.CONNECT, schema="shop", **keys)


def test_missing_packages_come_with_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dbt.adapters.spark_clickhouse.spark.connect", None)
    with pytest.raises(FailedToConnectError) as error:
        spark_engine._remote_session(credentials(host="localhost"))
    assert error.value.msg.startswith(
        "Spark Connect needs packages that are not installed: pip install 'dbt-spark-clickhouse[connect]' ("
    )


@pytest.mark.filterwarnings("ignore:.RETRIES_EXCEEDED")  # pytest has warning filters of its own
def test_server_that_is_not_there_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "")  # PySpark sets it for everything that follows
    with socket.socket() as taken:
        taken.bind(("localhost", 0))  # but does not listen
        port = taken.getsockname()[1]
        with pytest.raises(FailedToConnectError) as error:
            connect(credentials(host="localhost", port=port))
    said = error.value.msg
    assert said.startswith(f"Spark Connect at localhost:{port} does not answer: failed to connect")
    assert said.endswith(
        "Start the server, or correct the profile's `spark` block: `host` and `port` or `remote`, and `use_ssl`."
    )
    assert len(said.splitlines()) == 1
    assert SparkSession.getActiveSession() is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            {
                "message": "<_MultiThreadedRendezvous of RPC that terminated with:\n"
                '\tstatus = StatusCode.UNAVAILABLE\n\tdetails = "Socket\nclosed"\n'
                '\tdebug_error_string = "UNKNOWN:Error"\n>'
            },
            f"The connection to Spark Connect at it:1 is lost: Socket closed. {UNKNOWN}",
        ),
        (
            {"message": "Gone.", "errorClass": "INVALID_HANDLE.SESSION_CHANGED"},
            "Spark Connect at it:1 no longer has dbt's session (INVALID_HANDLE.SESSION_CHANGED). " + UNKNOWN,
        ),
        (
            {
                "message": "[CANNOT_MODIFY_CONFIG] Cannot modify `a`.\nSee also the guide.",
                "errorClass": "CANNOT_MODIFY_CONFIG",
            },
            "[CANNOT_MODIFY_CONFIG] Cannot modify `a`. Remove it from `server_side_parameters` in "
            "the profile's `spark` block, and give it to the server when that starts.",
        ),
        (
            {
                "message": "[DIVIDE_BY_ZERO] No. SQLSTATE: 22012\n\nJVM stacktrace:\n"
                "org.apache.spark.SparkArithmeticException\n\tat org.apache.A.b(A.scala:1)\n"
                "Caused by: java.io.IOException: No space left\n\tat java.io.A.b(A.java:2)"
            },
            "[DIVIDE_BY_ZERO] No. SQLSTATE: 22012\nCaused by: java.io.IOException: No space left",
        ),
    ],
)
def test_error_of_a_statement_says_what_to_do(error: dict[str, Any], said: str) -> None:
    with pytest.raises(DbtRuntimeError) as raised, advising("it:1"):
        raise SparkConnectGrpcException(**error)
    assert raised.value.msg == said


def test_cancelled_session_does_nothing_more() -> None:
    calls: list[str] = []
    session: Any = SimpleNamespace(interruptAll=lambda: calls.append("interrupted"), sql=calls.append)
    handle = RemoteSession(session, "it:1")
    handle.cursor().execute("select 1")
    handle.cancel()
    with pytest.raises(DbtRuntimeError, match=r"dbt was interrupted before this node began\. Run it again\."):
        handle.cursor().execute("select 2")
    assert calls == ["select 1", "interrupted"]
