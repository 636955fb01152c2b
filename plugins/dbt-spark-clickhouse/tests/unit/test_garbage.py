"""How often Python looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_clickhouse.core.garbage import NEW_OBJECTS, collect_less_often


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(("given", "expected"), [(700, NEW_OBJECTS), (2000, NEW_OBJECTS), (0, 0), (100_000, 100_000)])
def test_python_collects_less_often_and_never_more_often(given: int, expected: int) -> None:
    others = gc.get_threshold()[1:]
    gc.set_threshold(given, *others)
    collect_less_often()
    assert gc.get_threshold() == (expected, *others)
