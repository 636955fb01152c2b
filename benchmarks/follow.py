"""How fresh a resident run keeps its rows, and how many events per second it keeps up with.

Freshness is the time from landing to visibility in all tables and views of the shop, according to the ledger.

    python -m benchmarks.follow [--batches 1000:20 10000:10] [--seconds 60]

It measures the whole shop, and then one table without its quarantine, with two views.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.engine import REPOSITORY
from benchmarks.measure import write_results
from benchmarks.plots import plot_lags
from benchmarks.shop_events import ShopEvents
from tests.support import shop
from tests.support.resident import Resident

BASE = 20_000  # events of the first batch
ALL = ("all of the shop", ())
ONE = (
    "one table and two views",
    ("stg_shop__orders", "orders_changes", "orders", "orders_live", "orders_by_status_live"),
)
WARM_UP = 5  # batches after it that do not count
BACKLOG = 3  # batches that wait while the sustained rate is measured
# When a batch became visible in each model: in a table when it is applied, in a view when it has a row `filled` for
# that apply or a later one.
VISIBLE = """
with applied as (
  select model, target_uuid, apply, at, arrayJoin(arrayZip(batches.batch, landed_at)) as found
  from shop.versioned_collapsing_ledger
  where status = 'applied'
)
select batch, max(landed) as landed, max(in_table) as in_tables, max(in_view) as in_views
from (
  select found.1 as batch, max(found.2) as landed, max(applied.at) as in_table, min(filled.at) as in_view
  from applied
  inner join (
    select model, source_uuid, apply, at
    from shop.versioned_collapsing_ledger
    where status = 'filled'
  ) as filled
    on filled.source_uuid = applied.target_uuid
  where filled.apply >= applied.apply
  group by batch, applied.model, filled.model
)
group by batch
"""


class Feeder:
    """Lands batches in the landing zone of a resident run."""

    def __init__(self, resident: Resident) -> None:
        self._resident = resident
        self._events = ShopEvents()
        self.landed = 0

    def land(self, events: int) -> None:
        """Land a batch."""
        self.landed += 1
        with self._resident.landing(self.landed) as folders:
            self._events.write(folders, events)

    @property
    def applied(self) -> int:
        """The last batch that the run has reported as applied."""
        said = re.findall(r"\borders batch(?:es \d+-| )(\d+): ", self._resident.output)
        return max(map(int, said), default=0)

    def wait(self, waiting: int = 0) -> None:
        """Wait until at most this many batches wait to be applied."""
        self._resident.wait_until(lambda: self.applied >= self.landed - waiting)


def measure_follow(batches: Mapping[int, int], seconds: int) -> dict[str, list[dict[str, Any]]]:
    """The figures of all models, and of one table, by title."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for name, models in (ALL, ONE):
        for title, rows in _measure(batches, seconds, models).items():
            tables.setdefault(title, []).extend({"models": name, **row} for row in rows)
    return tables


def _measure(batches: Mapping[int, int], seconds: int, models: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """For each number of events per batch, land that many batches, each once the previous one is applied. Then land
    batches for that many seconds, so fast that some always wait.
    """
    with TemporaryDirectory() as folder:
        resident = Resident(Path(folder))
        feeder = Feeder(resident)
        chance = random.Random(1)
        latest: dict[int, range] = {}
        sustained = []
        with resident.running(*(["--select", *models] if models else [])):
            feeder.land(BASE)
            feeder.wait()
            for events, count in batches.items():
                for number in range(WARM_UP + count):
                    if number == WARM_UP:
                        first = feeder.landed + 1
                    feeder.land(events)
                    feeder.wait()
                    time.sleep(chance.uniform(0, 1))
                latest[events] = range(first, feeder.landed + 1)
            for events in batches:
                sustained.append(_sustained(feeder, events, seconds))
            resident.end()
        with shop.clickhouse(resident.home) as client:
            visible = client.query(VISIBLE).result_rows
        seconds_of = {
            batch: (_seconds(landed, in_tables), _seconds(landed, in_views))
            for batch, landed, in_tables, in_views in visible
        }
    return {
        "seconds from landed to visible": [
            {"events of a batch": events, **_latencies([seconds_of[batch] for batch in found])}
            for events, found in latest.items()
        ],
        "sustained": sustained,
    }


def _seconds(begin: Any, end: Any) -> float:
    return float((end - begin).total_seconds())


def _latencies(seconds: Sequence[tuple[float, float]]) -> dict[str, Any]:
    row: dict[str, Any] = {"batches": len(seconds)}
    for name, found in zip(("tables", "views"), zip(*seconds, strict=True), strict=True):
        p50, *_, p95 = statistics.quantiles(found, n=20, method="inclusive")[9:19:9]
        row |= {f"{name} p50": round(p50, 2), f"{name} p95": round(p95, 2)}
    return row


def _sustained(feeder: Feeder, events: int, seconds: int) -> dict[str, Any]:
    """Events per second while some batches always wait."""
    for _ in range(BACKLOG):
        feeder.land(events)
    feeder.wait(BACKLOG - 1)
    begin, first = time.monotonic(), feeder.applied
    while time.monotonic() - begin < seconds:
        feeder.land(events)
        feeder.wait(BACKLOG)
    took, count = time.monotonic() - begin, feeder.applied - first
    feeder.wait()
    return {"events of a batch": events, "events a second": round(count * events / took)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--batches", nargs="+", default=["100:20", "1000:20", "10000:10"], help="events of a batch:how many"
    )
    parser.add_argument("--seconds", type=int, default=60, help="of each sustained rate")
    parser.add_argument("--results", type=Path, default=REPOSITORY / "target" / "benchmarks")
    options = parser.parse_args()
    batches = {int(events): int(count) for events, _, count in (each.partition(":") for each in options.batches)}
    tables = measure_follow(batches, options.seconds)
    write_results(options.results, "follow", {"seconds of a rate": options.seconds}, tables)
    plot_lags(options.results / "follow.svg", "From landed to visible", tables["seconds from landed to visible"])
    for title, rows in tables.items():
        print(title, *rows, sep="\n  ")


if __name__ == "__main__":
    main()
