"""A landing zone with a long history, one folder per batch: the first run takes all, later ones find one batch or
none."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.support.change_set_project import ChangeSetProject, Situation

KEYS = 1000
PARSE = "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'bigint'}, version='v')"


def test_many_folders(tmp_path: Path, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> None:
    folders = pytestconfig.getoption("--folders")
    changes = "one_change_per_key(EVENTS, key=['id'])"
    situation = Situation("events", PARSE, changes, {"id": "Int64", "v": "Int64"}, {"unique_key": "id"})
    project = ChangeSetProject(tmp_path, [situation])
    live: dict[int, int] = {}

    def land(batch: int) -> None:
        live[batch % KEYS] = batch
        project.land("events", batch, [json.dumps({"id": batch % KEYS, "v": batch})])

    def run(new: int) -> str:
        start = time.monotonic()
        [outcome] = project.dbt(["run"])
        seconds = time.monotonic() - start
        assert outcome.success, outcome.why()
        assert project.live_rows() == {"events": sorted(live.items())}
        with capsys.disabled():
            print(f"{folders} folders, {new} of them new: {seconds:.1f} s")  # noqa: T201
        return outcome.nodes["events"].message

    for batch in range(1, folders + 1):
        land(batch)
    run(folders)
    assert run(0) == "no new batches: nothing to change"
    land(folders + 1)
    assert run(1).startswith(f"batch {folders + 1}: 1 state")
