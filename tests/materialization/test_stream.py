"""`old_state: stream`: the change set itself contains the state and cancel rows."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.stand_in import stand_in_for_change_sets, write_manifest
from tests.support.statements import STARTED, dying
from tests.support.table import Table

COLUMNS = "id Int64, region String, x Int64, _version Int64, _sign Int8"
STREAM = {"unique_key": "id", "old_state": "stream"}
SELECT = "select * from {{ ref('signed') }}"
SUMS = "select region, sum(x * _sign) as total, sum(_sign) as c from {} group by region"


def test_batches_out_of_order_sum_right(make_project: MakeProject) -> None:
    table = Table(make_project("stream_order"), COLUMNS, **STREAM)
    table.apply([(1, "EU", 7, 7, 1), (1, "EU", 6, 6, -1)])
    table.apply([(2, "EU", 1, 1, 1)])
    table.apply([(1, "EU", 5, 5, 1), (2, "EU", 1, 1, -1)])
    table.apply([(1, "EU", 6, 6, 1), (1, "EU", 5, 5, -1)])
    table.check([(1, "EU", 7, 7)])


def test_rows_are_written_in_one_block_while_they_are_few(make_project: MakeProject) -> None:
    table = Table(make_project("stream_blocks"), COLUMNS, **STREAM)
    table.apply([(key, "EU", key, 1, 1) for key in range(1000)])
    assert table.ledger("1", "block applied") == []


BAD_ROWS = {
    "sign": ("1 as id, 1 as _version, 2 as _sign", "1 row: _sign is not 1 or -1"),
    "no_sign": ("1 as id, 1 as _version, null as _sign", "1 row: _sign is not 1 or -1"),
    "no_key": ("cast(null, 'Nullable(Int64)') as id, 1 as _version, 1 as _sign", "1 row: id is null"),
}


def test_a_row_that_does_not_fit_stops_the_run(make_project: MakeProject) -> None:
    project = make_project("stream_bad")
    for name, (row, _) in BAD_ROWS.items():
        project.add_model(name, STREAM, f"select {row}")
    outcomes = project.run()
    for name, (_, problem) in BAD_ROWS.items():
        assert problem in outcomes[name].message
        assert project.query(f"select count() from {name}") == [(0,)]


def test_a_run_that_died_writes_every_row_once(make_project: MakeProject, is_exhaustive: bool) -> None:
    """Each model dies before a different statement, every second one, with small blocks and a view."""
    project = make_project("stream_deaths")
    project.set_variables(versioned_collapsing_block_rows=7)
    deaths = {f"s{number:02}x": number for number in range(0, 17, 1 if is_exhaustive else 2)}
    names = list(deaths)
    for name in names:
        project.add_model(name, STREAM, "select * from changes")
    project.replace_rows("changes", COLUMNS, [(1, "EU", 1, 1, 1)])
    project.build()
    for name in names:
        project.command(
            f"create materialized view {name}_sums engine = SummingMergeTree order by region as {SUMS.format(name)}"
        )
    rows: list[Row] = [(key, "EU", key, 2, 1) for key in range(20)]
    project.replace_rows("changes", COLUMNS, [*rows, (1, "EU", 1, 1, -1), rows[0]])
    with dying(deaths):
        outcomes = project.run()
    assert outcomes[names[-1]].status == "success"
    query = "select model from versioned_collapsing_ledger group by model having countIf(status = 'started') = 2"
    started = {name for (name,) in project.query(query)}
    assert 1 < len(started) < len(names)
    project.replace_rows("changes", COLUMNS, [])
    project.build()
    for name in names:
        expected = [("EU", sum(range(20)), 21)] if name in started else [("EU", 1, 1)]
        in_view = f"select region, sum(total), sum(c) from {name}_sums group by region"
        if name not in started:
            assert project.query(in_view) == [], name
        else:
            assert project.query(in_view) == [("EU", sum(range(20)) - 1, 20)], name
        assert project.query(SUMS.format(name)) == expected, name


class TestManifest:
    """A batch is written only once."""

    @pytest.fixture
    def table(self, make_project: MakeProject, request: pytest.FixtureRequest) -> Iterator[Table]:
        project = make_project(f"manifest_{crc32(request.node.name.encode())}")
        with stand_in_for_change_sets(project):
            project.add_model("signed", {"materialized": "change_set"}, "select * from changes")
            yield Table(project, COLUMNS, SELECT, **STREAM)

    def stage(self, table: Table, batches: list[int], rows: list[Row], is_complete: bool = False) -> None:
        table.stage(rows)
        write_manifest(table.project, "signed", batches, is_complete=is_complete)

    @pytest.mark.parametrize("why", ["old_state: stream", "delete_version: ignore"])
    def test_a_batch_that_was_applied_is_refused(self, table: Table, why: str) -> None:
        option, value = why.split(": ")
        if option != "old_state":
            table.columns = COLUMNS.replace("_sign Int8", "_batch UInt64")
        table.configure(SELECT, **{option: value})
        self.stage(table, [1], [(1, "EU", 5, 5, 1)])
        assert table.project.build()["target"] == "batch 1: 1 state"
        self.stage(table, [1, 2], [(1, "EU", 5, 5, 1), (2, "EU", 5, 5, 1)])
        message = table.project.run()["target"].message
        assert "already contains batch 1 of signed" in message
        assert f"With `{why}`, a batch can be applied only once" in message
        self.stage(table, [2], [(2, "EU", 5, 5, 1)])
        table.project.build()
        table.check([(1,), (2,)], "id")

    def test_a_batch_that_was_applied_fills_no_new_column(self, table: Table) -> None:
        """A row is not replaced at its version: the run stops, or warns if it was not told to take the batch again."""
        project = table.project
        table.columns = "id Int64, _version Int64, x Int64"
        table.configure(SELECT, on_schema_change="append_new_columns")
        self.stage(table, [1], [(1, 5, 5), (2, 5, 5)])
        assert project.build()["target"] == "batch 1: 2 states"
        table.columns += ", y Nullable(Int64), z String"
        self.stage(table, [1, 2], [(1, 5, 5, 7, ""), (2, 5, 5, None, ""), (3, 5, 5, 7, "a")])
        message = project.run()["target"].message
        assert "`target` lacks values of y that batches have which it applied before." in message
        assert "To fill the columns, rebuild the table: dbt run --full-refresh --select " in message
        assert project.query("select count() from target") == [(2,)]
        # A different value is another case: the version does not grow.
        self.stage(table, [1], [(1, 5, 6, 7, "")])
        assert project.build()["target"] == "batch 1: 1 conflict"
        assert "Find out why the version does not grow" in project.logged("JinjaLogWarning")
        self.stage(table, [3], [(1, 5, 5, 7, ""), (3, 6, 6, 7, "a")])
        assert project.build()["target"] == "batch 3: 1 state, 1 conflict"
        assert (
            "The stored rows lack y. To fill new columns, rebuild the table: dbt run --full-refresh"
            in project.logged("JinjaLogWarning")
        )
        rows: list[Row] = [(1, 5, 5, 7, ""), (2, 5, 5, None, ""), (3, 6, 6, 7, "a")]
        self.stage(table, [1, 2, 3], rows, is_complete=True)
        project.build("--full-refresh")
        table.check(rows)

    def test_a_run_may_have_many_batches(self, table: Table) -> None:
        """Their numbers and hashes exceed a statement's default size. A view completes what the run had begun."""
        project = table.project
        project.add_view("sums", "region", SUMS.format("{{ ref('target') }}"))
        self.stage(table, [1], [(1, "EU", 1, 1, 1)])
        project.build()
        self.stage(table, [*range(2, 8_000)], [(2, "EU", 2, 2, 1)])
        with dying({"target": STARTED}):
            assert "died here" in project.run("--select", "signed", "target")["target"].message
        self.stage(table, [8_000], [(3, "EU", 3, 3, 1)])
        project.build("--select", "signed", "sums")
        project.build("--select", "target+")
        assert project.query("select region, sum(total), sum(c) from sums group by region") == [("EU", 6, 3)]

    def test_a_lake_table_as_it_is_is_refused_where_its_commits_are_applied(self, table: Table) -> None:
        lake = {"materialized": "change_set", "meta": {"lake": {"format": "delta"}}}
        table.project.add_model("signed", lake, "select * from changes")
        self.stage(table, [1], [(1, "EU", 5, 5, 1)])
        assert table.project.build()["target"] == "batch 1: 1 state"
        # All commits that the history still has, none of which this table has applied.
        self.stage(table, [8, 9], [(1, "EU", 5, 5, 1)], is_complete=True)
        message = table.project.run()["target"].message
        assert "has applied earlier commits, and signed has all rows of the lake table" in message
        assert "To start over: dbt run --full-refresh --select signed+" in message
        table.check([(1,)], "id")
        assert table.project.build("--full-refresh")["target"] == "batches 8-9: 1 state"

    def test_a_batch_that_this_run_completes_is_refused_too(self, table: Table) -> None:
        self.stage(table, [1], [(1, "EU", 5, 5, 1)])
        table.project.build()
        # It dies after it wrote. The change set is then remade, with the batch that it had.
        self.stage(table, [2], [(2, "EU", 5, 5, 1)])
        with dying({"target": STARTED}):
            assert "died here" in table.project.run()["target"].message
        assert "already contains batch 2 of signed" in table.project.run()["target"].message
        table.check([(1,), (2,)], "id")
