"""A resident run that follows many batches: killed again and again at first, then left alone to watch its memory."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.end_to_end.test_shop import assert_kept_marts_equal_postgresql, assert_tables_equal_postgresql
from tests.support import shop
from tests.support.resident import Resident

LONGEST_PAUSE = 8.0  # seconds between two batches
LONGEST_LIFE = 20  # batches between two kills
REPORT_EVERY = 10  # batches


class Stream:
    """The shop's events, split into another number of batches."""

    def __init__(self, resident: Resident, batches: int) -> None:
        self.batches = batches
        self.landed = 0
        self._resident = resident
        self._lines = {table: _lines(table) for table in shop.TABLES}

    def land(self) -> None:
        """Land the next batch, and wait a moment."""
        self.landed += 1
        with self._resident.landing(self.landed) as folders:
            for table, folder in folders.items():
                folder.mkdir()
                (folder / "part.json").write_text("".join(self._share(self._lines[table])))
        time.sleep(random.uniform(0, LONGEST_PAUSE))

    def _share(self, lines: Sequence[str]) -> Sequence[str]:
        begin, end = (n * len(lines) // self.batches for n in (self.landed - 1, self.landed))
        return lines[begin:end]


def _lines(table: str) -> list[str]:
    lines: list[str] = []
    for path in sorted((shop.LANDING / table).rglob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            lines.extend(file)
    return lines


def megabytes(resident: Resident) -> str:
    """The resident memory of dbt's process and its JVM."""
    pid = str(resident.process.pid)
    listed = subprocess.run(
        ["ps", "--pid", pid, "--ppid", pid, "-o", "comm=,rss="], capture_output=True, text=True, check=True
    )
    found = [line.split() for line in listed.stdout.splitlines()]
    return ", ".join(f"{name} {int(kibibytes) // 1024}" for name, kibibytes in found)


def test_many_batches(tmp_path: Path, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> None:
    resident = Resident(tmp_path)
    stream = Stream(resident, pytestconfig.getoption("--batches"))
    deaths = 0
    while stream.landed < stream.batches // 2:
        with resident.running():
            for _ in range(random.randint(1, LONGEST_LIFE)):
                if stream.landed < stream.batches // 2:
                    stream.land()
            if random.random() < 0.5:
                # Only Spark dies. The process starts anew, and then dies too.
                pid = str(resident.process.pid)
                killed = subprocess.run(["pkill", "-KILL", "-P", pid, "java"], check=False)
                deaths += killed.returncode == 0
                time.sleep(random.uniform(0, 4 * LONGEST_PAUSE))
        deaths += 1
    with resident.running():
        while stream.landed < stream.batches:
            stream.land()
            if stream.landed % REPORT_EVERY == 0:
                with capsys.disabled():
                    sys.stdout.write(f"{stream.landed} batches, {deaths} deaths, MB {megabytes(resident)}\n")
        resident.wait_until(
            lambda: f"batch {stream.batches}: " in resident.output or f"-{stream.batches}: " in resident.output
        )
        resident.wait_until(lambda: resident.state() == "idle")
        assert resident.end() == 0
    with shop.clickhouse(resident.home) as client:
        assert_tables_equal_postgresql(client, 20)
        assert_kept_marts_equal_postgresql(client, 20)
