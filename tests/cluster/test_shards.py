"""Two ClickHouse servers as shards of one table, each with its own runs. The test itself is the router.

A shard gets every change. A row that belongs to the other shard arrives as a delete, so that a key can move. One of the
two dies during a run, again and again.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster.conftest import Front
from tests.cluster.relay import HOST, Relay, relaying
from tests.support.collapsing_project import CollapsingProject, Row

SHARDS = 2
KEYS = 40
ROUNDS = 15
STRUCTURE = "id Int64, region String, amount Int64, _version Int64, _is_deleted Bool"
SELECT = (
    "select id, region, amount, _version, "
    "_is_deleted or cityHash64(region) % {{ var('shards') }} <> {{ var('shard') }} as _is_deleted from changes"
)


class Shard:
    """A server, with the project that applies to it."""

    def __init__(self, folder: Path, number: int, stack: ExitStack) -> None:
        self.front = Front(folder / "clickhouse", password="")
        stack.callback(self.front.stop)
        self.relay: Relay = stack.enter_context(relaying(self.front.port))
        self.project = CollapsingProject(folder / "project", (HOST, self.relay.port), "sharded")
        self.project.set_variables(shard=number, shards=SHARDS)
        self.project.add_model("orders", {"unique_key": "id"}, SELECT)

    def apply(self, changes: list[Row], dies_after: float | None = None) -> bool:
        """Apply changes. Return whether that succeeded. The server may be killed after this many seconds."""
        self.project.replace_rows("changes", STRUCTURE, changes)
        killer = threading.Timer(dies_after or 0, self.front.kill)
        if dies_after is not None:
            killer.start()
        try:
            return self.project.run()["orders"].status == "success"
        except Exception:  # noqa: BLE001  # dbt, or the check of the ledger, finds no server
            return False
        finally:
            if dies_after is not None:
                killer.join()
                self.front.start()
                self.relay.target = self.front.port

    def live_rows(self) -> list[Row]:
        """The live rows, which must agree by FINAL and by signs."""
        live = self.project.query("select id, region, amount from orders final where _sign = 1 order by all")
        net = self.project.query(
            "select id, region, amount from orders group by all having sum(_sign) <> 0 order by all"
        )
        assert live == net
        return live


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Shard]]:
    with ExitStack() as stack:
        yield [Shard(tmp_path_factory.mktemp(f"shard_{number}"), number, stack) for number in range(SHARDS)]


def test_every_row_is_on_one_shard_whoever_dies(shards: list[Shard]) -> None:
    chance = random.Random(21)
    newest: dict[int, Row] = {}
    late: list[Row] = []
    died = moved = 0
    for round_ in range(1, ROUNDS + 1):
        rows = [
            (
                key,
                chance.choice(("north", "south", "east", "west")),
                chance.randrange(1000),
                round_ * 1000 + key,
                chance.random() < 0.2,
            )
            for key in chance.sample(range(KEYS), 15)
        ]
        for row in rows:
            moved += row[0] in newest and newest[row[0]][1] != row[1]
            newest[row[0]] = row
        changes = [*rows, *chance.sample(late, min(5, len(late)))]
        late += rows
        victim = chance.randrange(SHARDS) if round_ % 3 else None
        for number, shard in enumerate(shards):
            dies_after = chance.uniform(0.05, 0.6) if number == victim else None
            if not shard.apply(changes, dies_after):
                died += 1
                assert shard.apply(changes)
        expected = sorted(row[:3] for row in newest.values() if not row[4])
        assert sorted(row for shard in shards for row in shard.live_rows()) == expected, round_
    assert died > 2
    assert moved > 50
    assert all(shard.live_rows() for shard in shards)
