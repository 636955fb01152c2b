"""A terminal shows what Spark is doing. A pipe does not: see test_builds.py."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

PROJECT = {"name": "progress", "profile": "progress", "flags": {"send_anonymous_usage_stats": False}}
# It names a Spark table: a query without one would run on ClickHouse.
SLOW = """
    -- depends on {{ source('landing', 'lines') }}
    select sum(length(slept)) as slept
    from (select coalesce(reflect('java.lang.Thread', 'sleep', 5000L), '') as slept from range(0, 2, 1, 2))
"""
SOURCES = """
sources:
  - name: landing
    database: spark
    tables:
      - name: lines
"""


def test_a_terminal_shows_what_spark_is_at(tmp_path: Path) -> None:
    output = {"type": "spark_clickhouse", "schema": "progress", "home": str(tmp_path / "home"), "threads": 1}
    (tmp_path / "dbt_project.yml").write_text(json.dumps(PROJECT))
    (tmp_path / "profiles.yml").write_text(json.dumps({"progress": {"target": "it", "outputs": {"it": output}}}))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "sources.yml").write_text(SOURCES)
    command = [sys.executable, "-m", "dbt.cli.main", "show", "--inline", SLOW]
    master, slave = pty.openpty()
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "TERM": "xterm"}, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal is closed with the process
            while part := os.read(master, 4096):
                shown += part
    os.close(master)
    assert process.returncode == 0, shown
    lines = re.findall(rb"\r\x1b\[K(Spark \[[ =]{20}\] stage \d+: \d of 2 tasks, \d+ rows)\r", shown)
    assert lines, shown
    assert shown.rindex(b"\r\x1b[K") > shown.rindex(lines[-1])  # the line is erased
