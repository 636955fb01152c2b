"""Tasks that fail and are rerun, and slow tasks that run twice at the same time."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import read_table

from tests.support import dying_files
from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import Outcome
from tests.support.dying_files import Fault
from tests.support.spark_cluster import running_cluster

KEYS, FILES = 2000, 3
SETTINGS = {
    "spark.eventLog.compress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1",
    # Applies to stages with one task.
    "spark.speculation.task.duration.threshold": "1s",
    # A session does not inherit this from its server.
    "spark.sql.files.ignoreCorruptFiles": "true",
    # Several tasks even for little data.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.openCostInBytes": "100m",
}
EVENTS = Situation(
    "events",
    "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'bigint'}, version='v')",
    "one_change_per_key(EVENTS, key=['id'])",
    {"id": "Int64", "v": "Int64"},
    {"unique_key": "id"},
)
# Scripts for the executor in which a task runs.
FAILS, IS_SLOW, IS_KILLED = "false", "sleep 10", "kill -KILL $PPID"
FROZEN_SECONDS = 12  # longer than the rest of the run
IS_FROZEN = f"(sleep {FROZEN_SECONDS}; kill -CONT $PPID) & kill -STOP $PPID"
# A task reads a landed file, creates a table file, and renames it when it is done.
READS = "read [1-9][0-9]* .*/landing/.*"
WRITES_LINES = "create .*/shop.db/events_changes__stg_events/_temporary/.*"
WRITES_CHANGES = "create .*/shop.db/events_changes/_temporary/.*"
COMMITS_CHANGES = "rename .*/shop.db/events_changes/_temporary/0/task_.*"
# By name: the faults, and how tasks must at least end.
RUNS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "fail": ({READS: FAILS, WRITES_LINES: FAILS, WRITES_CHANGES: FAILS}, {"ExceptionFailure": 1}),
    "fail_to_commit": ({COMMITS_CHANGES: FAILS}, {"ExceptionFailure": 1}),
    "killed": ({WRITES_LINES: IS_KILLED, WRITES_CHANGES: IS_KILLED}, {"ExecutorLostFailure": 1}),
    "slow": ({READS: IS_SLOW, WRITES_CHANGES: IS_SLOW}, {"twice": 1, "TaskKilled": 1}),
    "slow_to_commit": ({COMMITS_CHANGES: IS_SLOW}, {"TaskCommitDenied": 1}),
    # The first of the two continues after the run has ended.
    "frozen": ({WRITES_LINES: IS_FROZEN}, {"twice": 1}),
}


class Tasks:
    """A project whose runs meet faults, and the tasks of its Spark."""

    def __init__(self, folder: Path, profile: dict[str, Any]) -> None:
        self._warehouse = Path(profile["warehouse"])
        self.faults, self._log = folder / "faults", folder / "log"
        output = {"type": "spark_clickhouse", "schema": "shop", "threads": 1, "spark": profile}
        self.project = ChangeSetProject(folder / "project", [EVENTS], output=output)
        self.live: dict[int, int] = {}
        self.batch = 0
        self._seen = 0

    def run(self, faults: dict[str, str]) -> Outcome:
        """Land and apply one more batch, with these faults."""
        self.batch += 1
        for file in range(FILES):
            keys = range(file, KEYS * FILES, FILES)
            lines = [json.dumps({"id": i, "v": self.batch, "x": "-" * 60}) for i in keys]
            self.project.land("events", self.batch, lines, file)
            self.live.update(dict.fromkeys(keys, self.batch))
        for number, (pattern, script) in enumerate(faults.items()):
            Fault(pattern, script).plan(self.faults / f"{self.batch}-{number}.plan")
        (outcome,) = self.project.dbt(["run"])
        assert not list(self.faults.glob("*.plan")), outcome.failures()  # All faults have happened.
        return outcome

    def check(self) -> None:
        """Each row exists exactly once, on both engines."""
        changes = read_table(self._warehouse / "shop.db" / "events_changes")
        rows = zip(*(changes.column(name).to_pylist() for name in ("id", "_version")), strict=True)
        assert sorted(rows) == sorted(self.live.items())
        assert self.project.live_rows() == {"events": sorted(self.live.items())}
        assert self.project.quarantined() == []

    def ends(self) -> Counter[str]:
        """How tasks have ended since the last call. `again` and `twice` count those that succeeded on a second
        attempt."""
        (log,) = self._log.iterdir()
        events = [json.loads(line) for line in log.read_text().splitlines()]
        ended = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
        found: Counter[str] = Counter()
        for event in ended[self._seen :]:
            reason, task = event["Task End Reason"]["Reason"], event["Task Info"]
            found[reason] += 1
            if reason == "Success" and (task["Attempt"] or task["Speculative"]):
                found["twice" if task["Speculative"] else "again"] += 1
        self._seen = len(ended)
        return found


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tasks]:
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "log").mkdir()
    settings = {
        **SETTINGS,
        **dying_files.settings(folder / "java", sys.executable, folder / "faults"),
        "spark.eventLog.dir": f"file:{folder}/log",
    }
    with running_cluster(folder / "spark", settings) as cluster:
        yield Tasks(folder, cluster.profile())


@pytest.mark.parametrize("name", RUNS)
def test_each_row_is_there_once(tasks: Tasks, name: str) -> None:
    faults, ends = RUNS[name]
    outcome = tasks.run(faults)
    assert outcome.success, outcome.why()
    found = tasks.ends()
    assert found >= Counter(ends), found
    assert found["again"] + found["twice"] or name == "slow_to_commit", found
    if name == "frozen":
        time.sleep(FROZEN_SECONDS)
    tasks.check()


def test_a_damaged_file_is_not_ignored(tasks: Tasks) -> None:
    path = tasks.project.landing / "events" / f"batch={tasks.batch + 1:06d}" / "part-0.json.gz"
    path.parent.mkdir(parents=True)
    lines = [json.dumps({"id": i, "v": tasks.batch + 1}) for i in range(KEYS)]
    whole = gzip.compress("\n".join(lines).encode())
    path.write_bytes(whole[: len(whole) // 2])
    (outcome,) = tasks.project.dbt(["run"])
    assert not outcome.success
    assert "The file is incomplete or damaged" in str(outcome.failures())
    assert tasks.project.live_rows() == {"events": sorted(tasks.live.items())}
