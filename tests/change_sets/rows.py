"""Rows that replace each other, and full extracts."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

from tests.change_sets.cases import Broken, Case, Line, at, compact, iso, scattered
from tests.support.change_set_project import Situation
from tests.support.oracle import Event, Oracle
from tests.support.shop import Row

COLUMNS = {"id": "bigint", "name": "string", "at": "timestamp"}
TYPES = {"id": "Int64", "name": "Nullable(String)", "at": "DateTime64(6, 'UTC')", "_version": "DateTime64(6, 'UTC')"}


def left(events: list[Event], *columns: str) -> list[Row]:
    """The rows that a change set leaves."""
    table = Oracle(columns)
    table.apply(events)
    return table.rows


def upserts() -> Case:
    """The newest row of a key, by a column, counts in whatever order rows come; a flag marks deleted rows."""
    rng = random.Random(7)
    events: list[Event] = []
    batches: dict[int, list[Line]] = {1: [], 2: [], 3: []}
    seconds = rng.sample(range(10_000), 600)
    for number, second in enumerate(seconds):
        key, moment, gone = rng.randint(1, 50), at(second), rng.random() < 0.2
        name = None if rng.random() < 0.2 else f"name {number}"
        events.append(Event(key, moment, (name, moment), is_deleted=gone))
        row: dict[str, Any] = {"id": key, "name": name, "at": iso(moment)}
        flags: list[dict[str, Any]] = [{}, {"gone": False}, {"gone": None}]
        flag = {"gone": True} if gone else rng.choice(flags)
        batches[1 + number % 3] += [compact({**row, **flag})] * rng.choice([1, 1, 2])
    broken: list[Line] = [
        Broken('{"id":1,"name":"x","at":null}', "version at is null"),
        Broken('{"id":1,"name":"x","at":"soon"}', "at does not fit timestamp"),
        Broken('{"id":1,"at":"2030-01-01T00:00:00Z","gone":"perhaps"}', "gone is perhaps: map its codes in is_deleted"),
        Broken('{"id":null,"at":"2030-01-01T00:00:00Z"}', "key id is null"),
        Broken('{"id":1,"at":"2030-01-01T00:00:00Z"', "malformed JSON"),
        Broken('{"id":1,"at":"2030-01-01T00:00:00Z"}', "name is missing"),
        Broken('{"id":1,"at":"2030-01-01T00:00:00Z","Name":"x","x":{"name":1}}', "name is missing"),
    ]
    return Case(
        Situation(
            "upserts",
            f"parse_upserts(SOURCE, key=['id'], columns={COLUMNS}, version='at', is_deleted='gone')",
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        {batch: scattered([*broken, "", "null"], lines, rng) for batch, lines in batches.items()},
        left(events),
    )


def partial() -> Case:
    """Rows may lack fields, which differs from null: such a field keeps its stored value."""
    rng = random.Random(13)
    events: list[Event] = []
    batches: dict[int, list[Line]] = {1: [], 2: [], 3: []}
    for number in range(600):
        key = rng.randint(1, 50)
        row = {"id": key, "at": iso(at(number))}
        values = {"name": rng.choice([None, f"name {number}"]), "note": rng.choice([None, "n"])}
        kept = {field: value for field, value in values.items() if rng.random() < 0.6}
        unset = frozenset(values.keys() - kept.keys())
        payload = (*(kept.get(field) for field in values), at(number))
        events.append(Event(key, number, payload, unset=unset))
        batches[1 + number // 200].append(compact({**row, **kept}))
    columns = {"id": "bigint", "name": "string", "note": "string", "at": "timestamp"}
    return Case(
        Situation(
            "partial",
            f"parse_upserts(SOURCE, key=['id'], columns={columns}, version='at', missing_fields='keep')",
            "one_change_per_key(EVENTS, key=['id'])",
            {"id": "Int64", "name": "Nullable(String)", "note": "Nullable(String)", "at": "DateTime64(6, 'UTC')"},
            {"unique_key": "id"},
        ),
        batches,
        [row[:-1] for row in left(events, "name", "note", "at")],
    )


def names() -> Case:
    """Column names can be those that SQL, Debezium and the macros use themselves."""
    key = ["change", "row"]
    payload = ["order", "group", "table", "select", "digest", "value", "op", "before", "version", "image"]
    rng = random.Random(12)
    events: list[Event] = []
    batches: dict[int, list[Line]] = {1: [], 2: []}
    for number in range(1, 200):
        place = (rng.randint(1, 5), rng.randint(1, 5))
        values = [f"{name} {number}" for name in payload]
        events.append(Event(place, number * 2**64 + 2**62 + 1, tuple(values)))
        row = dict(zip([*key, *payload], [*place, *values], strict=True))
        event = {"before": None, "after": row, "source": {"lsn": number}, "op": "u"}
        batches[1 + number // 100].append(compact(event))
    columns = {**dict.fromkeys(key, "bigint"), **dict.fromkeys(payload, "string")}
    return Case(
        Situation(
            "names",
            f"parse_debezium(SOURCE, key={key}, columns={columns}, version='source.lsn_despite_races')",
            f"one_change_per_key(EVENTS, key={key})",
            {**dict.fromkeys(key, "Int64"), **dict.fromkeys(payload, "String"), "_version": "Int128"},
            {"unique_key": key},
            select="* replace (" + ", ".join(f"assumeNotNull(`{name}`) as `{name}`" for name in payload) + ")",
        ),
        batches,
        sorted(left(events)),
    )


def extract_line(key: int) -> str:
    return compact({"id": key, "name": "x", "at": iso(at(99))})


def extracts() -> Case:
    """Full extracts, one of which is skipped: a row has the version of the extract that last changed it."""
    rng = random.Random(8)
    stored: dict[int, tuple[str | None, datetime]] = {}
    batches: dict[int, list[Line]] = {}
    for batch in (1, 2, 3):
        extracted = at(batch)
        names = {key: rng.choice([None, "a", f"b{batch}"]) for key in rng.sample(range(1, 101), 80)}
        kept = {key for key in names if key in stored and rng.random() < 0.5}
        names |= {key: stored[key][0] for key in kept}
        # Of the rows with broken lines, one is stored and two are new.
        broken = {1000, 1001, *sorted(stored)[:1]}
        texts: list[Line] = [
            compact({"id": key, "name": name, "at": iso(extracted)}) for key, name in names.items() if key not in broken
        ]
        texts += [Broken(compact({"id": key, "at": "never"}), "at does not fit timestamp") for key in broken]
        rng.shuffle(texts)
        batches[batch] = scattered(["", "null"], texts, rng)
        if batch != 2:
            stored = {
                key: row for key, row in stored.items() if key in broken or (key in names and names[key] == row[0])
            } | {
                key: (name, extracted)
                for key, name in names.items()
                if key not in broken and (key not in stored or stored[key][0] != name)
            }
    live: list[Row] = [(key, name, version) for key, (name, version) in stored.items()]
    return Case(
        Situation(
            "extracts",
            f"parse_upserts(SOURCE, key=['id'], columns={COLUMNS}, version='at')",
            "snapshot_changes(EVENTS, key=['id'], version='at', max_deletes=0.9)",
            {name: kind for name, kind in TYPES.items() if name != "at"},
            {"unique_key": "id"},
        ),
        batches,
        live,
    )


def of_another_tool() -> Case:
    """Lines of another tool: none of the 20 lines in batch 2 can be used, so nothing is applied."""
    lines: list[Line] = [
        Broken(
            compact({"database": "shop", "table": "t", "type": "insert", "data": {"id": key, "at": iso(at(key))}}),
            "version at is null",
        )
        for key in range(20)
    ]
    return Case(
        Situation(
            "of_another_tool",
            f"parse_upserts(SOURCE, key=['id'], columns={COLUMNS}, version='at')",
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        {1: [compact({"id": 1, "name": "x", "at": iso(at(1))})], 2: lines},
        [(1, "x", at(1), at(1))],
        stops=("It looks like Maxwell, for parse_upserts. docs/other_tools.md has the model that reads them.",),
    )


def misspelt(name: str, reason: str, more: str) -> Case:
    """No row in batch 2 has a declared column: only a delete could be used, and nothing is applied."""
    lines: list[Line] = [
        Broken(compact({"Op": "U", "id": key, "Name": "x", "at": iso(at(key))}), reason) for key in range(20)
    ]
    return Case(
        Situation(
            name,
            f"parse_upserts(SOURCE, key=['id'], columns={COLUMNS}, version='at', delete_version='ignore', "
            f"is_deleted={{'Op': {{'U': false, 'D': true}}}}{more})",
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id", "delete_version": "ignore"},
        ),
        {
            1: [compact({"Op": "U", "id": 1, "name": "x", "at": iso(at(1))})],
            2: [*lines, compact({"Op": "D", "id": 1}), Broken("{", "malformed JSON")],
        },
        [(1, "x", at(1), at(1))],
        stops=(
            "none of 21 lines with a row in batch 2 can be used. Nothing was applied.",
            f"20 lines: {reason}",
            "columns has name, and no row has it: correct the name. If the source leaves such fields out, set",
        ),
    )


def deletes_by_place() -> Case:
    """Deletes have only the key: each deletes what comes before it, in its batch or in the table."""
    rng = random.Random(12)
    stored: dict[int, tuple[str, datetime]] = {}
    batches: dict[int, list[Line]] = {1: [], 2: [], 3: []}
    for number in range(600):
        key, batch = rng.randint(1, 60), number // 200 + 1
        if rng.random() < 0.4:
            stored.pop(key, None)
            batches[batch].append(compact({"Op": "D", "id": key}))
        else:
            stored[key] = (f"n{number}", at(number))
            batches[batch].append(compact({"Op": "U", "id": key, "name": f"n{number}", "at": iso(at(number))}))
    late = compact({"Op": "U", "id": 61, "name": "late", "at": iso(at(1))})
    batches[2] += [compact({"Op": "U", "id": 61, "name": "x", "at": iso(at(2))}), compact({"Op": "D", "id": 61}), late]
    batches[3].append(Broken(compact({"Op": "U", "id": 1, "name": "x"}), "version at is null"))
    return Case(
        Situation(
            "deletes_by_place",
            f"parse_upserts(SOURCE, key=['id'], columns={COLUMNS}, version='at', delete_version='ignore', "
            "is_deleted={'Op': {'U': false, 'D': true}})",
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id", "delete_version": "ignore"},
        ),
        batches,
        [(key, name, moment, moment) for key, (name, moment) in stored.items()],
    )
