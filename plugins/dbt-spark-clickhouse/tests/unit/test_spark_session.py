"""Which Spark a process has, and when its metastore may be recorded."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.router.macro_api import LITTLE_DATA, MacroMethods
from dbt.adapters.spark_clickhouse.spark import session as spark_session
from dbt.adapters.spark_clickhouse.spark.metastore_record import forget_records
from dbt.adapters.spark_clickhouse.spark.session import (
    JAVA_OPTIONS,
    OF_LITTLE_DATA,
    OF_MORE_DATA,
    default_settings,
    own_record,
    start_session,
)


def credentials(home: Path, **settings: str) -> EmbeddedSparkCredentials:
    found = EmbeddedSparkCredentials(
        method=SparkMethod.SESSION, host="", schema="shop", home=str(home), project_root=str(home)
    )
    found.server_side_parameters = settings
    return found


def test_a_process_has_one_spark_for_one_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(private_api, "is_spark_running", lambda: True)
    monkeypatch.setattr(spark_session, "_homes", [tmp_path / "first"])
    start_session(credentials(tmp_path / "first"), 0)
    with pytest.raises(FailedToConnectError, match="second needs a Spark of its own"):
        start_session(credentials(tmp_path / "second"), 0)


def test_derby_cannot_be_told_of_a_semicolon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(private_api, "is_spark_running", lambda: False)
    with pytest.raises(FailedToConnectError, match=r"the path contains `;`\. Set `home`"):
        start_session(credentials(tmp_path / "a;b"), 0)
    assert not (tmp_path / "a;b").exists()


def test_a_record_is_of_one_home_and_of_its_settings(tmp_path: Path) -> None:
    first = own_record(credentials(tmp_path))
    assert first is own_record(credentials(tmp_path))
    other = own_record(credentials(tmp_path, **{"spark.sql.session.timeZone": "Asia/Kolkata"}))
    assert other is not first
    assert own_record(credentials(tmp_path, **{"spark.hive.metastore.uris": "thrift://x"})) is None
    forget_records()
    assert own_record(credentials(tmp_path)) is not first


@pytest.mark.parametrize("folder", ["my projects", "it's", 'a "b" c', "a\\b", 'a\\"b', "$HOME\n`x`"])
def test_a_path_may_have_any_character(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str) -> None:
    archive = tmp_path / folder / "spark.jsa"
    archive.parent.mkdir()
    archive.touch()
    monkeypatch.setattr("dbt.adapters.spark_clickhouse.spark.class_archive.archive_path", lambda: archive)
    options = default_settings(credentials(archive.parent))[JAVA_OPTIONS]
    assert f"-XX:SharedArchiveFile={archive}" in shlex.split(options)
    assert f"-Dderby.stream.error.file={archive.parent / 'logs' / 'derby.log'}" in shlex.split(options)


def node(materialized: str, location: str | None = None) -> Any:
    external = SimpleNamespace(location=location) if location else None
    kind = "source" if materialized == "source" else "model"
    return SimpleNamespace(resource_type=kind, config=SimpleNamespace(materialized=materialized), external=external)


@pytest.mark.parametrize(
    ("landed", "more", "is_little"),
    [
        (LITTLE_DATA - 1, [], True),
        (LITTLE_DATA, [], False),
        (1, [node("source", "s3a://bucket/items")], False),
        (1, [node("source")], False),
        (1, [node("table")], False),
        (1, [node("incremental")], False),
        (1, [node("seed"), node("view"), node("ephemeral")], True),
    ],
)
def test_spark_starts_for_what_it_has_to_read(tmp_path: Path, landed: int, more: list[Any], is_little: bool) -> None:
    (tmp_path / "landing" / "batch=1").mkdir(parents=True)
    with (tmp_path / "landing" / "batch=1" / "lines.json").open("wb") as file:
        file.truncate(landed)
    nodes = {str(number): each for number, each in enumerate([node("source", "landing"), node("change_set"), *more])}
    manifest = SimpleNamespace(sources={key: each for key, each in nodes.items() if each.resource_type == "source"})
    adapter: Any = SimpleNamespace(
        get_macro_resolver=lambda: manifest,
        project_root=tmp_path,
        nodes=nodes,
        engine_of=lambda _: "spark",
        _has_local_files=lambda: True,
    )
    assert MacroMethods.is_data_little(adapter, 0) == is_little
    options = default_settings(credentials(tmp_path), is_data_little=is_little)[JAVA_OPTIONS]
    assert ("-XX:TieredStopAtLevel=1" in options) == is_little


def test_a_spark_that_stays_up_gets_the_settings_for_what_a_run_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: dict[str, str] = {}

    def is_little(begin: int) -> bool:
        if begin == 9:
            raise FileNotFoundError("a batch that has gone")
        return begin > 100

    session = SimpleNamespace(conf=SimpleNamespace(set=given.__setitem__))
    monkeypatch.setattr(private_api, "is_spark_running", lambda: True)
    monkeypatch.setattr(spark_session, "running_session", lambda: session)
    monkeypatch.setattr(spark_session, "_homes", [tmp_path])
    monkeypatch.setattr(spark_session, "_is_little", [is_little])
    monkeypatch.setattr(spark_session, "_since", [])
    for begin, expected in ((7, OF_MORE_DATA), (101, OF_LITTLE_DATA), (None, {}), (8, OF_MORE_DATA), (9, OF_MORE_DATA)):
        given.clear()
        if begin is not None:
            spark_session.expect_since(begin)
        start_session(credentials(tmp_path), 0)
        assert given == expected
    given.clear()
    spark_session.expect_since(101)
    start_session(credentials(tmp_path, **{"spark.sql.codegen.wholeStage": "true"}), 0)
    assert given == {name: value for name, value in OF_LITTLE_DATA.items() if "wholeStage" not in name}
