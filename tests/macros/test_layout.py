"""Calls between macros go one way, between files and between folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.macro_calls import Source, call_graph, cycles, macros_in, project_macros
from tests.support.macro_sources import environment
from tests.support.shop import REPOSITORY

HELPERS = Path("macros/sql")
MAIN = Path("macros/materializations/versioned_collapsing")
SUBJECTS = (
    *("options", "columns", "options_checks", "columns_checks", "lock", "manifest", "tombstones"),
    *("feed", "ledger", "table", "casts", "forgotten", "stored", "stage", "counts", "fold", "unbalanced"),
    *("publish", "signed_input", "decide", "chunks", "recover", "versioned_collapsing"),
)
# Folders, and the files of the materialization. Each calls only itself and those before it.
ORDER = (
    *(HELPERS, Path("macros/clickhouse"), Path("macros/dbt")),
    *(MAIN / f"{subject}.sql" for subject in SUBJECTS),
)
LONGEST_LINE = 120


@pytest.fixture(scope="module")
def macros() -> dict[str, Source]:
    return project_macros()


def file_cycles(macros: Mapping[str, Source]) -> list[list[str]]:
    """Groups of files that call each other, directly or through other files."""
    files: dict[str, set[str]] = {str(source.path): set() for source in macros.values()}
    for name, called in call_graph(macros).items():
        path = str(macros[name].path)
        files[path] |= {str(macros[other].path) for other in called} - {path}
    return cycles(files)


def place(source: Source) -> Path:
    """The file of a macro of the materialization, or the folder of any other macro."""
    return source.path if source.folder == MAIN else source.folder


def backward_calls(macros: Mapping[str, Source]) -> list[str]:
    """Calls against the order, as `lock.sql: one calls two of ledger.sql`."""
    rank = {each: at for at, each in enumerate(ORDER)}
    return [
        f"{macros[name].path}: {name} calls {other} of {macros[other].path}"
        for name, called in call_graph(macros).items()
        for other in sorted(called)
        if place(macros[name]) in rank
        if rank.get(place(macros[other]), len(ORDER)) > rank[place(macros[name])]
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


def test_subjects_are_in_order(macros: dict[str, Source]) -> None:
    places = {place(source) for source in macros.values()}
    assert {each for each in places if each in ORDER or each.parent == MAIN} == set(ORDER)
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


# The checks themselves find violations.


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
    ("caller", "called"),
    [
        (MAIN / "ledger.sql", MAIN / "stage.sql"),
        (HELPERS / "a.sql", MAIN / "options.sql"),
        (MAIN / "recover.sql", MAIN / "versioned_collapsing.sql"),
        (MAIN / "lock.sql", Path("macros/operations/a.sql")),
    ],
)
def test_a_call_backwards_is_found(caller: Path, called: Path) -> None:
    assert backward_calls(sources_of({caller: macro("one", "two"), called: macro("two")})) != []


def test_a_private_call_is_found() -> None:
    files = {HELPERS / "a.sql": macro("one", "_two"), HELPERS / "b.sql": macro("_two")}
    assert private_calls(sources_of(files)) == []
    files[MAIN / "c.sql"] = macro("three", "_two")
    assert len(private_calls(sources_of(files))) == 1
