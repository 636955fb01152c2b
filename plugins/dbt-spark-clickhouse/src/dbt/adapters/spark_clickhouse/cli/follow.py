"""Applies batches as they land: one dbt run after another in a single process, in which the manifest, Spark and
ClickHouse stay warm.

It keeps no state: the ledger records what has been applied. So it can be killed at any time.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from dbt.cli.exceptions import DbtUsageException
from dbt.cli.main import dbtRunner, dbtRunnerResult

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core import garbage
from dbt.adapters.spark_clickhouse.landing.watched import LandingZones, ProjectFolders, Seen
from dbt.adapters.spark_clickhouse.spark import session as spark_session

LONGEST_PAUSE = 60.0  # seconds between two tries
HEARTBEAT = 10.0  # seconds between two signs of life
SHARE_OF_LOOKS = 0.01  # of the time; a look takes longer the more batches have landed
# How many times in a row the processes before this one have failed.
FAILURES = "DBT_SPARK_CLICKHOUSE_FAILURES"
GOOD = ("success", "pass", "no-op", "skipped", "warn")
FAILED, MISUSED = 1, 2
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Options:
    """The options of the command line.

    Args:
        given: the command line.
        dbt: arguments of each run, as for `dbt run`.
        every: seconds between two looks at the landing zones.
        once: whether to end after one run.
        until_idle: whether to end when there is nothing more to do.
        health_file: where to write the state, or None.
        memory: MB beyond which a new process replaces this one.
        project_root: the folder with `dbt_project.yml`.
    """

    given: tuple[str, ...]
    dbt: tuple[str, ...]
    every: float
    once: bool
    until_idle: bool
    health_file: Path | None
    memory: int
    project_root: Path

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Options:
        parser = argparse.ArgumentParser(
            prog="dbt-spark-clickhouse follow",
            description="Apply batches as they land. Other options are those of `dbt run`.",
            allow_abbrev=False,
        )
        parser.add_argument("--every", type=float, default=0.2, help="seconds between looks")
        parser.add_argument("--once", action="store_true", help="end after one run")
        parser.add_argument("--until-idle", action="store_true", help="end when there is nothing to do")
        parser.add_argument("--health-file", type=Path, help="file for the state, as JSON")
        parser.add_argument("--memory", type=int, default=2000, help="MB before it restarts")
        parser.add_argument("--project-dir", type=Path, default=Path.cwd(), help="as in dbt")
        known, dbt = parser.parse_known_args(arguments)
        if {"--full-refresh", "-f"} & set(dbt):
            parser.error("--full-refresh would rebuild all tables each time. Use dbt run.")
        if min(known.every, known.memory) < 0:
            parser.error("--every takes seconds and --memory MB, from 0.")
        return cls(
            given=tuple(arguments),
            dbt=(*dbt, "--project-dir", str(known.project_dir)),
            every=known.every,
            once=known.once,
            until_idle=known.until_idle,
            health_file=known.health_file,
            memory=known.memory,
            project_root=known.project_dir.resolve(),
        )


@dataclass
class Stopper:
    """The wish to end: the first signal ends the run after the current step, the second at once."""

    is_asked: bool = False

    def __enter__(self) -> Stopper:
        for number in SIGNALS:
            signal.signal(number, self._ask)
        # The process that this one replaces blocked the signals at its end.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return self

    def __exit__(self, *_: object) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    def _ask(self, number: int, _: FrameType | None) -> None:
        if self.is_asked:
            os.kill(os.getpid(), signal.SIGKILL)
        self.is_asked = True
        say(f"{signal.Signals(number).name}: ending after this run. Again: ending at once")

    def wait(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Wait until somebody wishes to end, or ``is_over``, or the time is up."""
        end = time.monotonic() + seconds
        while not self.is_asked and (left := end - time.monotonic()) > 0 and not is_over():
            time.sleep(min(left, 0.2))


def say(text: str) -> None:
    """Print a line with the time, in UTC. A signal may interrupt one line with another. The run goes on if nobody reads
    its output, or if the disk that it is written to is full."""
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), f"{datetime.now(UTC):%H:%M:%S}  {text}\n".encode())


@dataclass
class Follower:
    """The loop."""

    options: Options
    stopper: Stopper
    failures: int = 0  # in a row
    has_begun: bool = False  # whether the project could be read once, in this process or in an earlier one
    _manifest: Any = None
    _spare: Any = None  # a copy of it, made while there was time
    _zones: LandingZones = field(default_factory=lambda: LandingZones((), ()))
    _project: ProjectFolders | None = None
    _files: Seen = field(default_factory=dict)
    _done: Seen | None = None  # the batches that had landed before the last successful run
    _tried: Seen = field(default_factory=dict)  # those that had landed before the last run
    _is_misused: bool = False  # whether it can never succeed with these arguments
    _went_on: bool = False  # whether the last run brought some table up to date
    _runs: int = 0
    _told: str = ""
    _told_at: float = 0.0

    def follow(self) -> int:
        """Run dbt whenever there is something to do. Return the exit code."""
        while not self.stopper.is_asked:
            if not self.read_project():
                if self._must_end():
                    return self._failed()
                continue
            landed = self._zones.batches()
            if self._done is not None and landed == self._done and not self._zones.others:
                self._tell("idle")
                if self.options.until_idle:
                    break
                self._limit_memory()
                self._wait_for_news(landed)
                continue
            if self._run(landed):
                self.failures, self._done = 0, landed
                if self.options.once:
                    break
                if self._zones.others:
                    if self.options.until_idle:
                        break
                    self.stopper.wait(self.options.every)
            elif self._must_end():
                return self._failed()
        self._tell("ended")
        return self._failed() if self.failures else 0

    def _failed(self) -> int:
        return MISUSED if self._is_misused else FAILED

    def _limit_memory(self) -> None:
        """Start anew when nothing waits: dbt's process grows a little with each batch."""
        memory = _memory()
        # A process that is too large from the start still does its work.
        if self._runs > 1 and memory > self.options.memory:
            say(f"This process has {memory} MB. A new one takes its place")
            spark_session.stop()
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Replace this process by a new one, unless somebody wishes to end."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        if self.stopper.is_asked:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            return
        sys.stdout.flush()
        os.environ[FAILURES] = str(self.failures)
        os.execv(sys.executable, [sys.executable, "-m", "dbt.adapters.spark_clickhouse", "follow", *self.options.given])

    def _wait_for_news(self, landed: Seen) -> None:
        """Wait until a batch has landed, but not for long, because the project may change too."""
        self._spare = self.manifest_of_run()
        end = time.monotonic() + max(2.0, self.options.every)
        while not self.stopper.is_asked and time.monotonic() < end:
            began = time.monotonic()
            if self._zones.batches() != landed:
                return
            took = time.monotonic() - began
            self.stopper.wait(max(self.options.every, took / SHARE_OF_LOOKS))

    def _must_end(self) -> bool:
        """Whether to end after a failure. If not, wait, longer each time. What does not depend on the failed part goes
        on meanwhile: a batch that lands ends the wait."""
        self.failures += 1
        self._tell("failing")
        if self.options.once or self.options.until_idle or self._is_misused:
            return True
        pause = min(LONGEST_PAUSE, 2.0**self.failures)
        if not _is_spark_usable():
            say(f"Spark does not answer any more. Starting it again in {pause:.0f} s")
            self.stopper.wait(pause)
            self._begin_anew()
            return False
        say(f"Trying again in {pause:.0f} s")
        self.stopper.wait(pause, lambda: self._went_on and self._zones.batches() != self._tried)
        return False

    def read_project(self) -> bool:
        """Parse the project if one of its files has changed. Return whether there is a manifest."""
        if self._manifest is not None and self._project is not None:
            if self._project.files() == self._files:
                return True
            say("The project has changed")
        self._manifest = self._spare = None
        parsed = dbtRunner().invoke(["--quiet", "parse", *self._arguments_of_parse()])
        if not parsed.success:
            is_usage = isinstance(parsed.exception, DbtUsageException)
            self._is_misused = is_usage or not self.has_begun
            if is_usage:
                say(str(parsed.exception))
            return False
        self._manifest = parsed.result
        self._zones = LandingZones.of(parsed.result, self.options.project_root)
        if not self.has_begun:
            say(f"Following {self._zones}. The first run also starts the engines. Ctrl-C ends after the run")
        self.has_begun = True
        self._project = ProjectFolders.of(parsed.result, self.options.project_root)
        self._files = self._project.files()
        # No run reads them, and dbt cannot copy a manifest that has disabled nodes.
        self._manifest.files, self._manifest.disabled = {}, {}
        self._done, self._went_on = None, False
        garbage.set_aside()
        return True

    def manifest_of_run(self) -> Any:
        """A copy of the manifest for the next run, because dbt writes what it compiles into it. It is made while
        nothing waits, if there is such a time, and so is room for it."""
        if self._spare is None:
            gc.collect()
        return self._spare or self._manifest.deepcopy()

    def _arguments_of_parse(self) -> list[str]:
        """The arguments that `dbt parse` accepts as well."""
        names = ("--project-dir", "--profiles-dir", "--profile", "--target", "-t", "--vars")
        found = self.options.dbt
        pairs = zip(found, (*found[1:], ""), strict=True)
        given = [word for name, value in pairs if name in names for word in (name, value)]
        return given + [word for word in found if word.partition("=")[0] in names and "=" in word]

    def _run(self, landed: Seen) -> bool:
        """Run dbt once. Return whether it succeeded."""
        new = {path: at for path, at in landed.items() if at != (self._done or {}).get(path)}
        if self._runs and new:
            spark_session.expect_since(min(new.values()))
        self._runs += 1
        self._tell("running", new)
        began = time.monotonic()
        runner = dbtRunner(manifest=self.manifest_of_run())
        self._spare, self._tried = None, landed
        # Writing the manifest and the results takes a second, and nobody reads them.
        outcome = runner.invoke(["--quiet", "run", "--no-write-json", *self._log_level(), *self.options.dbt])
        self._is_misused = isinstance(outcome.exception, DbtUsageException)
        self._went_on = any(_is_applied(result) for result in _results(outcome))
        say(_in_one_line(outcome, time.monotonic() - began, self._zones.batches(), landed))
        return bool(outcome.success)

    def _log_level(self) -> list[str]:
        """A level for dbt's log, if nobody has set one: by default, the statements of a run fill a megabyte."""
        level = re.compile(r"--log-level(-file)?(=.*)?|DBT_(ENGINE_)?LOG_LEVEL(_FILE)?")
        return [] if any(map(level.fullmatch, [*self.options.dbt, *os.environ])) else ["--log-level-file", "info"]

    def _tell(self, state: str, waiting: Seen | None = None) -> None:
        """Write the health file: when the state changes, and every few seconds."""
        path, is_news = self.options.health_file, state != self._told
        if path is None or (not is_news and time.monotonic() - self._told_at < HEARTBEAT):
            return
        self._told, self._told_at = state, time.monotonic()
        health = {
            "state": state,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "pid": os.getpid(),
            "failures": self.failures,
            "batches": len(waiting or ()),
        }
        draft = path.with_suffix(".draft")
        try:
            draft.write_text(json.dumps(health))
            draft.replace(path)
        except OSError as error:
            say(f"The health file cannot be written: {error}")


def _results(outcome: dbtRunnerResult) -> Sequence[Any]:
    return getattr(outcome.result, "results", None) or ()


def _is_applied(result: Any) -> bool:
    """Whether the node brought a table up to date."""
    is_table = result.node.config.materialized == "versioned_collapsing"
    return is_table and str(result.status) == "success"


def _in_one_line(outcome: dbtRunnerResult, seconds: float, now: Seen, landed: Seen) -> str:
    results = _results(outcome)
    failed = [
        f"{result.node.name}: {' '.join((result.message or '').split())}"
        for result in results
        if str(result.status) not in GOOD
    ]
    said = [
        f"{result.node.name} {result.message}"
        for result in results
        if _is_applied(result) and "nothing to change" not in (result.message or "")
    ]
    if not outcome.success:
        reasons = "; ".join(failed) or " ".join(str(outcome.exception).split())
        return " | ".join([f"Failed after {seconds:.1f} s: {reasons}", *said])
    applied = _landed_at(results, landed)
    behind = len(now.keys() - landed.keys())
    parts = [
        "; ".join(said) or "nothing to change",
        f"{seconds:.1f} s",
        f"landed {time.time() - min(applied) / 1e9:.1f} s ago" if applied else "",
        f"{behind} more landed meanwhile" if behind else "",
    ]
    return " | ".join(part for part in parts if part)


def _landed_at(results: Sequence[Any], landed: Seen) -> list[int]:
    """The times at which the batches landed that tables have applied, in nanoseconds since 1970."""
    applied = {
        str(batch) for result in results if _is_applied(result) for batch in result.adapter_response.get("batches", ())
    }
    return [at for path, at in landed.items() if _number(path) in applied]


def _number(folder: str) -> str:
    return folder.rpartition("batch=")[2].lstrip("0") or "0"


def _is_spark_usable() -> bool:
    """Whether Spark and its metastore, if they run, answer. Once the disk was full, Derby does not recover until the
    JVM ends."""
    if not private_api.is_spark_running():
        return True
    from pyspark.sql import SparkSession

    try:
        SparkSession.builder.getOrCreate().sql("show databases").collect()
    except Exception:  # noqa: BLE001  # whatever it says, it does not answer
        return False
    return True


def _memory() -> int:
    """The memory of this process in MB; 0 on a system without /proc."""
    statm = Path("/proc/self/statm")
    pages = int(statm.read_text().split()[1]) if statm.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 10**6


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow the landing zones. Return 0 if the last run succeeded."""
    options = Options.of(sys.argv[1:] if arguments is None else arguments)
    spark_session.stay()
    garbage.collect_less_often(garbage.NEW_OBJECTS_OF_A_RESIDENT)
    # A process that replaces itself leaves semaphores to its resource tracker, which would warn of them.
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")
    failures = os.environ.pop(FAILURES, None)
    with Stopper() as stopper:
        follower = Follower(options, stopper, int(failures or 0), has_begun=failures is not None)
        return follower.follow()
