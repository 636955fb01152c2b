"""Calls between macros go one way, between files and between folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.macro_calls import Source, call_graph, cycles, macros_in, project_macros
from tests.support.macro_sources import environment
from tests.support.shop import REPOSITORY

HELPERS = Path("macros/helpers")
MAIN = Path("macros/materializations/versioned_collapsing")
# Each calls only itself and those before it.
ORDER = (
    HELPERS,
    *(MAIN / step for step in ("config", "checks", "state", "stage", "decide", "publish", "recover")),
    MAIN,
)  # fmt: skip
LONGEST_LINE = 120


@pytest.fixture(scope="module")
def macros() -> dict[str, Source]:
    return project_macros()


def file_cycles(macros: Mapping[str, Source]) -> list[list[str]]:
    """Files of which each calls the others, at once or by way of more files."""
    files: dict[str, set[str]] = {str(source.path): set() for source in macros.values()}
    for name, called in call_graph(macros).items():
        path = str(macros[name].path)
        files[path] |= {str(macros[other].path) for other in called} - {path}
    return cycles(files)


def backward_calls(macros: Mapping[str, Source]) -> list[str]:
    """Calls against the order of the folders, as `checks/a.sql: one calls two of state/b.sql`."""
    rank = {folder: at for at, folder in enumerate(ORDER)}
    return [
        f"{macros[name].path}: {name} calls {other} of {macros[other].path}"
        for name, called in call_graph(macros).items()
        for other in sorted(called)
        if macros[name].folder in rank
        if rank.get(macros[other].folder, len(ORDER)) > rank[macros[name].folder]
    ]


def private_calls(macros: Mapping[str, Source]) -> list[str]:
    """Calls of another folder's private macros."""
    return [
        f"{macros[name].path}: {name} calls {other} of {macros[other].path}"
        for name, called in call_graph(macros).items()
        for other in sorted(called)
        if other.startswith("_") and macros[other].folder != macros[name].folder
    ]


def test_files_form_no_cycle(macros: dict[str, Source]) -> None:
    assert len(macros) > 200
    assert file_cycles(macros) == []


def test_folders_are_in_order(macros: dict[str, Source]) -> None:
    assert {source.folder for source in macros.values()} >= set(ORDER)
    assert backward_calls(macros) == []


def test_private_macros_are_private(macros: dict[str, Source]) -> None:
    assert private_calls(macros) == []


def test_lines_are_short() -> None:
    long_lines = [
        f"{path.relative_to(REPOSITORY)}:{number}"
        for folder in ("macros", "tests/generic", "models", "analyses", "seeds")
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in (".sql", ".yml")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert long_lines == []


# That the checks find what they are for.


def sources_of(files: Mapping[Path, str]) -> dict[str, Source]:
    found = (macros_in(path, environment.parse(text)) for path, text in files.items())
    return {source.name: source for sources in found for source in sources}


def macro(name: str, *called: str) -> str:
    calls = "".join(f"{{% do versioned_collapsing.{other}() %}}" for other in called)
    return f"{{% macro {name}() %}}{calls}{{% endmacro %}}"


def test_a_cycle_is_found() -> None:
    files = {
        HELPERS / "a.sql": macro("one", "two"),
        HELPERS / "b.sql": macro("two", "three") + macro("four", "two"),
        HELPERS / "c.sql": macro("three"),
    }
    assert file_cycles(sources_of(files)) == []
    files[HELPERS / "c.sql"] = "{% macro three() %}{% do adapter.dispatch('it')() %}{% endmacro %}"
    files[HELPERS / "a.sql"] += macro("default__it")
    names = [str(HELPERS / f"{name}.sql") for name in "abc"]
    assert file_cycles(sources_of(files)) == [names]


@pytest.mark.parametrize(
    ("caller", "called", "is_right"),
    [
        (MAIN / "stage", MAIN / "state", True),
        (MAIN / "stage", HELPERS, True),
        (MAIN, MAIN / "recover", True),
        (Path("macros/operations"), MAIN, True),
        (MAIN / "state", MAIN / "stage", False),
        (HELPERS, MAIN / "config", False),
        (MAIN / "recover", MAIN, False),
        (MAIN, Path("macros/operations"), False),
    ],
)
def test_a_call_backwards_is_found(caller: Path, called: Path, is_right: bool) -> None:
    found = sources_of({caller / "a.sql": macro("one", "two"), called / "b.sql": macro("two")})
    assert (backward_calls(found) == []) == is_right


def test_a_private_call_is_found() -> None:
    files = {HELPERS / "a.sql": macro("one", "_two"), HELPERS / "b.sql": macro("_two")}
    assert private_calls(sources_of(files)) == []
    files[MAIN / "c.sql"] = macro("three", "_two")
    assert len(private_calls(sources_of(files))) == 1
