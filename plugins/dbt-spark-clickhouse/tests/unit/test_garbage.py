"""How often Python looks for garbage."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_clickhouse.core.garbage import NEW_OBJECTS, collect_less_often, set_aside


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.parametrize(("given", "expected"), [(700, NEW_OBJECTS), (2000, NEW_OBJECTS), (0, 0), (100_000, 100_000)])
def test_python_collects_less_often_and_never_more_often(given: int, expected: int) -> None:
    others = gc.get_threshold()[1:]
    gc.set_threshold(given, *others)
    collect_less_often()
    assert gc.get_threshold() == (expected, *others)


def test_what_is_set_aside_is_looked_at_when_something_is_set_aside_anew() -> None:
    class Node:
        pass

    node = Node()
    node.itself = node  # type: ignore[attr-defined]
    gone = weakref.ref(node)
    set_aside()
    del node
    gc.collect()
    assert gone() is not None
    set_aside()
    assert gone() is None
