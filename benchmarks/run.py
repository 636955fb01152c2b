"""`make bench`: what an apply costs, next to every way that a user would otherwise choose, and a change set on Spark.

python -m benchmarks.run [--rows 100000000] [--changes 1000000] [--trials 9] [--shapes integer ...] [--events 5000000]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.engine import REPOSITORY, Engine
from benchmarks.measure import as_rows, write_results
from benchmarks.queries import measure_queries
from benchmarks.upsert import SHAPES, Upsert


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of the table")
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--trials", type=int, default=3, help="that count; one more warms up")
    parser.add_argument("--slow-trials", type=int, default=1, help="of what copies the table")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["integer"])
    parser.add_argument("--events", type=int, default=500_000, help="for Spark; 0 for none")
    parser.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    options = parser.parse_args()
    tables = {}
    for shape in options.shapes:
        print(f"{shape}: {options.rows:,} rows, {options.changes:,} changes", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            engine = Engine(Path(folder))
            upsert = Upsert(engine, SHAPES[shape], options.rows, options.changes, Path(folder))
            tables[shape] = as_rows(
                upsert.measure(options.trials, options.slow_trials), "plain insert"
            )
            if shape == "integer":
                tables["queries after it"] = as_rows(
                    measure_queries(upsert, options.trials), "ReplacingMergeTree FINAL"
                )
    parameters = {"rows": options.rows, "changes": options.changes, "trials": options.trials}
    write_results(options.results, f"upsert_{options.rows}_{options.changes}", parameters, tables)
    if options.events:
        # A process of its own: Spark's session takes its memory from the first that asks.
        arguments = ["--events", str(options.events), "--results", str(options.results)]
        subprocess.run([sys.executable, "-m", "benchmarks.change_sets", *arguments], check=True)


if __name__ == "__main__":
    main()
