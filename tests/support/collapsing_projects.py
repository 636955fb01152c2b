"""Projects for which dbt parses the macros once.

To parse 400 macros takes dbt seconds. It saves what it has parsed and then parses only changed files, in one project
and with one profile. These projects have the same macros, so each begins with what was saved of the first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dbt.artifacts.resources.base import FileHash
from dbt.contracts.graph.manifest import ManifestStateCheck
from dbt.parser.manifest import ManifestLoader
from dbt_common.behavior_flags import BehaviorFlagRendered

from tests.support.collapsing_project import CollapsingProject

SAVED = Path("target") / "partial_parse.msgpack"
MakeProject = Callable[[str], CollapsingProject]


@contextmanager
def collapsing_projects(address: tuple[str, int], make_folder: Callable[[str], Path]) -> Iterator[MakeProject]:
    """Yields what makes a project on a server, in a schema of that name; ``make_folder`` makes its folder."""
    with _same_profile():
        parsed = CollapsingProject(make_folder("parsed"), address, "parsed")
        parsed.dbt("parse")

        def make(schema: str) -> CollapsingProject:
            project = CollapsingProject(make_folder(schema), address, schema)
            (project.folder / SAVED.parent).mkdir()
            shutil.copy(parsed.folder / SAVED, project.folder / SAVED)
            return project

        yield make


@contextmanager
def _same_profile() -> Iterator[None]:
    """Within the block dbt does not parse everything again because another schema is in the profile."""
    stock = ManifestLoader.build_manifest_state_check

    def state_check(loader: ManifestLoader) -> ManifestStateCheck:
        found: ManifestStateCheck = stock(loader)  # type: ignore[no-untyped-call]
        found.profile_hash = FileHash.from_contents("")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ManifestLoader, "build_manifest_state_check", state_check)
        # dbt looks for the module of each frame of the stack, to name the origin of a flag.
        patch.setattr(BehaviorFlagRendered, "_default_source", staticmethod(lambda: "dbt"))
        yield
