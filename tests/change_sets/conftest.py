"""The chosen cases in one project, built twice in one process: up to the first batch, then with all that has landed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from tests.change_sets import moves, mysql, postgresql, races, rows
from tests.change_sets.cases import Broken, Case
from tests.support.change_set_project import ChangeSetProject
from tests.support.commands import Outcome, variables
from tests.support.shop import Row

CASES: list[Case] = [
    postgresql.latest_wins(),
    postgresql.values_left_out(),
    postgresql.combined("extremes", "greatest", "coalesce", "least", seed=3),
    postgresql.combined("firsts", "least", "first", "latest", seed=9),
    postgresql.moved_keys(),
    postgresql.open_transaction(),
    postgresql.two_slots(),
    postgresql.other_tables(),
    postgresql.unnamed_tables(),
    moves.moved(),
    moves.moved_epochs(),
    moves.restored(),
    moves.moved_binlog(),
    postgresql.version_of_the_row(),
    postgresql.signed(),
    postgresql.signed_broken(),
    postgresql.signed_gap(),
    *(races.of_table(table) for table in ("accounts", "coded", "items")),
    mysql.binlog(),
    mysql.gtid(),
    rows.names(),
    rows.upserts(),
    rows.partial(),
    rows.sparse(),
    rows.by_batch(),
    rows.extracts(),
    rows.of_another_tool(),
    rows.deletes_by_place(),
]
# `make test` takes these, of which the tests without a case need the most. The others are parsed and folded in the same
# way: test_positions.py has the order of events, races, epochs and other tables, test_values.py has upserts, and the
# tests of the materialization have what becomes of versions, deletes and partial changes.
IN_MAKE_TEST = (
    *("latest_wins", "extremes", "moved", "open_transaction", "two_slots", "binlog", "extracts", "partial"),
    "signed_gap",
)


def each(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Run a test for each of these cases, in `make test` for some."""
    marks = {case.name: () if case.name in IN_MAKE_TEST else pytest.mark.all for case in cases}
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name, marks=marks[case.name]) for case in cases])


def chosen(request: pytest.FixtureRequest) -> list[Case]:
    """The cases of the tests that were selected, and those that tests without a case need."""
    parameters = [getattr(item, "callspec", None) for item in request.session.items]
    names = {found.params["case"].name for found in parameters if found and isinstance(found.params.get("case"), Case)}
    return [case for case in CASES if case.name in names.union(IN_MAKE_TEST)]


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
        models={
            "staging/ignored.sql": "{{ config(materialized='table') }}\n"
            "select _ignored as name, count(*) as lines from {{ ref('stg_latest_wins') }}\n"
            "where _ignored is not null group by _ignored"
        },
        # If the change set stops, there are no parsed lines to read.
        parsed_once={case.name for case in cases if not case.stops} - {"latest_wins", "extracts"},
    )
    files = {
        (case.name, batch): project.land(case.name, batch, case.texts(batch))
        for case in cases
        for batch in case.batches
    }
    outcomes = project.run(1, 3)
    outcomes += project.dbt(["test", "--select", "stg_latest_wins stg_binlog"])
    quarantined = project.quarantined()
    return Built(cases, project, files, outcomes, project.live_rows(), quarantined)


@dataclass(frozen=True)
class Corrected:
    """The outcome after files of applied batches were corrected, and an extract without keys landed."""

    outcomes: list[Outcome]
    live: dict[str, list[Row]]
    quarantined: list[Row]


@pytest.fixture(scope="session")
def corrected(built: Built) -> Corrected:
    cases = {case.name: case for case in built.cases}
    rebalanced = [
        postgresql.GOOD.line() if isinstance(line, Broken) else line for line in cases["latest_wins"].batches[1]
    ]
    built.project.land("latest_wins", 1, rebalanced)
    # The extract that was skipped, now with another row.
    built.project.land("extracts", 2, [*cases["extracts"].texts(2), rows.extract_line(7000)])
    built.project.land("extracts", 4, [rows.extract_line(1), '{"id":'])
    # The quarantine reads all staging models, of which the others have not changed.
    changed = [
        "--select",
        "staging",
        "latest_wins_changes+",
        "extracts_changes+",
        "moved_changes",
        "cdc_quarantine_changes+",
    ]
    commands = [["run", *changed, *variables(through_batch=batch)] for batch in (3, 4)]
    outcomes = built.project.dbt(*commands)
    quarantined = built.project.quarantined()
    return Corrected(outcomes, built.project.live_rows(), quarantined)
