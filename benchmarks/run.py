"""`make bench`: what an apply costs compared with every other way that a user would choose, and how the cost grows.

    python -m benchmarks.run [--full] [--parts upsert ways reads ...]

The small form takes some minutes and writes to target/benchmarks; the full one writes to benchmarks/results.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.aggregates import measure_aggregates
from benchmarks.engine import REPOSITORY, Engine
from benchmarks.growth import measure_chunks, measure_columns, measure_sizes
from benchmarks.history import measure_history
from benchmarks.inserts import Inserts
from benchmarks.measure import as_rows, write_results
from benchmarks.plots import plot_growth, plot_ways
from benchmarks.polling import THREADS, Size
from benchmarks.queries import measure_queries
from benchmarks.readers import measure_readers
from benchmarks.reads import measure_reads
from benchmarks.servers import measure_servers
from benchmarks.sinks import measure_sinks
from benchmarks.upsert import SHAPES, Upsert
from benchmarks.versions import measure_versions
from benchmarks.views import measure_views
from benchmarks.ways import Ways
from benchmarks.whole_run import write_whole_run
from benchmarks.written import measure_written
from sink_conformance import Size as Histories

PARTS = (
    "upsert",
    "growth",
    "ways",
    "reads",
    "written",
    "inserts",
    "versions",
    "views",
    "history",
    "spark",
    "readers",
    "sinks",
    "servers",
    "start_up",
    "follow",
    "whole_run",
)
# Parts that read ClickHouse's logs. Each has a process of its own, because a process has one engine.
LOGS = {"reads": ["query_log"], "written": ["part_log"]}


@dataclass(frozen=True)
class Sizes:
    """How large the benchmarks are. Each arm has `trials` trials that count, after a warm-up."""

    rows: int
    changes: int
    trials: int
    slow_trials: int  # of the ways that copy or mutate the table
    rows_of_other_shapes: int  # of tables whose key is not a single integer
    growth_rows: tuple[int, ...]
    growth_changes: tuple[int, ...]
    growth_trials: int
    many_changes: int  # which fit into little memory only as chunks
    events: dict[int, int]  # of a change set: rounds that count
    readers: Size  # what is applied while readers poll
    sinks: Histories  # that each way has to take
    sent: tuple[int, ...]  # rows that Spark hands to a server
    some_rows: int  # of the table in the benchmarks below
    some_changes: int  # and of changes to it
    ways_changes: tuple[int, ...]
    reads_applies: tuple[int, ...]
    inserts_applies: int
    followers: tuple[int, ...]  # projections, and views
    granularities: tuple[int, ...]
    applies_of_a_day: int
    slow_applies_of_a_day: int  # of the way that mutates the table
    changes_of_an_apply: int
    some_trials: int
    views_changes: tuple[int, ...]  # of orders; of customers a tenth
    starts: int  # trials of a run that does nothing
    followed: dict[int, int]  # by a resident run: events per batch, and number of batches
    sustained_seconds: int  # during which some batches always wait


SMALL = Sizes(
    rows=2_000_000,
    changes=100_000,
    trials=3,
    slow_trials=1,
    rows_of_other_shapes=1_000_000,
    growth_rows=(200_000, 2_000_000),
    growth_changes=(1_000, 100_000),
    growth_trials=1,
    many_changes=500_000,
    events={200_000: 2},
    readers=Size(rows=10_000, applies=20, changes=3_000),
    sinks=Histories(batches=3, changes=50, rows=100),
    sent=(50_000,),
    some_rows=500_000,
    some_changes=10_000,
    ways_changes=(1, 10_000),
    reads_applies=(0, 1, 10),
    inserts_applies=3,
    followers=(1,),
    granularities=(4096, 8192),
    applies_of_a_day=8,
    slow_applies_of_a_day=1,
    changes_of_an_apply=1_000,
    some_trials=1,
    views_changes=(1_000, 20_000),
    starts=3,
    followed={1_000: 10},
    sustained_seconds=20,
)
FULL = Sizes(
    rows=100_000_000,
    changes=1_000_000,
    trials=5,
    slow_trials=1,
    rows_of_other_shapes=10_000_000,
    growth_rows=(1_000_000, 10_000_000, 100_000_000),
    growth_changes=(1_000, 10_000, 100_000, 1_000_000, 5_000_000),
    growth_trials=2,
    many_changes=20_000_000,
    events={1_000_000: 3, 5_000_000: 1},
    readers=Size(rows=10_000, applies=200, changes=3_000),
    sinks=Histories(batches=6, changes=200, rows=400, readers=1),
    sent=(100_000, 1_000_000, 5_000_000),
    some_rows=10_000_000,
    some_changes=100_000,
    ways_changes=(1, 100, 10_000, 1_000_000),
    reads_applies=(0, 1, 10, 100),
    inserts_applies=20,
    followers=(1, 3),
    granularities=(1024, 2048, 4096, 8192),
    applies_of_a_day=288,
    slow_applies_of_a_day=12,
    changes_of_an_apply=10_000,
    some_trials=3,
    views_changes=(100_000, 1_000_000),
    starts=9,
    followed={1_000: 60, 10_000: 30},
    sustained_seconds=600,
)


def measure_upserts(engine: Engine, sizes: Sizes, results: Path) -> None:
    """Every way to upsert: an integer key with three choices of rows to change, and two other keys."""
    trials, slow_trials = sizes.trials, sizes.slow_trials
    tables = (  # rows; the shapes of one table, with the trials of the slow ways
        (sizes.rows, {"spread": slow_trials, "scattered": trials, "recent": slow_trials}),
        (sizes.rows_of_other_shapes, {"composite": 1}),
        (sizes.rows_of_other_shapes, {"not_a_prefix": 1}),
    )
    for rows, slow_trials_of in tables:
        changes = min(sizes.changes, rows // 10)
        upsert = Upsert(engine, SHAPES[next(iter(slow_trials_of))], rows, changes)
        for name, slow in slow_trials_of.items():
            print(f"{name}: {rows:,} rows, {changes:,} changes", flush=True)
            upsert.change(SHAPES[name], changes)
            ways = as_rows(upsert.measure(trials, slow), "plain insert")
            tables_of_shape = {"ways": ways}
            if name == "spread":
                queries = measure_queries(upsert, trials)
                tables_of_shape["queries after it"] = as_rows(queries, "ReplacingMergeTree FINAL")
            write_results(results, f"upsert_{name}", {"rows": rows, "changes": changes}, tables_of_shape)
            title = f"{changes:,} changes of a table of {rows:,} rows"
            plot_ways(results / f"upsert_{name}.svg", title, ways)


def measure_growth(engine: Engine, sizes: Sizes, results: Path) -> None:
    """The apply alone, by the size of everything."""
    print("growth", flush=True)
    by_size = measure_sizes(engine, sizes.growth_rows, sizes.growth_changes, sizes.growth_trials)
    columns = measure_columns(engine, sizes.rows_of_other_shapes, sizes.changes, sizes.growth_trials)
    chunks = measure_chunks(engine, sizes.rows, sizes.changes, sizes.growth_trials)
    many = measure_chunks(engine, sizes.rows, sizes.many_changes, 1, (32,))
    tables = {
        "table and changes": by_size,
        f"columns: {sizes.rows_of_other_shapes:,} rows, {sizes.changes:,} changes": columns,
        f"chunks: {sizes.rows:,} rows, {sizes.changes:,} changes": chunks,
        f"chunks: {sizes.rows:,} rows, {sizes.many_changes:,} changes": many,
    }
    write_results(results, "growth", {"trials": sizes.growth_trials}, tables)
    plot_growth(results / "growth.svg", "An apply, by the size of the table and of the change set", by_size)


def measure_ways(engine: Engine, sizes: Sizes, results: Path) -> None:
    """Lightweight updates, partial rows and refreshable views, compared with ours."""
    rows, trials = sizes.some_rows, sizes.some_trials
    ways = Ways(engine, rows, trials)
    tables = {
        "by the number of changes": ways.by_number(sizes.ways_changes),
        f"partial rows: {sizes.some_changes:,} changes of one column": ways.partial(sizes.some_changes),
        f"sums of {sizes.some_changes:,} changes": measure_aggregates(ways, sizes.some_changes),
    }
    write_results(results, "ways", {"rows": rows, "trials": trials}, tables)


def measure_reading(engine: Engine, sizes: Sizes, results: Path) -> None:
    """Queries in every form, in seconds and in memory."""
    rows, trials = sizes.some_rows, sizes.some_trials
    tables = measure_reads(engine, rows, sizes.reads_applies, trials)
    parameters = {"rows": rows, "changes of an apply": rows // 100, "trials": trials}
    write_results(results, "reads", parameters, tables)


def measure_a_day(engine: Engine, sizes: Sizes, results: Path) -> None:
    """What small applies write, merges included."""
    rows, changes, applies = sizes.some_rows, sizes.changes_of_an_apply, sizes.applies_of_a_day
    day = measure_written(engine, rows, changes, applies, sizes.slow_applies_of_a_day)
    parameters = {"rows": rows, "applies": applies, "changes of an apply": changes}
    write_results(results, "written", parameters, {"for each change": day})


def measure_inserts(engine: Engine, sizes: Sizes, results: Path) -> None:
    """Projections, views, parts and layouts."""
    rows, changes, applies = sizes.some_rows, sizes.some_changes, sizes.inserts_applies
    inserts = Inserts(engine, rows, changes, sizes.some_trials)
    tables = {
        "projections and views": inserts.beside(sizes.followers),
        f"after {applies} applies": inserts.by_parts(applies),
        "layouts": inserts.layouts(sizes.granularities),
    }
    parameters = {"rows": rows, "changes": changes, "trials": sizes.some_trials}
    write_results(results, "inserts", parameters, tables)


def measure_types(engine: Engine, sizes: Sizes, results: Path) -> None:
    """Versions of several types."""
    print("versions", flush=True)
    rows, changes, trials = sizes.some_rows, sizes.some_changes, sizes.trials
    table = measure_versions(engine, rows, changes, trials)
    parameters = {"rows": rows, "changes of an apply": changes, "trials": trials}
    write_results(results, "versions", parameters, {"by the type of the version": table})


def measure_joins(engine: Engine, sizes: Sizes, results: Path) -> None:
    """Views over joins."""
    print("views", flush=True)
    trials, slow_trials = sizes.some_trials, sizes.slow_trials
    table = measure_views(engine, sizes.rows, sizes.views_changes, trials, slow_trials)
    parameters = {"orders": sizes.rows, "customers": sizes.rows // 10, "products": sizes.rows // 1000}
    write_results(results, "views", parameters, {"after an apply": table})


def measure_past(engine: Engine, sizes: Sizes, results: Path) -> None:
    """A change feed, and the past of its table."""
    print("history", flush=True)
    rows, changes, applies = sizes.some_rows, sizes.some_changes, sizes.inserts_applies
    tables = measure_history(engine, rows, changes, applies, sizes.some_trials)
    parameters = {"rows": rows, "changes of an apply": changes, "applies": applies}
    write_results(results, "history", parameters, tables)


def measure_spark(_engine: Engine, sizes: Sizes, results: Path) -> None:
    """Change sets, with many keys and with one. Each has its own process, because Spark's memory is set at its
    start."""
    for events, rounds in sizes.events.items():
        for keys in (events // 3, 1):
            options = {"--events": events, "--keys": keys, "--rounds": rounds, "--results": results}
            arguments = [str(word) for option in options.items() for word in option]
            subprocess.run([sys.executable, "-m", "benchmarks.change_sets", *arguments], check=True)


def measure_resident(_engine: Engine, sizes: Sizes, results: Path) -> None:
    """A resident run, in its own process, because its store is read at the end."""
    print("follow", flush=True)
    batches = [f"{events}:{count}" for events, count in sizes.followed.items()]
    arguments = ["--batches", *batches, "--seconds", str(sizes.sustained_seconds)]
    arguments += ["--results", str(results)]
    subprocess.run([sys.executable, "-m", "benchmarks.follow", *arguments], check=True)


def measure_polls(_engine: Engine, sizes: Sizes, results: Path) -> None:
    """What readers see of a table during applies, on a server of their own."""
    print("readers", flush=True)
    size = sizes.readers
    parameters = {"rows": size.rows, "changes": size.changes, "threads": THREADS}
    write_results(results, "readers", parameters, {"polls": measure_readers(size)})


def measure_right_and_wrong(_engine: Engine, sizes: Sizes, results: Path) -> None:
    """Whether each way ends with the rows of the source, and what readers see meanwhile."""
    print("sinks", flush=True)
    measure_sinks(results, sizes.sinks)


def measure_on_servers(_engine: Engine, sizes: Sizes, results: Path) -> None:
    """Simultaneous applies, and the two hand-offs."""
    print("servers", flush=True)
    rows, trials = sizes.some_rows, sizes.some_trials
    changes = min(sizes.changes, rows // 10)
    write_results(results, "servers", {"trials": trials}, measure_servers(rows, changes, sizes.sent, trials))


def measure_starts(_engine: Engine, sizes: Sizes, results: Path) -> None:
    """What the adapter adds to a run that does nothing."""
    print("start-up", flush=True)
    options = ["--trials", str(sizes.starts), "--results", str(results)]
    subprocess.run([sys.executable, "-m", "benchmarks.start_up", *options], check=True)


def measure_demo(_engine: Engine, _sizes: Sizes, results: Path) -> None:
    """The project's own models."""
    print("whole run", flush=True)
    write_whole_run(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="10 and 100 million rows; takes more than an hour")
    parser.add_argument("--parts", nargs="+", choices=PARTS, help="by default all")
    parser.add_argument("--results", type=Path, help="folder to write to")
    options = parser.parse_args()
    sizes = FULL if options.full else SMALL
    results = options.results or REPOSITORY / ("benchmarks/results" if options.full else "target/benchmarks")
    measures = {
        "upsert": measure_upserts,
        "growth": measure_growth,
        "ways": measure_ways,
        "reads": measure_reading,
        "written": measure_a_day,
        "inserts": measure_inserts,
        "versions": measure_types,
        "views": measure_joins,
        "history": measure_past,
        "spark": measure_spark,
        "readers": measure_polls,
        "sinks": measure_right_and_wrong,
        "servers": measure_on_servers,
        "start_up": measure_starts,
        "follow": measure_resident,
        "whole_run": measure_demo,
    }
    parts = options.parts or PARTS
    with TemporaryDirectory() as folder:
        engine = Engine(Path(folder), LOGS.get(parts[0], ()) if len(parts) == 1 else ())
        for part in parts:
            if part in LOGS and len(parts) > 1:
                arguments = ["--parts", part, "--results", str(results)]
                arguments += ["--full"] if options.full else []
                subprocess.run([sys.executable, "-m", "benchmarks.run", *arguments], check=True)
            else:
                measures[part](engine, sizes, results)
    print(f"The figures are in {results}")


if __name__ == "__main__":
    main()
