"""Listings of tables, during which another thread drops a temporary view that Spark lists too."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import AnalysisException

from dbt.adapters.spark_clickhouse.spark.engine import RoutedSparkConnectionManager
from dbt.adapters.spark_clickhouse.spark.table_folders import _listed

LISTING = "/* dbt */ show table extended in shop like '*'"
GONE = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `spark_catalog`.`default`.`x__dbt_tmp` cannot be found."


class Failing:
    """Fails so many times, then answers."""

    def __init__(self, times: int, error: Exception) -> None:
        self.times = times
        self.error = error
        self.calls = 0

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return self

    def collect(self) -> list[str]:
        return ["a row"]


def send(monkeypatch: pytest.MonkeyPatch, sql: str, failing: Failing) -> Any:
    monkeypatch.setattr(SparkConnectionManager, "add_query", failing)
    return RoutedSparkConnectionManager.__new__(RoutedSparkConnectionManager)._send(sql)


def test_a_listing_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing(3, DbtRuntimeError(GONE))
    assert send(monkeypatch, LISTING, failing) is failing
    assert failing.calls == 4


@pytest.mark.parametrize(
    ("sql", "message"), [(LISTING, "[SCHEMA_NOT_FOUND] shop"), ("/* dbt */ select * from shop.gone", GONE)]
)
def test_nothing_else_runs_again(monkeypatch: pytest.MonkeyPatch, sql: str, message: str) -> None:
    failing = Failing(1, DbtRuntimeError(message))
    with pytest.raises(DbtRuntimeError, match=message[1:15]):
        send(monkeypatch, sql, failing)
    assert failing.calls == 1


def test_a_listing_that_never_succeeds_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DbtRuntimeError, match="TABLE_OR_VIEW_NOT_FOUND"):
        send(monkeypatch, LISTING, Failing(99, DbtRuntimeError(GONE)))


@pytest.mark.parametrize(("condition", "calls"), [("TABLE_OR_VIEW_NOT_FOUND", 2), ("OTHER", 1)])
def test_the_search_for_left_files_lists_again(condition: str, calls: int) -> None:
    error = AnalysisException(GONE)
    error.getCondition = lambda: condition  # type: ignore[method-assign]
    session: Any = type("Session", (), {})()
    session.sql = failing = Failing(1, error)
    if calls == 2:
        assert _listed(session, "shop") == ["a row"]
    else:
        with pytest.raises(AnalysisException):
            _listed(session, "shop")
    assert failing.calls == calls
