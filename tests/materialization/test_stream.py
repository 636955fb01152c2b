"""`old_state: stream`: the change set holds the state and cancel rows itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.adapters.clickhouse.impl import ClickHouseAdapter

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import STARTED, dying

STRUCTURE = "id Int64, region String, x Int64, _version Int64, _sign Int8"
CONFIG = {"unique_key": "id", "old_state": "stream"}
LIVE = "select id, region, x, _version from target final order by id, _version"
SUMS = "select region, sum(x * _sign) as total, sum(_sign) as c from {} group by region"
# Stock dbt-clickhouse has no change sets: a view stands for one.
CHANGE_SET = """
{% materialization change_set, adapter='clickhouse' %}
  {% call statement('main') %}create or replace view {{ this }} as {{ sql }}{% endcall %}
  {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}
"""


def apply(project: CollapsingProject, rows: list[Row]) -> None:
    project.replace_rows("changes", STRUCTURE, rows)
    outcome = project.run("--select", "target")["target"]
    assert outcome.status == "success", outcome.message


def test_batches_out_of_order_sum_right(make_project: MakeProject) -> None:
    project = make_project("stream_order")
    project.add_model("target", CONFIG, "select * from changes")
    apply(project, [(1, "EU", 7, 7, 1), (1, "EU", 6, 6, -1)])
    apply(project, [(2, "EU", 1, 1, 1)])
    apply(project, [(1, "EU", 5, 5, 1), (2, "EU", 1, 1, -1)])
    apply(project, [(1, "EU", 6, 6, 1), (1, "EU", 5, 5, -1)])
    assert project.query(LIVE) == [(1, "EU", 7, 7)]
    assert project.query("select sum(x * _sign) from target") == [(7,)]


def test_rows_are_written_in_one_block_while_they_are_few(make_project: MakeProject) -> None:
    project = make_project("stream_blocks")
    project.add_model("target", CONFIG, "select * from changes")
    apply(project, [(key, "EU", key, 1, 1) for key in range(1000)])
    blocks = "select countIf(status = 'block applied') from versioned_collapsing_ledger"
    assert project.query(blocks) == [(0,)]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1 as id, 1 as _version, 2 as _sign", "1 row: _sign is not 1 or -1"),
        ("1 as id, 1 as _version, null as _sign", "1 row: _sign is not 1 or -1"),
        ("cast(null, 'Nullable(Int64)') as id, 1 as _version, 1 as _sign", "1 row: id is null"),
    ],
)
def test_a_row_that_does_not_fit_stops_the_run(make_project: MakeProject, row: str, problem: str) -> None:
    project = make_project("stream_bad")
    project.add_model("target", CONFIG, f"select {row}")
    outcome = project.run("--full-refresh")["target"]
    assert problem in outcome.message
    assert project.query("select count() from target") == [(0,)]


def test_a_run_that_died_writes_every_row_once(make_project: MakeProject) -> None:
    """Each model dies before another of its statements, in small blocks, with a view on top."""
    project = make_project("stream_deaths")
    project.set_variables(versioned_collapsing_block_rows=7)
    names = [f"s{number:02}x" for number in range(17)]
    for name in names:
        project.add_model(name, CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", 1, 1, 1)])
    assert {outcome.status for outcome in project.run().values()} == {"success"}
    for name in names:
        project.command(
            f"create materialized view {name}_sums engine = SummingMergeTree order by region as {SUMS.format(name)}"
        )
    rows: list[Row] = [(key, "EU", key, 2, 1) for key in range(20)]
    project.replace_rows("changes", STRUCTURE, [*rows, (1, "EU", 1, 1, -1), rows[0]])
    with dying({name: number for number, name in enumerate(names)}):
        outcomes = project.run()
    assert outcomes[names[-1]].status == "success"
    query = "select model from versioned_collapsing_ledger group by model having countIf(status = 'started') = 2"
    started = {name for (name,) in project.query(query)}
    assert 3 < len(started) < len(names)
    project.replace_rows("changes", STRUCTURE, [])
    assert {outcome.status for outcome in project.run().values()} == {"success"}
    for name in names:
        expected = [("EU", sum(range(20)), 21)] if name in started else [("EU", 1, 1)]
        in_view = f"select region, sum(total), sum(c) from {name}_sums group by region"
        if name not in started:
            assert project.query(in_view) == [], name
        else:
            assert project.query(in_view) == [("EU", sum(range(20)) - 1, 20)], name
        assert project.query(SUMS.format(name)) == expected, name


class TestManifest:
    """A batch is written once."""

    @pytest.fixture
    def project(
        self, make_project: MakeProject, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> CollapsingProject:
        available = ClickHouseAdapter._available_ | {"hand_off"}
        monkeypatch.setattr(ClickHouseAdapter, "_available_", available)
        monkeypatch.setattr(
            ClickHouseAdapter, "hand_off", lambda _, schema, name, __: f"{schema}.{name}", raising=False
        )
        project = make_project(f"manifest_{abs(hash(request.node.name)) % 10**8}")
        macros = project.folder / "macros"
        macros.mkdir()
        (macros / "change_set.sql").write_text(CHANGE_SET)
        project.set_variables()
        models: Path = project.folder / "models"
        (models / "signed.sql").write_text("{{ config(materialized='change_set') }} select * from changes")
        return project

    def stage(
        self, project: CollapsingProject, batches: list[int], structure: str, rows: list[Row], is_complete: bool = False
    ) -> None:
        project.replace_rows("changes", structure, rows)
        project.replace_rows(
            "signed__manifest",
            "batch UInt64, hash String, is_complete Bool, is_partial Bool",
            [(batch, f"h{batch}", is_complete or 1 in batches, False) for batch in batches],
        )

    @pytest.mark.parametrize("why", ["old_state: stream", "delete_version: ignore"])
    def test_a_batch_that_was_applied_is_refused(self, project: CollapsingProject, why: str) -> None:
        option, value = why.split(": ")
        is_stream = option == "old_state"
        structure = STRUCTURE if is_stream else STRUCTURE.replace("_sign Int8", "_batch UInt64")
        project.add_model("target", {"unique_key": "id", option: value}, "select * from {{ ref('signed') }}")
        self.stage(project, [1], structure, [(1, "EU", 5, 5, 1)])
        assert project.run()["target"].message == "batch 1: 1 state"
        self.stage(project, [1, 2], structure, [(1, "EU", 5, 5, 1), (2, "EU", 5, 5, 1)])
        message = project.run()["target"].message
        assert "already contains batch 1 of signed" in message
        assert f"With `{why}`, a batch can be applied only once" in message
        self.stage(project, [2], structure, [(2, "EU", 5, 5, 1)])
        assert project.run()["target"].status == "success"
        assert project.query("select id, sum(_sign) from target group by id order by id") == [(1, 1), (2, 1)]

    def test_a_batch_that_was_applied_fills_no_new_column(self, project: CollapsingProject) -> None:
        """A row is not replaced at its version: the run stops, or says so when it was not told to take the batch again."""
        options = {"unique_key": "id", "on_schema_change": "append_new_columns"}
        project.add_model("target", options, "select * from {{ ref('signed') }}")
        structure = "id Int64, _version Int64, x Int64"
        self.stage(project, [1], structure, [(1, 5, 5), (2, 5, 5)])
        assert project.run()["target"].message == "batch 1: 2 states"
        structure += ", y Nullable(Int64), z String"
        self.stage(project, [1, 2], structure, [(1, 5, 5, 7, ""), (2, 5, 5, None, ""), (3, 5, 5, 7, "a")])
        message = project.run()["target"].message
        assert "`target` lacks values of y that batches have which it applied before." in message
        assert "To fill the columns, rebuild the table: dbt run --full-refresh --select " in message
        assert project.query("select count() from target") == [(2,)]
        # Another value is another matter: the version does not grow.
        self.stage(project, [1], structure, [(1, 5, 6, 7, "")])
        assert project.run()["target"].message == "batch 1: 1 conflict"
        assert "Find out why the version does not grow" in project.logged("JinjaLogWarning")
        self.stage(project, [3], structure, [(1, 5, 5, 7, ""), (3, 6, 6, 7, "a")])
        assert project.run()["target"].message == "batch 3: 1 state, 1 conflict"
        assert "The stored rows lack y. To fill new columns, rebuild" in project.logged("JinjaLogWarning")
        self.stage(project, [1, 2, 3], structure, [(1, 5, 5, 7, ""), (2, 5, 5, None, ""), (3, 6, 6, 7, "a")], True)
        assert project.run("--full-refresh")["target"].status == "success"
        assert project.query("select * except _sign from target final order by id") == [
            (1, 5, 5, 7, ""),
            (2, 5, 5, None, ""),
            (3, 6, 6, 7, "a"),
        ]

    @pytest.mark.parametrize("completed_by", ["target", "sums"])
    def test_a_run_may_have_many_batches(self, project: CollapsingProject, completed_by: str) -> None:
        """Their numbers and hashes are more than a statement may have by default."""
        project.add_model("target", CONFIG, "select * from {{ ref('signed') }}")
        project.add_model(
            "sums",
            {"materialized": "versioned_collapsing_view", "order_by": "region"},
            "select region, sum(x * _sign) as total, sum(_sign) as c from {{ ref('target') }} group by region",
        )
        self.stage(project, [1], STRUCTURE, [(1, "EU", 1, 1, 1)])
        assert {node.status for node in project.run().values()} == {"success"}
        self.stage(project, [*range(2, 30_000)], STRUCTURE, [(2, "EU", 2, 2, 1)])
        with dying({"target": STARTED}):
            assert "died here" in project.run("--select", "signed", "target")["target"].message
        self.stage(project, [30_000], STRUCTURE, [(3, "EU", 3, 3, 1)])
        outcomes = project.run("--select", "signed", completed_by)
        assert outcomes[completed_by].status == "success", outcomes
        # A batch is applied once: the other one goes on.
        outcomes = project.run("--select", "sums" if completed_by == "target" else "target+")
        assert {node.status for node in outcomes.values()} == {"success"}, outcomes
        assert project.query("select region, sum(total), sum(c) from sums group by region") == [("EU", 6, 3)]

    def test_a_lake_table_as_it_is_is_refused_where_its_commits_are_applied(self, project: CollapsingProject) -> None:
        (project.folder / "models" / "signed.sql").write_text(
            "{{ config(materialized='change_set', meta={'lake': {'format': 'delta'}}) }} select * from changes"
        )
        project.add_model("target", CONFIG, "select * from {{ ref('signed') }}")
        self.stage(project, [1], STRUCTURE, [(1, "EU", 5, 5, 1)])
        assert project.run()["target"].message == "batch 1: 1 state"
        # All commits that the history still has, of which this table has applied none.
        self.stage(project, [8, 9], STRUCTURE, [(1, "EU", 5, 5, 1)], is_complete=True)
        message = project.run()["target"].message
        assert "has applied earlier commits, and signed has all rows of the lake table" in message
        assert "To start over: dbt run --full-refresh --select signed+" in message
        assert project.query("select id, sum(_sign) from target group by id") == [(1, 1)]
        assert project.run("--full-refresh")["target"].message == "batches 8-9: 1 state"

    def test_a_batch_that_this_run_completes_is_refused_too(self, project: CollapsingProject) -> None:
        project.add_model("target", CONFIG, "select * from {{ ref('signed') }}")
        self.stage(project, [1], STRUCTURE, [(1, "EU", 5, 5, 1)])
        assert project.run()["target"].status == "success"
        # Dies after it wrote: the change set is then made again, with the batch that it had.
        self.stage(project, [2], STRUCTURE, [(2, "EU", 5, 5, 1)])
        with dying({"target": STARTED}):
            assert "died here" in project.run()["target"].message
        outcome = project.run()["target"]
        assert "already contains batch 2 of signed" in outcome.message
        assert project.query("select id, sum(_sign) from target group by id order by id") == [(1, 1), (2, 1)]
