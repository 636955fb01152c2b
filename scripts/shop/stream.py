"""Makes the stream that the repository ships: `data/landing`, and PostgreSQL's own rows in `data/expected`.

python -m scripts.shop.stream [--into data]

Six connections race on a PostgreSQL of their own, while the real Debezium captures them: its snapshot is taken while
transactions are open, and in the middle an incremental snapshot reads all customers again. A batch ends at a position
of PostgreSQL's log. After some batches, the rows are copied out of PostgreSQL at that position.

What lies between Debezium and a landing zone delivers at least once. So a few lines come twice, late, or not in their
order; the first time, none comes later than the next batch after which the rows are copied.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from scripts.debezium.engine import Debezium
from scripts.debezium.postgres import Postgres
from scripts.shop.capture import TABLES, Batch, Capture, land
from scripts.shop.workload import SCHEMA, Workload

ROOT = Path(__file__).resolve().parents[2]
CONNECTIONS = 6
SHARES = {"twice": 0.02, "late": 0.02, "moved": 0.05}
# From December to April: whoever asks for the time lets it pass.
TIME = """
create sequence ticks;
create or replace function shop_time() returns timestamptz language sql as
  'select timestamptz ''2024-12-06 06:00:00+00'' + (nextval(''ticks'') + random()) * interval ''3 minutes''';
"""


@dataclass(frozen=True)
class Size:
    """How much happens: the rows before the snapshot, transactions per batch, batches; after which of these PostgreSQL's
    rows are copied, and during which the incremental snapshot is taken."""

    customers: int = 700
    orders: int = 1100
    transactions: int = 1000
    batches: int = 20
    compared: Sequence[int] = (10, 20)
    incremental: int = 13


def main() -> int:
    """Make it."""
    parser = argparse.ArgumentParser(prog="python -m scripts.shop.stream")
    parser.add_argument("--into", type=Path, default=ROOT / "data", help="folder of the stream")
    make(parser.parse_args().into, 1, Size())
    return 0


def make(into: Path, seed: int, size: Size) -> None:
    """Make a stream. What each connection does and how lines arrive is drawn from ``seed``, not how connections race."""
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory(prefix="shop-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)  # PostgreSQL's account goes through it
        batches = _captured(folder, seed, size)
        arrived = delivered(batches, size.compared, random.Random(seed))
        for part in ("landing", "expected"):
            shutil.rmtree(into / part, ignore_errors=True)
        for number, lines in arrived.items():
            land(lines, number, into / "landing", {"orders": 2})
        for number in size.compared:
            shutil.copytree(folder / f"batch_{number}", into / "expected" / f"batch_{number}")
        text = json.dumps(_summary(batches, folder / f"batch_{size.batches}"), indent=1)
        (into / "expected" / f"batch_{size.batches}" / "summary.json").write_text(f"{text}\n")
    for table in TABLES:
        sizes = [len(of_batch[table]) for of_batch in arrived.values()]
        print(f"{table}: {sum(sizes):,} lines, {min(sizes):,} to {max(sizes):,} a batch")


def _captured(folder: Path, seed: int, size: Size) -> list[Batch]:
    (folder / "postgres").mkdir()
    postgres = Postgres(folder / "postgres", SCHEMA)
    try:
        postgres.start()
        postgres.query(TIME)
        allowance = threading.Semaphore(0)
        seeds = range(seed * CONNECTIONS, (seed + 1) * CONNECTIONS)
        workloads = [Workload(postgres, each, allowance=allowance) for each in seeds]
        workloads[0].fill(size.customers, size.orders)
        for workload in workloads:
            workload.start()
        with Debezium(folder / "debezium.log") as debezium:
            capture = Capture(postgres, debezium)
            batches = []
            for number in range(1, size.batches + 1):
                if number == size.incremental:
                    postgres.query(
                        "insert into signals values ('again', 'execute-snapshot', "
                        '\'{"type": "incremental", "data-collections": ["public.customers"]}\')'
                    )
                _work(size.transactions, workloads, allowance, capture, postgres)
                _race(postgres, 100 + number)
                batches.append(capture.batch(_copies(folder, number) if number in size.compared else {}))
                print(f"batch {number}: {sum(map(len, batches[-1].lines.values())):,} lines", flush=True)
            for workload in workloads:
                workload.stop()
            capture.stop()
        return batches
    finally:
        postgres.stop()


def _work(
    transactions: int, workloads: list[Workload], allowance: threading.Semaphore, capture: Capture, postgres: Postgres
) -> None:
    """Let the transactions of a batch be sent. Until the snapshot has been taken, there are always some."""
    while not capture.has_begun:
        allowance.release(20)
        time.sleep(0.1)
    end = sum(workload.transactions for workload in workloads) + transactions
    allowance.release(transactions)
    at_work = "select count(*) from pg_stat_activity where application_name = 'psql' and state <> 'idle'"
    while sum(workload.transactions for workload in workloads) < end or postgres.query(at_work) != ["1"]:
        time.sleep(0.2)


def _race(postgres: Postgres, order: int) -> None:
    """One connection deletes an order while another inserts it. The insert waits, and its LSN is below the delete's."""
    insert = (
        "insert into orders (order_id, customer_id, region, status, amount, items) "
        f"select {order}, min(customer_id), 'north', 'pending', {order}.00, 0 from customers"
    )
    postgres.query(insert)
    touch = f"update orders set status = 'paid' where order_id = {order}"
    delete = f"begin; {touch}; select pg_sleep(0.5); delete from orders where order_id = {order}; commit"
    other = threading.Thread(target=postgres.query, args=(delete,))
    other.start()
    time.sleep(0.2)
    postgres.query(insert.replace("'pending'", "'shipped'"))
    other.join()


def _copies(folder: Path, number: int) -> dict[str, Path]:
    (folder / f"batch_{number}").mkdir()
    return {table: folder / f"batch_{number}" / f"{table}.csv" for table in TABLES}


def delivered(
    batches: Iterable[Batch], compared: Sequence[int], chance: random.Random
) -> dict[int, dict[str, list[str]]]:
    """The lines of each batch, as they arrive. The first time, each comes by the next batch after which rows are compared;
    a second time, in any later batch."""
    found: dict[int, dict[str, list[str]]] = {batch.number: defaultdict(list) for batch in batches}
    for batch in batches:
        last = next(number for number in compared if number >= batch.number)
        for table, lines in batch.lines.items():
            for line in lines:
                is_late = batch.number > 1 and chance.random() < SHARES["late"]
                number = chance.randint(batch.number, last) if is_late else batch.number
                found[number][table].append(line)
                if chance.random() < SHARES["twice"]:
                    found[chance.randint(number, max(found))][table].append(line)
    for of_batch in found.values():
        for lines in of_batch.values():
            for place in chance.sample(range(len(lines)), int(len(lines) * SHARES["moved"])):
                other = chance.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
    return found


def _summary(batches: list[Batch], folder: Path) -> dict[str, Any]:
    """Counts and totals of the end: how many events there were, and what PostgreSQL's rows come to."""
    rows = {}
    for table in TABLES:
        with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as file:
            rows[table] = list(csv.DictReader(file))
    tables = {}
    for table in TABLES:
        events = [json.loads(line) for batch in batches for line in batch.lines[table]]
        tables[table] = {
            "distinct_events": sum(event["source"]["table"] == table for event in events),
            "live_rows": len(rows[table]),
        }
    amounts: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in rows["orders"]:
        amounts[row["region"], row["created_at"][:7]] += Decimal(row["amount"])
    return {
        "tables": tables,
        "orders": {
            "sum_amount": str(sum(amounts.values())),
            "count_by_status": dict(sorted(Counter(row["status"] for row in rows["orders"]).items())),
            "sum_amount_by_region_and_created_month": [
                {"region": region, "month": month, "sum_amount": str(amount)}
                for (region, month), amount in sorted(amounts.items())
            ],
        },
    }


if __name__ == "__main__":
    sys.exit(main())
