"""Values in the SQL of each engine."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any


def spark_literal(value: Any) -> str:
    """A value of a seed in Spark's SQL.

    dbt-spark's session turns null into a text and every number into a double, and escapes nothing.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    # Spark casts texts such as NaN to numbers; without quotes they would be column names.
    return _quoted(str(value))


def clickhouse_literal(text: str) -> str:
    """``text`` in ClickHouse's SQL."""
    return _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
