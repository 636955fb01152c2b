"""dbt commands: in this process, several in a process of their own, or one in the background; and how they ended.

`run_all` runs its commands in a new process. It is forked from one that has already imported dbt and parsed the macros.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from dbt.cli.main import dbtRunner

from tests.support.warm_spark import WARM, Gateway, use

REPOSITORY = Path(__file__).parents[2]
GOOD = ("success", "pass", "no-op")
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.support.parsed_macros"])


class Node(NamedTuple):
    """dbt's result for one model or test: its status, and its message or error."""

    status: str
    message: str


@dataclass(frozen=True)
class Outcome:
    """How a command ended: the result of each node by name, the seconds it took, and what it printed, if that was
    kept."""

    success: bool
    exception: str | None
    nodes: dict[str, Node]
    seconds: dict[str, float] = field(default_factory=dict)
    output: str = ""

    def failures(self) -> dict[str, str]:
        """The message of each node that failed."""
        return {name: node.message for name, node in self.nodes.items() if node.status not in GOOD}

    def why(self) -> str:
        """What a reader of a failed test needs: pytest would cut the repr."""
        failures = (f"{name}: {message}" for name, message in self.failures().items())
        return "\n".join([self.exception or "", *failures, self.output[-4000:]])

    @classmethod
    def of(cls, result: Any) -> Outcome:
        """From the result of dbtRunner."""
        runs = [run for run in getattr(result.result, "results", None) or [] if hasattr(run, "node")]
        return cls(
            result.success,
            str(result.exception) if result.exception else None,
            {run.node.name: Node(str(run.status), run.message or "") for run in runs},
            {run.node.name: run.execution_time for run in runs},
        )


def invoke(*arguments: str, callbacks: Sequence[Callable[[Any], None]] = ()) -> Outcome:
    """Run a dbt command in this process."""
    return Outcome.of(dbtRunner(callbacks=list(callbacks)).invoke(list(arguments)))


def run_all(
    commands: Sequence[Sequence[str]],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> list[Outcome]:
    """Run dbt commands one after another in a process of their own, so that Spark starts once for all of them.

    Args:
        commands: arguments of each; `mv` and two paths move a file or folder in between, `write` and a path write a
            text.
        folder: where dbt runs.
        environment: of the process; by default that of this one.
        seconds: the time limit.

    Raises:
        AssertionError: the process died, did not end in time, or ended with an error.
    """
    environment = dict(environment or os.environ)
    gateway = WARM.gateway(environment)
    has_ended = False
    receiving, sending = _FORKS.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as temporary, receiving:
        log = Path(temporary) / "output.txt"
        process = _FORKS.Process(target=_run, args=(commands, folder, environment, log, sending, gateway))
        process.start()
        sending.close()
        try:
            assert receiving.poll(seconds), f"dbt did not end in {seconds} s:\n{_end(log)}"
            outcomes: list[Outcome] = receiving.recv()
            process.join(60)
            assert process.exitcode == 0, f"dbt's process ended with {process.exitcode}:\n{_end(log)}"
            has_ended = True
        except EOFError:
            raise AssertionError(f"dbt's process died:\n{_end(log)}") from None
        finally:
            process.kill()
            process.join()
            if gateway and not has_ended:
                WARM.stop()
    return outcomes


def dbt(
    home: Path, *commands: Sequence[str], zone: str = "UTC", folder: Path = REPOSITORY, **environment: str
) -> list[Outcome]:
    """Run dbt commands on the project, one after another in one process.

    Args:
        home: folder of the embedded stores.
        commands: arguments of each command, as in run_all.
        zone: the machine's time zone.
        folder: where dbt runs.
        environment: additional environment variables.

    Raises:
        AssertionError: the process died or failed.
    """
    home.mkdir(parents=True, exist_ok=True)
    variables = {
        **os.environ,
        "SPARK_CLICKHOUSE_HOME": str(home),
        "DBT_TARGET_PATH": str(home / "target"),
        "DBT_LOG_PATH": str(home / "logs"),
        "TZ": zone,
        **environment,
    }
    return run_all(commands, folder, variables)


def _end(log: Path) -> str:
    return log.read_text(errors="replace")[-8000:]


def start(
    *arguments: str, folder: Path, environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    """Start a dbt command in a process of its own; ``options`` are those of Popen."""
    command = [sys.executable, "-m", "dbt.cli.main", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, **options)


def variables(**values: object) -> list[str]:
    """The arguments for `--vars`."""
    return ["--vars", json.dumps(values)]


def _run(
    commands: Sequence[Sequence[str]],
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    answer: Connection,
    gateway: Gateway | None,
) -> None:
    """Run the commands in the new process, and send their outcomes to ``answer``. dbt and Spark print to ``log``."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    outcomes = []
    if gateway:
        use(gateway)
    try:
        for command in commands:
            if command[0] == "mv":
                Path(command[2]).parent.mkdir(parents=True, exist_ok=True)
                Path(command[1]).rename(command[2])
                continue
            if command[0] == "write":
                Path(command[1]).parent.mkdir(parents=True, exist_ok=True)
                Path(command[1]).write_text(command[2])
                continue
            begin = log.stat().st_size
            outcome = invoke(*command)
            sys.stdout.flush()
            output = log.read_bytes()[begin:].decode(errors="replace")
            outcomes.append(replace(outcome, output=output))
    finally:
        atexit._run_exitfuncs()  # A process of multiprocessing does not run atexit handlers.
    answer.send(outcomes)
