"""Projects for which dbt parses the macros only once.

Parsing hundreds of macros takes dbt seconds. It saves the result, and then parses only changed files, per project and
profile. These projects share their macros, so each one starts from what was saved for the first. A command after which
no file of the project has changed reads nothing again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import parsedatetime  # type: ignore[import-untyped]
import pytest
from dbt.adapters.factory import get_adapter
from dbt.artifacts.resources.base import FileHash
from dbt.config.runtime import RuntimeConfig
from dbt.context.query_header import generate_query_header_context
from dbt.contracts.graph.manifest import Manifest, ManifestStateCheck
from dbt.contracts.graph.nodes import Macro
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
        patch.setattr(ManifestLoader, "get_full_manifest", _LastManifest(ManifestLoader.get_full_manifest).read)
        patch.setattr(Manifest, "from_msgpack", classmethod(_SavedMacros(Manifest.from_msgpack).read))
        # dbt looks up the module of every stack frame to name the origin of a flag, which is slow.
        patch.setattr(BehaviorFlagRendered, "_default_source", staticmethod(lambda: "dbt"))
        # For each result, dbt makes again what agate needs to read dates in any language.
        patch.setattr(parsedatetime, "Constants", cache(parsedatetime.Constants))
        yield


class _LastManifest:
    """The manifest of the last command, as long as no file of its project changes."""

    def __init__(self, stock: Callable[..., Manifest]) -> None:
        self._stock = stock
        self._files: object = None
        self._manifest: Manifest | None = None

    def read(self, config: RuntimeConfig, **options: Any) -> Manifest:
        """In place of `ManifestLoader.get_full_manifest`."""
        files = (config.target_name, _files(Path(config.project_root)))
        changes_it = config.args.which in ("clone", "parse") or getattr(config.args, "defer", False)
        if self._manifest is None or self._files != files or changes_it:
            self._files, self._manifest = None, self._stock(config, **options)
        else:
            adapter = get_adapter(config)
            adapter.set_macro_resolver(self._manifest)
            adapter.connections.set_query_header(generate_query_header_context(config, self._manifest))
        self._files = None if changes_it else files
        return self._manifest


def _files(project: Path) -> dict[Path, tuple[int, int]]:
    """The time and size of each file of a project, but for what dbt and the engines write."""
    written = {project / name for name in ("dbt_packages", "home", "logs", "target")}
    found = [path for top in project.iterdir() if top not in written for path in (top, *top.rglob("*"))]
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in found if path.is_file()}


class _SavedMacros:
    """Reads what dbt has saved, and makes each macro only once: they are the most of it, and no command changes them."""

    def __init__(self, stock: Callable[..., Manifest]) -> None:
        self._stock = stock
        self._known: dict[str, tuple[dict[str, Any], Macro]] = {}

    def read(self, _: type[Manifest], saved: bytes, decoder: Callable[[bytes], dict[str, Any]]) -> Manifest:
        """In place of `Manifest.from_msgpack`."""
        content = decoder(saved)
        macros = content.pop("macros")
        manifest = self._stock(content, decoder=lambda found: found)
        for name, macro in macros.items():
            if self._known.get(name, (None,))[0] != macro:
                self._known[name] = (macro, Macro.from_dict(macro))
        manifest.macros = {name: self._known[name][1] for name in macros}
        return manifest
