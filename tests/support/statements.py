"""Intercepts the statements that dbt-clickhouse sends: to watch, change or follow them, or to die before one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt_common.exceptions import DbtDatabaseError

# Dying before one of these means dying before the next statement that is not one.
_PASSED_OVER = re.compile(
    r"(/\*.*?\*/|\s)*(select|with|show|describe|exists|insert into \S+__dbt_lock`)", re.DOTALL | re.IGNORECASE
)
STARTED = "'started'"  # in the ledger row after which a later run completes a dead one


@dataclass(frozen=True)
class Send:
    """Sends a statement, or another in its place: `send(sql)`, `send(sql, settings={})`."""

    method: str
    _stock: Callable[..., Any]
    _given: dict[str, Any]

    def __call__(self, sql: str, **more: Any) -> Any:
        return self._stock(sql, **{**self._given, **more})


@contextmanager
def intercepted(around: Callable[[Send, str], Any]) -> Iterator[None]:
    """Pass each statement to ``around``, together with the function that sends it."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("command", "query", "columns_in_query"):
            stock = getattr(ChHttpClient, method)
            patch.setattr(ChHttpClient, method, _through(around, method, stock))
        yield


def _through(around: Callable[[Send, str], Any], method: str, stock: Any) -> Any:
    def run(client: ChHttpClient, sql: str, **kwargs: Any) -> Any:
        return around(Send(method, partial(stock, client), kwargs), sql)

    return run


@contextmanager
def dying(deaths: Mapping[str, int | str | None]) -> Iterator[Counter[str]]:
    """Let models die: for each model, ``deaths`` says before which of its writing statements.

    That is a number, from 0; a text, to die once a statement that contains it has run; or None for a model that lives.
    A statement belongs to the model whose name it contains, so no name may be part of another. Yields how many writing
    statements each model has begun.

    Raises:
        AssertionError: no statement had the text at which a model was to die.
    """
    begun: Counter[str] = Counter()
    dead: set[str] = set()
    at_end = {name: death for name, death in deaths.items() if death is not None}

    def guard(send: Send, sql: str) -> Any:
        for name, death in at_end.items():
            if name in sql and not _PASSED_OVER.match(sql):
                if name in dead or begun[name] == death:
                    dead.add(name)
                    raise DbtDatabaseError(f"{name} died here")
                begun[name] += 1
                if isinstance(death, str) and death in sql:
                    at_end[name] = begun[name]
        return send(sql)

    with intercepted(guard):
        yield begun
    alive = {name for name, death in deaths.items() if isinstance(death, str)} - dead
    assert not alive, f"did not die: {alive}"


@contextmanager
def at_statement(part: str, action: Callable[[], Any]) -> Iterator[None]:
    """Do something just before the first statement that contains ``part``.

    Raises:
        AssertionError: there was none.
    """
    waiting = [action]

    def act(send: Send, sql: str) -> Any:
        if part in sql and waiting:
            waiting.pop()()
        return send(sql)

    with intercepted(act):
        yield
    assert not waiting, f"no statement contains {part}"
