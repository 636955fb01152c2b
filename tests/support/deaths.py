"""Runs that die before a statement of theirs, many models in one dbt run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt_common.exceptions import DbtDatabaseError

# To die before one of these is to die before the next that is none.
_PASSED_OVER = re.compile(
    r"(/\*.*?\*/|\s)*(select|with|show|describe|exists|drop table if exists|insert into \S+__dbt_lock`)",
    re.DOTALL | re.IGNORECASE,
)


@contextmanager
def dying(deaths: Mapping[str, int]) -> Iterator[Counter[str]]:
    """Let models die: ``deaths`` says of each before which of its writing statements, from 0.

    A statement belongs to the model whose name it contains: no name may be part of another. Yields
    how many such statements each model has begun.
    """
    begun: Counter[str] = Counter()
    dead: set[str] = set()

    def guard(sql: str) -> None:
        for name, death in deaths.items():
            if name in sql and not _PASSED_OVER.match(sql):
                if name in dead or begun[name] == death:
                    dead.add(name)
                    raise DbtDatabaseError(f"{name} died here")
                begun[name] += 1

    with pytest.MonkeyPatch.context() as patch:
        for method in ("command", "query"):
            patch.setattr(ChHttpClient, method, _guarded(getattr(ChHttpClient, method), guard))
        yield begun


def _guarded(stock: Any, guard: Any) -> Any:
    def run(client: ChHttpClient, sql: str, **kwargs: object) -> object:
        guard(sql)
        return stock(client, sql, **kwargs)

    return run
