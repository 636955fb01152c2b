"""Where the seconds of a `dbt run` on the shipped change stream go, from the start of Python to its end.

    python -m benchmarks.whole_run [--beside CHECKOUT]

`--beside` also runs the same commands in another checkout of the project, in the same environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.engine import REPOSITORY
from benchmarks.measure import write_results
from benchmarks.plots import plot_phases
from benchmarks.traced_run import END, PHASES

NAME = "whole_run"
# The runs, on one store: the command, and the last batch that it takes.
RUNS = {
    "9 batches, empty stores": ("run", 9),
    "one batch": ("run", 10),
    "ten batches": ("run", 20),
    "nothing new": ("run", 20),
    "build, first time": ("build", 20),
    "build, nothing new": ("build", 20),
}
SLOWEST = 12  # statements to show


def write_whole_run(results: Path, beside: Path | None = None) -> None:
    """Measure, and write the results. Each run is a process with one thread, so that phases add up."""
    with TemporaryDirectory() as folder:
        traced = {name: _traced(Path(folder), *run) for name, run in RUNS.items()}
        rows = [
            {"run": name, **{phase: round(found["seconds"].get(phase, 0), 1) for phase in PHASES}}
            for name, found in traced.items()
        ]
        others = [_plain(Path(folder), root, *run) for root, run in _beside(beside)]
    for row in rows:
        row["all"] = round(sum(value for key, value in row.items() if key != "run"), 1)
    for row, seconds in zip(rows, others, strict=False):
        row["all, before"] = round(seconds, 1)
    slowest = sorted(traced["ten batches"]["statements"], key=lambda row: row["seconds"], reverse=True)
    tables = {"seconds of a run": rows, "statements of the ten batches": slowest[:SLOWEST]}
    write_results(results, NAME, {"threads": 1}, tables)
    title = "Seconds of a run on the shop, on one thread"
    plot_phases(results / f"{NAME}.svg", title, rows, PHASES)


def _beside(root: Path | None) -> list[tuple[Path, tuple[str, int]]]:
    return [(root, run) for run in RUNS.values()] if root else []


def _traced(folder: Path, command: str, batch: int) -> dict[str, Any]:
    """The phases and statements of a run."""
    file = folder / "trace.json"
    started = time.time()
    _invoke(
        [sys.executable, "-m", "benchmarks.traced_run", str(file), str(started)],
        REPOSITORY,
        folder / "home",
        command,
        batch,
    )
    seconds = time.time() - started
    found: dict[str, Any] = json.loads(file.read_text())
    found["seconds"][END] = seconds - sum(found["seconds"].values())
    print(f"  {command} through batch {batch}: {seconds:.1f} s", flush=True)
    return found


def _plain(folder: Path, root: Path, command: str, batch: int) -> float:
    """The seconds of a run in another checkout."""
    started = time.time()
    dbt = [sys.executable, "-m", "dbt.cli.main"]
    _invoke(dbt, root, folder / "other", command, batch)
    seconds = time.time() - started
    print(f"  {root}: {command} through batch {batch}: {seconds:.1f} s", flush=True)
    return seconds


def _invoke(program: list[str], root: Path, home: Path, command: str, batch: int) -> None:
    sources = root / "plugins" / "dbt-spark-clickhouse" / "src"
    subprocess.run(
        [
            *program,
            *("--quiet", command, "--threads", "1"),
            *("--vars", json.dumps({"through_batch": batch})),
            *("--target-path", str(home.with_suffix(".target"))),
        ],
        cwd=root,
        env={
            **os.environ,
            "SPARK_CLICKHOUSE_HOME": str(home),
            "PYTHONPATH": os.pathsep.join([str(sources), str(root)]),
        },
        check=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--beside", type=Path, help="another checkout of the project")
    parser.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    options = parser.parse_args()
    write_whole_run(options.results, options.beside)


if __name__ == "__main__":
    main()
