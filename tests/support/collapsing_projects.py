"""Projects for which dbt parses the macros only once.

Parsing hundreds of macros takes dbt seconds. It saves the result, and then parses only changed files, per project and
profile. These projects share their macros, so each one starts from what was saved for the first.
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
    """Yields a function that makes a project on a server, in the schema of that name; ``make_folder`` makes its
    folder."""
    with _parsed_once():
        parsed = CollapsingProject(make_folder("parsed"), address, "parsed")
        parsed.dbt("parse")

        def make(schema: str) -> CollapsingProject:
            project = CollapsingProject(make_folder(schema), address, schema)
            (project.folder / SAVED.parent).mkdir()
            shutil.copy(parsed.folder / SAVED, project.folder / SAVED)
            return project

        yield make


@contextmanager
def _parsed_once() -> Iterator[None]:
    """Within the block, another schema in the profile and other variables do not make dbt parse everything again: no
    model of a test has options that depend on them."""
    stock = ManifestLoader.build_manifest_state_check

    def state_check(loader: ManifestLoader) -> ManifestStateCheck:
        found: ManifestStateCheck = stock(loader)  # type: ignore[no-untyped-call]
        found.profile_hash = found.vars_hash = FileHash.from_contents("")
        found.project_hashes = dict.fromkeys(found.project_hashes, FileHash.from_contents(""))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ManifestLoader, "build_manifest_state_check", state_check)
        # dbt looks up the module of every stack frame to name the origin of a flag, which is slow.
        patch.setattr(BehaviorFlagRendered, "_default_source", staticmethod(lambda: "dbt"))
        yield
