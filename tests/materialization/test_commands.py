"""dbt's other commands on tables of the materialization: clones, samples, inline queries, microbatches that read
them."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject

STRUCTURE = "id Int64, x Int64, at DateTime('UTC'), _version Int64, _is_deleted Bool"
DAYS = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
SPAN = ("--event-time-start", "2026-01-01", "--event-time-end", "2026-01-04")
SECOND_DAY = ("--sample", "{start: '2026-01-02', end: '2026-01-03'}")
BATCHES = """{{ config(
    materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day',
    begin='2026-01-01', unique_key='id',
) }}
select * from {{ ref('orders') }}"""
SUMS = """{{{{ config(materialized='versioned_collapsing_view', order_by='id') }}}}
{{{{ versioned_collapsing.signed_sums(ref('{}'), 'id', ['x']) }}}}"""
INSERTS: list[Row] = [(n + 1, 10 * n + 10, day, 1, False) for n, day in enumerate(DAYS)]
CHANGES: list[Row] = [(1, 11, DAYS[0], 2, False), (2, 20, DAYS[1], 2, True)]
AFTERWARDS = [(1, 11), (3, 30)]


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    """A table with a change and a delete, the models that read it, and its manifest in the folder `state`."""
    project = make_project("commands")
    config = {"event_time": "at"}
    source = {"name": "shop", "schema": project.schema}
    tables = [{"name": "raw", "config": config}]
    project.add_properties("sources", {"sources": [{**source, "tables": tables}]})
    models = project.folder / "models"
    for name in ("orders", "sampled"):
        select = "select * from {{ source('shop', 'raw') }}"
        project.add_model(name, {"unique_key": "id", **config}, select)
        (models / f"{name}_sums.sql").write_text(SUMS.format(name))
    (models / "by_day.sql").write_text(BATCHES)
    for rows in (INSERTS, CHANGES):
        project.replace_rows("raw", STRUCTURE, rows)
        project.build(*SPAN, "--exclude", "sampled*")
    project.dbt("compile")
    (project.folder / "state").mkdir()
    shutil.copy(project.folder / "target" / "manifest.json", project.folder / "state")
    return project


def live(project: CollapsingProject, table: str) -> list[Row]:
    return project.query(f"select id, x from {table} final where _sign = 1 order by id")


def sums(project: CollapsingProject, table: str) -> list[Row]:
    # What a run has added may not be merged yet.
    having = "having sum(live_rows) > 0"
    return project.query(f"select id, sum(x) from {table}_sums group by id {having} order by id")


def test_batches_of_another_model_have_both_rows_of_a_pair(project: CollapsingProject) -> None:
    """Both have the same event time, so a batch has both or neither."""
    by_day = "select id, sum(x * _sign) from by_day group by id having sum(_sign) > 0 order by id"
    assert project.query(by_day) == AFTERWARDS
    assert project.query("select count() from by_day") == project.query("select count() from orders")


def test_what_dbt_keeps_of_an_apply_on_the_stock_adapter(project: CollapsingProject) -> None:
    project.replace_rows("raw", STRUCTURE, CHANGES)
    project.run("--select", "orders")
    (response,) = (
        event.data.run_result.adapter_response for event in project.events if event.info.name == "NodeFinished"
    )
    assert dict(response.items()) == {"_message": "2 rows: 2 duplicates", "code": "OK", "rows_affected": 0}


def test_inline_query_is_shown_and_compiled(project: CollapsingProject) -> None:
    inline = "select id, x from {{ ref('orders') }} final order by id"
    project.dbt("show", "--inline", inline)
    (shown,) = (event for event in project.events if event.info.name == "ShowNode")
    assert "|  1 | 11 |" in shown.info.msg
    assert "|  3 | 30 |" in shown.info.msg
    project.dbt("compile", "--inline", inline)
    (compiled,) = (event for event in project.events if event.info.name == "CompiledNode")
    assert compiled.data.compiled == "select id, x from `commands`.`orders` final order by id"


def test_sample_is_applied_and_marks_nothing_as_applied(project: CollapsingProject) -> None:
    project.replace_rows("raw", STRUCTURE, INSERTS)
    both = ("--select", "sampled", "sampled_sums")
    project.run(*both, *SECOND_DAY)
    assert live(project, "sampled") == sums(project, "sampled") == [(2, 20)]
    ledger = "select status from versioned_collapsing_ledger where model = 'sampled' order by at"
    assert project.query(ledger) == [("started",), ("partial",)]
    project.run(*both)
    everything = [(1, 10), (2, 20), (3, 30)]
    assert live(project, "sampled") == sums(project, "sampled") == everything
    project.run("--select", "sampled_sums", "--full-refresh", *SECOND_DAY)
    assert sums(project, "sampled") == [(2, 20)]
    project.run("--select", "sampled_sums")
    assert sums(project, "sampled") == everything
    refused = project.run("--select", "sampled", "--full-refresh", *SECOND_DAY)["sampled"]
    assert "its select is only a part (--empty or --sample)" in refused.message
    assert live(project, "sampled") == everything


def test_clone_is_read_like_its_table_and_written_to_only_when_it_is_adopted(project: CollapsingProject) -> None:
    # Another schema. The file's other tests do not return to it, so everything is parsed again.
    project.set_profile(schema="clones")
    both = ("--select", "orders", "orders_sums")
    clone = ("clone", "--state", str(project.folder / "state"), *both)
    outcomes = project.dbt(*clone, "--no-partial-parse")
    assert {name: node.message for name, node in outcomes.items()} == dict.fromkeys(both[1:], "OK")
    assert live(project, "clones.orders") == sums(project, "clones.orders") == AFTERWARDS
    project.replace_rows("raw", STRUCTURE, [*CHANGES, (3, 33, DAYS[2], 3, False)])
    message = project.run(*both)["orders"].message
    assert (
        "`clones`.`orders` has rows that are not in the ledger. If they are the state and cancel "
        "rows of this model, adopt the table: dbt run-operation adopt_table --args "
        "'{model: orders}'." in message
    )
    assert live(project, "clones.orders") == AFTERWARDS
    project.operation("adopt_table", model="orders")
    message = project.run(*both)["orders"].message
    assert message == "3 rows: 1 state, 1 cancel, 1 delete, 1 duplicate"
    assert live(project, "clones.orders") == sums(project, "clones.orders") == [(1, 11), (3, 33)]
    # The deletes next to a clone that replaces a table are those of the replaced table.
    assert project.dbt(*clone, "--full-refresh")["orders"].message == "OK"
    message = project.run("--select", "orders")["orders"].message
    assert "`clones`.`orders__tombstones` holds the deletes of another table" in message
    assert live(project, "clones.orders") == AFTERWARDS
