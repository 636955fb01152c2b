"""Every row of the case table: one key per row, all in one table, in three runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

Change = tuple[int | None, str, int, bool]  # amount, month, version, is deleted
Stored = tuple[int, str, int, int]  # amount, month, version, sign

JANUARY, FEBRUARY = "2025-01-15", "2025-02-15"


@dataclass(frozen=True)
class Case:
    """One key: its changes in the first and second run, and the row that is live after them."""

    name: str
    first: list[Change]
    second: list[Change]
    live: tuple[int | None, int] | None  # amount and version
    rows_added: list[Stored] = field(default_factory=list)  # by hand, between the runs
    writes: int = 0  # the number of rows that the second run stores


# fmt: off
CASES = [
    Case("new_key", [], [(10, JANUARY, 5, False)], (10, 5), writes=1),
    Case("newer_version", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), writes=2),
    Case("duplicate", [(10, JANUARY, 5, False)], [(10, JANUARY, 5, False)], (10, 5)),
    Case("conflict", [(10, JANUARY, 5, False)], [(99, JANUARY, 5, False)], (10, 5)),
    Case("late", [(10, JANUARY, 5, False)], [(9, JANUARY, 4, False)], (10, 5)),
    Case("delete", [(10, JANUARY, 5, False)], [(10, JANUARY, 6, True)], None, writes=1),
    Case("delete_at_the_live_version", [(10, JANUARY, 5, False)], [(10, JANUARY, 5, True)], None, writes=1),
    Case("stale_delete", [(10, JANUARY, 5, False)], [(10, JANUARY, 4, True)], (10, 5)),
    Case("delete_of_an_absent_key", [], [(10, JANUARY, 5, True)], None),
    Case("upsert_below_the_tombstone", [(10, JANUARY, 5, True)], [(9, JANUARY, 4, False)], None),
    Case("upsert_at_the_tombstone", [(10, JANUARY, 5, True)], [(10, JANUARY, 5, False)], None),
    Case("recreation_above_the_tombstone", [(10, JANUARY, 5, True)], [(12, JANUARY, 6, False)], (12, 6), writes=1),
    Case("repeated_delete", [(10, JANUARY, 5, True)], [(10, JANUARY, 5, True)], None),
    Case("several_changes_in_a_run", [], [(1, JANUARY, 1, False), (3, JANUARY, 3, False), (2, JANUARY, 2, True)], (3, 3), writes=1),
    Case("upsert_and_delete_at_one_version", [], [(1, JANUARY, 1, False), (1, JANUARY, 1, True)], None),
    Case("insert_and_delete_in_one_run", [], [(1, JANUARY, 1, False), (1, JANUARY, 2, True)], None),
    Case("moved_partition", [(10, JANUARY, 5, False)], [(10, FEBRUARY, 6, False)], (10, 6), writes=2),
    Case("version_zero", [], [(10, JANUARY, 0, False)], (10, 0), writes=1),
    Case("negative_version", [(10, JANUARY, -7, False)], [(11, JANUARY, -6, False)], (11, -6), writes=2),
    Case("payload_null_to_null", [(None, JANUARY, 5, False)], [(None, JANUARY, 5, False)], (None, 5)),
    # Errors of other writers, and what dead runs left:
    Case("doubled_state", [(10, JANUARY, 5, False)], [(10, JANUARY, 5, False)], (10, 5), [(10, JANUARY, 5, 1)], 1),
    Case("old_states_that_differ", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), [(8, JANUARY, 3, 1), (9, JANUARY, 3, 1)], 4),
    Case("two_live_versions", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), [(9, JANUARY, 4, 1)], 3),
    Case("orphan_cancel", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), [(8, JANUARY, 3, -1)], 3),
    Case("cancel_in_another_partition", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), [(10, FEBRUARY, 5, -1)], 3),
    Case("lost_state_row", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), [(10, JANUARY, 5, -1)], 1),
    Case("lost_cancel_row", [(10, JANUARY, 5, False)], [(11, JANUARY, 6, False)], (11, 6), [(11, JANUARY, 6, 1)], 1),
    Case("healed_by_a_stale_change", [(10, JANUARY, 5, False)], [(9, JANUARY, 4, False)], (10, 5), [(10, JANUARY, 5, 1)], 1),
]
# fmt: on

COLUMNS = "id Int64, name String, amount Nullable(Int64), day Date, _version Int64, _is_deleted Bool"


@dataclass(frozen=True)
class Result:
    """The table after the three runs, the number of rows of each key before and after each run, and dbt's messages."""

    table: Table
    rows: list[dict[str, int]]
    messages: list[str]


@pytest.fixture(scope="module")
def result(make_project: MakeProject) -> Result:
    key = ["id", "name"]
    table = Table(make_project("cases"), COLUMNS, unique_key=key, order_by=key, partition_by="toYYYYMM(day)")

    def changes(run: str) -> list[Row]:
        return [
            (number, case.name, amount, date.fromisoformat(day), version, is_deleted)
            for number, case in enumerate(CASES)
            for amount, day, version, is_deleted in getattr(case, run)
        ]

    def stored() -> dict[str, int]:
        return dict(table.query("select name, count() from target group by name"))

    messages = [table.apply(changes("first"))]
    table.command("system stop merges target")
    for number, case in enumerate(CASES):
        for amount, day, version, sign in case.rows_added:
            table.command(
                "insert into target (id, name, amount, day, _version, _sign) settings optimize_on_insert = 0 "
                f"values ({number}, '{case.name}', {amount}, '{day}', {version}, {sign})"
            )
    rows = [stored()]
    for _ in range(2):
        messages.append(table.apply(changes("second")))
        rows.append(stored())
    return Result(table, rows, messages)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_live_row(result: Result, case: Case) -> None:
    live = result.table.query(f"select amount, _version from target final where name = '{case.name}' and _sign = 1")
    assert list(live) == ([] if case.live is None else [case.live])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_signs_add_up_row_by_row(result: Result, case: Case) -> None:
    net = result.table.query(
        "select amount, _version, sum(_sign) as net from target "
        f"where name = '{case.name}' group by amount, day, _version having net <> 0"
    )
    assert list(net) == ([] if case.live is None else [(*case.live, 1)])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_written(result: Result, case: Case) -> None:
    before, after, _ = result.rows
    assert after.get(case.name, 0) - before.get(case.name, 0) == case.writes


def test_the_same_change_set_again_writes_nothing(result: Result) -> None:
    assert result.rows[1] == result.rows[2]


def test_a_merge_leaves_the_live_rows_alone(result: Result) -> None:
    live = "select * from target final where _sign = 1 order by all"
    before = result.table.query(live)
    result.table.command("system start merges target")
    for partition in ("202501", "202502"):
        result.table.command(f"optimize table target partition {partition} final")
    assert result.table.query("select * from target order by all") == before


def test_the_ledger_accounts_for_every_key(result: Result) -> None:
    names = "rows_read, keys, states, cancels, deletes, duplicates, late, conflicts, tombstoned, rebalanced"
    counts = dict(zip(names.split(", "), result.table.ledger(names)[1], strict=True))
    outcomes = ("states", "deletes", "duplicates", "late", "conflicts", "tombstoned", "rebalanced")
    assert counts["rows_read"] == sum(len(case.second) for case in CASES)
    assert counts["keys"] == len(CASES) == sum(counts[name] for name in outcomes)
    assert (counts["conflicts"], counts["tombstoned"]) == (1, 2)
    healed = [case for case in CASES if case.rows_added and case.name != "lost_state_row"]
    assert counts["rebalanced"] == len(healed)
    plain = [case for case in CASES if not case.rows_added]
    assert counts["cancels"] == sum(1 for case in plain if case.writes == (1 if case.live is None else 2))


def test_the_tombstones_remember_the_deletes(result: Result) -> None:
    remembered: dict[str, int] = dict(
        result.table.query("select name, max(_version) from target__tombstones group by name")
    )
    assert remembered["delete"] == 6
    assert remembered["delete_of_an_absent_key"] == 5
    assert "stale_delete" not in remembered


def test_staged_tables_are_empty(result: Result) -> None:
    query = "select name, total_rows from system.tables where database = currentDatabase()"
    tables: dict[str, int | None] = dict(result.table.query(query))
    staged = {name: tables.pop(name) for name in list(tables) if name.startswith("target__dbt_")}
    roles = ("input", "deletes", "unbalanced", "uncollapsed")
    assert staged == dict.fromkeys((f"target__dbt_{role}" for role in roles), 0)
    assert tables.keys() == {"changes", "target", "target__tombstones", "versioned_collapsing_ledger"}


def test_dbt_says_what_was_done(result: Result) -> None:
    assert "1 conflict," in result.messages[1]
    assert "rebalanced" in result.messages[1]
    assert "rebalanced" not in result.messages[2]
