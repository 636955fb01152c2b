"""The short form of the campaign, and what its own parts promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.campaign import ENGINES, Campaign, Plan, plan, table
from tests.faults.checks import Wrong
from tests.faults.engines import Engine
from tests.faults.kinds import KINDS
from tests.faults.life import Step
from tests.faults.source import Event, state_of

SEED = "make test"
# The faults that no other test covers, by the engine on which they are tried.
SHORT = {
    "embedded": ("full disk", "clock jumps"),
    "server": ("answer lost", "connection cut during a statement", "query killed", "memory limit"),
}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    campaign = Campaign(tmp_path_factory.mktemp("faults"))
    yield campaign
    campaign.close()


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_life(campaign: Campaign, engine: type[Engine]) -> None:
    kinds = SHORT[engine.name]
    variant = {"embedded": "history", "server": "atomic"}[engine.name]
    life = Plan(SEED, engine, variant, [KINDS[name] for name in kinds], SEED)
    steps = campaign.live(life)
    assert [(step.kind, step.texts) for step in steps] == [(name, []) for name in kinds]
    assert sum(step.runs for step in steps) > len(kinds)


def test_a_life_is_the_same_each_time() -> None:
    assert plan("1", 7, list(KINDS)) == plan("1", 7, list(KINDS))
    assert plan("1", 7, list(KINDS)) != plan("2", 7, list(KINDS))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_every_kind_comes_before_one_comes_again(engine: type[Engine]) -> None:
    able = [name for name, kind in KINDS.items() if engine in kind.engines]
    first = ENGINES.index(engine)
    lives = [plan("1", first + 2 * turn, able) for turn in range(len(able))]
    drawn = [kind.name for life in lives for kind in life.kinds]
    assert Counter(drawn) == dict.fromkeys(able, len(drawn) // len(able))
    assert {life.variant for life in lives} == {"atomic", "chunks", "journal", "history", "fed"}


def test_the_reference_does_not_depend_on_the_order() -> None:
    events = [
        Event(1, 0, "EU", 1, 1),
        Event(1, 1, "US", 2, 4),
        Event(2, 0, "EU", 3, 2),
        Event(2, 0, "EU", 3, 5, is_deleted=True),
        Event(0, 0, "", 0, 3, is_truncate=True),
        Event(3, 0, "EU", 7, 3),
        Event(4, 0, "EU", 7, 6, is_deleted=True),
        Event(4, 0, "AP", 8, 7),
    ]
    for order in (events, events[::-1], [*events[3:], *events]):
        state = state_of(order)
        assert state.rows == [(1, 1, "US", 2, 4), (4, 0, "AP", 8, 7)]
        assert state.deleted == {2: 5}
        assert state.sums({"US": 3}) == [("US", 1, 6)]


def test_a_wrong_row_is_counted() -> None:
    wrong = Wrong()
    wrong.compare("rows", [1, 2, 2], [1, 2, 3])
    assert wrong.rows == 2
    assert wrong.texts == ["rows: 1 unexpected, as [2]; 1 missing, as [3]"]


def test_a_step_that_is_not_healed_is_in_the_table(tmp_path: Path) -> None:
    printed = table([("server", "atomic", Step("SIGKILL", runs=2, wrong_rows=3, is_unhealed=True))])
    assert [cell.strip() for cell in printed.splitlines()[2].split("|")[1:-1]] == [
        *("deaths", "SIGKILL", "1", "0", "2", "0", "3", "1")
    ]
