"""What lands where, what a part of it must not become, and the commands that errors advise, in one process."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.dbt_process import Outcome, variables
from tests.support.shop import Row

PARSE = "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'bigint', 'note': 'string'}, version='v')"
ONE_CHANGE = "one_change_per_key(EVENTS, key=['id'])"
TYPES = {"id": "Int64", "note": "Nullable(String)"}
CONFIG = {"unique_key": "id"}
ODD_NAME = "a b#%20'ü\"+.json"
STRAYS = {
    "batch=2026-01-05/p.json": "2026-01-05",
    "batch=abc/p.json": "abc",
    "batch=__HIVE_DEFAULT_PARTITION__/p.json": "null",
    "batch=99999999999999999999/p.json": "no bigint",
    "batch=1.5/p.json": "fraction",
    "batch=-4/p.json": "negative",
    "batch=000001/hour=03/p.json": "below a batch",
    "dt=2026-01-05/p.json": "another column",
    "_batch=000003/p.json": "Spark does not pass over it",
    "loose.json": "in no folder",
}
PASSED_OVER = ["_SUCCESS", ".part.crc", ".batch=000009/p.json", "_temporary/0/p.json", "batch=000001/_SUCCESS"]


def situation(name: str, before: str = "") -> Situation:
    return Situation(name, before + PARSE, ONE_CHANGE, TYPES, CONFIG, select="id, note, _version, _is_deleted")


def line(id: int, v: int = 1) -> str:
    return json.dumps({"id": id, "v": v, "note": f"n{id}"})


@dataclass(frozen=True)
class Told:
    """What the commands said, by a name for each, and the rows in the end."""

    outcomes: dict[str, Outcome]
    live: dict[str, list[Row]]
    quarantined: list[Row]
    ledger: list[Row]

    def message(self, command: str, node: str) -> tuple[str, str]:
        return self.outcomes[command].nodes[node]


def advised(message: str) -> list[str]:
    """The arguments of the last command that a message names."""
    return shlex.split(message.split("dbt run ")[-1].split("\n")[0])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("batches")
    tables = [
        situation("orders"),
        situation("later"),
        situation("hollow"),
        situation("kept", "config(materialized='table') ~ "),
    ]
    project = ChangeSetProject(folder, tables)
    landing, aside = project.landing, folder / "aside"
    project.land("orders", 1, [line(1), '{"id":', line(2)])
    _write(landing / "orders/batch=000001" / ODD_NAME, ["no JSON", "", line(3)])
    for name in PASSED_OVER:
        _write(landing / "orders" / name, [line(666)])
    for name in STRAYS:
        _write(aside / "strays" / name, [line(777)])
    (landing / "hollow").mkdir(parents=True)
    project.land("kept", 1, [line(1)])
    for name, batch, lines in (
        ("orders", 2, [line(4)]),
        ("orders", 3, [line(5)]),
        ("later", 1, [line(1)]),
        ("kept", 2, [line(2)]),
        ("kept", 3, [line(3)]),
    ):
        _write(aside / f"{name}/batch={batch:06d}/p.json", lines)

    def bring(path: str) -> list[str]:
        return ["mv", str(aside / path), str(landing / path)]

    def stray(name: str, *, back: bool = False) -> list[str]:
        places = [str(aside / "strays" / name), str(landing / "orders" / name)]
        return ["mv", *(reversed(places) if back else places)]

    sampled = ["--sample", "{'start': '2020-01-01', 'end': '2020-01-02'}"]
    steps: list[tuple[str, Sequence[str]]] = [
        ("first", ["run"]),
        *[("", stray(name)) for name in STRAYS],
        ("stray view", ["run", "--select", "stg_orders"]),
        ("stray change set", ["run", "--select", "orders_changes"]),
        *[("", stray(name, back=True)) for name in STRAYS],
        ("no number", ["run", "--select", "orders_changes", *variables(through_batch="banana", retake_batches=["x"])]),
        ("not landed", ["run", "--select", "orders_changes", *variables(retake_batches=17)]),
        ("above", ["run", "--select", "orders_changes", *variables(retake_batches=1, through_batch=0)]),
        ("", bring("later/batch=000001")),
        ("later", ["run", "--select", "later_changes+"]),
        ("later advised", ["run", "--select", "+later_changes+"]),
        ("", bring("orders/batch=000002")),
        ("empty", ["run", "--empty"]),
        ("after empty", ["run", "--select", "orders_changes+"]),
        ("quarantine after empty", ["run", "--select", "cdc_quarantine_changes+"]),
        ("after empty advised", ["run", "--select", "+orders_changes+"]),
        ("", bring("kept/batch=000002")),
        ("empty table", ["run", "--empty", "--select", "stg_kept"]),
        ("after empty table", ["run", "--select", "kept_changes+"]),
        ("after empty table advised", ["run", "--select", "+kept_changes+"]),
        ("", bring("kept/batch=000003")),
        ("stale table", ["run", "--select", "kept_changes+"]),
        ("stale table advised", ["run", "--select", "+kept_changes+"]),
        ("", bring("orders/batch=000003")),
        ("sample", ["run", *sampled, "--select", "stg_orders"]),
        ("after sample", ["run", "--select", "orders_changes+"]),
        ("after sample advised", ["run", "--select", "+orders_changes+"]),
        ("empty change set", ["run", "--empty", "--select", "+orders_changes"]),
        ("rebuild of a part", ["run", "--full-refresh", "--select", "orders"]),
        ("rebuild of a part advised", ["run", "--full-refresh", "--select", "+orders_changes+"]),
        ("", ["mv", str(landing / "orders/batch=000001"), str(aside / "orders/old")]),
        ("rebuild", ["run", "--full-refresh", "--select", "orders_changes+"]),
        (
            "rebuild advised",
            ["run", "--full-refresh", "--select", "orders_changes+", *variables(rebuild_from_batch=2)],
        ),
        ("rebuild again", ["run", "--full-refresh", "--select", "orders_changes+"]),
        ("last", ["run"]),
    ]
    outcomes = project.dbt(*[command for _, command in steps])
    named = [name for name, _ in steps if name]
    ledger = project.queries(
        rows="select model, batches.batch from shop.versioned_collapsing_ledger where status = 'applied' order by at"
    )["rows"]
    return Told(
        dict(zip(named, outcomes, strict=True)), project.live_rows(), project.quarantined(), ledger
    )


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")


def test_print(told: Told) -> None:
    for name, outcome in told.outcomes.items():
        print("====", name, outcome.exception)
        for node, (status, message) in outcome.nodes.items():
            print("   ", node, status, message)
    print(told.live, told.quarantined, told.ledger)
