"""Drives a sink with histories, reads it meanwhile, and counts what is wrong."""

from __future__ import annotations

import json
import random
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sink_conformance.histories import HISTORIES, Batch, batches
from sink_conformance.source import COLUMNS, Change, Row

EXAMPLES = 3  # of wrong rows, for each class of histories
PAUSE = 0.005  # seconds between two reads
Rows = tuple[str, ...]  # sorted, each as JSON


class Sink(Protocol):
    """What is tested."""

    def reset(self) -> None:
        """Empty the table, and forget everything about earlier changes."""

    def apply(self, file: Path, batch: int, kill_after: float | None = None) -> str:
        """Apply the changes of a file, and return an empty text; or what failed; or `killed`, if it was killed after so
        many seconds."""

    def rows(self) -> list[Row]:
        """The rows that users see. Threads call this at the same time."""


@dataclass(frozen=True)
class Size:
    """How long the histories are.

    Args:
        batches: of each history, after a first one that fills the table.
        changes: of a batch, about.
        rows: of the table in the beginning.
        readers: threads that read while batches are applied.
        settle: seconds without a change after which an apply counts as visible. 0 if all is visible when it returns.
    """

    batches: int = 8
    changes: int = 100
    rows: int = 200
    readers: int = 2
    settle: float = 0


@dataclass
class Figures:
    """What was seen in the histories of a class.

    Args:
        rows: that were compared with the source's.
        wrong: keys whose rows were missing, different, too many or deleted in the source.
        reads: while batches were applied.
        torn: reads that show neither the rows before nor those after the batch, or that failed.
        unread: of these, reads that failed.
        kills: applies that were killed.
        failed: applies that failed.
        freshness: seconds from the start of each apply until a read showed its rows.
        seconds: that each apply took.
        examples: some of the wrong keys, and how the first apply failed.
    """

    rows: int = 0
    wrong: int = 0
    reads: int = 0
    torn: int = 0
    unread: int = 0
    kills: int = 0
    failed: int = 0
    freshness: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    examples: list[Any] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether nothing was wrong, torn or failed."""
        return not (self.wrong or self.torn or self.failed)

    def as_json(self) -> dict[str, Any]:
        """The figures of a report."""
        names = ("rows", "wrong", "reads", "torn", "unread", "kills", "failed")
        return {
            "wrong_per_million": round(1e6 * self.wrong / self.rows) if self.rows else None,
            **{name: getattr(self, name) for name in names},
            "freshness": _median(self.freshness),
            "seconds": _median(self.seconds),
            "examples": self.examples,
        }


class Read(NamedTuple):
    """What a reader saw, or None if it failed, and when it had seen it."""

    rows: Rows | None
    at: float


class Run:
    """A history that a sink takes, with the files of its batches in ``folder``."""

    def __init__(self, sink: Sink, name: str, seed: int, size: Size, folder: Path) -> None:
        self.sink, self.size, self.folder = sink, size, folder
        self.kills = HISTORIES[name].kills
        self.batches = batches(name, seed, size.batches, size.changes, size.rows)
        self.figures = Figures()
        self._chance = random.Random(seed)
        self._delivered: list[Change] = []

    def measure(self) -> Figures:
        """Apply all batches."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.sink.reset()
        before = _canonical(self.sink.rows())
        if before:
            raise ValueError(f"The table has {len(before)} rows after the reset. The command has to empty it.")
        for number, batch in enumerate(self.batches):
            file = self.folder / f"{number}.jsonl"
            file.write_text("".join(f"{json.dumps(change)}\n" for change in batch.changes))
            self._delivered += batch.changes
            before = self._apply(file, number, batch, before)
        return self.figures

    def _apply(self, file: Path, number: int, batch: Batch, before: Rows) -> Rows:
        """Apply a batch, while readers read. Return the rows afterwards."""
        was_killed = False
        with self._readers() as reads:
            begun = time.monotonic()
            while True:
                may_kill = self.kills and self.figures.seconds and self._chance.random() < 0.6
                usual = statistics.median(self.figures.seconds) if may_kill else 0
                failure = self.sink.apply(file, number, self._chance.uniform(0, usual) if may_kill else None)
                if failure != "killed":
                    break
                was_killed = True
                self.figures.kills += 1
            seconds = time.monotonic() - begun
            found = self._settled(batch)
            visible = time.monotonic()
        after = _canonical(found)
        if failure:
            self.figures.failed += 1
            if self.figures.failed == 1:
                self.figures.examples.append({"batch": number, "failed": failure[-2000:]})
        self.figures.reads += len(reads)
        self.figures.torn += sum(read.rows not in (before, after) for read in reads)
        self.figures.unread += sum(read.rows is None for read in reads)
        if not was_killed and not failure:
            self.figures.seconds.append(seconds)
            if before != after:
                seen = [read.at for read in reads if read.rows == after]
                self.figures.freshness.append(min([*seen, visible]) - begun)
        self._compare(number, _canonical(batch.compared(batch.rows)), _canonical(batch.compared(found)))
        return after

    def _settled(self, batch: Batch) -> list[Row]:
        """The rows when they no longer change, or as soon as they are those of the source."""
        expected = _canonical(batch.compared(batch.rows))
        found, since = self.sink.rows(), time.monotonic()
        while time.monotonic() - since < self.size.settle and _canonical(batch.compared(found)) != expected:
            time.sleep(PAUSE)
            rows = self.sink.rows()
            if rows != found:
                found, since = rows, time.monotonic()
        return found

    @contextmanager
    def _readers(self) -> Iterator[list[Read]]:
        reads: list[Read] = []
        ended = threading.Event()

        def read() -> None:
            while not ended.wait(PAUSE):
                try:
                    rows = _canonical(self.sink.rows())
                except Exception:  # noqa: BLE001 -- whatever a sink's rows command raises, its users saw no rows
                    reads.append(Read(None, time.monotonic()))
                else:
                    reads.append(Read(rows, time.monotonic()))

        threads = [threading.Thread(target=read, daemon=True) for _ in range(self.size.readers)]
        for thread in threads:
            thread.start()
        try:
            yield reads
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def _compare(self, number: int, expected: Rows, found: Rows) -> None:
        right, stored = _by_key(expected), _by_key(found)
        wrong = [key for key in right.keys() | stored.keys() if right.get(key) != stored.get(key)]
        self.figures.rows += len(expected)
        self.figures.wrong += len(wrong)
        for key in sorted(wrong)[: EXAMPLES - len(self.figures.examples)]:
            example = {"batch": number, "key": key, "expected": right.get(key, []), "found": stored.get(key, [])}
            delivered = [change for change in self._delivered if _is_about(change, key)]
            self.figures.examples.append({**example, "delivered": delivered[-8:]})


def measure(
    sink: Sink, folder: Path, seed: int = 1, size: Size | None = None, names: Collection[str] = tuple(HISTORIES)
) -> dict[str, Figures]:
    """Drive a sink with one history of each class, and return what was seen.

    Args:
        sink: what is tested.
        folder: for the files of the batches, which stay there.
        seed: the same seed gives the same histories.
        size: of the histories.
        names: of their classes.
    """
    return {
        name: Run(sink, name, seed, size or Size(), folder / name.replace(" ", "_")).measure()
        for name in HISTORIES
        if name in names
    }


def report(name: str, seed: int, size: Size, found: Mapping[str, Figures]) -> dict[str, Any]:
    """The figures of a sink, for a file of JSON and for the page."""
    histories = {history: figures.as_json() for history, figures in found.items()}
    return {"sink": name, "seed": seed, "size": vars(size), "histories": histories}


def _canonical(rows: Sequence[Row]) -> Rows:
    """Rows that can be compared, whatever they were printed by."""
    missing = {column for row in rows for column in COLUMNS if column not in row}
    if missing:
        raise ValueError(
            f"Rows of the sink lack {', '.join(sorted(missing))}. Their columns must be {', '.join(COLUMNS)}."
        )
    return tuple(
        sorted(
            json.dumps([int(row["id"]), row["name"], int(row["amount"]), row["region"]], ensure_ascii=False)
            for row in rows
        )
    )


def _is_about(change: Change, key: int) -> bool:
    return change["op"] == "t" or any(row and row["id"] == key for row in (change["before"], change["after"]))


def _by_key(rows: Rows) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for text in rows:
        row = json.loads(text)
        found[row[0]].append(row)
    return found


def _median(values: Sequence[float]) -> float | None:
    return round(statistics.median(values), 3) if values else None
