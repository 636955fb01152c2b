"""What lands where, what a partial run must not change, and the commands that errors advise, in one process."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import Outcome, variables
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


def situation(name: str, before: str = "", change: str = ONE_CHANGE) -> Situation:
    return Situation(name, before + PARSE, change, TYPES, CONFIG, select="id, note, _version, _is_deleted")


def line(key: int) -> str:
    return json.dumps({"id": key, "v": 1, "note": f"n{key}"})


def event(key: int, note: str, table: str = "moved", *, at: int, commit: int) -> str:
    source = {"connector": "postgresql", "schema": "public", "table": table, "ts_ms": at}
    place = {"lsn": commit + 8, "sequence": json.dumps([str(commit), str(commit + 8)])}
    return json.dumps({"op": "u", "before": None, "after": {"id": key, "note": note}, "source": {**source, **place}})


MOVED = Situation(
    "moved",
    "parse_debezium(SOURCE, key=['id'], columns={'id': 'bigint', 'note': 'string'})",
    ONE_CHANGE,
    {**TYPES, "_version": "Int128"},
    CONFIG,
)


@dataclass(frozen=True)
class Told:
    """The output of each command, by name, and the final rows."""

    commands: dict[str, Sequence[str]]
    outcomes: dict[str, Outcome]
    log: str
    manifest: list[Row]
    live: dict[str, list[Row]]
    quarantined: list[Row]
    ledger: list[Row]
    responses: dict[str, dict[str, Any]]

    def message(self, command: str, node: str) -> tuple[str, str]:
        return self.outcomes[command].nodes[node]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("batches")
    tables = [
        situation("orders"),
        situation("later", change=f"config(on_changed_batch='error') ~ {ONE_CHANGE}"),
        situation("hollow"),
        situation("kept", "config(materialized='table') ~ "),
        MOVED,
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
    project.land("moved", 1, [event(1, "old", at=1_000, commit=990)])
    project.land("kept", 1, [line(1), '{"id":'])
    for name, batch, lines in (
        ("orders", 2, [line(4)]),
        ("moved", 2, ["no JSON"] * 25),
        ("later", 1, [line(1)]),
        ("later", 2, [line(2)]),
        ("kept", 2, [line(2)]),
        ("kept", 3, [line(3)]),
    ):
        _write(aside / f"{name}/batch={batch:06d}/p.json", lines)

    stray_events = [event(key, "of another", "other", at=9_000, commit=90 + key) for key in (1, 2)]
    _write(aside / "stray.json", stray_events)
    _write(aside / "corrected.json", [line(2), line(3)])
    _write(aside / "mended.json", [line(1), line(9)])

    def bring(path: str) -> list[str]:
        return ["mv", str(aside / path), str(landing / path)]

    def stray(name: str, *, back: bool = False) -> list[str]:
        places = [str(aside / "strays" / name), str(landing / "orders" / name)]
        return ["mv", *(reversed(places) if back else places)]

    def chosen(*names: str, option: str = "") -> list[str]:
        return ["run", *([option] if option else []), "--select", *names]

    span = "{'start': '2020-01-01', 'end': '2020-01-02'}"
    changes = ("orders_changes+", "later_changes+", "kept_changes+")
    steps: list[tuple[str, Sequence[str]]] = [
        ("first", ["run"]),
        *[("", stray(name)) for name in STRAYS],
        ("", bring("later/batch=000001")),
        ("", bring("kept/batch=000002")),
        ("before views", chosen(*changes)),
        ("with views", chosen(*(f"+{name}" for name in changes))),
        *[("", stray(name, back=True)) for name in STRAYS],
        ("", bring("orders/batch=000002")),
        ("", bring("later/batch=000002")),
        ("", bring("kept/batch=000003")),
        ("empty", ["run", "--empty", "--exclude", "stg_later+"]),
        ("sample", ["run", "--sample", span, "--select", "stg_later"]),
        ("after a part", chosen(*changes, "cdc_quarantine_changes+")),
        ("", ["mv", str(aside / "mended.json"), str(landing / "kept/batch=000001/part-00000.json")]),
        ("after a part, advised", chosen(*(f"+{name}" for name in changes), "+cdc_quarantine_changes+")),
        ("rebuild alone", chosen("orders", option="--full-refresh")),
        ("", ["mv", str(aside / "corrected.json"), str(landing / "later/batch=000002/p.json")]),
        ("changed", chosen("later_changes+")),
        ("changed, advised", [*chosen("later_changes+"), *variables(reprocess_batches=[2])]),
        ("no number", [*chosen("orders_changes"), *variables(through_batch="banana", reprocess_batches=["x"])]),
        ("not landed", [*chosen("orders_changes"), *variables(through_batch=1, reprocess_batches=[17, 2])]),
        ("sampled change set", ["run", "--sample", span, "--select", "+orders_changes"]),
        ("rebuild of a part", chosen("orders", option="--full-refresh")),
        ("rebuild of a part, advised", chosen("+orders_changes+", option="--full-refresh")),
        ("", bring("moved/batch=000002")),
        ("unusable", chosen("moved_changes+")),
        ("", ["mv", str(aside / "stray.json"), str(landing / "moved/batch=000002/p.json")]),
        ("stray", chosen("moved_changes+")),
        ("", ["mv", str(landing / "orders/batch=000001"), str(aside / "orders/old")]),
        ("rebuild", chosen("orders_changes+", option="--full-refresh")),
        ("rebuild, advised", [*chosen("orders_changes+", option="--full-refresh"), *variables(rebuild_from_batch=2)]),
        ("reported", ["--quiet", "run-operation", "report_data", "--no-write-json"]),
        ("rebuild again", chosen("orders_changes+", option="--full-refresh")),
    ]
    outcomes = project.dbt(*(command for _, command in steps))
    named = {name: command for name, command in steps if name}
    ledger = project.queries(
        rows="select model, batches.batch from shop.versioned_collapsing_ledger where status = 'applied' order by at"
    )["rows"]
    results = folder / "home" / "target" / "run_results.json"
    return Told(
        named,
        dict(zip(named, outcomes, strict=True)),
        project.log(),
        project.change_set("orders", ["batch", "lines", "blank", "quarantined", "events"], suffix="__manifest"),
        project.live_rows(),
        project.quarantined(),
        ledger,
        {
            result["unique_id"].split(".")[-1]: result["adapter_response"]
            for result in json.loads(results.read_text())["results"]
        },
    )


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")


ADVICE = [
    ("before views", "later_changes", "with views"),
    ("before views", "kept_changes", "with views"),
    ("after a part", "orders_changes", "after a part, advised"),
    ("after a part", "later_changes", "after a part, advised"),
    ("after a part", "kept_changes", "after a part, advised"),
    ("after a part", "cdc_quarantine_changes", "after a part, advised"),
    ("changed", "later_changes", "changed, advised"),
    ("rebuild of a part", "orders", "rebuild of a part, advised"),
    ("rebuild", "orders_changes", "rebuild, advised"),
]


@pytest.mark.parametrize(("command", "node", "advised"), ADVICE)
def test_the_advised_command_helps(told: Told, command: str, node: str, advised: str) -> None:
    status, message = told.message(command, node)
    assert status == "error"
    advice = shlex.split(message.split("dbt run ")[-1].split("\n")[0].rstrip("."))
    assert [word for word in advice if word.strip("+") == node.removesuffix("_changes") or "_changes" in word]
    given = told.commands[advised]
    assert set(advice) - {"--vars", "{rebuild_from_batch: 2}", "{reprocess_batches: [2]}"} <= set(given)
    assert told.message(advised, node)[0] == "success"


@pytest.mark.parametrize(
    ("command", "node", "problems"),
    [
        ("before views", "orders_changes", [f"\n    - orders/{name}\n" for name in STRAYS]),
        ("with views", "stg_orders", [f"\n    - orders/{name}\n" for name in STRAYS]),
        (
            "with views",
            "stg_orders",
            [
                "landing/orders has files that belong to no batch:",
                "Each file must be directly in a folder batch=N",
                "orders/batch=000001/part-00000.json. Move these files to such a folder, or remove them.",
            ],
        ),
        ("before views", "later_changes", ["shop.stg_later was built before the first batch landed in /"]),
        ("before views", "kept_changes", ["shop.stg_kept has 0 of the 1 lines of batch 2"]),
        ("after a part", "kept_changes", ["shop.stg_kept has 0 of the 1 lines of batch 3"]),
        (
            "after a part",
            "orders_changes",
            ["shop.stg_orders was built by a run with --empty or --sample and reads only a part of its input"],
        ),
        (
            "after a part",
            "later_changes",
            ["shop.stg_later was built by a run with --empty or --sample and reads only a part of its input"],
        ),
        ("rebuild alone", "orders", ["does not begin at the first batch"]),
        (
            "changed",
            "later_changes",
            [
                "Files of applied batches have changed: 2",
                "dbt run --select later_changes+ --vars '{reprocess_batches: [2]}'",
            ],
        ),
        (
            "no number",
            "orders_changes",
            [
                "through_batch is 'banana'; it takes the number of a batch: --vars '{through_batch: 2}'.",
                "reprocess_batches has 'x'; it takes the number of a batch, or a list of them: --vars '{reprocess_batches: [2]}'.",
            ],
        ),
        (
            "not landed",
            "orders_changes",
            [
                "reprocess_batches names 17, which has not landed. The nearest landed batch is 2.",
                "reprocess_batches names 2, which is above through_batch (1). Remove one of the two variables.",
            ],
        ),
        (
            "rebuild of a part",
            "orders",
            [
                "the change set orders_changes was built by a run with --empty or --sample, so the table would lack rows."
            ],
        ),
        ("unusable", "moved_changes", ["none of 25 lines in batch 2 can be used"]),
        # A run that stopped has forgotten nothing of the batches before.
        (
            "stray",
            "moved_changes",
            [
                "batch 2 of stg_moved ends with 2 events newer than all others at lower positions",
                "the events of stg_moved are of several tables: public.moved, public.other",
            ],
        ),
        (
            "rebuild",
            "orders_changes",
            [
                "batch 1 was applied and is no longer in the landing zone, so rows would be lost.",
                "dbt run --full-refresh --select orders_changes+ --vars '{rebuild_from_batch: 2}'",
            ],
        ),
    ],
)
def test_the_error_says_what_is_wrong(told: Told, command: str, node: str, problems: list[str]) -> None:
    status, message = told.message(command, node)
    assert status == "error"
    assert [problem for problem in problems if problem not in message] == []


def test_a_table_without_a_batch_is_built_and_keeps_nobody_back(told: Told) -> None:
    for name in ("later", "hollow"):
        assert told.message("first", f"stg_{name}")[0] == "success"
        status, message = told.message("first", f"{name}_changes")
        assert status == "success"
        assert re.fullmatch(rf"no batches yet in \S+/{name}", message)
        assert told.message("first", name)[0] == "success"
    assert told.message("first", "cdc_quarantine_changes") == ("success", "batch 1")


def test_unusable_lines_are_in_the_status_and_a_warning(told: Told) -> None:
    assert told.message("first", "orders_changes") == ("success", "batch 1: 2 unusable lines")
    assert (
        "orders_changes: 2 of 6 lines cannot be used and are left out, in batch 1 (2 lines: malformed JSON). To see them: "
        """dbt show --inline "select _batch, _reason, _raw_line from {{ ref('stg_orders') }} where _reason is not null """
        'and _batch in (1)"'
    ) in told.log
    assert "To keep such lines, add" not in told.log  # There is a quarantine.


def test_lines_of_a_batch_are_in_the_manifest(told: Told) -> None:
    assert told.manifest == [(2, 1, 0, 0, 1)]
    counts = {"lines": 1, "blank": 0, "quarantined": 0, "ignored": 0, "events": 1}
    response = {"_message": "batch 2", "code": "OK", "batches": [2], **counts}
    assert told.responses["orders_changes"] == response


def test_files_in_quarantine_have_their_own_names(told: Told) -> None:
    """A hidden or merely mentioned batch is not a batch. A line that was mended has left; those of another table stay,
    although the quarantine took their batch again."""
    assert told.message("first", "cdc_quarantine") == ("success", "batch 1: 3 states")
    assert sorted(told.quarantined) == [
        ("orders", 1, f"orders/batch=000001/{ODD_NAME}", 1, "malformed JSON", "no JSON"),
        ("orders", 1, "orders/batch=000001/part-00000.json", 2, "malformed JSON", '{"id":'),
    ]


def test_the_report_has_unusable_lines_by_reason_and_day(told: Told) -> None:
    tables = {table["model"]: table for table in json.loads(told.outcomes["reported"].output)["tables"]}
    (found,) = tables.pop("cdc_quarantine")["quarantined"]
    today = datetime.now(UTC).date()
    assert (found["why"], found["n"]) == ("malformed JSON", 2)
    assert found["day"] in (str(today), str(today - timedelta(days=1)))
    assert {table["quarantined"] for table in tables.values()} == {None}


def test_no_row_is_lost_but_those_that_were_given_up(told: Told) -> None:
    assert told.live == {
        "orders": [(4, "n4")],
        "later": [(1, "n1"), (2, "n2"), (3, "n3")],
        "hollow": [],
        "kept": [(1, "n1"), (2, "n2"), (3, "n3"), (9, "n9")],
        "moved": [(1, "old", 990 * 2**64 + 2**62 + 8 + 1)],
    }
    batches = [list(batches) for model, batches in told.ledger if model == "orders"]
    assert batches == [[1], [2], [1, 2], [2], [2]]
