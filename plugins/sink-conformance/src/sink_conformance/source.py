"""A table in a database: transactions change it, and a log records their changes.

The table itself is the truth: a sink has to end with its rows. No rule folds changes into rows here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Change = dict[str, Any]
COLUMNS = ("id", "name", "amount", "region")
SPAN = 1_000_000  # places in the log for each transaction: even ones for its changes, the last one for its commit


class Source:
    """The table, changed by transactions of a few kinds.

    The changes of a transaction are ordered by their place in it (``seq``), and transactions by their commits
    (``commit``). The place in the log (``lsn``) orders neither: a change is logged when it is made, which may be before
    the commit of another transaction that it waits for.
    """

    def __init__(self, chance: random.Random) -> None:
        self.rows: dict[int, Row] = {}
        self._chance = chance
        self._transactions = 0
        self._changes: list[Change] = []  # of the transaction that is open
        self._next_key = 1
        self._free: list[int] = []  # keys that had a row

    def fill(self, rows: int) -> list[Change]:
        """Insert this many rows, in one transaction."""
        for _ in range(rows):
            self._insert(self._new_key())
        return self._commit()

    def run(self, kind: str) -> list[Change]:
        """Run a transaction of this kind, or two that race. Return their changes, by commit."""
        kinds: dict[str, Callable[[], list[Change]]] = {
            "plain": self._plain,
            "move": self._move,
            "again": self._again,
            "race": self._race,
            "truncate": self._truncate,
        }
        return kinds[kind]()

    def _plain(self) -> list[Change]:
        """Inserts, updates and deletes, each of another key."""
        self._some(set())
        return self._commit()

    def _move(self) -> list[Change]:
        """An update of the key, in a transaction with other changes."""
        key, to = self._live(), self._free_key()
        self._write(key, self._row(to) if self._chance.random() < 0.5 else {**self.rows[key], "id": to})
        self._free.append(key)
        self._some({key, to})
        return self._commit()

    def _again(self) -> list[Change]:
        """Several changes of one key."""
        steps = self._chance.choice(["du", "uu", "ud", "dud", "duu", "uuu"])
        key = self._live()
        if self._chance.random() < 0.3:
            key = self._free_key()
            self._insert(key)
        for step in steps:
            self._write(key, None if step == "d" else self._row(key))
        if key not in self.rows:
            self._free.append(key)
        self._some({key})
        return self._commit()

    def _race(self) -> list[Change]:
        """A transaction changes a row and removes it. Another inserts the key meanwhile: PostgreSQL writes the row to
        its log, and then waits for the first one to end."""
        key = self._live()
        self._write(key, self._row(key))
        self._some({key})
        self._write(key, None)
        first = self._commit()
        self._insert(key)
        self._some({key})
        second = self._commit()
        second[0]["lsn"] = self._chance.choice(first[:-1])["lsn"] + 1
        return first + second

    def _truncate(self) -> list[Change]:
        """A truncate, and new rows in the same transaction, some with old keys."""
        self._free += self.rows
        size = len(self.rows)
        self.rows.clear()
        self._log("t", None, None)
        for _ in range(size * 2 // 3):
            self._insert(self._free_key())
        return self._commit()

    def _some(self, taken: set[int]) -> None:
        for _ in range(self._chance.randint(1, 4)):
            step = self._chance.choice("iiiuuuuudd")
            key = self._free_key() if step == "i" else self._live()
            if key in taken:
                continue
            taken.add(key)
            self._write(key, None if step == "d" else self._row(key))
            if step == "d":
                self._free.append(key)

    def _insert(self, key: int) -> None:
        self._write(key, self._row(key))

    def _write(self, key: int, row: Row | None) -> None:
        """Put a row in the place of the key's."""
        before = self.rows.pop(key, None)
        if row is not None:
            self.rows[row["id"]] = row
        self._log("c" if before is None else "d" if row is None else "u", before, row)

    def _log(self, op: str, before: Row | None, after: Row | None) -> None:
        seq = len(self._changes)
        lsn = SPAN * self._transactions + 2 * seq
        self._changes.append({"op": op, "before": before, "after": after, "lsn": lsn, "seq": seq})

    def _commit(self) -> list[Change]:
        self._transactions += 1
        changes, self._changes = self._changes, []
        for change in changes:
            change["commit"] = SPAN * self._transactions - 1
        return changes

    def _row(self, key: int) -> Row:
        chance = self._chance
        name, region = f"n{chance.randrange(10**6)}", chance.choice(["EU", "US", "it's 50%", None])
        return {"id": key, "name": name, "amount": chance.randrange(-999, 10**6), "region": region}

    def _live(self) -> int:
        return self._chance.choice(sorted(self.rows))

    def _new_key(self) -> int:
        self._next_key += 1
        return self._next_key - 1

    def _free_key(self) -> int:
        """A new key, or one that had a row."""
        free = [key for key in dict.fromkeys(self._free) if key not in self.rows]
        if not free or self._chance.random() < 0.5:
            return self._new_key()
        key = self._chance.choice(free)
        self._free = [other for other in free if other != key]
        return key
