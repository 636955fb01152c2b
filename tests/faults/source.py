"""The source of a table's changes, and the reference: what the table holds when all changes are applied."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support import oracle

REGIONS = ("EU", "US", "AP", "it's 50% #1", "ü\n\\")
PARTS = 5
KEYS = 600
STRUCTURE = "id UInt32, part UInt8, region String, amount Int64, _version UInt64, _is_deleted Bool, _is_truncate Bool"
_SCHEMA = pa.schema(
    [
        ("id", pa.uint32()),
        ("part", pa.uint8()),
        ("region", pa.string()),
        ("amount", pa.int64()),
        ("_version", pa.uint64()),
        ("_is_deleted", pa.bool_()),
        ("_is_truncate", pa.bool_()),
    ]
)
# A live row: the columns of the table without the sign.
LiveRow = tuple[int, int, str, int, int]


class Event(NamedTuple):
    """A change of a key. Versions are log positions, one per event."""

    id: int
    part: int
    region: str
    amount: int
    version: int
    is_deleted: bool = False
    is_truncate: bool = False

    @property
    def live_row(self) -> LiveRow:
        return self[:5]


@dataclass(frozen=True)
class State:
    """What a table should hold: its live rows, and the keys whose last event is a delete, with its version."""

    live: Mapping[int, LiveRow]
    deleted: Mapping[int, int]

    @property
    def rows(self) -> list[LiveRow]:
        return sorted(self.live.values())

    def sums(self, rates: Mapping[str, int] | None = None) -> list[tuple[str, int, int]]:
        """Region, number of rows and amount; the amount times the region's rate, if there are rates."""
        groups: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for _, _, region, amount, _ in self.live.values():
            if rates is None or region in rates:
                groups[region][0] += 1
                groups[region][1] += amount * (rates[region] if rates else 1)
        return sorted((region, n, total) for region, (n, total) in groups.items())


def state_of(events: Iterable[Event]) -> State:
    """The state after these events, in whatever order and however often they came."""
    table = oracle.Oracle()
    table.apply(
        oracle.Event(
            event.id, event.version, event.live_row[1:4], is_deleted=event.is_deleted, is_truncate=event.is_truncate
        )
        for event in events
    )
    live = {row[0]: row for row in table.rows}
    return State(live, table.deleted)


class Source:
    """A log of changes of some keys. Each draw gives the next changes.

    Most come in order, some late, some a second time, some twice at once. Rows change partitions, are deleted and come
    back; sometimes all are truncated.
    """

    def __init__(self, chance: random.Random, keys: int = KEYS) -> None:
        self._chance = chance
        self._keys = keys
        self._version = 0
        self._late: list[Event] = []
        self._sent: list[Event] = []

    def draw(self, share: float) -> list[Event]:
        """Events for a share of the keys, with late events and repetitions."""
        chance = self._chance
        batch = [self._event(key) for key in range(self._keys) if chance.random() < share]
        if chance.random() < 0.08:
            self._version += 1
            batch.append(Event(0, 0, "", 0, self._version, is_truncate=True))
            batch += [self._event(key) for key in chance.sample(range(self._keys), self._keys // 3)]
        held = [event for event in batch if chance.random() < 0.1 and not event.is_truncate]
        come = [event for event in batch if event not in set(held)]
        chance.shuffle(self._late)
        come += self._late[: len(self._late) // 2]
        self._late = self._late[len(self._late) // 2 :] + held
        come += chance.sample(self._sent, len(self._sent) // 20)
        come += chance.sample(come, len(come) // 20)
        chance.shuffle(come)
        self._sent += come
        return come

    def _event(self, key: int) -> Event:
        chance = self._chance
        self._version += 1
        return Event(
            key,
            chance.randrange(PARTS),
            chance.choice(REGIONS),
            chance.randrange(-50, 1_000),
            self._version,
            is_deleted=chance.random() < 0.2,
        )


def write(events: Iterable[Event], path: Path) -> None:
    """Write events to a Parquet file, which appears complete or not at all."""
    columns = list(zip(*events, strict=True)) or [()] * len(_SCHEMA)
    draft = path.with_suffix(".draft")
    pq.write_table(
        pa.table([pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)], _SCHEMA),
        draft,
        row_group_size=200,
    )
    draft.rename(path)
