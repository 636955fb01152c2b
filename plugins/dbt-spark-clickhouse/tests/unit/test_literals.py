"""Values in the SQL of each engine."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.core.literals import clickhouse_literal, spark_literal


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
        (0.1, "0.1"),
        (Decimal("0.1"), "0.1"),
        (float("nan"), "'nan'"),
        (float("-inf"), "'-inf'"),
        (Decimal("NaN"), "'NaN'"),
        (Decimal("Infinity"), "'Infinity'"),
        ("", "''"),
        ("O'Brien", r"'O\'Brien'"),
        (r"C:\new", r"'C:\\new'"),
        (datetime.date(2020, 1, 2), "'2020-01-02'"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "'2020-01-02 03:04:05.000006'"),
    ],
)
def test_values_of_seeds_in_sparks_sql(value: Any, expected: str) -> None:
    assert spark_literal(value) == expected


def test_texts_in_clickhouses_sql() -> None:
    assert clickhouse_literal(r"C:\new O'Brien") == r"'C:\\new O\'Brien'"
