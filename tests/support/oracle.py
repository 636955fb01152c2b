"""What a table should hold: the law of versions, tombstones, ties, truncates and partial changes, in plain Python.

It depends on nothing in the project, and uses no SQL. Tests compare the tables with it, and `test_oracle.py` compares
it with a real PostgreSQL. Its counts have the names of the ledger.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Key = Any
Version = Any  # anything that can be ordered


class Event(NamedTuple):
    """A change of a key.

    Args:
        version: its place in the order in which the source committed.
        values: one for each column of the oracle. Those of a delete do not matter.
        unset: names of columns that the change does not carry.
        is_reset: the change does not build on an earlier state.
        key_before: the row's previous key, if the change gave it another.
        batch: what orders the changes if deletes have no version.
    """

    key: Key
    version: Version
    values: tuple[Any, ...] = ()
    is_deleted: bool = False
    is_truncate: bool = False
    unset: frozenset[str] = frozenset()
    is_reset: bool = False
    key_before: Key = None
    batch: int = 0


class State(NamedTuple):
    """A live row."""

    version: Version
    values: tuple[Any, ...]


def _known(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda old, new: new if old is None else old if new is None else choose(old, new)


COMBINE: Mapping[str, Callable[[Any, Any], Any]] = {
    "latest": lambda old, new: new,
    "greatest": _known(max),
    "least": _known(min),
    "coalesce": lambda old, new: old if new is None else new,
    "first": lambda old, new: new if old is None else old,
}


@dataclass
class Oracle:
    """A table that takes change sets.

    Args:
        columns: names of the values of an event.
        combine: how a column's new value is combined with the stored one; by default the latest counts.
        is_ordered: the events of a change set are ordered, as lines of a file are. The order decides between a delete
            and an upsert of the same version; without it the delete wins.
        remembers: deletes are remembered after the apply.
        deletes_have_versions: if not, changes are applied in the order of their batches.
    """

    columns: Sequence[str] = ()
    combine: Mapping[str, str] = field(default_factory=dict)
    is_ordered: bool = False
    remembers: bool = True
    deletes_have_versions: bool = True
    live: dict[Key, State] = field(default_factory=dict)
    tombstones: dict[Key, Version] = field(default_factory=dict)
    truncated_at: Version = None

    def apply(self, events: Iterable[Event]) -> Counter[str]:
        """Apply a change set. Return what became of its events, and how many rows were written."""
        given = list(events)
        found = [each for event in given for each in _with_delete_of_key_before(event)]
        counts = Counter(events=len(given), synthetic=len(found) - len(given))
        for event in found:
            if event.is_truncate:
                counts["truncates"] += 1
                if not self._is_below(event.version):
                    self.truncated_at = event.version
        changes: dict[Key, list[Event]] = defaultdict(list)
        for event in found:
            if event.is_truncate:
                continue
            has_version = self.deletes_have_versions or not event.is_deleted
            if has_version and self._is_below(event.version):
                counts["tombstoned"] += 1
            else:
                changes[event.key].append(event)
        for key in [key for key, row in self.live.items() if self._is_below(row.version)]:
            if key not in changes:
                changes[key] = [Event(key, self.truncated_at, is_deleted=True)]
                counts["synthetic"] += 1
        for key, of_key in changes.items():
            if self.deletes_have_versions:
                counts += self._apply(key, of_key)
            else:
                self._apply_batches(key, of_key)
        self.tombstones = {key: at for key, at in self.tombstones.items() if self.remembers and at is not None}
        return +counts

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The live rows: key, values, version."""
        return [(*_columns(key), *row.values, row.version) for key, row in self.live.items()]

    @property
    def deleted(self) -> dict[Key, Version]:
        """The deleted keys, each with the version of its delete."""
        return {key: at for key, at in self.tombstones.items() if key not in self.live}

    def _is_below(self, version: Version) -> bool:
        return self.truncated_at is not None and version <= self.truncated_at

    def _apply(self, key: Key, events: list[Event]) -> Counter[str]:
        """Apply the changes of a key, in the order of their versions."""
        different = list(dict.fromkeys(event._replace(batch=0) for event in events))
        upserts = [event for event in different if not event.is_deleted]
        conflicts = len(upserts) - len({event.version for event in upserts})
        counts = Counter(
            duplicates=len(events) - len(different),
            conflicts=conflicts,
            superseded=len(different) - conflicts - 1,
            keys=1,
        )
        versions = defaultdict(list)
        for event in events:
            versions[event.version].append(event)
        steps = [self._counting(versions[version]) for version in sorted(versions)]
        counts.update(self._outcomes(key, steps[-1]))
        remembered = self.tombstones.get(key)
        for event in steps:
            self._take(event)
        if key in self.live:  # a delete in between is not remembered, because the live row is above it
            self.tombstones[key] = remembered
        return counts

    def _counting(self, events: list[Event]) -> Event:
        """The one that counts among the changes at one version."""
        is_deleted = events[-1].is_deleted if self.is_ordered else any(e.is_deleted for e in events)
        rivals = [event for event in events if event.is_deleted == is_deleted]
        found = max(rivals, key=lambda event: [(value is not None, value) for value in event.values])
        # A change after a delete does not build on an earlier state.
        return found._replace(is_reset=found.is_reset or len(rivals) < len(events))

    def _outcomes(self, key: Key, last: Event) -> list[str]:
        """The ledger's names for what happens to a key whose highest change is ``last``."""
        row, tombstone = self.live.get(key), self.tombstones.get(key)
        stored = None if row and self._is_below(row.version) else row
        cancels = ["cancels"] if row else []
        if tombstone is not None and (last.version, last.is_deleted) < (tombstone, True):
            return ["late" if last.is_deleted else "tombstoned"]
        if stored and last.version < stored.version:
            return ["late"]
        if last.is_deleted:
            return ["duplicates"] if not row and tombstone == last.version else ["deletes", *cancels]
        if stored and last.version == stored.version:
            return ["duplicates" if self._combined(stored, last) == stored.values else "conflicts"]
        return ["states", *cancels]

    def _take(self, event: Event) -> None:
        """Take one change."""
        stored, tombstone = self.live.get(event.key), self.tombstones.get(event.key)
        if stored is not None and self._is_below(stored.version) and not event.is_deleted:
            stored = None
        if tombstone is not None and (event.version, event.is_deleted) < (tombstone, True):
            return
        if event.is_deleted:
            if stored is None or event.version >= stored.version:
                self.live.pop(event.key, None)
                self.tombstones[event.key] = event.version
        elif stored is None or event.version > stored.version:
            self.live[event.key] = State(event.version, self._combined(stored, event))

    def _combined(self, stored: State | None, event: Event) -> tuple[Any, ...]:
        if not self.columns:
            return event.values
        old = stored.values if stored else (None,) * len(self.columns)
        combined = []
        for name, was, given in zip(self.columns, old, event.values, strict=True):
            policy = COMBINE[self.combine.get(name, "latest")]
            if stored is None or event.is_reset:
                combined.append(None if name in event.unset else given)
            else:
                combined.append(was if name in event.unset else policy(was, given))
        return tuple(combined)

    def _apply_batches(self, key: Key, events: list[Event]) -> None:
        """Within a batch an upsert wins. A delete ends the stored row, at that row's version."""
        for batch in sorted({event.batch for event in events}):
            of_batch = [event for event in events if event.batch == batch]
            upserts = sorted((event for event in of_batch if not event.is_deleted), key=lambda event: event.version)
            for event in upserts:
                self._take(event)
            if not upserts and key in self.live:
                ended = self.live.pop(key).version
                self.tombstones[key] = max(ended, self.tombstones.get(key, ended))


def _with_delete_of_key_before(event: Event) -> Iterator[Event]:
    if event.key_before is not None and event.key_before != event.key:
        yield Event(event.key_before, event.version, is_deleted=True)
    yield event


def _columns(key: Key) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)
