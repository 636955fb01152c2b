"""A sink in plain Python, right or with one fault. As a script it keeps its rows in a file."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sink_conformance import Change, Row

Position = tuple[int, int]


class Toy:
    """Remembers the position of the last change of each key, also of deleted ones.

    Args:
        fault: what is wrong with it, if anything.
    """

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.shown: list[Row] = []
        self.known: dict[int, tuple[Position, Row | None]] = {}
        self.truncated_at: Position = (-1, -1)

    def rows(self) -> list[Row]:
        """What readers see."""
        return self.shown

    def apply(self, file: Path, batch: int, kill_after: float | None = None) -> str:
        """Show all of a batch at once, unless that is the fault."""
        time.sleep(0.001)  # a moment to be killed in
        killed = kill_after is not None
        if killed and self.fault != "doubles on a retry":
            return "killed"
        for line in file.read_text().splitlines():
            self.take(json.loads(line))
        rows = self.live()
        if self.fault == "half visible":
            self.shown = self.shown[: len(rows) // 2]
            time.sleep(0.02)
        if killed:
            self.shown = [*rows, *rows[-3:]]
            self.known[-1] = ((1, 1), None)  # known to have died
            return "killed"
        self.shown = [*rows, *rows[-3:]] if self.fault == "doubles on a retry" and -1 in self.known else rows
        return ""

    def live(self) -> list[Row]:
        """The rows that nothing has deleted."""
        return [row for position, row in self.known.values() if row and position > self.truncated_at]

    def take(self, change: Change) -> None:
        """Take one change."""
        position = self.position(change)
        if change["op"] == "t":
            if self.fault != "truncate ignored":
                self.truncated_at = max(self.truncated_at, position)
            return
        before, after = change["before"], change["after"]
        is_move = before and after and before["id"] != after["id"]
        if before and (not after or (is_move and self.fault != "a move leaves the old key")):
            self.put(before["id"], position, None)
        if after:
            self.put(after["id"], position, after)

    def position(self, change: Change) -> Position:
        """What orders the changes."""
        if self.fault == "order of the log":
            return change["lsn"], 0
        return change["commit"], 0 if self.fault == "loses ties in a transaction" else change["seq"]

    def put(self, key: int, position: Position, row: Row | None) -> None:
        """Put a row in the place of the key's, unless a later change came before."""
        is_newer = position > self.known.get(key, ((-1, -1), None))[0]
        if is_newer or self.fault == "last delivered wins":
            self.known[key] = position, row
            if row is None and self.fault == "forgets deletes":
                del self.known[key]


def main(state: Path, file: Path | None = None) -> None:
    """Apply a file, or print the rows."""
    toy = Toy()
    if state.exists():
        known, truncated_at = json.loads(state.read_text())
        toy.known = {key: (tuple(position), row) for key, (position, row) in known}
        toy.truncated_at = tuple(truncated_at)
    if file:
        toy.apply(file, 0)
        unfinished = state.with_suffix(".unfinished")
        unfinished.write_text(json.dumps([list(toy.known.items()), toy.truncated_at]))
        unfinished.replace(state)
    else:
        sys.stdout.writelines(f"{json.dumps(row)}\n" for row in toy.live())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
