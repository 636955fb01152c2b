"""What became of lines and events: in the ledger, in `collapse_status`, and as a generic test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from zlib import crc32

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.stand_in import LINES, stand_in_for_change_sets, write_manifest

COUNTS = ("_duplicates", "_conflicts", "_superseded", "_synthetic")
STRUCTURE = "id Nullable(Int64), x Int64, _version Int64, _is_deleted Bool, _is_truncate Bool, " + (
    ", ".join(f"{name} Int64" for name in COUNTS)
)
LEDGER = f"select {', '.join(LINES)}, superseded, synthetic, truncates from versioned_collapsing_ledger"
CLAIM = "every_event_is_accounted_for"

# An independent event; one below two others; one with a duplicate that changed its key, and the delete of the old key.
ROWS: list[Row] = [
    (1, 0, 5, False, False, 0, 0, 0, 0),
    (2, 0, 6, False, False, 0, 0, 2, 0),
    (3, 0, 7, False, False, 1, 0, 0, 0),
    (4, 0, 7, True, False, 1, 0, 0, 2),
]
BATCHES = {1: (5, 1, 1, 1, 2), 2: (6, 0, 2, 0, 4)}


@pytest.fixture
def project(make_project: MakeProject, request: pytest.FixtureRequest) -> Iterator[CollapsingProject]:
    """A table on a change set with a manifest, with the claim as its test."""
    project = make_project(f"accounts_{crc32(request.node.name.encode())}")
    with stand_in_for_change_sets(project):
        project.add_model("events", {"materialized": "change_set"}, "select * from changes")
        project.add_model("target", {"unique_key": "id"}, "select * from {{ ref('events') }}")
        tested = {"name": "target", "data_tests": [{CLAIM: {"name": CLAIM}}]}
        project.add_properties("schema", {"models": [tested]})
        stage(project, ROWS, BATCHES)
        yield project


def stage(project: CollapsingProject, rows: list[Row], batches: Mapping[int, tuple[int, ...]]) -> None:
    project.replace_rows("changes", STRUCTURE, rows)
    write_manifest(project, "events", list(batches), list(batches.values()))


def status(project: CollapsingProject, *command: str) -> str:
    return project.dbt(*(command or ("test",)))[CLAIM].status


def test_lines_and_events_of_all_batches(project: CollapsingProject) -> None:
    assert project.run()["target"].message == "batches 1-2: 3 states, 1 delete, 2 duplicates, 2 superseded"
    assert project.query(f"{LEDGER} where status = 'applied'") == [(11, 1, 3, 1, 6, 2, 2, 0)]
    assert status(project) == "pass"
    # A truncate with what it is above; the row that it removes belongs to no event.
    stage(project, [(None, 0, 9, False, True, 0, 0, 3, 0)], {3: (4, 0, 0, 0, 4)})
    project.run()
    assert project.query(f"{LEDGER} where status = 'applied' order by at desc limit 1") == [(4, 0, 0, 0, 4, 3, 3, 1)]
    shown = project.operation("collapse_status")
    first, last = (" ".join(shown.split(f"applied {of}: ")[1].split()) for of in ("2 batches up to 2", "batch 3"))
    assert first.startswith(
        "3 states, 1 delete, 2 duplicates, 2 superseded; 11 lines: 1 blank, 3 quarantined, 1 ignored, 6 events ("
    )
    assert "add up" not in shown
    project.command("alter table versioned_collapsing_ledger update lines = 1 where true settings mutations_sync = 1")
    assert " ".join(project.operation("collapse_status").split()).count("; these do not add up (") == 2
    assert last.startswith("3 cancels, 3 deletes, 3 superseded; 4 lines: 4 events (")


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ("late + 1 as late", "the events and their outcomes do not add up"),
        ("lines + 1 as lines", "the lines and their kinds do not add up"),
    ],
)
def test_a_doctored_ledger_fails(project: CollapsingProject, change: str, condition: str) -> None:
    project.run()
    assert status(project) == "pass"
    name = change.rsplit(maxsplit=1)[-1]
    project.command(
        f"alter table versioned_collapsing_ledger update {name} = {change.split(' as ', maxsplit=1)[0]} "
        "where status = 'applied' settings mutations_sync = 1"
    )
    project._invoke("test", "--store-failures")
    found = project.query(f"select failing_condition from {project.schema}_dbt_test__audit.{CLAIM}")
    assert found == [(condition,)]


def test_an_event_that_the_change_set_lost_shows(project: CollapsingProject) -> None:
    stage(project, ROWS[1:], BATCHES)
    with pytest.raises(AssertionError, match="'target', 'applied'"):
        project.run()
    with pytest.raises(AssertionError):
        status(project)


@pytest.mark.parametrize("has_counts", [True, False])
def test_a_change_set_that_does_not_tell_is_accounted_for_by_its_rows(
    project: CollapsingProject, has_counts: bool
) -> None:
    if has_counts:
        write_manifest(project, "events", [1])
    else:
        without = f"* except ({', '.join(COUNTS[:3])})"
        project.add_model("events", {"materialized": "change_set"}, f"select {without} from changes")
        project.add_model("target", {"unique_key": "id"}, f"select {without} from {{{{ ref('events') }}}}")
    project.build()
    ((lines, *_, events, _, _, _),) = project.query(f"{LEDGER} where status = 'applied'")
    assert (lines, events) == (None, 6 if has_counts else 2)
    assert status(project) == "pass"
