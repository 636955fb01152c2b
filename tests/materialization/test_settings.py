"""A short history under every setting that ClickHouse has: right rows or an error, never green and wrong.

The list is the server's own. Each model has its own settings, in place of a profile's; one dbt run builds many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt_common.events.contextvars import get_node_info
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import CollapsingProject, Row

MakeProject = Callable[[str], CollapsingProject]
Settings = Mapping[str, str]

STRUCTURE = "id Int64, part Nullable(UInt8), region String, top Nullable(Int64), _version UInt64, _is_deleted Bool"
# fmt: off
FIRST: list[Row] = [(key, key % 3, "EU", key, 10, False) for key in range(1, 9)]
SECOND: list[Row] = [
    (1, 1, "US", 100, 20, False),       # another partition
    (2, 2, "EU", None, 20, False),      # a null
    (2, 2, "EU", None, 20, False),      # a duplicate
    (3, 0, "EU", 3, 11, True),          # deleted
    (4, 1, "EU", 4, 12, True),          # deleted, and there again
    (4, 1, "US", 5, 13, False),
    (5, 2, "EU", 55, 9, False),         # stale
    (6, 0, "EU", 6, 10, False),         # as it is stored
    (20, 2, "AP", 20, 20, False),       # new
    (21, 0, "AP", 21, 20, True),        # deleted, never there
]
THIRD: list[Row] = [
    (3, 0, "EU", 33, 10, False),        # late: deleted since
    (21, 0, "AP", 1, 19, False),        # late: deleted since
    (1, 1, "EU", 7, 30, False),         # back into its partition
    (7, 1, "EU", 7, 31, True),
    (22, 1, "AP", None, 1, False),
]
LIVE = {
    "plain": [(1, 1, "EU", 7, 30), (2, 2, "EU", None, 20), (4, 1, "US", 5, 13), (5, 2, "EU", 5, 10), (6, 0, "EU", 6, 10),
              (8, 2, "EU", 8, 10), (20, 2, "AP", 20, 20), (22, 1, "AP", None, 1)],
    "folded": [(1, 1, "EU", 100, 30), (2, 2, "EU", 2, 20), (4, 1, "US", 5, 13), (5, 2, "EU", 5, 10), (6, 0, "EU", 6, 10),
               (8, 2, "EU", 8, 10), (20, 2, "AP", 20, 20), (22, 1, "AP", None, 1)],
}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {"unique_key": "id", "partition_by": "region", "shards": 2, "publish": "journal"},
    "folded": {"unique_key": ["id", "region"][:1], "order_by": ["id", "region"], "combine": {"top": "greatest"}},
}
# fmt: on


@contextmanager
def profiles(settings: Mapping[str, Settings], *, dying: bool = False) -> Iterator[None]:
    """Give each model's statements the settings of a profile of its own, by the model's name.

    With ``dying`` each model dies when its rows are written and the ledger does not say so yet.
    """

    def patched(stock: Any) -> Any:
        def run(client: ChHttpClient, sql: str, **kwargs: Any) -> Any:
            name = str(get_node_info().get("node_name", ""))
            if dying and name in settings and "'applied', now64(" in sql:
                raise DbtDatabaseError(f"{name} died here")
            return stock(client, sql, **{**kwargs, "settings": dict(settings.get(name, {}))})

        return run

    with pytest.MonkeyPatch.context() as patch:
        for method in ("command", "query", "columns_in_query"):
            patch.setattr(ChHttpClient, method, patched(getattr(ChHttpClient, method)))
        yield


def findings(project: CollapsingProject, cases: Mapping[str, Settings]) -> dict[str, str]:
    """What became of each case: 'right', an error's text, or 'WRONG' with the rows."""
    models = {f"{shape}__{name}": name for name in cases for shape in SHAPES}
    settings = {model: cases[name] for model, name in models.items()}
    for path in (project.folder / "models").glob("*"):
        path.unlink()
    for model in models:
        project.add_model(model, SHAPES[model.split("__")[0]], "select * from changes")
    said: dict[str, dict[str, Any]] = {}
    for number, rows in enumerate((FIRST, SECOND, THIRD)):
        project.replace_rows("changes", STRUCTURE, rows)
        with profiles(settings, dying=number == 1):
            for model, outcome in project.run().items():
                said.setdefault(model, {})[number] = outcome
    found: dict[str, str] = {}
    for model, name in models.items():
        errors = [
            outcome.message
            for number, outcome in said[model].items()
            if outcome.status != "success" and not (number == 1 and "died here" in outcome.message)
        ]
        verdict = f"error: {errors[-1]}" if errors else "right"
        if said[model][2].status == "success":
            columns = "id, part, region, top, _version"
            expected = LIVE[model.split("__")[0]]
            final = project.query(
                f"select {columns} from {model} final where _sign = 1 order by id"
            )
            net = project.query(
                f"select {columns} from {model} group by all having sum(_sign) <> 0 order by id"
            )
            if not errors and not (expected == final == net):
                verdict = f"WRONG: {final} {net}"
        if not found.get(name, "").startswith("WRONG"):
            found[name] = verdict if verdict != "right" else found.get(name, "right")
        project.command(f"drop table if exists {model} sync")
        project.command(f"drop table if exists {model}__tombstones sync")
    return found


def test_reference(make_project: MakeProject) -> None:
    project = make_project("settings_reference")
    project.set_variables(versioned_collapsing_lock_seconds=0)
    assert findings(project, {"none": {}}) == {"none": "right"}
