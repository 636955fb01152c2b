"""Applies without an engine: one project with a model for each scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.macros.harness import Project, Recording, parsed_project
from tests.macros.scenarios import LOCK_SECONDS, SCENARIOS, Scenario
from tests.support.chdb_http import running_server

MODELS = {name: sql for scenario in SCENARIOS for name, sql in scenario.models().items()}
VARIABLES = {"versioned_collapsing_lock_seconds": LOCK_SECONDS}


@pytest.fixture(scope="session", autouse=True)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With `--record`, what ClickHouse answers today."""
    if not request.config.getoption("--record"):
        return
    with (
        running_server(tmp_path_factory.mktemp("clickhouse")) as address,
        parsed_project(tmp_path_factory.mktemp("recorded"), MODELS, address, VARIABLES) as project,
    ):
        for scenario in SCENARIOS:
            scenario.record(project).save(scenario.path)


@pytest.fixture(scope="package")
def project(recorded: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project, without an engine."""
    with parsed_project(tmp_path_factory.mktemp("parsed"), MODELS, variables=VARIABLES) as found:
        yield found


class Sent:
    """What each scenario sends; each is rendered once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._sent: dict[str, list[str]] = {}

    def __call__(self, scenario: Scenario) -> list[str]:
        if scenario.name not in self._sent:
            replay = self._project.replay(scenario.model, Recording.load(scenario.path), scenario.hour)
            self._sent[scenario.name] = replay.sent
        return self._sent[scenario.name]


@pytest.fixture(scope="package")
def sent(project: Any) -> Sent:
    return Sent(project)
