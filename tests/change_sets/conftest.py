"""The chosen cases in one project, built twice in one process: up to the first batch, then with all that has landed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.change_sets import moves, mysql, postgresql, races, rows
from tests.change_sets.cases import Case
from tests.support.change_set_project import ChangeSetProject
from tests.support.commands import Outcome
from tests.support.shop import Row

# `make test` takes these.
IN_MAKE_TEST: list[Case] = [
    postgresql.latest_wins(),
    postgresql.combined(),
    postgresql.filtered(),
    postgresql.open_transaction(),
    postgresql.two_slots(),
    postgresql.signed_gap(),
    moves.moved(),
    rows.extracts(),
    rows.partial(),
]
# These are parsed and folded in the same way: test_positions.py has the order of events, races, epochs and other tables,
# test_values.py has upserts and encoded values, and the tests of the materialization have what becomes of versions,
# deletes and partial changes.
CASES: list[Case] = [
    *IN_MAKE_TEST,
    postgresql.moved_keys(),
    postgresql.version_of_the_row(),
    postgresql.signed_broken(),
    moves.moved_binlog(),
    races.races(),
    mysql.binlog(),
    rows.names(),
    rows.upserts(),
    rows.of_another_tool(),
    rows.misspelt("misspelt", "name is missing", ""),
    rows.misspelt("misspelt_required", "name is null", ", required=['name']"),
    rows.deletes_by_place(),
]


def each(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Run a test for each of these cases, in `make test` for some."""
    return pytest.mark.parametrize(
        "case",
        [pytest.param(case, id=case.name, marks=() if case in IN_MAKE_TEST else pytest.mark.all) for case in cases],
    )


def chosen(request: pytest.FixtureRequest) -> list[Case]:
    """The cases of the tests that were selected, and those that tests without a case need."""
    found: list[Case] = []
    for item in request.session.items:
        if "built" in getattr(item, "fixturenames", ()) and item.path.parent == Path(__file__).parent:
            of_item = getattr(item, "callspec", None)
            found += [of_item.params["case"]] if of_item else IN_MAKE_TEST
    return [case for case in CASES if case in found]


@dataclass(frozen=True)
class Built:
    """The project, and its results for the cases."""

    cases: list[Case]
    project: ChangeSetProject
    files: dict[tuple[str, int], str]
    outcomes: list[Outcome]
    live: dict[str, list[Row]]
    quarantined: list[Row]


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    cases = chosen(request)
    project = ChangeSetProject(
        tmp_path_factory.mktemp("change_sets"),
        [case.situation for case in cases],
        quarantined={case.name for case in cases if case.is_quarantined},
        # If the change set stops, there are no parsed lines to read. Of the others, two parse their lines twice.
        parsed_once={case.name for case in cases if not case.stops} - {"extracts", "binlog"},
    )
    files = {
        (case.name, batch): project.land(case.name, batch, case.texts(batch))
        for case in cases
        for batch in case.batches
    }
    outcomes = project.run(1, 3)
    if IN_MAKE_TEST[0] in cases:
        outcomes += project.dbt(
            ["run", "--select", "moved_changes"], ["test", "--select", "stg_latest_wins stg_combined"]
        )
    return Built(cases, project, files, outcomes, project.live_rows(), project.quarantined())
