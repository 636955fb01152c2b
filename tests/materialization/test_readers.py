"""What readers see during applies: a state between two applies, and never a part of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.polling import CONFIG, QUERIES, THREADS, Changes, Readers, Size, apply_rows, poll_applies

Address = tuple[str, int]

# The long form takes ten times as long.
pytestmark = pytest.mark.timeout(2 * 3600)


@pytest.fixture
def size(is_exhaustive: bool) -> Size:
    return Size(rows=10_000, applies=200 if is_exhaustive else 10, changes=3_000)


@pytest.mark.parametrize("chunks", [1, 3])
def test_readers_see_all_of_an_apply_or_nothing(
    make_project: MakeProject, server: Address, size: Size, chunks: int
) -> None:
    project = make_project(f"readers_{chunks}")
    report = poll_applies(project, server, {"chunks": chunks}, size)
    assert report.polls >= 50 * size.applies
    assert (report.torn, report.backward) == (0, 0), report


def test_with_a_journal_the_end_is_right(make_project: MakeProject, server: Address, size: Size) -> None:
    """Meanwhile, readers may see parts of an apply, which `make bench` measures."""
    project = make_project("readers_journal")
    size = replace(size, applies=size.applies // 4)
    report = poll_applies(project, server, {"publish": "journal"}, size)
    assert report.polls >= 50 * size.applies


def reading(make_project: MakeProject, server: Address, schema: str) -> tuple[CollapsingProject, Changes, Readers]:
    """A table of 100 rows and its readers."""
    project, changes = make_project(schema), Changes(rows=100)
    project.add_model("target", CONFIG, "select * from changes")
    apply_rows(project, changes.first)
    return project, changes, Readers(server, schema, changes.state)


def test_the_poll_finds_cancel_rows_without_state_rows(make_project: MakeProject, server: Address) -> None:
    """Every query notices them."""
    project, changes, readers = reading(make_project, server, "readers_torn")
    keys = range(10)
    with readers.reading():
        changes.state.update({key: changes.state[key]._replace(amount=1) for key in keys})
        with readers.applying(changes.state):
            write(project, "amount, 1, -1", len(keys))
            readers.wait_for_polls()
            write(project, "1, 2, 1", len(keys))
    report = readers.report()
    assert report.torn >= THREADS * len(QUERIES)
    assert report.wrong.keys() == QUERIES.keys()
    assert report.worst >= 0.1
    assert report.longest > 0
    assert report.backward == 0


def test_the_poll_finds_a_state_that_was_over(make_project: MakeProject, server: Address) -> None:
    project, changes, readers = reading(make_project, server, "readers_backward")
    with readers.reading():
        del changes.state[0]
        with readers.applying(changes.state):
            write(project, "amount, 1, -1", 1)
        write(project, "amount, 1, 1", 1)
        readers.wait_for_polls()
        write(project, "amount, 1, -1", 1)
    report = readers.report()
    assert report.backward >= THREADS * len(QUERIES)
    assert report.wrong.keys() == QUERIES.keys()
    assert report.longest > 0
    assert report.torn == 0


def write(project: CollapsingProject, values: str, keys: int) -> None:
    """Write rows for the first keys: amount, version and sign."""
    project.command(
        "insert into target (id, part, region, amount, _version, _sign) "
        f"select id, part, region, {values} from changes where id < {keys}"
    )
