"""dbt commands on the project, several in one process, so that Spark starts once for all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.shop import REPOSITORY

_RUN_COMMANDS = """
import json, os, sys
from dbt.cli.main import dbtRunner

outcomes = []
for command in json.loads(sys.argv[1]):
    if command[0] == "mv":
        os.makedirs(os.path.dirname(command[2]), exist_ok=True)
        os.rename(*command[1:])
        continue
    result = dbtRunner().invoke(command)
    results = getattr(result.result, "results", None) or []
    outcomes.append({
        "success": result.success,
        "exception": str(result.exception) if result.exception else None,
        "nodes": {
            run.node.name: [str(run.status), run.message or ""]
            for run in results if hasattr(run, "node")
        },
    })
with open(sys.argv[2], "w") as file:
    json.dump(outcomes, file)
"""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: status and message of each node."""

    success: bool
    exception: str | None
    nodes: dict[str, tuple[str, str]]


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
        commands: arguments of each command; `mv`, a path and another move a file or folder in between.
        zone: the machine's time zone.
        folder: where dbt runs.
        environment: more variables of the process's environment.

    Raises:
        AssertionError: the process died.
    """
    home.mkdir(parents=True, exist_ok=True)
    outcomes = home / "outcomes.json"
    target = home / "target"
    variables = {
        **os.environ,
        "SPARK_CLICKHOUSE_HOME": str(home),
        "DBT_TARGET_PATH": str(target),
        "DBT_LOG_PATH": str(home / "logs"),
        "TZ": zone,
        **environment,
    }
    process = subprocess.run(
        [sys.executable, "-c", _RUN_COMMANDS, json.dumps(commands), str(outcomes)],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-4000:] + process.stderr[-4000:]
    return [
        Outcome(
            raw["success"],
            raw["exception"],
            {name: (status, message) for name, (status, message) in raw["nodes"].items()},
        )
        for raw in json.loads(outcomes.read_text())
    ]


def variables(**values: object) -> list[str]:
    """`--vars` of a command."""
    return ["--vars", json.dumps(values)]
