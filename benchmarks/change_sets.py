"""What a change set and its quarantine cost, compared with Spark only reading the events and writing Parquet.

    python -m benchmarks.change_sets --events 5_000_000
    python -m benchmarks.change_sets --events 10_000_000 --keys 1 --memory 1g --rounds 1

The events are Debezium's, updates of an orders table with both images; one line in a thousand cannot be used. The
receipts for ClickHouse are included. Both sides run in turns in one Spark session; the first round does not count. The
benchmark prints Spark's CPU seconds in each other round, and fails if the models cost more than ``--limit`` times as
much.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engine import REPOSITORY
from benchmarks.measure import Figures, as_rows, write_results
from tests.support.commands import invoke

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {
    "order_id": "bigint",
    "customer_id": "bigint",
    "region": "string",
    "status": "string",
    "amount": "decimal(12,2)",
    "items": "bigint",
    "note": "string",
    "created_at": "timestamp",
    "updated_at": "timestamp",
}
ENVELOPE = ("before struct<{image}>, after struct<{image}>, source struct<lsn: bigint>, op string").format(
    # A JSON reader takes decimals from numbers, not from text.
    image=", ".join(f"{name}: {'string' if kind.startswith('decimal') else kind}" for name, kind in COLUMNS.items())
)
STAGING = f"{{{{ parse_debezium(source('landing', 'orders'), key=['order_id'], columns={COLUMNS}) }}}}"
CHANGES = "{{ one_change_per_key(ref('stg_orders'), key=['order_id']) }}"
QUARANTINE = "{{ quarantined_lines(ref('stg_orders'), 'orders', change_set=ref('orders_changes')) }}"
# ClickHouse models that do not run, but cause receipts for what they read.
READERS = ("orders_changes", "cdc_quarantine_changes")


def order(rng: random.Random, key: int, number: int) -> dict[str, Any]:
    return {
        "order_id": key,
        "customer_id": key % 1000,
        "region": rng.choice(("north", "south", "east", "west")),
        "status": rng.choice(("pending", "paid", "shipped", "delivered")),
        "amount": f"{rng.randrange(10**7) / 100:.2f}",
        "items": rng.randrange(1, 9),
        "note": None if number % 3 else f"leave at the door, number {number}",
        "created_at": "2025-01-23T04:12:25.683182Z",
        "updated_at": f"2025-02-23T04:12:{number % 60:02d}.{number % 10**6:06d}Z",
    }


def write_events(folder: Path, events: int, keys: int, files: int) -> None:
    """Write the landing zone: one batch in several files."""
    rng = random.Random(1)
    batch = folder / "batch=000001"
    batch.mkdir(parents=True)
    for part in range(files):
        with (batch / f"part-{part:05d}.json").open("w", encoding="utf-8") as file:
            for number in range(part * events // files, (part + 1) * events // files):
                key, lsn = rng.randrange(keys), 27_223_800 + number * 100
                before, after = order(rng, key, number), order(rng, key, number)
                op = rng.choices("cud", (2, 7, 1))[0]
                event = {
                    "before": None if op == "c" else before,
                    "after": None if op == "d" else after,
                    "source": {
                        "version": "2.7.0.Final",
                        "connector": "postgresql",
                        "name": "shop",
                        "ts_ms": 1_700_000_000_000 + number,
                        "snapshot": "false",
                        "db": "shop",
                        "sequence": f'["{lsn - 40}","{lsn}"]',
                        "schema": "public",
                        "table": "orders",
                        "txId": 700 + number,
                        "lsn": lsn,
                        "xmin": None,
                    },
                    "op": "?" if number % 1000 == 999 else op,
                    "ts_ms": 1_700_000_000_000 + number,
                    "transaction": None,
                }
                file.write(json.dumps(event, separators=(",", ":")) + "\n")


def write_project(folder: Path, landing: Path, memory: str) -> None:
    """Write a project with one change set on the embedded engines."""
    project = {
        "name": "versioned_collapsing",
        "version": "1.0",
        "profile": "benchmark",
        "macro-paths": [str(REPOSITORY / "macros")],
        "models": {"+database": "spark", "+materialized": "view"},
        "flags": {"send_anonymous_usage_stats": False},
    }
    output = {
        "type": "spark_clickhouse",
        "database": "clickhouse",
        "schema": "bench",
        "threads": 1,
        "home": str(folder / "home"),
        "spark": {"method": "session", "server_side_parameters": {"spark.driver.memory": memory}},
        "clickhouse": {"driver": "chdb"},
    }
    tables = [{"name": "orders", "external": {"location": str(landing), "file_format": "text"}}]
    files = {
        "dbt_project.yml": json.dumps(project),
        "profiles.yml": json.dumps({"benchmark": {"target": "it", "outputs": {"it": output}}}),
        "models/sources.yml": json.dumps({"sources": [{"name": "landing", "database": "spark", "tables": tables}]}),
        "models/stg_orders.sql": STAGING,
        "models/orders_changes.sql": "{{ config(materialized='change_set') }}\n" + CHANGES,
        "models/cdc_quarantine_changes.sql": "{{ config(materialized='change_set') }}\n" + QUARANTINE,
    }
    for name in READERS:
        text = f"{{{{ config(database='clickhouse') }}}}\nselect * from {{{{ ref('{name}') }}}}"
        files[f"models/{name}_on_clickhouse.sql"] = text
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run_dbt(project: Path, *arguments: str) -> None:
    folders = ["--project-dir", str(project), "--profiles-dir", str(project)]
    outcome = invoke("--quiet", *arguments, *folders)
    if not outcome.success:
        sys.exit(str(outcome.exception or outcome.failures()))


def read_and_write(landing: Path, target: Path) -> None:
    session = spark()
    session.read.schema(ENVELOPE).json(str(landing)).write.mode("overwrite").parquet(str(target))


def spark() -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def cpu_seconds() -> float:
    """The processor time that Spark's JVM has used, according to Linux."""
    gateway = spark().sparkContext._gateway
    stat = Path(f"/proc/{gateway.proc.pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(work: Callable[[], None]) -> float:
    """The CPU seconds of ``work``."""
    cpu, start = cpu_seconds(), time.perf_counter()
    work()
    used = cpu_seconds() - cpu
    print(f"  {used:.1f} CPU s in {time.perf_counter() - start:.1f} s", flush=True)
    return used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--keys", type=int, help="how many keys; a third of the events by default")
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="2g", help="of Spark's driver, which is all of Spark")
    parser.add_argument("--limit", type=float, help="how many times as much it may cost")
    parser.add_argument("--results", type=Path, help="where to write the figures")
    parser.add_argument("--folder", type=Path, help="where to work, with its events kept")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="change_sets."))
    keys = options.keys or max(1, options.events // 3)
    landing = folder / f"orders-{options.events}-{keys}"
    try:
        if not landing.exists():
            write_events(landing, options.events, keys, options.files)
        size = sum(file.stat().st_size for file in landing.rglob("*.json"))
        print(f"{options.events} events of {keys} keys, {size / 1e6:.0f} MB, {os.cpu_count()} cores")
        write_project(folder, landing, options.memory)
        run_dbt(folder, "run", "--select", "stg_orders")
        figures = {"change set and quarantine": Figures(), "json to parquet": Figures()}
        for number in range(options.rounds + 1):
            models = measured(lambda: run_dbt(folder, "run", "--full-refresh", "--select", *READERS))
            plain = measured(lambda: read_and_write(landing, folder / "parquet"))
            if number:  # in the first round, Java still compiles
                figures["change set and quarantine"].seconds.append(models)
                figures["json to parquet"].seconds.append(plain)
        for name, found in figures.items():
            print(f"{name:26} {found.median:7.1f} CPU s   ", *(f"{n:.1f}" for n in found.seconds))
        ratio = figures["change set and quarantine"].median / figures["json to parquet"].median
        print(f"{'ratio':26} {ratio:7.2f}")
        if options.results:
            rows = as_rows(figures, "json to parquet")
            parameters = {"events": options.events, "keys": keys, "megabytes": size // 10**6}
            write_results(options.results, f"change_set_{options.events}_{keys}", parameters, {"spark": rows})
        if options.limit and ratio > options.limit:
            sys.exit(f"The models cost more than {options.limit} times as much.")
    finally:
        if not options.folder:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
