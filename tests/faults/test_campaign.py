"""The short form of the campaign."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.campaign import ENGINES, Campaign, Plan
from tests.faults.engines import Engine
from tests.faults.kinds import KINDS

SEED = "make test"
# A process that is killed, and faults that no other test covers, by the engine on which they are tried.
SHORT = {"embedded": ("SIGKILL", "full disk"), "server": ("answer lost", "query killed")}


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
