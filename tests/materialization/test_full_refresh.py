"""Full refreshes that die, and what a table and its tombstones are to each other."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying

CONFIG = {"unique_key": "id"}
STRUCTURE = "id Int64, x String, _version Int64, _is_deleted Bool"
OLD: list[Row] = [(1, "old", 5, False), (2, "old", 5, True)]
NEW: list[Row] = [(1, "new", 7, False), (3, "new", 7, True)]
LATE: list[Row] = [(2, "late", 4, False), (3, "late", 4, False)]
# Whoever has the old table has the old delete of 2, whoever has the new one that of 3.
OLD_LIVE = [(1, "old"), (3, "late")]
NEW_LIVE = [(1, "new"), (2, "late")]


def live(project: CollapsingProject, name: str) -> list[Row]:
    return project.query(f"select id, x from {name} final where _sign = 1 order by id")


def succeeds(project: CollapsingProject, *arguments: str) -> None:
    outcomes = project.run(*arguments)
    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes


def apply(project: CollapsingProject, rows: list[Row], *arguments: str) -> Any:
    project.replace_rows("changes", STRUCTURE, rows)
    return project.run(*arguments)


def test_a_full_refresh_that_dies_anywhere(make_project: MakeProject, is_exhaustive: bool) -> None:
    project = make_project("refresh_deaths")
    deaths = [*range(0, 28, 1 if is_exhaustive else 2), 28]
    names = [f"t{number:02}x" for number in deaths]
    for name in names:
        project.add_model(name, CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, OLD)
    succeeds(project)
    project.replace_rows("changes", STRUCTURE, NEW)
    with dying(dict(zip(names, deaths, strict=True))) as begun:
        outcomes = project.run("--full-refresh")
    died = [name for name in names if outcomes[name].status == "error"]
    assert 0 < len(died) < len(names), (died, begun)
    project.replace_rows("changes", STRUCTURE, LATE)
    succeeds(project)
    found = {name: live(project, name) for name in names}
    assert all(rows in (OLD_LIVE, NEW_LIVE) for rows in found.values()), found
    assert found[names[0]] == OLD_LIVE
    assert found[names[-1]] == NEW_LIVE
    helpers = "select name from system.tables where database = currentDatabase() and name like '%\\_\\_dbt\\_build%'"
    assert project.query(helpers) == []


def test_tombstones_that_are_gone_or_of_another_table(make_project: MakeProject) -> None:
    project = make_project("tombstones_gone")
    project.add_model("target", CONFIG, "select * from changes")
    assert apply(project, OLD)["target"].status == "success"
    project.command("drop table target__tombstones sync")
    outcome = apply(project, LATE)["target"]
    assert outcome.status == "error"
    assert "has had 1 delete, but `tombstones_gone`.`target__tombstones`" in outcome.message
    assert live(project, "target") == [(1, "old")]
    succeeds(project, *commands(outcome.message)[1][2:])
    assert live(project, "target") == [(1, "old"), (2, "late"), (3, "late")]

    project.command("create table copy as target")
    project.command("insert into copy select * from target")
    project.command("exchange tables copy and target")
    project.command("truncate table versioned_collapsing_ledger")
    outcome = apply(project, NEW)["target"]
    assert "holds the deletes of another table, not of" in outcome.message
    adopt, rebuild = commands(outcome.message)
    assert rebuild == ["dbt", "run", "--full-refresh", "--select", "target"]
    project.operation(adopt[2], model="target")
    succeeds(project)
    assert live(project, "target") == [(1, "new"), (2, "late")]


@pytest.mark.parametrize("part", ["--empty", "--sample=1 day"])
def test_a_part_of_the_change_set_does_not_empty_a_table(
    make_project: MakeProject, part: str
) -> None:
    project = make_project("refresh_part_" + part.strip("-").split("=")[0])
    project.add_model("target", CONFIG, "select * from changes")
    assert apply(project, OLD)["target"].status == "success"
    outcome = apply(project, NEW, "--full-refresh", part)["target"]
    assert outcome.status == "error"
    assert "its select is only a part (--empty or --sample)" in outcome.message
    assert live(project, "target") == [(1, "old")]
    succeeds(project, *commands(outcome.message)[0][2:])
    assert live(project, "target") == [(1, "new")]


def test_the_commands_that_messages_recommend(make_project: MakeProject) -> None:
    project = make_project("advice")
    select = "select id, x, _version, _is_deleted, toDate('2025-01-01') as day from changes"
    changed: dict[str, tuple[dict[str, Any], str]] = {
        "order_by": ({**CONFIG, "order_by": ["id", "day"]}, select),
        "partition_by": ({**CONFIG, "partition_by": "day"}, select),
        "unique_key": ({"unique_key": ["id", "day"]}, select),
        "sign": ({**CONFIG, "sign": "s"}, select),
        "added": (CONFIG, select.replace(" from ", ", 1 as extra from ")),
        "absent": (CONFIG, select.replace(", x", "")),
        "type": (CONFIG, select.replace(", x", ", length(x) as x")),
        "followed": ({**CONFIG, "partition_by": "day"}, select),
        "staged": (CONFIG, select),
        "emptied": (CONFIG, select),
    }
    for name in changed:
        project.add_model(name, CONFIG, select)
    follower = {"materialized": "versioned_collapsing_view", "order_by": "day"}
    project.add_model(
        "sums", follower, "select day, sum(_sign) as n from {{ ref('followed') }} group by day"
    )
    project.replace_rows("changes", STRUCTURE, OLD)
    succeeds(project)
    for name, (config, sql) in changed.items():
        project.add_model(name, config, sql)
    project.add_model("other", CONFIG, select)
    project.command("create table other (id Int64) engine = MergeTree order by id")
    project.command(
        "insert into versioned_collapsing_ledger (model, target_uuid, run_id, status, at, publish, chunk, chunks) "
        "select name, uuid, 'r', 'started', now64(6) + 1, 'atomic', 1, 1 from system.tables "
        "where database = 'advice' and name in ('staged', 'emptied')"
    )
    project.command("drop table staged__dbt_changes")
    assert project.query("select count() from emptied__dbt_changes") == [(0,)]
    project.replace_rows("changes", STRUCTURE, NEW)
    outcomes = project.run("--exclude", "sums")
    assert {outcome.status for outcome in outcomes.values()} == {"error"}, outcomes
    advice = {name: commands(outcome.message)[0] for name, outcome in outcomes.items()}
    wanted = {name: ["dbt", "run", "--full-refresh", "--select", name] for name in advice}
    wanted["followed"][-1] = "followed+"
    assert advice == wanted
    succeeds(project, "--full-refresh", "--select", *(command[-1] for command in advice.values()))
    succeeds(project)
    ids = {
        name: project.query(f"select id from {name} final where {config.get('sign', '_sign')} = 1")
        for name, (config, _) in changed.items()
    }
    assert ids == {name: [(1,)] for name in changed}


def commands(message: str) -> list[list[str]]:
    """The dbt commands that a message recommends, as words."""
    found = re.findall(
        r"dbt (?:run|build|run-operation)(?: (?:--?[a-z-]+|'[^']*'|[\w+]+))+", message
    )
    return [shlex.split(command) for command in found]
