"""No name in an apply's SQL is mistaken for a part of a user's column, whatever the columns are called."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

from tests.support.collapsing_project import CollapsingProject
from tests.support.macro_sources import sources
from tests.support.sql_aliases import aliases_of, as_columns

FOLDERS = ("macros/clickhouse", "macros/materializations/versioned_collapsing")
# Names of parts: `x.size` is the length of a text, `x.null` whether it is null, `x.keys` the keys of a Map.
PARTS = ("amount", "size", "keys", "values", "null")
ALIASES = [name for name in as_columns(aliases_of(sources(*FOLDERS))) if name not in ("id", *PARTS)]
WRONG = {"id": 7, "_version": 99, "_sign": -1, "is_live": 0, **dict.fromkeys(PARTS[:-1], 7)}
TYPES: tuple[str, ...] = (
    f"cast(({', '.join(str(value) for value in WRONG.values())}) as Tuple({', '.join(f'`{name}` Int64' for name in WRONG)}))",
    "cast('{" + ", ".join(f'"{name}": {value}' for name, value in WRONG.items()) + "}' as JSON)",
    "map('id', toInt64(7), 'amount', 7)",
    "toNullable('abc')",
    "'abc'",
)
TYPES = (*TYPES, *TYPES[:2])  # Twice those whose parts have names of their own.
MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "combine": {"combine": {"amount": "greatest", "size": "coalesce"}},
    "truncate": {},
    "stream": {"old_state": "stream"},
    "chunks": {"chunks": 2},
    "unversioned": {"delete_version": "ignore"},
    "journal": {"publish": "journal"},
}


def select(mode: str, shift: int) -> str:
    """Four keys, of which later runs change two and delete one. `shift` determines which type each name has."""
    kinds = cycle([*TYPES[shift % 7 :], *TYPES[: shift % 7]])
    columns = ", ".join(f"{next(kinds)} as `{name}`" for name in ALIASES)
    control = {"truncate": ", id = -1 as _is_truncate", "unversioned": ", toUInt64(the_run) as _batch"}.get(mode, "")
    sign = ", arrayJoin([-1, 1]) as _sign" if mode == "stream" else ""
    is_old = "_sign = -1" if mode == "stream" else "false"
    return (
        "with {{ var('run') }} as the_run "
        "select toInt64(the_number) as id, toInt64(the_number % 2) as `null`, "
        f"toInt64(10 * if({is_old}, the_run - 1, the_run)) as amount, toUInt64(5) as size, 6 as keys, 'v' as `values`, {columns}, "
        f"toInt64(if({is_old}, the_run - 1, the_run)) as _version{sign}{control}"
        f"{'' if mode == 'stream' else ', the_number = 3 and the_run = 2 as _is_deleted'} "
        "from (select number as the_number from numbers(if(the_run = 1, 0, 2), if(the_run = 1, 4, 2)))"
        + (
            " where not (_sign = -1 and the_run = 1) and not (_sign = 1 and the_run = 2 and the_number = 3)"
            if mode == "stream"
            else ""
        )
    )


def test_columns_are_called_as_aliases_are(make_project: Callable[[str], CollapsingProject]) -> None:
    assert len(ALIASES) > 50
    project = make_project("aliases")
    for shift, (mode, config) in enumerate(MODES.items()):
        project.add_model(mode, {"unique_key": ["id", "null"], **config}, select(mode, shift))
    for run in (1, 2):
        project.build("--vars", f"run: {run}")
    wrong: dict[str, Any] = {}
    for mode in MODES:
        final = (
            f"select id, `null`, amount, size, keys, `values`, _version from {mode} final where _sign = 1 order by id"
        )
        live = project.query(final)
        expected = [(0, 0, 10, 5, 6, "v", 1), (1, 1, 10, 5, 6, "v", 1), (2, 0, 20, 5, 6, "v", 2)]
        sums = "sum(_sign), sum(amount * _sign), sum(size * _sign), sum(_version * _sign), count()"
        raw = project.query(f"select {sums} from {mode}")
        if live != expected or [row[:4] for row in raw] != [(3, 40, 15, 4)]:
            wrong[mode] = (live, raw)
        if mode != "stream" and (deleted := project.query(f"select id, `null` from {mode}__tombstones")) != [(3, 1)]:
            wrong[f"{mode}__tombstones"] = (deleted,)
    assert wrong == {}
