"""Every way in which runs can go on, die and stall, as long as there are few of them.

`protocol.py` is the model: what a run sends, step by step. Nothing may be wrong in any state that can be reached. Without
one of its guards, something is, and the search finds the shortest way to it: `python -m tests.model` prints these ways.
`tests/macros/test_model.py` compares the model with the statements that the macros send.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import pytest

from tests.model.protocol import FEED, LOCK, VIEW, Guard, Model, Program, run, run_view
from tests.model.search import LAST, Search, execute
from tests.model.world import World
from tests.support.shop import REPOSITORY

# Key a moves to the other partition with each version. Key b is deleted, and then a late event of it comes.
BATCHES = {
    1: (("a", 1, False), ("b", 1, False)),
    2: (("a", 2, False), ("b", 2, True)),
    3: (("a", 3, False), ("b", 1, False)),
}
NAMES = "ABC"


@dataclass(frozen=True)
class Scenario:
    """Runs after a first one that has applied batch 1. A view that comes first finds batch 2, too.

    Attributes:
        kinds: of the runs: `run`, `refresh` for a full refresh, or `view` for one of a versioned_collapsing_view. The first one finds two batches, the others three.
        faults: how many things happen to them.
        at_once: how many of them go on at the same time.
        is_one_dead: whether a run has died and left its lock.
    """

    name: str
    kinds: tuple[str, ...]
    model: Model
    faults: int = 1
    at_once: int = 1
    is_one_dead: bool = False

    def search(self, *without: Guard) -> Search:
        model = replace(self.model, without=frozenset(without))
        runs: dict[str, Callable[[], Program]] = {}
        for number, (name, kind) in enumerate(zip(NAMES, self.kinds, strict=False)):
            landed = range(1, min(number + 3, len(BATCHES) + 1))
            runs[name] = partial(run, model, name, landed, is_full_refresh=kind == "refresh")
            if kind == "view":
                runs[name] = partial(run_view, model, name)
        return Search(model, runs, partial(self._last, model), self._start(), self.faults, self.at_once)

    def _last(self, model: Model) -> Program:
        yield from run(model, LAST, BATCHES)
        if "view" in self.kinds:
            yield from run_view(model, LAST)

    def _start(self) -> World:
        world = World().create(FEED)
        if self.model.is_journal and "refresh" not in self.kinds:
            world = world.create(VIEW)
        world, _ = execute(run(self.model, "first", [1]), world)
        if "view" in self.kinds:
            world, _ = execute(run_view(self.model, "first view"), world)
        if self.kinds[0] == "view":
            world, _ = execute(run(self.model, "second", [1, 2]), world)
        return world.create(LOCK, "dead").age(LOCK, is_idle=True) if self.is_one_dead else world


PLAIN = Model(BATCHES)
FED = Model(BATCHES, is_fed=True)
JOURNAL = Model(BATCHES, is_journal=True)
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("one after the other", ("run", "run"), FED, faults=2),
        Scenario("journal", ("run", "run"), JOURNAL, faults=2),
        Scenario("chunks", ("run", "run"), Model(BATCHES, chunks=2), faults=2),
        Scenario("full refresh", ("refresh", "run"), FED, faults=2),
        Scenario("full refresh with a journal", ("refresh", "run"), JOURNAL),
        Scenario("full refresh after a run", ("run", "refresh"), FED),
        Scenario("two at once", ("run", "run"), PLAIN, at_once=2),
        Scenario("two at once that also die", ("run", "run"), PLAIN, faults=2, at_once=2),
        Scenario("full refresh and run at once", ("refresh", "run"), PLAIN, at_once=2),
        Scenario("view", ("run", "view"), FED, faults=2),
        Scenario("view and run at once", ("view", "run"), FED, at_once=2),
        Scenario("two views at once", ("view", "view"), FED, at_once=2),
        Scenario("two take over at once", ("run", "run"), PLAIN, faults=0, at_once=2, is_one_dead=True),
    )
}
# For `make soak`, in some minutes.
DEEPER = [
    *(replace(scenario, faults=scenario.faults + 1) for scenario in SCENARIOS.values()),
    Scenario("chunks with a journal", ("run", "run"), Model(BATCHES, is_journal=True, chunks=2), faults=2),
    Scenario("two at once, fed", ("run", "run"), FED, at_once=2),
    Scenario("two at once with a journal", ("run", "run"), JOURNAL, at_once=2),
    Scenario("three at once", ("run", "run", "run"), PLAIN, at_once=2),
    # Not yet: three runs that take over one lock and also die. If one of them has moved the new lock of another away, for
    # some milliseconds, a third one can take the lock while a statement of the other is under way.
]

# The scenario in which a guard is needed, and what is wrong without it.
NEEDED = {
    Guard.ONE_AT_A_TIME: ("two at once", "a reader sees"),
    Guard.LOCK_IS_KEPT: ("one after the other", "in the end the feed has"),
    Guard.TAKEN_LOCK_IS_IDLE: ("two at once that also die", "a reader sees"),
    Guard.LOOKS_BEFORE_STAGING: ("two at once", "a reader sees"),
    Guard.LOOKS_BEFORE_ROWS: ("two at once", "a reader sees"),
    Guard.LOOKS_AT_END: ("two at once", "in the end the table has"),
    Guard.SOON: ("two at once", "a reader sees"),
    Guard.STARTED: ("one after the other", "in the end the feed has"),
    Guard.APPLIED_AT_END: ("one after the other", "in the end the table has"),
    Guard.RECOVERS: ("one after the other", "in the end the feed has"),
    Guard.REDO_COMPARES: ("one after the other", "in the end the feed has"),
    Guard.ATOMIC_ATTACH: ("one after the other", "a reader sees"),
    Guard.NEW_SIGNED: ("one after the other", "in the end the table has"),
    Guard.EMPTY_INPUT: ("one after the other", "in the end the table has"),
    Guard.FEED_BEFORE_STARTED: ("one after the other", "in the end the feed has"),
    Guard.FEED_IS_TRIMMED: ("one after the other", "in the end the feed has"),
    Guard.REMEMBERED: ("one after the other", "in the end the table has"),
    Guard.TOMBSTONES_ARE_BOUND: ("full refresh", "in the end the table has"),
    Guard.BUILD_BESIDE: ("full refresh", "the last run fails"),
    Guard.LEFTOVER_IS_DROPPED: ("full refresh", "in the end left behind"),
    Guard.TOKENS: ("journal", "in the end the view has"),
    Guard.BLOCK_IS_RECORDED: ("journal", "in the end the view has"),
    Guard.COMPARED_AFTER_BLOCKS: ("journal", "in the end the table has"),
    Guard.CHUNK_OUTPUT_IS_DROPPED: ("chunks", "a reader sees"),
    Guard.VIEW_BESIDE: ("view", "in the end the sums are"),
    Guard.VIEW_UUID: ("view", "in the end the sums are"),
    Guard.VIEW_RECOVERS: ("view", "a reader sees"),
    Guard.VIEW_LOOKS: ("two views at once", "a reader of the view sees"),
    Guard.WRITES_ARE_SENT_ONCE: ("one after the other", "a reader sees"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "scenario" in metafunc.fixturenames:
        deeper = DEEPER if metafunc.config.getoption("--exhaustive") else []
        metafunc.parametrize("scenario", [*SCENARIOS.values(), *deeper], ids=lambda scenario: scenario.name)


def test_the_guide_says_how_many_guards_there_are() -> None:
    assert f"The protocol has {len(Guard)} guards" in (REPOSITORY / "docs/how_a_run_works.md").read_text()


def test_nothing_goes_wrong(scenario: Scenario) -> None:
    wrong = scenario.search().find()
    assert wrong is None, wrong


@pytest.mark.parametrize("guard", Guard)
def test_each_guard_is_needed(guard: Guard) -> None:
    name, what = NEEDED[guard]
    wrong = SCENARIOS[name].search(guard).find()
    assert wrong is not None
    assert wrong.what.startswith(what)
