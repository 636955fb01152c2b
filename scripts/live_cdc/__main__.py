"""Runs the shop live, and compares, until Ctrl-C.

    python -m scripts.live_cdc [--minutes 10]

Connections race on a PostgreSQL of its own. The real Debezium captures their changes, which land as batches, and a
resident run applies them to ClickHouse. After each apply the table is compared with what PostgreSQL held at the same
LSN. Everything is in a folder that is removed at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import FrameType

import clickhouse_connect

from scripts.debezium.engine import Debezium
from scripts.debezium.postgres import Postgres
from scripts.live_cdc.comparison import Comparer, Comparison
from scripts.shop.capture import TABLES, Batch, Capture, land
from scripts.shop.workload import SCHEMA, Workload
from tests.support.chdb_http import running_server

ROOT = Path(__file__).resolve().parents[2]
DBT = [str(Path(sys.executable).parent / "dbt")]
FOLLOW = [sys.executable, "-m", "dbt.adapters.spark_clickhouse", "follow"]
FIRST = 300  # customers and orders at the beginning
CONNECTIONS = 4
PAUSE = 0.2  # seconds between two transactions of a connection
PATIENCE_WITH_FIRST = 900  # seconds until the first apply must have ended
PATIENCE = 120  # seconds that the resident run gets to finish its current run at the end


@dataclass
class State:
    """What is known so far."""

    began: float = field(default_factory=time.monotonic)
    landed: dict[int, Batch] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    last: dict[str, Comparison] = field(default_factory=dict)
    lags: list[float] = field(default_factory=list)
    equal: int = 0
    different: list[Comparison] = field(default_factory=list)

    def add_batch(self, batch: Batch) -> None:
        self.landed[batch.number] = batch
        self.events += batch.events

    def add(self, comparison: Comparison) -> None:
        self.last[comparison.table] = comparison
        self.lags.append(comparison.lag)
        if comparison.is_equal:
            self.equal += 1
        else:
            self.different.append(comparison)

    def lines(self, transactions: int, follow_line: str) -> list[str]:
        """What the terminal shows."""
        seconds = int(time.monotonic() - self.began)
        events = ", ".join(f"{n:,} {op}" for op, n in sorted(self.events.items()))
        header = (
            f"{'table':12}{'batch':>6}{'LSN':>14}{'lag':>8}  {'side':10}{'rows':>8}{'amount':>18}{'fingerprint':>16}"
        )
        if not self.last:
            header = "Comparisons begin when the first apply has ended, which starts Spark: one to five minutes."
        lines = [
            f"{seconds // 60}:{seconds % 60:02} | {transactions:,} transactions | "
            f"{len(self.landed):,} batches landed | events: {events}",
            "",
            header,
        ]
        for table, seen in self.last.items():
            place = f"{table:12}{seen.batch:6}{seen.lsn:14,}{seen.lag:7.1f}s"
            for side, figures in (("PostgreSQL", seen.postgres), ("ClickHouse", seen.clickhouse)):
                lines.append(f"{place:40}  {side:10}{figures.rows:8,}{figures.amount:18,.2f}{figures.fingerprint:16}")
                place = ""
        lines += ["", self.result(), "", follow_line]
        return lines

    def result(self) -> str:
        """What the comparisons have come to."""
        lag = f"; from landed to visible: median {median(self.lags):.1f} s" if self.lags else ""
        lag += f", longest {max(self.lags):.1f} s" if self.lags else ""
        return (
            f"{self.equal + len(self.different)} comparisons at a common LSN: {self.equal} equal, "
            f"{len(self.different)} different{lag}"
        )


def main() -> int:
    """Run until Ctrl-C or until the time is up. Return 1 if a comparison found a difference."""
    parser = argparse.ArgumentParser(prog="python -m scripts.live_cdc")
    parser.add_argument("--minutes", type=float, help="end so many minutes after the first comparison")
    parser.add_argument("--every", type=float, default=3, help="seconds between two batches")
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    state = State()
    try:
        _run(options, state)
    except KeyboardInterrupt:
        print("\nEnding ...")
    except (FileNotFoundError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(state.result())
    for found in state.different:
        print(f"  {found}")
    return 1 if state.different or not state.equal else 0


def _run(options: argparse.Namespace, state: State) -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="live_cdc-")))
        folder.chmod(0o755)  # PostgreSQL's account must be able to pass through it
        (folder / "postgres").mkdir()
        postgres = Postgres(folder / "postgres", SCHEMA)
        print("Starting PostgreSQL, Debezium and ClickHouse ...", flush=True)
        stack.callback(postgres.stop)
        postgres.start()
        host, port = stack.enter_context(running_server(folder / "clickhouse"))
        debezium = stack.enter_context(Debezium(folder / "debezium.log"))
        environment = {
            **os.environ,
            "CLICKHOUSE_HOST": host,
            "CLICKHOUSE_PORT": str(port),
            "SPARK_CLICKHOUSE_HOME": str(folder / "home"),
            "DBT_TARGET_PATH": str(folder / "target"),
            "DBT_LOG_PATH": str(folder / "logs"),
        }
        given = ["--target", "server", "--vars", f"{{landing_path: '{folder / 'landing'}'}}"]
        subprocess.run([*DBT, "--quiet", "seed", *given], cwd=ROOT, env=environment, check=True)
        for table in TABLES:
            (folder / "landing" / table).mkdir(parents=True)
        workloads = [
            Workload(postgres, options.seed + number, PAUSE, changes_tables=number == 0)
            for number in range(CONNECTIONS)
        ]
        for workload in workloads:
            stack.callback(workload.stop)
        workloads[0].fill(FIRST, FIRST)
        for workload in workloads:
            workload.start()
        capture = Capture(postgres, debezium)
        stack.callback(capture.stop)
        log = folder / "follow.txt"
        follow = stack.enter_context(_following(given, environment, log))
        client = clickhouse_connect.get_client(host=host, port=port)
        stack.callback(client.close)
        comparer = Comparer(client)
        state.began = time.monotonic()
        first: float | None = None  # when the first apply was compared
        while not (options.minutes and first and time.monotonic() > first + 60 * options.minutes):
            began = time.monotonic()
            if not first and began > state.began + PATIENCE_WITH_FIRST:
                raise RuntimeError(f"No apply has ended. The last line of the resident run: {_last_line(log)}")
            _check(workloads, follow, log)
            batch = capture.batch()
            land(batch.lines, batch.number, folder / "landing")
            state.add_batch(batch)
            while (left := began + options.every - time.monotonic()) > 0:
                for comparison in comparer.new(state.landed):
                    state.add(comparison)
                    first = first or time.monotonic()
                _show(state.lines(sum(each.transactions for each in workloads), _last_line(log)))
                time.sleep(min(left, 1))


@contextlib.contextmanager
def _following(given: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The resident run, in a session of its own, because Ctrl-C is for this process, which then ends that one."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*FOLLOW, *given],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
        with contextlib.suppress(ProcessLookupError):  # its JVM too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _check(workloads: list[Workload], follow: subprocess.Popen[bytes], log: Path) -> None:
    for workload in workloads:
        if workload.error:
            raise RuntimeError(f"The workload has ended: {workload.error}")
    if follow.poll() is not None:
        raise RuntimeError(f"The resident run has ended:\n{log.read_text()[-4000:]}")


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1] if lines else "The resident run starts ..."


def _show(lines: list[str]) -> None:
    """On a terminal, replace the previous lines; elsewhere, print only the result."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(line[:width] for line in lines)
        sys.stdout.write(f"\x1b[H\x1b[2J{text}\n")
        sys.stdout.flush()


def _interrupt(*_: int | FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
