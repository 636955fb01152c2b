"""Random histories of a table, as Debezium sends them from PostgreSQL, and the rows that they leave."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from tests.change_sets.cases import Broken, Case, Line, at, compact, iso, plain, scattered
from tests.support import oracle
from tests.support.change_set_project import Situation
from tests.support.shop import Row

COLUMNS = "{'id': 'bigint', 'amount': 'decimal(12,2)', 'note': 'string', 'at': 'timestamp'}"
TYPES = {
    "id": "Int64",
    "amount": "Nullable(Decimal(12, 2))",
    "note": "Nullable(String)",
    "at": "Nullable(DateTime64(6, 'UTC'))",
    "_version": "Int128",
}
TWICE = {"amount": "lowest", "note": "early", "at": "late"}
UNAVAILABLE = "__debezium_unavailable_value"


@dataclass(frozen=True)
class Event:
    """A change of one row; ``note`` may be unavailable. A truncate has no row.

    An update that changes the key has the old key in ``old_id``. The previous transaction committed at ``commit``; 0
    stands for the event's own position.
    """

    op: str
    lsn: int
    id: int = 0
    amount: Decimal | None = None
    note: str | None = None
    at: datetime | None = None
    old_id: int | None = None
    commit: int | None = 0

    @property
    def payload(self) -> tuple[Any, ...]:
        return (self.amount, self.note, self.at)

    @property
    def fact(self) -> oracle.Event:
        """The event, for the oracle."""
        return oracle.Event(
            self.id,
            self.version,
            tuple(None if value == UNAVAILABLE else value for value in self.payload),
            is_deleted=self.op == "d",
            is_truncate=self.op == "t",
            unset=frozenset({"note"} if self.note == UNAVAILABLE else ()),
            key_before=self.old_id,
        )

    @property
    def image(self) -> dict[str, Any]:
        amount = None if self.amount is None else str(self.amount)
        moment = None if self.at is None else iso(self.at)
        return {"id": self.id, "amount": amount, "note": self.note, "at": moment}

    @property
    def version(self) -> int:
        commit = self.commit or self.lsn
        tier = 0 if self.op == "r" else 2**62
        return commit * 2**64 + tier + self.lsn - commit + (self.op != "d")

    def line(self, *, is_wrapped: bool = False) -> str:
        before: Any = self.image if self.op == "d" else None
        if self.old_id is not None:
            before = {"id": self.old_id}
        after = self.image if self.op in "cru" else None
        envelope = {"before": before, "after": after, "source": source(self.lsn, self.commit), "op": self.op}
        return compact({"schema": {"type": "struct"}, "payload": envelope} if is_wrapped else envelope)


def source(lsn: Any, commit: Any = 0) -> dict[str, Any]:
    """Debezium's fields for the position of an event."""
    committed = None if commit is None else str(commit or lsn)
    return {"connector": "postgresql", "lsn": lsn, "sequence": compact([committed, str(lsn)])}


def history(rng: random.Random, events: int, keys: int, *, leaves_out: bool = False) -> list[Event]:
    """Changes in order: inserts, updates, deletes, and rare truncates, of keys in random order."""
    there: set[int] = set()
    found = []
    for number in range(1, events + 1):
        lsn = 1000 + number * 7
        if number in (events // 2, events * 5 // 6):
            there.clear()
            found.append(Event("t", lsn))
            continue
        key = rng.randint(1, keys)
        op = rng.choice("ud") if key in there and rng.random() < 0.3 else "u" if key in there else "c"
        (there.discard if op == "d" else there.add)(key)
        note = rng.choice([None, "", 'quo"te', "naïve 雪", f"note {number}"])
        if leaves_out and op == "u" and rng.random() < 0.5:
            note = UNAVAILABLE
        amount = None if rng.random() < 0.1 else Decimal(rng.randint(-(10**11), 10**11)).scaleb(-2)
        found.append(Event(op, lsn, key, amount, note, at(number + rng.randint(0, 999999) / 1e6)))
    return found


def left(*change_sets: Iterable[Event]) -> list[Row]:
    """The rows that change sets leave."""
    table = oracle.Oracle(("amount", "note", "at"))
    for events in change_sets:
        table.apply(event.fact for event in events)
    return table.rows


def cut(events: list[Event], batches: int) -> dict[int, list[Event]]:
    size = -(-len(events) // batches)
    return {i + 1: events[i * size : (i + 1) * size] for i in range(batches)}


def delivered(events: list[Event], rng: random.Random) -> list[Event]:
    """Some events twice, and all in random order."""
    found = events + [event for event in events if rng.random() < 0.1]
    rng.shuffle(found)
    return found


# fmt: off
GOOD = Event("u", 10**9, 10**6, Decimal("1.00"), "x", at(1))
SILENT: list[Line] = ["", "   ", "null", '{"schema": null, "payload": null}']
SOURCE = {"version": "3.0", "connector": "postgresql", "lsn": 1, "xmin": None}
TRANSACTION = {"status": "END", "id": "571:53195829", "ts_ms": 1, "event_count": 2, "data_collections": [{"data_collection": "s.a", "event_count": 2}]}
BEGIN = {**TRANSACTION, "status": "BEGIN", "event_count": None, "data_collections": None}
# What Debezium sends besides row changes, by the name under which it is skipped; each also with a schema around it.
MESSAGES: dict[str, list[Any]] = {
    "heartbeat": [{"ts_ms": 1486500577691}],
    "transaction": [TRANSACTION, BEGIN],
    "message": [{"op": "m", "ts_ms": 1, "source": SOURCE, "message": {"prefix": "p", "content": "aGk="}}],
    "schema change": [{"source": SOURCE, "ts_ms": 1, "databaseName": "d", "schemaName": None, "ddl": "ALTER TABLE t", "tableChanges": []}],
}
PASSED_OVER: list[Line] = [
    compact(line) for found in MESSAGES.values() for message in found for line in (message, {"schema": {"type": "struct"}, "payload": message})
]


def altered(**fields: Any) -> str:
    return compact({"before": None, "after": {**GOOD.image, **fields}, "source": source(GOOD.lsn), "op": "u"})


def enveloped(**fields: Any) -> str:
    return compact({"before": None, "after": GOOD.image, "source": source(GOOD.lsn), "op": "u", **fields})


BROKEN: list[Line] = [
    Broken(GOOD.line()[:-9], "malformed JSON"),
    Broken(GOOD.line() + GOOD.line(), "malformed JSON"),
    Broken(GOOD.line() + "," + GOOD.line(), "malformed JSON"),
    Broken(GOOD.line() + " }", "malformed JSON"),
    Broken("[" + GOOD.line() + "]", "malformed JSON"),
    Broken('"text"', "malformed JSON"),
    Broken("17", "malformed JSON"),
    Broken("{}", "op is missing"),
    Broken(enveloped(op="x"), "unknown op x"),
    # An envelope without an operation; and rows without an envelope, whatever their columns are called.
    Broken(compact({"before": None, "after": {**GOOD.image, "payload": None}, "source": {"lsn": 2}}), "op is missing"),
    Broken(compact({**GOOD.image, "payload": None}), "op is missing"),
    Broken(compact({**GOOD.image, "payload": {"op": "c", "after": GOOD.image, "source": {"lsn": 2}}}), "op is missing"),
    Broken(compact({"id": 1, "status": "END"}), "op is missing"),
    Broken(compact({"id": 1, "ts_ms": 1}), "op is missing"),
    Broken(compact({"id": 1, "ddl": "x", "databaseName": "y"}), "op is missing"),
    Broken('{"payload":{}}', "op is missing"),
    Broken('{"payload":{"status":"END","id":"1"}}', "op is missing"),
    Broken('{"payload":"x"}', "op is missing"),
    Broken(enveloped(after={"id": 1, "amount": None, "at": None}), "note is missing"),
    Broken(enveloped(after={"id": 1, "amount": None, "NOTE": "x", "at": None}), "note is missing"),
    Broken(enveloped(before={"id": 2**63}), "before.id does not fit bigint"),
    Broken(enveloped(after=None), "after image is missing"),
    Broken(enveloped(after="row"), "after image is missing"),
    Broken(enveloped(op="d"), "before image is missing"),
    Broken(enveloped(source=None), "source.connector is missing"),
    Broken(enveloped(op="t", after=None, source={}), "source.connector is missing"),
    Broken(enveloped(source={"connector": "postgresql", "lsn": 8}), "source.sequence is missing"),
    Broken(enveloped(source={**source(8), "lsn": None}), "source.lsn is missing"),
    Broken(enveloped(source=source("0/16B")), "source.lsn does not fit bigint"),
    Broken(enveloped(source=source(2**63)), "source.lsn does not fit bigint"),
    Broken(altered(id=None), "key id is null"),
    Broken(altered(id=2**63), "id does not fit bigint"),
    Broken(altered(id=1.5), "id does not fit bigint"),
    Broken(altered(amount="12345678901.00"), "amount does not fit decimal(12,2)"),
    Broken(altered(amount="1.001"), "amount does not fit decimal(12,2)"),
    Broken(altered(amount="NaN"), "amount does not fit decimal(12,2)"),
    Broken(altered(at="2025-13-01T00:00:00Z"), "at does not fit timestamp"),
    Broken(altered(at="2025-01-01T00:00:00.1234567Z"), "at does not fit timestamp"),
    Broken(altered(at="2025-1-1 0:0:0.1234567"), "at does not fit timestamp"),
    Broken(altered(at="9999-12-31T00:00:00Z"), "at is outside 1900-01-01 00:00:00Z to 2299-12-31 23:59:59.999999Z"),
]
# fmt: on


def lines(events: Iterable[Event]) -> list[Line]:
    return [event.line() for event in events]


def latest_wins() -> Case:
    """Duplicates, any order within and across batches, truncates, broken lines, two payloads at one version."""
    rng = random.Random(1)
    events = history(rng, 900, 60)
    late = rng.sample(events, 60)
    batches = cut([event for event in events if event not in late], 3)
    for event in late:
        batches[rng.randint(1, 3)].append(event)
    run = {number: delivered(batches[number], rng) for number in (1, 2, 3)}
    run[3] += [
        # A null is another value than an empty text.
        replace(event, note="") if event.note is None else replace(event, amount=(event.amount or Decimal(0)) + 1)
        for event in run[3]
        if event.op in "cu" and rng.random() < 0.1
    ]
    run[2].append(GOOD)
    mixed = {
        number: [event.line(is_wrapped=rng.random() < 0.7) for event in batch] if number > 1 else lines(batch)
        for number, batch in run.items()
    }
    texts = {number: scattered(BROKEN + SILENT + PASSED_OVER, batch, rng) for number, batch in mixed.items()}
    texts[2].append(altered(colour="red"))
    second = [*run[2], *run[3], GOOD]
    return Case(
        Situation(
            "latest_wins",
            f"parse_debezium(SOURCE, key=['id'], columns={COLUMNS})",
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        texts,
        left(run[1], second),
        changes=_change_set(second),
        change_columns=["id", "_version", "_is_deleted", "_is_truncate", "_duplicates", "_conflicts", "_superseded"],
    )


def _change_set(events: list[Event]) -> list[Row]:
    by_key: dict[int | None, list[Event]] = {}
    for event in events:
        by_key.setdefault(None if event.op == "t" else event.id, []).append(event)
    rows: list[Row] = []
    for key, changes in by_key.items():
        last = max(changes, key=lambda event: event.lsn)
        versions = {event.lsn for event in changes}
        conflicts = len({(event.lsn, event.payload) for event in changes}) - len(versions)
        duplicates = len(changes) - len(versions) - conflicts
        superseded = len(versions) - 1
        flags = (last.op == "d", last.op == "t")
        rows.append((key, f"{last.version:038d}", *flags, duplicates, conflicts, superseded))
    return rows


def filtered() -> Case:
    """A staging model around the parser leaves out what has a reason, and no line of another form."""
    rng = random.Random(23)
    events = history(rng, 60, 10)
    return Case(
        Situation(
            "filtered",
            f"'select * from (' ~ parse_debezium(SOURCE, key=['id'], columns={COLUMNS}) ~ ') where _reason is null'",
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        {number: [event.line(is_wrapped=number > 1) for event in batch] for number, batch in cut(events, 2).items()},
        left(events),
    )


def combined() -> Case:
    """Columns that are combined with stored values in every way, of which PostgreSQL does not send some."""
    rng = random.Random(3)
    events = history(rng, 700, 40, leaves_out=True)
    combine = {
        "amount": "greatest",
        "note": "coalesce",
        "at": "least",
        "lowest": "least",
        "early": "first",
        "late": "latest",
    }
    table = oracle.Oracle(tuple(combine), combine)
    table.apply(
        fact._replace(values=fact.values * 2, unset=frozenset({"note", "early"} if fact.unset else ()))
        for fact in (event.fact for event in events)
    )
    # The row of another key lacks what PostgreSQL omitted for this one.
    of_another_key = enveloped(before={"id": 7}, after={**GOOD.image, "note": UNAVAILABLE})
    broken: list[Line] = [
        Broken(_twice(altered(amount=UNAVAILABLE)), "amount is unavailable"),
        Broken(_twice(of_another_key), "note is unavailable"),
    ]
    kinds = [kind for name, kind in TYPES.items() if name in ("amount", "note", "at")]
    columns = {"id": "bigint", **dict(zip(combine, 2 * ("decimal(12,2)", "string", "timestamp"), strict=True))}
    return Case(
        Situation(
            "combined",
            f"parse_debezium(SOURCE, key=['id'], columns={columns}, toasted=['note', 'early'])",
            "one_change_per_key(EVENTS, key=['id'])",
            {"id": "Int64", **dict(zip(combine, 2 * kinds, strict=True)), "_version": "Int128"},
            {"unique_key": "id", "combine": combine},
        ),
        {
            number: scattered(broken, [_twice(line) for line in lines(delivered(batch, rng))], rng)
            for number, batch in cut(events, 3).items()
        },
        table.rows,
    )


def _twice(line: Line) -> str:
    """A line whose row has each value twice, under another name."""
    assert isinstance(line, str)
    found = json.loads(line)
    envelope = found.get("payload", found)
    for image in filter(None, (envelope["before"], envelope["after"])):
        image.update({new: image[old] for old, new in TWICE.items() if old in image})
    return compact(found)


def moved_keys() -> Case:
    """A key change comes as a delete and an insert at one position, or as one update with the key before.

    Keys are reused. The topic has another table with the same keys, from the second batch on.
    """
    rng = random.Random(10)
    stored: dict[int, Event] = {}
    events: list[Event] = []
    for number in range(1, 600):
        key = rng.randint(1, 30)
        free = sorted(set(range(1, 31)) - stored.keys())
        if key in stored and free and rng.random() < 0.5:
            moved = replace(stored.pop(key), op="c", id=rng.choice(free), lsn=number, old_id=None)
            stored[moved.id] = moved
            if rng.random() < 0.5:
                events += [Event("d", number, key), moved]
            else:
                events.append(replace(moved, op="u", old_id=key))
        else:
            op = "u" if key in stored else "c"
            stored[key] = Event(op, number, key, Decimal(number), f"note {number}", at(number))
            events.append(stored[key])
    others = [Event("c", 590, 1, Decimal(7), "other", at(7)), Event("d", 595, 2), Event("t", 598)]

    def of_table(name: str, events: Iterable[Event]) -> list[Line]:
        place = f'"schema":"public","table":"{name}","connector"'
        return [line.replace('"connector"', place) for line in map(str, lines(events))]

    return Case(
        Situation(
            "moved_keys",
            plain(f"parse_debezium(SOURCE, key=['id'], columns={COLUMNS}, table='public.mine')"),
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        {
            number: scattered(
                of_table("other", others if number > 1 else ()), of_table("mine", delivered(batch, rng)), rng
            )
            for number, batch in cut(events, 3).items()
        },
        left(events),
    )


def open_transaction() -> Case:
    """The first transaction after a snapshot was open during it, and lands in a later batch."""
    snapshot = [Event("r", 800, key, Decimal(key), "read", at(key), commit=None) for key in (1, 2, 3, 4)]
    first = Event("u", 640, 1, Decimal(10), "first", at(10), commit=None)
    moved = replace(first, id=3, lsn=656)
    later = Event("u", 648, 3, Decimal(31), "later", at(31), commit=900)
    return Case(
        Situation(
            "open_transaction",
            plain(f"parse_debezium(SOURCE, key=['id'], columns={COLUMNS})"),
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        {
            1: [event.line() for event in snapshot],
            2: [event.line() for event in (later, first, Event("d", 648, 2, commit=None), moved)],
        },
        [
            (1, *first.payload, replace(first, commit=800).version),
            (3, *later.payload, later.version),
            (4, *snapshot[3].payload, snapshot[3].version),
        ],
    )


def two_slots() -> Case:
    """The first transaction of a slot, and then the snapshot of the next one, in one batch."""
    snapshot = Event("r", 800, 1, Decimal(1), "read", at(1), commit=None)
    first = replace(snapshot, op="u", lsn=808, note="first")
    return Case(
        Situation(
            "two_slots",
            plain(f"parse_debezium(SOURCE, key=['id'], columns={COLUMNS})"),
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        {1: [snapshot.line()], 2: [first.line(), replace(snapshot, lsn=900, note="later").line()]},
        [(1, *snapshot.payload, snapshot.version)],
        stops=(
            "batch 2 of stg_two_slots has the initial snapshot of a new slot, at LSN 900, and the first transaction",
        ),
    )


def version_of_the_row() -> Case:
    """A column is the version: a delete has the version of the row that it deletes."""
    rng = random.Random(11)
    stored: dict[int, Event] = {}
    events: list[Event] = []
    for number in range(1, 600):
        key = rng.randint(1, 40)
        if key in stored and rng.random() < 0.3:
            events.append(replace(stored.pop(key), op="d"))
        else:
            op = "u" if key in stored else "c"
            stored[key] = Event(op, 1, key, Decimal(number), f"note {number}", at(number))
            events.append(stored[key])
    left_by_moment = oracle.Oracle()
    left_by_moment.apply(event.fact._replace(version=event.at) for event in events)
    broken: list[Line] = [
        Broken(altered(at=None), "version at is null"),
        Broken(altered(at="soon"), "at does not fit timestamp"),
        Broken(enveloped(op="t", after=None), "version at is null"),
    ]
    return Case(
        Situation(
            "version_of_the_row",
            plain(f"parse_debezium(SOURCE, key=['id'], columns={COLUMNS}, version='at')"),
            "one_change_per_key(EVENTS, key=['id'])",
            {**TYPES, "_version": "DateTime64(6, 'UTC')"},
            {"unique_key": "id"},
        ),
        {number: scattered(broken, lines(delivered(batch, rng)), rng) for number, batch in cut(events, 3).items()},
        left_by_moment.rows,
    )


def signed_broken() -> Case:
    """A line that cannot be used stops the table: nothing could repair what is written without it."""
    return _signed("signed_broken")


def signed_gap() -> Case:
    """A missing change stops it too. The first batch has before- and after-images, and chains of versions in a column."""
    return _signed("signed_gap")


def _signed(name: str) -> Case:
    rng = random.Random(4)
    stored: dict[int, dict[str, Any]] = {}
    batches: dict[int, list[Line]] = {1: [], 2: [], 3: []}
    after_first: dict[int, dict[str, Any]] = {}
    for number in range(1, 500):
        key = rng.randint(1, 40)
        before = stored.pop(key, None)
        after = None
        if before is None or rng.random() < 0.8:
            amount = str(Decimal(rng.randint(0, 10**6)).scaleb(-2))
            after = {"id": key, "amount": amount, "note": rng.choice([None, "a"]), "at": iso(at(number))}
            stored[key] = after
        op = "c" if before is None else "d" if after is None else "u"
        line = compact({"before": before, "after": after, "source": {}, "op": op})
        batch = 1 + number * 3 // 500
        batches[batch] += [line] * rng.choice([1, 1, 1, 2])
        if after and rng.random() < 0.1:
            # An update that changes nothing, at the row's own version.
            batches[batch].append(compact({"before": after, "after": after, "op": "u"}))
        if batch == 1:
            after_first = dict(stored)
    if name == "signed_gap":
        last = compact({"before": None, "after": {"id": 77, "amount": "1", "note": None, "at": iso(at(900))}, "op": "c"})  # fmt: skip
        next_but_one = [{"id": 77, "amount": amount, "note": None, "at": iso(at(seconds))} for amount, seconds in (("2", 901), ("3", 902))]  # fmt: skip
        batches[3] += [last, compact({"before": next_but_one[0], "after": next_but_one[1], "op": "u"})]  # fmt: skip
    old = {"id": 1, "amount": "1.00", "note": None, "at": iso(at(1000))}
    new = {**old, "amount": "2.00", "at": iso(at(1001))}

    def update(before: Any, after: Any, reason: str) -> Broken:
        return Broken(compact({"before": before, "after": after, "source": {}, "op": "u"}), reason)

    broken: list[Line] = [
        update(None, new, "before image is missing"),
        update({**old, "amount": None}, new, "before.amount is null"),
        update({**old, "amount": "1.005"}, new, "before.amount does not fit decimal(12,2)"),
        update({**old, "id": 2}, new, "key id changes"),
        update(old, {**new, "at": None}, "version at is null"),
        update({**old, "at": None}, new, "before.version at is null"),
        update(old, {**old, "amount": "3.00"}, "version at does not grow"),
        update({k: v for k, v in old.items() if k != "note"}, new, "before.note is missing"),
        update(old, {k: v for k, v in new.items() if k != "note"}, "note is missing"),
        Broken(compact({"op": "t", "source": {"lsn": 1}}), "unknown op t"),
    ]
    for found in batches.values():
        rng.shuffle(found)
    stops = {
        "signed_broken": "Signed rows cannot leave out a change. Correct the file; nothing of its batch is applied yet.",
        "signed_gap": 'The changes of the key {"id":77} do not connect: at least one change is missing.',
    }
    return Case(
        Situation(
            name,
            f"parse_debezium_images(SOURCE, key=['id'], columns={COLUMNS}, version='at', required=['amount'])",
            "signed_rows(EVENTS, key=['id'])",
            {**TYPES, "_version": "DateTime64(6, 'UTC')"},
            {"unique_key": "id", "old_state": "stream"},
        ),
        {
            batch: scattered(PASSED_OVER + (broken if name == "signed_broken" and batch > 1 else []), found, rng)
            for batch, found in batches.items()
        },
        [
            (key, Decimal(row["amount"]), row["note"], moment, moment)
            for key, row in after_first.items()
            for moment in [datetime.fromisoformat(row["at"]).replace(tzinfo=None)]
        ],
        stops=(stops[name],),
    )
