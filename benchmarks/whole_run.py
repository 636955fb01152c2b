"""Where the seconds of a `dbt run` on the shipped change stream go: Spark, ClickHouse, and all else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.engine import REPOSITORY

RUNS = {"batches 1 to 10": 10, "batches 11 to 20": 20, "nothing new": 20}


def measure_whole_run() -> list[dict[str, Any]]:
    """Three runs on an empty store, each a process; one thread, so that the models' seconds add up."""
    with TemporaryDirectory() as folder:
        return [
            {"run": name, **_run(Path(folder), through_batch)}
            for name, through_batch in RUNS.items()
        ]


def _run(folder: Path, through_batch: int) -> dict[str, float]:
    target = folder / "target"
    dbt = Path(sys.executable).with_name("dbt")
    command = [str(dbt), "--quiet", "run", "--threads", "1"]
    command += [
        "--vars",
        json.dumps({"through_batch": through_batch}),
        "--target-path",
        str(target),
    ]
    started = time.perf_counter()
    subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "SPARK_CLICKHOUSE_HOME": str(folder / "home")},
        check=True,
    )
    elapsed = time.perf_counter() - started
    nodes = json.loads((target / "manifest.json").read_text())["nodes"]
    seconds = {"spark": 0.0, "clickhouse": 0.0}
    for result in json.loads((target / "run_results.json").read_text())["results"]:
        seconds[nodes[result["unique_id"]]["database"]] += result["execution_time"]
    return {
        "seconds": round(elapsed, 1),
        "Spark models": round(seconds["spark"], 1),
        "ClickHouse models": round(seconds["clickhouse"], 1),
        "start and parse": round(elapsed - sum(seconds.values()), 1),
    }
