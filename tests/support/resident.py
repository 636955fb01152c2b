"""A resident run on the shop, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import shop
from tests.support.commands import variables

SECONDS = 600.0


class Resident:
    """A resident run on the shop, with a landing zone of its own below ``folder``."""

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

    def folder(self, table: str, batch: int) -> Path:
        """Where a batch of a table lands."""
        return self._landing / table / f"batch={batch:06d}"

    def land(self, *batches: int) -> None:
        """Move batches of the shop into the landing zone, each at once."""
        for batch in batches:
            with self.landing(batch) as folders:
                for table, folder in folders.items():
                    files = shop.LANDING / table / f"batch={batch:06d}"
                    shutil.copytree(files, folder, copy_function=shutil.copyfile)

    @contextmanager
    def landing(self, batch: int) -> Iterator[dict[str, Path]]:
        """Folders to be created within the block; after it, they are moved into the landing zone."""
        drafts = {table: self._landing / f".{table}-{batch}" for table in shop.TABLES}
        yield drafts
        for table, draft in drafts.items():
            draft.rename(self.folder(table, batch))

    @contextmanager
    def running(self, *arguments: str, **environment: str) -> Iterator[None]:
        """Run it within the block, and kill it at the end if it is still running."""
        command = [sys.executable, "-m", "dbt.adapters.spark_clickhouse", "follow"]
        command += ["--health-file", str(self.health)]
        command += variables(landing_path=str(self._landing))
        stores = {
            "SPARK_CLICKHOUSE_HOME": str(self.home),
            "DBT_TARGET_PATH": str(self.home / "target"),
            "DBT_LOG_PATH": str(self.home / "logs"),
        }
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, *arguments],
                cwd=shop.REPOSITORY,
                env={**os.environ, **stores, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            try:
                yield
            finally:
                self.kill()

    def end(self) -> int:
        """Ask it to end after the current run, as Ctrl-C does. Return the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(SECONDS)

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
        """Wait until this many lines of the output contain a text."""
        self.wait_until(lambda: self.lines(text) >= lines)

    def state(self) -> str:
        return str(json.loads(self.health.read_text())["state"])
