"""The resident run: batches are applied as they land, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from tests.end_to_end.test_shop import (
    assert_kept_marts_equal_postgresql,
    assert_tables_equal_postgresql,
)
from tests.support import shop
from tests.support.commands import variables

SECONDS = 600.0
_LAG_QUERY = re.compile(r"^```sql\n(select[^`]*quantiles[^`]*)```$", re.MULTILINE)


class Resident:
    """A resident run on the shop, with a landing zone of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.health = folder / "health.json"
        self._landing = folder / "landing"
        self._log = folder / "output.txt"
        self._process: subprocess.Popen[str] | None = None
        self.home.mkdir()
        for table in shop.TABLES:
            (self._landing / table).mkdir(parents=True)

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self._process
        return self._process

    @property
    def output(self) -> str:
        return self._log.read_text()

    def land(self, *batches: int) -> None:
        """Move batches into the landing zone, each whole."""
        for batch in batches:
            for table in shop.TABLES:
                name = f"batch={batch:06d}"
                draft = self._landing / f".{table}-{name}"
                shutil.copytree(shop.LANDING / table / name, draft, copy_function=shutil.copyfile)
                draft.rename(self._landing / table / name)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[None]:
        """The run is under way within the block, and killed at its end if it is still there."""
        command = [sys.executable, "-m", "dbt.adapters.spark_clickhouse.follow"]
        command += ["--every", "0.5", "--health-file", str(self.health)]
        command += variables(landing_path=str(self._landing))
        environment = {
            **os.environ,
            "SPARK_CLICKHOUSE_HOME": str(self.home),
            "DBT_TARGET_PATH": str(self.home / "target"),
            "DBT_LOG_PATH": str(self.home / "logs"),
        }
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, *arguments],
                cwd=shop.REPOSITORY,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            try:
                yield
            finally:
                self.kill()

    def kill(self) -> None:
        """End it, and its JVM, by SIGKILL."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.1)

    def lines(self, text: str) -> int:
        return sum(text in line for line in self.output.splitlines())

    def wait_for(self, text: str, lines: int = 1) -> None:
        """Wait until so many lines of the output contain a text."""
        self.wait_until(lambda: self.lines(text) >= lines)

    def state(self) -> str:
        return str(json.loads(self.health.read_text())["state"])


@pytest.fixture
def resident(tmp_path: Path) -> Resident:
    return Resident(tmp_path)


def test_batches_are_applied_as_they_land_whoever_is_killed(resident: Resident) -> None:
    chance = random.Random(1)
    resident.land(*range(1, 8))
    with resident.running():
        resident.wait_for("orders batches 1-7: ")
        # The process and its JVM die anywhere in the next run.
        resident.land(8)
        time.sleep(chance.uniform(0.5, 6))
    with resident.running():
        resident.wait_until(lambda: resident.state() == "idle")
        # Spark alone dies: the process begins anew.
        pid = resident.process.pid
        subprocess.run(["pkill", "-KILL", "-P", str(pid), "java"], check=True)
        resident.land(9)
        resident.wait_for("Spark has died. Starting again")
        resident.wait_for("orders batch 9: ")
        assert resident.process.pid == pid
        resident.wait_until(lambda: resident.state() == "idle")
        # Ctrl-C, which all processes of a terminal get, ends it after the run at work.
        resident.land(10)
        resident.wait_until(lambda: resident.state() == "running")
        os.killpg(pid, signal.SIGINT)
        assert resident.process.wait(SECONDS) == 0
    assert resident.state() == "ended"
    assert resident.lines("orders batch 10: ") == 1, resident.output
    with shop.clickhouse(resident.home) as client:
        assert_tables_equal_postgresql(client, 10)
        assert_kept_marts_equal_postgresql(client, 10)
        assert_documented_lags_are_told(client, 10)


def assert_documented_lags_are_told(client: Client, batches: int) -> None:
    """The queries of the documentation know of each batch when it was taken, and visible in a table and in a view."""
    document = (shop.REPOSITORY / "docs/versioned_collapsing.md").read_text()
    of_table, of_view = _LAG_QUERY.findall(document)
    [(count, taken, visible)] = client.query(of_table).result_rows
    assert count == batches
    assert all(0 < before < after < SECONDS for before, after in zip(taken, visible, strict=True))
    of_view = of_view.replace("revenue_by_day", "revenue_by_region_and_month_live")
    [(count, in_view)] = client.query(of_view).result_rows
    assert count == batches
    assert all(before < after < SECONDS for before, after in zip(visible, in_view, strict=True))


def test_it_ends_when_nothing_is_left(resident: Resident) -> None:
    resident.land(1)
    with resident.running("--until-idle", "--select", "+orders"):
        assert resident.process.wait(SECONDS) == 0, resident.output
    assert resident.lines("orders batch 1: ") == 1
    # What fails is told, and ends it where nobody waits.
    with resident.running("--once", "--select", "+orders", "--vars", "{landing_path: /nowhere"):
        assert resident.process.wait(SECONDS) == 1, resident.output
    assert resident.state() == "failing"
