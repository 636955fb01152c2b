"""What dbt prints of the engines' errors, and of packages that Python models name."""

from __future__ import annotations

from pathlib import Path

import pytest
from clickhouse_connect.driver.exceptions import ClickHouseError
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import CONNECTION_LOST_EXCEPTIONS
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.clickhouse.chdb import ChDbClient
from dbt.adapters.spark_clickhouse.core.spark_errors import (
    UNKNOWN,
    lost_connection,
    no_connection,
    with_advice,
    without_stack,
)
from dbt.adapters.spark_clickhouse.spark.python_models import require_packages


def test_stack_of_java_is_left_out() -> None:
    message = (
        "An error occurred while calling o45.sql.\n"
        ": org.apache.spark.SparkException: [SPARK_JOB_CANCELLED] Job 3 cancelled\n"
        "\tat org.apache.spark.Scheduler.fail(Scheduler.scala:12)\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
        "\t... 31 more\n"
        "Caused by: java.io.IOException: No space left\n"
        "\tat java.base/java.io.File.write(Native Method)\n"
    )
    assert without_stack(message) == (
        "An error occurred while calling o45.sql.\n"
        ": org.apache.spark.SparkException: [SPARK_JOB_CANCELLED] Job 3 cancelled\n"
        "Caused by: java.io.IOException: No space left"
    )


def test_plan_of_the_statement_is_left_out() -> None:
    message = (
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `batch` cannot be resolved. Did "
        "you mean one of [`value`]. SQLSTATE: 42703; line 3 pos 7;\n'Project ['batch]\n+- Relation\n"
    )
    assert without_stack(message).endswith("SQLSTATE: 42703; line 3 pos 7")


def test_message_of_one_line_stays() -> None:
    assert with_advice(without_stack("no; line 1 pos 2")) == "no; line 1 pos 2"


def test_lost_thrift_server_has_its_own_advice() -> None:
    told = no_connection(ConnectionRefusedError("[Errno 111] Connection refused"), "spark:10000")
    assert with_advice(told) == told


def test_folder_that_is_in_the_way_comes_with_advice() -> None:
    assert "delete it and run the command again" in with_advice("[LOCATION_ALREADY_EXISTS] Cannot")


def test_view_that_is_too_long_for_a_metastore_comes_with_advice() -> None:
    advice = "The metastore of this Spark is in Derby, which stores no view of more than 32,700 characters."
    assert advice in with_advice("A truncation error was encountered trying to shrink LONG VARCHAR 'x")


def test_landed_file_that_is_gone_or_damaged_comes_with_advice() -> None:
    gone, damaged = "[FAILED_READ_FILE.FILE_NOT_EXIST] a", "[FAILED_READ_FILE.NO_HINT] a"
    assert "run again when nothing writes to its batch" in with_advice(gone)
    assert "Land it whole, and run again." in with_advice(damaged)


@pytest.mark.parametrize(
    "message",
    [
        "[DELTA_MISSING_CHANGE_DATA] Error getting change data for range [0 , 8]",
        "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file o/_change_data/cdc-0.parquet",
    ],
)
def test_change_feed_that_is_gone_comes_with_advice(message: str) -> None:
    assert "dbt run --full-refresh --select <change set>+" in with_advice(message)


@pytest.mark.parametrize(
    "message",
    [
        "java.lang.OutOfMemoryError: Java heap space",
        "org.apache.spark.SparkException: Job 33 cancelled because SparkContext was shut down",
        "Cannot call methods on a stopped SparkContext.",
        '[INTERNAL_ERROR] the return value of "org.apache.spark.SparkContext.dagScheduler()" is null',
        "Error while sending or receiving",
        "Answer from Java side is empty",
        "An error occurred while trying to connect to the Java server (127.0.0.1:40001)",
        "[Errno 111] Connection refused",
    ],
)
def test_spark_without_memory_comes_with_advice(message: str) -> None:
    assert with_advice(message).startswith(f"{message}\nSpark ")
    assert "spark.driver.memory" in with_advice(message)


@pytest.mark.parametrize("kind", CONNECTION_LOST_EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_connection_that_broke_under_a_statement(kind: type[Exception]) -> None:
    """However dbt-spark wraps what its client raises."""
    place = "spark.example.com:10000"
    try:
        try:
            raise kind()
        except kind as cause:
            raise DbtRuntimeError("Consider increasing 'query_retries' in your profile.") from cause
    except DbtRuntimeError as error:
        said = lost_connection(error, place)
    name = f"{kind.__name__}. {UNKNOWN}"
    assert said == f"The connection to Spark's Thrift server at {place} is lost: {name}"


def test_session_that_the_server_no_longer_has() -> None:
    error = DbtRuntimeError("Invalid SessionHandle: SessionHandle [0a8b]")
    assert lost_connection(error, "a:1") == (f"Spark's Thrift server at a:1 no longer has dbt's session. {UNKNOWN}")
    assert lost_connection(DbtRuntimeError("[TABLE_OR_VIEW_NOT_FOUND] no"), "a:1") is None


def test_package_that_is_no_requirement() -> None:
    message = "customers: 'numpy is new' in `packages` is not a valid pip requirement: "
    with pytest.raises(DbtRuntimeError, match=message):
        require_packages(["numpy is new"], "customers")


def test_stores_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ClickHouseError("Cannot open")

    monkeypatch.setattr("clickhouse_connect.get_client", fail)
    client = object.__new__(ChDbClient)
    client._folder = tmp_path
    with pytest.raises(FailedToConnectError, match=f"chDB could not open {tmp_path}: Cannot open"):
        client._open()
