"""Values of seeds in Spark's SQL."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.spark_engine import literal


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
        (Decimal("9007199254740993"), "9007199254740993"),
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+3"), "1000"),
        (0.5, "0.5"),
        ("", "''"),
        ("O'Brien", r"'O\'Brien'"),
        (r"C:\new", r"'C:\\new'"),
        (datetime.date(2020, 1, 2), "'2020-01-02'"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "'2020-01-02 03:04:05.000006'"),
    ],
)
def test_literals(value: Any, expected: str) -> None:
    assert literal(value) == expected
