"""From the lines of the landing zone to ClickHouse's rows, on the real engines."""

from __future__ import annotations

import pytest

from tests.change_sets.cases import Case, ordered
from tests.change_sets.conftest import CASES, Built


def test_all_models_are_built(built: Built) -> None:
    good = ("success", "pass", "warn")
    failed = {
        name: node
        for run in built.outcomes
        for name, node in run.nodes.items()
        if node[0] not in good
    }
    assert failed == {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_are_those_of_the_history(built: Built, case: Case) -> None:
    assert ordered(built.live[case.name]) == ordered(case.live)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_lines_are_in_quarantine_with_place_and_reason(built: Built, case: Case) -> None:
    files = {batch: file for (name, batch), file in built.files.items() if name == case.name}
    found = [row for row in built.quarantined if row[0] == case.name]
    assert sorted(found) == sorted(case.quarantined(files))


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.changes is not None], ids=lambda case: case.name
)
def test_change_set_is_that_of_a_plain_loop(built: Built, case: Case) -> None:
    found = built.project.change_set(case.name, case.change_columns)
    assert ordered(found) == ordered(case.changes or [])


def test_fields_that_the_schema_does_not_know_are_warned_of(built: Built) -> None:
    tests = built.outcomes[-1].nodes
    assert tests["latest_wins_fields"] == ("warn", "Got 1 result, configured to warn if != 0")
    assert tests["binlog_fields"][0] == "pass"
