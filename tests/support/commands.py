"""dbt commands: in this process, several in a process of their own, or one that is under way; and how they ended.

Run as a script, it is that process of their own: its argument is the list of commands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dbt.cli.main import dbtRunner

REPOSITORY = Path(__file__).parents[2]
GOOD = ("success", "pass", "no-op")
# Before a command's output, and before what became of it.
_BEGIN, _END = "\x1d", "\x1e"


class Node(NamedTuple):
    """What dbt said of one model or test: its status, and its message or error."""

    status: str
    message: str


@dataclass(frozen=True)
class Outcome:
    """How a command ended: with what of each node, by its name, and after how many seconds; and what it printed, where
    that was kept."""

    success: bool
    exception: str | None
    nodes: dict[str, Node]
    seconds: dict[str, float] = field(default_factory=dict)
    output: str = ""

    def failures(self) -> dict[str, str]:
        """The message of each node that failed."""
        return {name: node.message for name, node in self.nodes.items() if node.status not in GOOD}

    @classmethod
    def of(cls, result: Any) -> Outcome:
        """What dbtRunner returns."""
        runs = [
            run for run in getattr(result.result, "results", None) or [] if hasattr(run, "node")
        ]
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
    """Run dbt commands one after the other in a process of their own, so that Spark starts once for all of them.

    Args:
        commands: arguments of each; `mv`, a path and another move a file or folder in between.
        folder: where dbt runs.
        environment: of the process; that of this one if none.
        seconds: in which it has to end.

    Raises:
        AssertionError: the process died.
        subprocess.TimeoutExpired: it did not end.
    """
    process = subprocess.run(
        # -P: dbt imports each module of sys.path that has a name like a plugin's.
        [sys.executable, "-P", __file__, json.dumps(commands)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-8000:]
    outcomes = []
    for part in process.stdout.split(f"{_BEGIN}\n")[1:]:
        output, _, rest = part.partition(_END)
        said = json.loads(rest.splitlines()[0])
        nodes = {name: Node(*node) for name, node in said.pop("nodes").items()}
        outcomes.append(Outcome(**said, nodes=nodes, output=output))
    return outcomes


def dbt(
    home: Path,
    *commands: Sequence[str],
    zone: str = "UTC",
    folder: Path = REPOSITORY,
    **environment: str,
) -> list[Outcome]:
    """Run dbt commands on the project, one after the other in one process.

    Args:
        home: folder of the embedded stores.
        commands: arguments of each command, as in run_all.
        zone: the machine's time zone.
        folder: where dbt runs.
        environment: more variables of the process's environment.

    Raises:
        AssertionError: the process died.
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


def start(
    *arguments: str, folder: Path, environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    """A dbt command in a process of its own, under way; ``options`` are those of Popen."""
    command = [sys.executable, "-m", "dbt.cli.main", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, **options)


def variables(**values: object) -> list[str]:
    """`--vars` of a command."""
    return ["--vars", json.dumps(values)]


def _run(commands: Sequence[Sequence[str]]) -> None:
    for command in commands:
        if command[0] == "mv":
            Path(command[2]).parent.mkdir(parents=True, exist_ok=True)
            Path(command[1]).rename(command[2])
            continue
        _print(f"{_BEGIN}\n")
        outcome = invoke(*command)
        said = {
            "success": outcome.success,
            "exception": outcome.exception,
            "nodes": outcome.nodes,
            "seconds": outcome.seconds,
        }
        _print(f"{_END}{json.dumps(said)}\n")


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    _run(json.loads(sys.argv[1]))
