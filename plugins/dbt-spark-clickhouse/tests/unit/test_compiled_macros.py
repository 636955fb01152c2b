"""Compiled Jinja that is kept from command to command."""

from __future__ import annotations

from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from dbt_common.clients import jinja
from jinja2 import Environment

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core import compiled_macros
from dbt.adapters.spark_clickhouse.core.compiled_macros import CompiledMacros

MACRO = "{% macro double(number) %}{{ number * 2 }}{% endmacro %}"


class Compiling:
    """dbt's environment for Jinja, with a list of what it compiles."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.compiled: list[str] = []
        self._patch = monkeypatch

    def with_kept(self, kept: CompiledMacros) -> None:
        """A new process, which knows what is in ``kept``."""

        def compile_and_note(environment: Any, source: Any, *arguments: Any, **options: Any) -> CodeType:
            self.compiled.append(source)
            code: CodeType = Environment.compile(environment, source, *arguments, **options)
            return code

        self._patch.setattr(jinja.MacroFuzzEnvironment, "compile", compile_and_note)
        private_api.keep_compiled(kept)


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> Compiling:
    """dbt's environment for Jinja."""
    return Compiling(monkeypatch)


def _loaded(folder: Path) -> CompiledMacros:
    kept = CompiledMacros()
    kept.load(folder)
    return kept


def _written(compiling: Compiling, folder: Path) -> None:
    kept = CompiledMacros()
    compiling.with_kept(kept)
    jinja.get_template(MACRO, {})
    kept.write(folder)
    compiling.compiled.clear()


def test_next_command_takes_code_from_the_file(compiling: Compiling, tmp_path: Path) -> None:
    _written(compiling, tmp_path)
    compiling.with_kept(_loaded(tmp_path))
    double: Any = getattr(jinja.get_template(MACRO, {}).make_module(), jinja.get_dbt_macro_name("double"))
    assert double(2) == "4"
    assert compiling.compiled == []
    assert [file.name for file in tmp_path.iterdir()] == ["compiled_macros.marshal"]


def test_changed_macro_and_native_rendering_are_compiled(compiling: Compiling, tmp_path: Path) -> None:
    _written(compiling, tmp_path)
    compiling.with_kept(_loaded(tmp_path))
    changed = MACRO.replace("2", "3")
    jinja.get_template(changed, {})
    jinja.get_template(MACRO, {}, native=True)
    assert compiling.compiled == [changed, MACRO]


@pytest.mark.parametrize("damage", ["cut off", "zeros", "another version"])
def test_unusable_file_is_ignored(
    compiling: Compiling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    _written(compiling, tmp_path)
    (file,) = tmp_path.iterdir()
    if damage == "another version":
        monkeypatch.setattr(compiled_macros.metadata, "version", lambda package: f"{package} 99")
    else:
        file.write_bytes(file.read_bytes()[:-9] if damage == "cut off" else bytes(file.stat().st_size))
    compiling.with_kept(_loaded(tmp_path))
    jinja.get_template(MACRO, {})
    assert compiling.compiled == [MACRO]


def test_of_too_many_texts_those_of_the_last_command_stay(
    compiling: Compiling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(compiling, tmp_path)
    monkeypatch.setattr(compiled_macros, "_MOST_TEXTS", 1)
    kept = _loaded(tmp_path)
    compiling.with_kept(kept)
    jinja.get_template("{{ other }}", {})
    kept.write(tmp_path)
    found = _loaded(tmp_path)
    assert found.get("MacroFuzzEnvironment", MACRO) is None
    assert found.get("MacroFuzzEnvironment", "{{ other }}") is not None


def test_folder_that_cannot_be_written_fails_no_command(compiling: Compiling, tmp_path: Path) -> None:
    _written(compiling, tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
