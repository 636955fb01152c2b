"""The model of an apply in `tests/model` sends what the macros send."""

from __future__ import annotations

import re

import pytest

from tests.macros.conftest import Sent
from tests.macros.harness import in_short
from tests.macros.scenarios import SCENARIOS
from tests.model.protocol import FEED, LOCK, Model, run, run_view
from tests.model.search import execute
from tests.model.world import UNFINISHED, World

FIRST = (("a", 1, False), ("b", 1, False))
UPDATE = (("a", 2, False),)
# What an apply stages for its own look-up. The model leaves these tables out.
_LEFT_OUT = re.compile(r"_dbt_(read|folded|uncollapsed|unbalanced)$|^versioned_collapsing_ledger$|^system\.")
_STATUS = re.compile(r"'(chunk staged|started|block applied|applied|filled)',\n")


def steps(statements: list[str]) -> list[str]:
    """The statements that change something. Where they read another table, only the one that they fill is named."""
    found = []
    for said in statements:
        if re.match(r"select |with |describe |create .* versioned_collapsing_ledger", said):
            continue
        verb, begin, names = re.sub(r"__dbt_lock_\w+", "__dbt_lock_me", said).partition("orders")
        tables = (begin + names).split(", ")
        if verb.startswith("truncate"):
            verb, tables = "truncate table ", [begin + said.rpartition("orders")[2]]
        if verb.startswith(("insert", "create")):
            tables = tables[:1]
        if tables := [name for name in tables if not _LEFT_OUT.search(name)]:
            found.append(verb + ", ".join(tables))
    return [step for step in found if not _LEFT_OUT.search(step)]


def recorded(sent: Sent, name: str) -> list[str]:
    """The statements of a scenario. Those that fill the ledger have their status."""
    (scenario,) = (scenario for scenario in SCENARIOS if scenario.name == name)
    return [
        f"insert into ledger, {status.group(1)}" if (status := _STATUS.search(sql)) else in_short(sql)
        for sql in sent(scenario)
    ]


@pytest.mark.parametrize(
    ("name", "model", "dies_before"),
    [
        ("first_run", Model({1: FIRST}), ""),
        ("update", Model({1: FIRST, 2: UPDATE}), ""),
        ("delete", Model({1: FIRST, 2: (("b", 2, True),)}), ""),
        ("journal", Model({1: FIRST, 2: (("c", 1, False),)}, is_journal=True), ""),
        ("chunks", Model({1: FIRST, 2: (*UPDATE, ("b", 2, False))}, chunks=2), ""),
        ("feed", Model({1: FIRST, 2: UPDATE}, is_fed=True), ""),
        ("full_refresh", Model({1: FIRST}), ""),
        ("recovery", Model({1: FIRST, 2: UPDATE}), "alter table attach partition orders,"),
        ("recovery_of_a_journal", Model({1: FIRST, 2: (("c", 1, False),)}, is_journal=True), "insert into orders,"),
    ],
)
def test_the_model_sends_what_the_macros_send(sent: Sent, name: str, model: Model, dies_before: str) -> None:
    world = World().create(FEED)
    if name != "first_run":
        world, _ = execute(run(model, "first", [1]), world)
    if dies_before:
        world, _ = execute(run(model, "dead", [1, 2]), world, dies_before)
        world = world.age(LOCK, is_idle=True)
    landed = [1] if dies_before else model.batches  # after a death, nothing new
    _, modelled = execute(run(model, "me", landed, is_full_refresh=name == "full_refresh"), world)
    assert steps(modelled) == steps(recorded(sent, name))


@pytest.mark.parametrize("name", ["view_fill", "view_refresh"])
def test_the_model_of_a_view_sends_what_the_macros_send(sent: Sent, name: str) -> None:
    model = Model({1: FIRST, 2: UPDATE}, is_fed=True)
    world, _ = execute(run(model, "first", [1]), World().create(FEED))
    if name == "view_refresh":
        world, _ = execute(run_view(model, "first view"), world)
        world, _ = execute(run(model, "second", [1, 2]), world)
    _, modelled = execute(run_view(model, "me"), world)
    assert steps(modelled) == steps(recorded(sent, name))


def test_the_model_has_the_statuses_of_the_ledger(sent: Sent) -> None:
    """Those that say that an apply has begun, and not ended, are in read_ledger too."""
    statuses = {status for scenario in SCENARIOS for sql in sent(scenario) for status in _STATUS.findall(sql)}
    assert {*UNFINISHED, "applied", "filled"} >= statuses
