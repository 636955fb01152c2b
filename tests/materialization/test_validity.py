"""`validity`: a table with every state of each key, and the versions from and to which it was valid."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.oracle import Event, Oracle
from tests.support.statements import dying
from tests.support.table import Table

COLUMNS = "id Nullable(Int64), x Nullable(Int64), _version UInt64, _is_deleted Bool, _is_truncate Bool"
CALL = "select * from {{{{ versioned_collapsing.validity('select {} from changes') }}}}"
KEY = ["id", "valid_from"]
STATES = "id, x, valid_from, valid_to, is_current"
# Models on the same changes: what they select of them, their options, and what of them is what the source had.
MODELS: dict[str, tuple[str, dict[str, Any], str]] = {
    "whole": ("*", {"unique_key": KEY}, STATES),
    "chunked": (
        "id, toString(id) as code, x, toInt64(_version) - 100 as lsn, _is_deleted as gone, _is_truncate",
        {
            "unique_key": ["code", "id", "valid_from"],
            "version": "lsn",
            "is_deleted": "gone",
            "chunks": 3,
            "publish": "journal",
            "order_by": ["id", "code", "valid_from"],
        },
        "id, x, valid_from + 100, valid_to + 100, is_current",
    ),
    "timed": (
        "* replace (fromUnixTimestamp64Milli(toInt64(_version)) as _version)",
        {"unique_key": KEY, "partition_by": "id % 3"},
        "id, x, toUnixTimestamp64Milli(valid_from), toUnixTimestamp64Milli(valid_to), is_current",
    ),
    # As Spark sends them.
    "texts": (
        "* replace (leftPad(toString(_version), 38, ''0'') as _version, toString(x) as x)".replace("''", '"'),
        {"unique_key": KEY},
        "id, toInt64(x), toUInt64(valid_from), toUInt64(valid_to), is_current",
    ),
}


def states(events: Iterable[Row]) -> list[Row]:
    """What the source had, as its own order tells: the oracle takes one event after the other."""
    oracle = Oracle(("x",))
    begun: dict[Any, tuple[int, Any]] = {}
    found: list[Row] = []
    of_versions: dict[int, list[Event]] = {}
    for key, x, version, is_deleted, is_truncate in events:
        event = Event(key, version, (x,), is_deleted=is_deleted, is_truncate=is_truncate)
        of_versions.setdefault(version, []).append(event)
    for version in sorted(of_versions):
        oracle.apply(of_versions[version])
        for key, (begin, x) in list(begun.items()):
            if key not in oracle.live or oracle.live[key].version != begin:
                found.append((key, x, begin, version, False))
                del begun[key]
        for key, row in oracle.live.items():
            begun.setdefault(key, (row.version, row.values[0]))
    found += [(key, x, begin, None, True) for key, (begin, x) in begun.items()]
    return sorted(found, key=lambda row: (row[0], row[2]))


def changes(rng: random.Random, keys: int, events: int) -> list[Row]:
    """What happens at the source, in its order."""
    rows: list[Row] = []
    for version in range(1, events + 1):
        kind = rng.random()
        if kind < 0.02:
            rows.append((None, None, version, False, True))
        else:
            rows.append((rng.randrange(keys), rng.choice((None, rng.randrange(5))), version, kind < 0.3, False))
    return rows


def batches(rng: random.Random, rows: list[Row], number: int) -> list[list[Row]]:
    """The changes as they arrive: some late, some twice."""
    arriving: list[list[Row]] = [[] for _ in range(number)]
    for place, row in enumerate(rows):
        due = place * number // len(rows)
        delay = rng.choice((0, 0, 0, 0, 1, rng.randrange(number)))
        arriving[min(due + delay, number - 1)].append(row)
        if rng.random() < 0.1:
            arriving[min(due + rng.randrange(number), number - 1)].append(row)
    for batch in arriving:
        rng.shuffle(batch)
    return arriving


def shown(project: CollapsingProject, name: str) -> list[Row]:
    columns = MODELS[name][2]
    return project.query(f"select {columns} from {name} final where _sign = 1 order by id, valid_from")


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    """Models on the table `changes`."""
    project = make_project("validity")
    for name, (select, options, _) in MODELS.items():
        project.add_model(name, options, CALL.format(select.replace('"0"', "\\'0\\'")))
    project.declare("texts", {"valid_from": "Int128"})
    return project


def test_random_histories(project: CollapsingProject, is_exhaustive: bool) -> None:
    """After each batch, the table has what the source had, as far as its changes have arrived. Some runs die."""
    rng = random.Random(1)
    arrived: list[Row] = []
    number = 40 if is_exhaustive else 3
    for batch in batches(rng, changes(rng, 10, 60 * number), number):
        arrived += batch
        project.replace_rows("changes", COLUMNS, batch)
        dead = rng.choice(list(MODELS))
        with dying({dead: rng.randrange(40)}):
            project.run("--select", dead)
        project.build()
        for name in MODELS:
            assert shown(project, name) == states(arrived), name
    assert any(row[4] for row in arrived)
    # All changes once more change nothing, and a full refresh gives the same.
    project.replace_rows("changes", COLUMNS, arrived)
    messages = project.build()
    assert not any("state" in message or "cancel" in message for message in messages.values()), messages
    project.build("--full-refresh")
    for name in MODELS:
        assert shown(project, name) == states(arrived), name


@pytest.mark.parametrize("version", ["UInt64", "Int64"])
def test_only_states_that_change_are_written(make_project: MakeProject, version: str) -> None:
    """A state that neither comes again nor ends elsewhere is not in the change set."""
    columns = COLUMNS.replace("_version UInt64", f"_version {version}")
    table = Table(make_project(f"validity_written_{version.lower()}"), columns, CALL.format("*"), unique_key=KEY)
    rows = [(1, 5, 10), (1, 6, 20), (1, 7, 30)]
    assert table.apply(rows) == "3 rows: 3 states"
    assert table.apply(rows) == "3 rows: 3 duplicates"
    assert table.apply(rows[:1]) == "1 row: 1 duplicate"
    assert table.apply([(1, 8, 15)]) == "2 rows: 2 states, 1 cancel"


def test_another_state_of_one_version_is_a_conflict(make_project: MakeProject) -> None:
    """Also where versions are below zero, and a state ends right before it."""
    columns = COLUMNS.replace("_version UInt64", "_version Int64")
    table = Table(make_project("validity_conflicts"), columns, CALL.format("*"), unique_key=KEY)
    table.apply([(1, 5, -5)])
    assert table.apply([(1, 99, -5), (1, 6, -1)]) == "2 rows: 2 states, 1 cancel, 1 conflict"
    assert table.project.query("select x, valid_from from target final where _sign = 1 order by valid_from") == [
        (5, -5),
        (6, -1),
    ]


def test_changes_that_are_no_state(make_project: MakeProject) -> None:
    project = make_project("validity_problems")
    select = "select 1 as id, 2 as x, toUInt64(3) as _version, [\\'x\\'] as _unset"
    project.add_model("partial", {"unique_key": KEY}, CALL.format("*").replace("select * from changes", select))
    conflict = select.split(", [", maxsplit=1)[0] + " union all select 1, 5, 3"
    options = {"unique_key": KEY, "on_conflict": "error"}
    project.add_model("conflicting", options, CALL.format("*").replace("select * from changes", conflict))
    for name, version in {"last": "toUInt64(-1)", "last_signed": "toInt8(127)"}.items():
        project.add_model(
            name,
            {"unique_key": KEY},
            CALL.format(f"1 as id, 2 as x, {version} as _version").replace(" from changes", ""),
        )
    outcomes = project.run()
    for name in ("last", "last_signed"):
        assert "_version is the highest number of its type" in outcomes[name].message
    assert "A change leaves columns as they are (_unset), and a state needs all of them" in outcomes["partial"].message
    assert "on_conflict" in outcomes["conflicting"].message


def test_a_bridge_reads_what_is_new(make_project: MakeProject) -> None:
    project = make_project("validity_bridge")
    structure = "(id Int64, x Nullable(Int64), lsn UInt64, gone Bool)"
    project.command(f"create table landed {structure} engine = MergeTree order by lsn")
    landed = "api.Relation.create(schema=target.schema, identifier='landed')"
    bridge = (
        f"versioned_collapsing.landed_changes({landed}, version='lsn', is_deleted='gone', watermark='lsn', overlap=0)"
    )
    select = f"select * from {{{{ versioned_collapsing.validity({bridge}) }}}}"
    project.add_model("target", {"unique_key": KEY}, select)
    arrived: list[Row] = []
    for rows in ([(1, 5, 10, False), (2, 6, 11, False)], [(1, 7, 20, False), (2, 6, 21, True)]):
        arrived += [(*row, False) for row in rows]
        project.client.insert("landed", rows, database=project.schema)
        message = project.build()["target"]
        found = project.query("select id, x, valid_from, valid_to from target final where _sign = 1 order by 1, 3")
        assert found == [row[:4] for row in states(arrived)]
    assert "1 duplicate" in message, message  # only the row at the watermark is read again


def test_a_key_is_forgotten_with_all_its_states(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERSIONED_COLLAPSING_SECRET", "0123456789abcdef0123456789abcdef")
    table = Table(make_project("validity_forget"), COLUMNS, CALL.format("*"), unique_key=KEY)
    rows = [(1, 5, 10), (1, 6, 20), (1, 0, 30, True), (2, 7, 15), (2, 8, 25)]
    table.apply(rows)
    # Truncates are remembered by this key.
    with pytest.raises(OperationError, match="a key has the default of its type"):
        table.operation("forget", model="target", keys="select number as id from numbers(2)")
    table.operation("forget", model="target", key={"id": 1})
    assert table.query("select count() from target where id = 1") == [(0,)]
    assert table.query("select count() from target__tombstones where id = 1") == [(0,)]
    table.apply([(1, 9, 12), (1, 9, 40), (2, 9, 20), *rows])
    expected = states([(*row, False, False)[:5] for row in [*rows[3:], (2, 9, 20)]])
    assert table.query(f"select {STATES} from target final where _sign = 1 order by id, valid_from") == expected
