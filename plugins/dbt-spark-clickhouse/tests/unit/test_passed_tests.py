"""What counts for a test that passed: its outcome, the files that it reads, and its surroundings."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import agate
import pytest

from dbt.adapters.spark_clickhouse.spark import passed_tests
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord
from dbt.adapters.spark_clickhouse.spark.passed_tests import DATA_TEST, UNIT_TEST, PassedTests
from dbt.adapters.spark_clickhouse.spark.statement_inputs import StatementInputs, folder_state

OUTCOME = ["failures", "should_warn", "should_error"]
SIDES = ["id", "actual_or_expected", "name"]


@pytest.mark.parametrize(
    ("names", "rows", "expected"),
    [
        (OUTCOME, [(0, False, False)], True),
        (OUTCOME, [(1, False, False)], False),
        (OUTCOME, [(0, True, False)], False),
        (OUTCOME, [(0, False, True)], False),
        (OUTCOME, [(None, False, False)], False),
        (OUTCOME, [(0, None, False)], False),
        (OUTCOME, [], False),
        (["n"], [(0,)], False),
        (SIDES, [(1, "actual", "a"), (1, "expected", "a")], True),
        (SIDES, [(1, "actual", "a"), (2, "actual", None), (2, "expected", None), (1, "expected", "a")], True),
        (SIDES, [(1, "actual", "a"), (1, "expected", "b")], False),
        (SIDES, [(1, "actual", "a"), (1, "actual", "a"), (1, "expected", "a")], False),
        (SIDES, [(1, "actual", "a")], False),
        (SIDES, [(1, "actual", None), (1, "expected", "b")], False),
        (SIDES, [(1, "neither", "a")], False),
    ],
)
def test_only_what_passed_is_remembered(names: list[str], rows: list[tuple[Any, ...]], expected: bool) -> None:
    assert passed_tests._has_passed(agate.Table(rows, names)) is expected


@pytest.mark.parametrize("kind", [DATA_TEST, UNIT_TEST])
def test_what_is_answered_of_a_test_that_passed_is_that_it_passed(kind: str) -> None:
    assert passed_tests._has_passed(passed_tests.outcome_of_passed(kind))


def write_in_place(file: Path) -> None:
    with file.open("r+") as handle:
        handle.write("2")
    os.utime(file, ns=(1, 1))


CHANGES: dict[str, Callable[[Path], object]] = {
    "another file": lambda folder: (folder / "b.txt").write_text("1"),
    "in a folder below": lambda folder: (folder / "batch=1" / "b.txt").write_text("1"),
    "a file is gone": lambda folder: (folder / "a.txt").unlink(),
    "written in place, its time put back": lambda folder: write_in_place(folder / "a.txt"),
    "replaced by one of the same size and time": lambda folder: _replace(folder / "a.txt"),
    "renamed": lambda folder: (folder / "a.txt").rename(folder / "c.txt"),
    "a checksum of Hadoop's": lambda folder: (folder / ".a.txt.crc").write_text("1"),
}


def _replace(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("2")
    os.utime(other, ns=(1, 1))
    other.replace(file)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_folder_is_noticed(tmp_path: Path, change: str) -> None:
    (tmp_path / "batch=1").mkdir()
    (tmp_path / "a.txt").write_text("1")
    os.utime(tmp_path / "a.txt", ns=(1, 1))
    inputs = StatementInputs((), {str(tmp_path): folder_state(str(tmp_path))})
    assert inputs.are_unchanged()
    (tmp_path / "_hand_off.json").write_text("a receipt")
    assert inputs.are_unchanged()
    CHANGES[change](tmp_path)
    assert not inputs.are_unchanged()


def manifest(**macros: str) -> Any:
    return SimpleNamespace(macros={name: SimpleNamespace(macro_sql=sql) for name, sql in macros.items()})


def config(*, full_refresh: bool = False, **variables: object) -> Any:
    return SimpleNamespace(
        args=SimpleNamespace(FULL_REFRESH=full_refresh), vars=SimpleNamespace(to_dict=dict), cli_vars=variables
    )


def key(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> str:
    monkeypatch.setenv("SPARK_HOME", changes.get("spark_home", "/nowhere"))
    tests = PassedTests(changes.get("config", config()), changes.get("settings", {}))
    found = changes.get("manifest", manifest(m="1"))
    return tests.key(changes.get("question", "select 1"), changes.get("root", "/project"), found)


@pytest.mark.parametrize(
    "change",
    [
        {"question": "select 2"},
        {"root": "/other"},
        {"config": config(one=1)},
        {"manifest": manifest(m="2")},
        {"manifest": manifest(m="1", n="1")},
        {"spark_home": "/elsewhere"},
    ],
    ids=str,
)
def test_another_question_or_surroundings_have_another_key(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    assert key(monkeypatch) == key(monkeypatch) != ""
    assert key(monkeypatch, **change) not in ("", key(monkeypatch))


def test_files_of_settings_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    before = key(monkeypatch)
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.ansi.enabled false")
    assert key(monkeypatch) != before


@pytest.mark.parametrize("settings", [{"spark.jars": "a.jar"}, {"spark.sql.session.timeZone": "Nowhere/City"}], ids=str)
def test_nothing_is_remembered_with_code_of_others_or_an_unknown_zone(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    assert key(monkeypatch, settings=settings) == ""
    assert not PassedTests(config(), settings).has_passed(MetastoreRecord(Path(), ""), "")


def test_a_full_refresh_asks_again(tmp_path: Path) -> None:
    record = MetastoreRecord(tmp_path, "")
    record.remember_test("key", {"relations": [], "folders": {}}, record.changes())
    assert PassedTests(config(), {}).has_passed(record, "key")
    assert not PassedTests(config(full_refresh=True), {}).has_passed(record, "key")


def test_a_folder_that_is_gone_has_changed(tmp_path: Path) -> None:
    record = MetastoreRecord(tmp_path, "")
    known = {"relations": [], "folders": {str(tmp_path / "gone"): "hash"}}
    record.remember_test("key", known, record.changes())
    assert not PassedTests(config(), {}).has_passed(record, "key")
