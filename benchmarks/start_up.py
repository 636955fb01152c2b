"""What the adapter adds to a run: a `dbt run` of models that do nothing, compared with stock dbt-clickhouse.

    python -m benchmarks.start_up [--models 20] [--trials 9]

Ours uses the embedded engine, the stock adapter an HTTP front of the same engine. Every run has a process of its own.
The first of each, which parses everything, is a warm-up.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.engine import REPOSITORY
from benchmarks.measure import Arm, interleaved, write_results
from tests.support.chdb_http import running_server

NAME = "start_up"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--trials", type=int, default=9, help="that count; one more warms up")
    parser.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, running_server(Path(scratch, "server")) as (host, port):
        targets: dict[str, dict[str, Any]] = {
            "spark_clickhouse": {"home": str(Path(scratch, "home"))},
            "clickhouse": {"driver": "http", "host": host, "port": port},
        }
        arms = [
            _arm(Path(scratch, "projects", name), {"type": name, **keys}, options.models)
            for name, keys in targets.items()
        ]
        figures = interleaved(arms, options.trials)
    ours, stock = figures.values()
    ratio = round(ours.median / stock.median, 2)
    print(f"{ratio} times the stock adapter")
    rows = [{"adapter": name, **found.as_row()} for name, found in figures.items()]
    parameters = {"models": options.models, "trials": options.trials, "ratio": ratio}
    write_results(options.results, NAME, parameters, {"seconds of a run": rows})


def _arm(project: Path, target: dict[str, Any], models: int) -> Arm:
    """Runs of a new project of views on ``target``."""
    (project / "models").mkdir(parents=True)
    for number in range(models):
        sql = "{{ config(materialized='view') }}\nselect 1 as one\n"
        (project / "models" / f"model_{number}.sql").write_text(sql)
    profile = {"target": NAME, "outputs": {NAME: {"schema": NAME, "threads": 4, **target}}}
    settings = {"name": NAME, "profile": NAME, "flags": {"send_anonymous_usage_stats": False}}
    (project / "profiles.yml").write_text(json.dumps({NAME: profile}))  # JSON is YAML
    (project / "dbt_project.yml").write_text(json.dumps(settings))
    command = [str(Path(sys.executable).with_name("dbt")), "--quiet", "run"]

    def run() -> float:
        started = time.perf_counter()
        subprocess.run(command, cwd=project, check=True)
        return time.perf_counter() - started

    return Arm(target["type"], run)


if __name__ == "__main__":
    main()
