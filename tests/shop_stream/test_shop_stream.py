"""The shop that Debezium captures: what its connections do to a real PostgreSQL, and how lines are delivered.

`make shop-stream` and `make live-cdc` cover the rest, with the real Debezium.
"""

from __future__ import annotations

import gzip
import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scripts.debezium.postgres import Postgres
from scripts.shop.capture import TABLES, Batch, land
from scripts.shop.stream import delivered
from scripts.shop.workload import SCHEMA, Workload


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    # PostgreSQL runs as another user, and the path of its socket must be short.
    with TemporaryDirectory(prefix="shop-") as folder:
        postgres = Postgres(Path(folder), SCHEMA)
        try:
            postgres.start()
            yield postgres
        finally:
            postgres.stop()


def test_connections_race_and_every_statement_is_one_that_postgresql_takes(postgres: Postgres) -> None:
    allowance = threading.Semaphore(600)
    workloads = [Workload(postgres, seed, allowance=allowance, changes_tables=seed == 0) for seed in range(3)]
    workloads[0].fill(20, 30)
    for workload in workloads:
        workload.start()
    while sum(workload.transactions for workload in workloads) < 600:
        assert not any(workload.error for workload in workloads)
    for workload in workloads:
        workload.stop()
    rows = {table: int(postgres.query(f"select count(*) from {table}")[0]) for table in TABLES}
    assert all(rows.values()), rows


def test_a_statement_that_postgresql_refuses_is_told(postgres: Postgres) -> None:
    workload = Workload(postgres, 1)
    workload.start()
    postgres.query("alter table orders drop column amount")
    try:
        while workload.transactions < 300:
            assert workload.is_alive()
    finally:
        with pytest.raises(RuntimeError, match='column "amount"'):
            workload.stop()


def test_every_line_is_delivered_once_or_more_and_by_the_batch_that_is_compared() -> None:
    lines = {f"{number} {line}": number for number in range(1, 21) for line in range(500)}
    batches = [
        Batch(number, 0, {}, {"orders": [line for line, sent in lines.items() if sent == number]}, Counter())
        for number in range(1, 21)
    ]
    found = delivered(batches, (10, 20), random.Random(1))
    arrived: dict[str, list[int]] = {line: [] for line in lines}
    for number, of_batch in found.items():
        for line in of_batch["orders"]:
            arrived[line].append(number)
    assert {len(numbers) for numbers in arrived.values()} == {1, 2}
    assert all(lines[line] <= numbers[0] <= (10 if lines[line] <= 10 else 20) for line, numbers in arrived.items())
    assert any(lines[line] < numbers[0] for line, numbers in arrived.items())
    assert any(numbers[0] <= 10 < numbers[-1] for numbers in arrived.values())
    assert found[3]["orders"] != sorted(found[3]["orders"], key=lambda line: [*map(int, line.split())])


def test_a_batch_lands_in_folders_of_tables(tmp_path: Path) -> None:
    land({"orders": ["1", "2", "3"], "customers": ["ü"]}, 7, tmp_path, {"orders": 2})
    read = {
        str(file.relative_to(tmp_path)): gzip.decompress(file.read_bytes()).decode() for file in tmp_path.rglob("*.gz")
    }
    assert read == {
        "orders/batch=000007/part-00000.json.gz": "1\n3\n",
        "orders/batch=000007/part-00001.json.gz": "2\n",
        "customers/batch=000007/part-00000.json.gz": "ü\n",
    }
    assert {path.name for path in tmp_path.iterdir()} == {"orders", "customers"}
