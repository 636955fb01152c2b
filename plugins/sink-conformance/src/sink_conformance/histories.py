"""How the changes of a source reach a sink: in batches, each of which may be late, repeated or out of order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sink_conformance.source import Change, Row, Source

ROUND = 4  # after so many batches, nothing is held back


@dataclass(frozen=True)
class History:
    """A class of histories.

    Args:
        shows: what it is about, in a few words.
        kinds: of transactions besides plain ones.
        shuffled: every how many batches the changes of a batch are out of order.
        late: the share of changes that come in a later batch.
        twice: the share of changes that come again, and whether a whole batch does.
        kills: whether the sink is killed while it applies.
    """

    shows: str
    kinds: tuple[str, ...] = ()
    shuffled: int = 0
    late: float = 0
    twice: float = 0
    kills: bool = False


HISTORIES = {
    "in order": History("inserts, updates and deletes, in the order of commits"),
    "shuffled": History("the changes of a batch are in no order", shuffled=1),
    "late": History("some changes come one to three batches later", late=0.3),
    "twice": History("some changes come again, and some whole batches", twice=0.2),
    "racing": History(
        "transactions wait for each other: their places in the log are not in the order of commits", ("race",)
    ),
    "key moves": History("updates of the key, also to keys that were deleted", ("move",)),
    "delete and insert": History("several changes of a key in one transaction", ("again",), shuffled=2),
    "truncates": History("a truncate, and new rows in the same transaction", ("truncate",)),
    "kills": History("the sink is killed while it applies, and repeats the batch", kills=True),
    "all at once": History(
        "all of the above", ("race", "move", "again", "truncate"), shuffled=1, late=0.3, twice=0.2, kills=True
    ),
}


@dataclass(frozen=True)
class Batch:
    """What a sink gets at once, the rows that the source then has, and its changes that the sink does not have yet."""

    changes: list[Change]
    rows: list[Row]
    held: list[Change]

    def compared(self, rows: Iterable[Row]) -> list[Row]:
        """The rows that have to be the source's: those of keys that no change to come is about."""
        if any(change["op"] == "t" for change in self.held):
            return []
        open_keys = {row["id"] for change in self.held for row in (change["before"], change["after"]) if row}
        return [row for row in rows if int(row["id"]) not in open_keys]


def batches(name: str, seed: int, count: int, changes: int, rows: int) -> Iterator[Batch]:
    """The batches of a history.

    Args:
        name: of the class of histories.
        seed: the same seed gives the same history.
        count: of batches, after a first one that fills the table.
        changes: of a batch, about.
        rows: of the table in the beginning.
    """
    history = HISTORIES[name]
    chance = random.Random(f"{name} {seed}")
    source = Source(chance)
    first = source.fill(rows)
    yield Batch(first, list(source.rows.values()), [])
    last = first
    due: dict[int, list[Change]] = defaultdict(list)  # changes that are held back, by the batch that brings them
    for number in range(1, count + 1):
        end = min(count, -(-number // ROUND) * ROUND)
        new: list[Change] = []
        while len(new) < changes:
            new += source.run(_kind(history, chance))
            if "truncate" in history.kinds and number % 3 == 2 and changes / 2 < len(new) < changes:
                new += source.run("truncate")
        batch = due.pop(number, [])
        for change in new:
            is_late = number < end and chance.random() < history.late
            (due[chance.randint(number + 1, end)] if is_late else batch).append(change)
        again = last if number % 3 == 0 else []
        repeated = [change for change in batch + last if chance.random() < history.twice]
        batch += [*repeated, *(again if history.twice else [])]
        if history.shuffled and number % history.shuffled == 0:
            chance.shuffle(batch)
        last = batch
        held = [change for late in due.values() for change in late]
        yield Batch(batch, list(source.rows.values()), held)


def _kind(history: History, chance: random.Random) -> str:
    kinds = [kind for kind in history.kinds if kind != "truncate"]
    return chance.choice(kinds) if kinds and chance.random() < 0.5 else "plain"
