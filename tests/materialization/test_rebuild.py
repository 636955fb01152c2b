"""Full refresh, runs on a part of the change set, and many partitions."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject

CONFIG = {"unique_key": "id"}
STRUCTURE = "id Int64, region String, day Date, _version Int64, _is_deleted Bool"
LIVE = "select id, region, _version from target final where _sign = 1 order by id"
DAY = date(2025, 1, 1)


def build(project: CollapsingProject, *arguments: str) -> str:
    outcome = project.run(*arguments)["target"]
    assert outcome.status == "success", outcome.message
    return outcome.message


def test_full_refresh_forgets_rows_and_deletes(make_project: MakeProject) -> None:
    project = make_project("full_refresh")
    project.add_model("target", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False), (2, "EU", DAY, 5, True)])
    build(project)
    project.replace_rows("changes", STRUCTURE, [(2, "US", DAY, 4, False), (3, "US", DAY, 1, False)])
    assert "1 tombstoned" in build(project)
    build(project, "--full-refresh")
    assert project.query(LIVE) == [(2, "US", 4), (3, "US", 1)]
    assert project.query("select count() from target__tombstones") == [(0,)]
    build(project)
    assert project.query(LIVE) == [(2, "US", 4), (3, "US", 1)]


def test_full_refresh_changes_what_a_run_refuses(make_project: MakeProject) -> None:
    project = make_project("full_refresh_key")
    project.add_model("target", {"unique_key": ["region", "id"]}, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False), (1, "US", DAY, 6, False)])
    build(project)
    project.add_model(
        "target", {"unique_key": "id", "order_by": ["region", "id"]}, "select * from changes"
    )
    outcome = project.run()["target"]
    assert "unique_key is 'id', but `full_refresh_key`.`target` was built with" in outcome.message
    build(project, "--full-refresh")
    assert project.query(LIVE) == [(1, "US", 6)]


def test_full_refresh_takes_the_place_of_another_table(make_project: MakeProject) -> None:
    project = make_project("full_refresh_foreign")
    project.command("create table target (id Int64) engine = MergeTree order by id")
    project.add_model("target", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False)])
    build(project, "--full-refresh")
    assert project.query(LIVE) == [(1, "EU", 5)]


def test_a_view_in_the_place_of_the_table(make_project: MakeProject) -> None:
    project = make_project("view_in_place")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False)])
    project.command("create view target as select * from changes")
    project.add_model("target", CONFIG, "select * from changes")
    for arguments in ([], ["--full-refresh"]):
        outcome = project.run(*arguments)["target"]
        assert outcome.status == "error"
        assert "is a view, and a table cannot replace it" in outcome.message


def test_full_refresh_is_refused_when_a_view_would_stay_wrong(make_project: MakeProject) -> None:
    project = make_project("full_refresh_view")
    project.add_model("target", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False)])
    build(project)
    project.command(
        "create materialized view sums engine = SummingMergeTree order by region "
        "as select region, sum(_sign) as n from target group by region"
    )
    outcome = project.run("--full-refresh")["target"]
    assert outcome.status == "error"
    assert "cannot be rebuilt alone. This materialized view reads from it" in outcome.message
    assert (
        "dbt does not build full_refresh_view.sums. Drop it, run `dbt run --full-refresh --select target+`, "
        "then create it and fill it again."
    ) in outcome.message
    assert project.query(LIVE) == [(1, "EU", 5)]


def test_an_empty_run_leaves_the_table_to_be_built(make_project: MakeProject) -> None:
    project = make_project("empty_run")
    project.add_model("target", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False)])
    build(project, "--empty")
    statuses = "select distinct status from versioned_collapsing_ledger"
    assert set(project.query(statuses)) <= {("started",), ("partial",)}
    build(project)
    assert project.query(LIVE) == [(1, "EU", 5)]


def test_more_than_a_hundred_partitions_in_one_run(make_project: MakeProject) -> None:
    project = make_project("partitions")
    project.add_model(
        "target", {**CONFIG, "partition_by": "toYYYYMM(day)"}, "select * from changes"
    )
    months = [date(2000 + i // 12, 1 + i % 12, 1) for i in range(150)]
    project.replace_rows(
        "changes", STRUCTURE, [(i, "EU", day, 1, False) for i, day in enumerate(months)]
    )
    build(project)
    project.replace_rows(
        "changes", STRUCTURE, [(i, "US", day, 2, False) for i, day in enumerate(reversed(months))]
    )
    assert "150 states, 150 cancels" in build(project)
    assert project.query("select count(), uniq(region) from target final where _sign = 1") == [
        (150, 1)
    ]


@pytest.mark.parametrize(
    "settings", [{"join_use_nulls": 1}, {"cast_keep_nullable": 1}, {"final": 1}]
)
def test_settings_of_the_server_do_no_harm(
    make_project: MakeProject, settings: dict[str, int]
) -> None:
    (name,) = settings
    project = make_project(f"setting_{name}")
    project.set_profile(custom_settings=settings)
    # The model's own joins keep the meaning that the settings give them.
    names = "(select 1 as id, 'one' as name) as names"
    project.add_model(
        "target", CONFIG, f"select changes.*, name from changes left join {names} using (id)"
    )
    project.replace_rows("changes", STRUCTURE, [(1, "EU", DAY, 5, False)])
    build(project)
    project.replace_rows("changes", STRUCTURE, [(1, "US", DAY, 6, False), (2, "US", DAY, 6, False)])
    build(project)
    assert project.query(LIVE) == [(1, "US", 6), (2, "US", 6)]
    assert project.query("select name from target final where id = 2") == [
        (None if name == "join_use_nulls" else "",)
    ]
