"""The operation `reconcile`: one key range after another is compared with a reference."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.collapsing_project import OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

COLUMNS = "id Int64, part UInt8, amount Int64, _version Int64, _is_deleted Bool"
KEYS = 400
RANGES = 8


def rows(version: int, *keys: int) -> list[Row]:
    return [(key, key % 3, key * version, version) for key in keys or range(KEYS)]


def make(make_project: MakeProject, schema: str, **options: Any) -> Table:
    """A table with 400 rows, and the table `reference`."""
    table = Table(make_project(schema), COLUMNS, **{"partition_by": "part", **options})
    table.apply(rows(1))
    table.project.replace_rows("reference", COLUMNS, rows(1))
    return table


def verify(table: Table, **arguments: Any) -> str:
    """The output of one run of `reconcile` on the next range of a cycle."""
    given = {"reference": f"{table.project.schema}.reference", "ranges": RANGES, "at_once": 1, **arguments}
    try:
        return table.operation("reconcile", model="target", **given)
    except OperationError as error:
        return str(error)


def cycle(table: Table, **arguments: Any) -> list[str]:
    """The output of the runs of one cycle."""
    said: list[str] = []
    while not said or not re.search(r"cycle \d+: complete", said[-1]):
        said.append(verify(table, **arguments))
        assert len(said) <= RANGES, said
    return said


def differing_keys(said: list[str]) -> list[str]:
    """The differing keys in the output of `verify`, each with its kind of difference."""
    return sorted(re.findall(r"(?:missing|unexpected|doubled|different) \(.*?\)", "\n".join(said)))


@pytest.fixture(scope="module")
def table(make_project: MakeProject) -> Table:
    return make(make_project, "verify")


def test_planted_faults_are_found_in_one_cycle(table: Table) -> None:
    """A lost row, a duplicated row, another value, and an extra row, each in a range of its own; and nothing else."""
    assert differing_keys(cycle(table, at_once=RANGES)) == []
    table.command("insert into target values (10, 1, 10, 1, -1), (130, 1, 130, 1, 1), (999, 0, 1, 1, 1)")
    table.command(
        "create or replace view planted as select * replace (if(id = 250, 7, amount) as amount) from reference"
    )
    said = cycle(table, reference="verify.planted")
    assert len(said) == RANGES
    assert differing_keys(said) == [
        "different (250)", "doubled (130)", "missing (10)", "unexpected (999)"
    ]  # fmt: skip
    failed = [text[text.index("reconcile: ") :] for text in said if "reconcile: " in text]
    assert len(failed) == 4
    assert re.match(
        r"reconcile: `verify`.`target` differs from verify.planted: 1 key missing, 0 unexpected, 0 doubled, "
        r"0 with other values; \d+ keys compared; cycle \d+: 1 of 8 ranges verified\n +missing \(10\)\n",
        failed[0],
    )
    found = table.query(
        "select sum(compared), sum(missing), sum(unexpected), sum(doubled), sum(different), uniqExact(range) "
        "from versioned_collapsing_verifications where status = 'verified' and reference = 'verify.planted'"
    )
    assert found == [(KEYS + 1, 1, 1, 1, 1, RANGES)]
    table.command("insert into target values (10, 1, 10, 1, 1), (130, 1, 130, 1, -1), (999, 0, 1, 1, -1)")
    assert differing_keys(cycle(table, at_once=RANGES)) == []


def test_a_run_goes_on_where_the_last_one_ended(table: Table) -> None:
    table.command("create or replace view again as select * from reference")
    said = [verify(table, reference="verify.again", at_once=3) for _ in range(4)]
    ends = [re.sub(r".*; cycle \d+: ", "", text) for text in said]
    assert ends == ["3 of 8 ranges verified", "6 of 8 ranges verified", "complete", ends[0]]
    assert sum(int(n) for n in re.findall(r"(\d+) keys compared", " ".join(said[:3]))) == KEYS
    # Another question starts a new cycle.
    assert "1 of 4 ranges verified" in verify(table, reference="verify.again", ranges=4)
    assert "1 of 8 ranges verified" in verify(table, reference="verify.again", columns="amount")
    # Without `at_once`, a run compares all keys, whatever a cycle has left.
    for ranges in (8, None):
        said = [verify(table, reference="verify.again", columns="amount", ranges=ranges, at_once=None)]
        assert said[0].endswith(f"agrees with verify.again in id, amount: {KEYS} keys compared")


class TestPosition:
    """The reference is as old as version 1, and the table has advanced."""

    @pytest.fixture(scope="class")
    @classmethod
    def table(cls, make_project: MakeProject) -> Table:
        table = make(make_project, "verify_position")
        deleted = [(key, key % 3, 0, 2, True) for key in (5, 200)]
        table.apply([*rows(2, 7, 300, KEYS), *deleted])
        return table

    def test_what_has_changed_since_is_passed_over(self, table: Table) -> None:
        (said,) = cycle(table, position=1, at_once=RANGES)
        assert f"agrees with verify_position.reference in id, part, amount, _version: {KEYS - 4} keys compared" in said
        assert ", 5 changed since; cycle " in said
        (said,) = cycle(table, at_once=RANGES)
        assert "2 keys missing, 1 unexpected, 0 doubled, 2 with other values; " in said

    def test_it_hides_nothing_else(self, table: Table) -> None:
        table.command("insert into target values (10, 1, 10, 1, -1)")
        assert differing_keys(cycle(table, position=1, at_once=4)) == ["missing (10)"]
        table.command("insert into target values (10, 1, 10, 1, 1)")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                {"position": "late"},
                "position is 'late', but the versions of target are Int64. Give a position of this type.",
            ),
            ({"ranges": 0}, "ranges is 0. It is a number from 1 to 10000."),
            ({"at_once": 0}, "at_once is 0. It is a number from 1 on."),
            ({"reference": "numbers(3)"}, "reconcile: numbers(…) lacks id"),
            ({"reference": "no sql ("}, "reconcile: ClickHouse cannot parse `reference`"),
        ],
    )
    def test_errors(self, table: Table, arguments: Any, message: str) -> None:
        assert message in verify(table, **arguments)

    def test_a_table_that_was_truncated_since(self, make_project: MakeProject) -> None:
        table = make(make_project, "verify_truncated")
        table.configure("select *, id = 0 as _is_truncate from changes", partition_by="part")
        table.apply([(0, 0, 0, 9)])
        assert "target was truncated at version 9, above position 1." in verify(table, position=1)
        assert "400 keys missing" in verify(table, position=9, at_once=RANGES)

    def test_a_table_that_forgets_deletes(self, make_project: MakeProject) -> None:
        table = make(make_project, "verify_forgets", remember_deletes=False)
        assert "target does not remember deletes" in verify(table, position=1)
        assert "400 keys compared" in verify(table, at_once=RANGES)


def test_keys_of_any_type_are_in_one_range_each(make_project: MakeProject) -> None:
    """Several columns, text with quotes, times, an Enum; other types on the other side, and a null."""
    columns = (
        "concat('it\\'s \"', char(number % 7 + 65), '\\n\\\\') as name, "
        "toDateTime64('2025-01-01 00:00:00', 3) + number as at, "
        "cast(if(number % 2, 'b', 'a'), 'Enum8(\\'b\\' = 1, \\'a\\' = 2)') as kind, toInt32(number) as id, "
        "number as amount"
    )
    select = f"select {columns}, toInt64(1) as _version from numbers(200)"
    table = Table(make_project("verify_keys"), select=select, unique_key=["name", "at", "kind", "id"])
    table.project.build()
    table.command(f"create view reference as select {columns} from numbers(201) where number not in (100, 13)")
    table.command(
        "create view texts as select name, toString(at) as at, toString(kind) as kind, "
        "if(id = 150, null, toInt64(id)) as id, amount from reference"
    )
    for reference, faults in (("reference", (201, 1, 2)), ("texts", (202, 2, 3))):
        said = " ".join(cycle(table, reference=f"verify_keys.{reference}", at_once=RANGES // 2))
        found = (
            sum(int(n) for n in re.findall(rf"(\d+) {name}", said))
            for name in ("keys? compared", "keys? missing", "unexpected")
        )
        assert tuple(found) == faults
    ranges = table.query(
        "select uniqExact(range), uniqExact(upper) from versioned_collapsing_verifications where status = 'planned'"
    )
    assert ranges == [(RANGES, RANGES)]


def test_a_range_reads_a_part_of_the_table(make_project: MakeProject) -> None:
    """The condition for a range lets ClickHouse use the index, both of the table and of the reference."""
    config = {"unique_key": ["id", "part"], "partition_by": "", "settings": {"index_granularity": 8}}
    table = make(make_project, "verify_reads", **config)
    table.command(
        "create table sorted (id Int32, part Int16, amount Int64) engine = MergeTree order by (id, part) "
        "settings index_granularity = 8"
    )
    table.command("insert into sorted select id, part, amount from reference")
    verify(table, reference="verify_reads.sorted")
    table.project.has_log = True
    assert "50 keys compared" in verify(table, reference="verify_reads.sorted")
    (sent,) = [
        event.info.msg[event.info.msg.index("select") :].rstrip(" .")
        for event in table.project.events
        if "_dbt_found" in event.info.msg and "select" in event.info.msg
    ]
    plan = "\n".join(row[0] for row in table.query(f"explain indexes = 1 {sent}"))
    read = [(int(part), int(all_)) for part, all_ in re.findall(r"Granules: (\d+)/(\d+)", plan)]
    assert len(read) >= 2, plan
    assert max(part for part, _ in read) <= 9, plan
    assert min(all_ for _, all_ in read) >= 50, plan
