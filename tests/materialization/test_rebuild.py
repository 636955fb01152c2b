"""Full refreshes: what they forget, change and reject, what if they die, and how a table and its tombstones belong
together."""

from __future__ import annotations

import re
import shlex
from typing import Any

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import at_statement, dying
from tests.support.table import Table

CONFIG = {"unique_key": "id"}
COLUMNS = "id Int64, x String, _version Int64, _is_deleted Bool"
OLD: list[Row] = [(1, "old", 5), (2, "old", 5, True)]
NEW: list[Row] = [(1, "new", 7), (3, "new", 7, True)]
LATE: list[Row] = [(2, "late", 4), (3, "late", 4)]
# The old table comes with the old delete of 2, the new one with that of 3.
OLD_LIVE = [(1, "old"), (3, "late")]
NEW_LIVE = [(1, "new"), (2, "late")]


def live(project: CollapsingProject, name: str) -> list[Row]:
    return project.query(f"select id, x from {name} final where _sign = 1 order by id")


def commands(message: str) -> list[list[str]]:
    """The dbt commands that a message recommends, split into words."""
    found = re.findall(r"dbt (?:run|build|run-operation)(?: (?:--?[a-z-]+|'[^']*'|[\w+]+))+", message)
    return [shlex.split(command) for command in found]


def test_full_refresh_forgets_rows_and_deletes(make_project: MakeProject) -> None:
    table = Table(make_project("full_refresh"), COLUMNS)
    table.apply([(1, "EU", 5), (2, "EU", 5, True)])
    changes: list[Row] = [(2, "US", 4), (3, "US", 1)]
    assert "1 tombstoned" in table.apply(changes)
    table.apply(changes, "--full-refresh")
    table.check(changes)
    assert table.tombstones() == {}
    table.apply(changes)
    table.check(changes)


def test_full_refresh_changes_what_a_run_refuses(make_project: MakeProject) -> None:
    table = Table(make_project("full_refresh_key"), COLUMNS, unique_key=["x", "id"])
    changes: list[Row] = [(1, "EU", 5), (1, "US", 6)]
    table.apply(changes)
    table.configure(order_by=["x", "id"])
    assert "unique_key is 'id', but `full_refresh_key`.`target` was built with" in table.fail(changes)
    table.apply(changes, "--full-refresh")
    table.check([(1, "US", 6)])


# The corrected models after a first run that failed: with other keys, partitions, types and columns.
CORRECTED: dict[str, dict[str, Any]] = {
    "order_by": {"order_by": ["x", "id"]},
    "partition_by": {"partition_by": "x"},
    "unique_key": {"unique_key": ["id", "x"]},
    "sign": {"sign": "signed"},
    "version": {"version": "v", "select": "select * except _version, _version as v from changes"},
    "type": {"select": "select * replace (toUInt16(_version) as _version) from changes"},
    "columns": {"select": "select * except x, 'a' as z from changes"},
}


def test_a_first_run_that_failed_leaves_nothing(make_project: MakeProject) -> None:
    project = make_project("first_run")
    project.replace_rows("changes", COLUMNS, [(1, "EU", 5)])
    broken = "select toNullable(id) as id, * except id from changes union all select null, '', 1, false"
    for name in CORRECTED:
        project.add_model(name, CONFIG, broken)
    failed = project.run()
    assert {name for name, node in failed.items() if "id is null" in node.message} == set(CORRECTED)
    for name, corrected in CORRECTED.items():
        options = {**CONFIG, **corrected}
        project.add_model(name, options, options.pop("select", "select * from changes"))
    assert {node.message for node in project.run().values()} == {"1 row: 1 state"}
    # Now they are tables with a history, even when the rows are gone.
    for name, corrected in CORRECTED.items():
        project.command(f"delete from {name} where true")
        options = {**CONFIG, **corrected, "partition_by": "id % 3"}
        project.add_model(name, options, options.pop("select", "select * from changes"))
    for node in project.run().values():
        assert "or rebuild the table: dbt run" in node.message


def test_an_empty_table_of_somebody_else_stays(make_project: MakeProject) -> None:
    table = Table(make_project("first_run_foreign"), COLUMNS)
    table.command(
        "create table target (id Int64, x String codec(ZSTD), _version Int64, _sign Int8) "
        "engine = VersionedCollapsingMergeTree(_sign, _version) order by (x, id)"
    )
    for _ in range(2):
        assert "order_by is 'id', but `first_run_foreign`.`target` has 'x, id'" in table.fail([(1, "EU", 5)])
    table.configure(order_by=["x", "id"])
    table.apply([(1, "EU", 5)])
    assert "ZSTD" in table.query("show create table target")[0][0]


def test_a_table_that_is_filled_meanwhile_stays(make_project: MakeProject) -> None:
    """It is filled after a run finds the table unused and before the run has the lock."""
    table = Table(make_project("first_run_filled"), COLUMNS)
    table.configure("select toNullable(id) as id, * except id from changes union all select null, '', 1, false")
    table.fail([(1, "EU", 5)])
    table.configure(order_by=["x", "id"])
    fill = (
        "insert into versioned_collapsing_ledger (model, target_uuid, at, status) select 'target', uuid, now64(6), "
        "'adopted' from system.tables where database = currentDatabase() and name = 'target'"
    )
    with at_statement("target__dbt_lock`", lambda: table.command(fill)):
        assert "`target` was filled while this run waited for its lock. Run again." in table.fail([(1, "EU", 5)])


# Keys as users write them, and whether ClickHouse stores them in the same form.
KEYS: dict[str, tuple[dict[str, Any], str]] = {
    "tuple": ({"partition_by": "(x, id % 2)", "order_by": "(id, x)"}, ""),
    "tuple_function": ({"partition_by": "tuple(x, id % 2)", "order_by": ["tuple(id)"]}, ""),
    "nested": ({"partition_by": "((x, id), id % 2)", "order_by": ["id", "(x, _version)"]}, ""),
    "one": ({"partition_by": "(x)", "order_by": "(id)"}, ""),
    "sum": ({"partition_by": "(id % 3) + (id % 2)", "primary_key": "(id)"}, ""),
    "quoted": ({"partition_by": "`x`", "order_by": ["id", "`x`"]}, ""),
    "direction": ({"order_by": ["x desc", "id"]}, "order_by: 'x desc' has a direction or an alias"),
    "alias": ({"partition_by": "lower(x) as low"}, "partition_by: 'lower(x) as low' has a direction or an alias"),
}


def test_a_key_is_the_same_in_the_second_run(make_project: MakeProject) -> None:
    project = make_project("keys")
    for name, (options, _) in KEYS.items():
        project.add_model(name, {**CONFIG, **options}, "select * from changes")
    for version in (5, 6):
        project.replace_rows("changes", COLUMNS, [(1, "EU", version)])
        outcomes = project.run()
        for name, (_, problem) in KEYS.items():
            if problem:
                assert f"{problem}, which ClickHouse does not keep. Write the expr" in outcomes[name].message
            else:
                assert outcomes[name].status == "success", outcomes[name]
                assert project.query(f"select id, _version from {name} final") == [(1, version)]


def test_full_refresh_takes_the_place_of_another_table(make_project: MakeProject) -> None:
    table = Table(make_project("full_refresh_foreign"), COLUMNS)
    table.command("create table target (id Int64) engine = MergeTree order by id")
    table.apply([(1, "EU", 5)], "--full-refresh")
    table.check([(1, "EU", 5)])


def test_a_view_in_the_place_of_the_table(make_project: MakeProject) -> None:
    table = Table(make_project("view_in_place"), COLUMNS)
    table.stage([])
    table.command("create view target as select * from changes")
    for arguments in ([], ["--full-refresh"]):
        assert "is a view, and a table cannot replace it" in table.fail([(1, "EU", 5)], *arguments)


def test_full_refresh_is_refused_when_a_view_would_stay_wrong(make_project: MakeProject) -> None:
    table = Table(make_project("full_refresh_view"), COLUMNS)
    table.apply([(1, "EU", 5)])
    table.command(
        "create materialized view sums engine = SummingMergeTree order by x "
        "as select x, sum(_sign) as n from target group by x"
    )
    message = table.fail([(1, "EU", 5)], "--full-refresh")
    assert "cannot be rebuilt alone. This materialized view reads from it" in message
    assert (
        "dbt does not build full_refresh_view.sums. Drop it, run `dbt run --full-refresh --select target+`, "
        "then create it and fill it again."
    ) in message
    table.check([(1, "EU", 5)])


def test_an_empty_run_leaves_the_table_to_be_built(make_project: MakeProject) -> None:
    table = Table(make_project("empty_run"), COLUMNS)
    table.apply([(1, "EU", 5)], "--empty")
    statuses = "select distinct status from versioned_collapsing_ledger"
    assert set(table.query(statuses)) <= {("started",), ("partial",)}
    table.apply([(1, "EU", 5)])
    table.check([(1, "EU", 5)])


def test_more_than_a_hundred_partitions_in_one_run(make_project: MakeProject) -> None:
    table = Table(make_project("partitions"), COLUMNS, partition_by="toInt64(x)")
    table.apply([(key, str(key), 1) for key in range(150)])
    assert "150 states, 150 cancels" in table.apply([(key, str(149 - key), 2) for key in range(150)])
    table.check([(key, str(149 - key), 2) for key in range(150)])


def test_settings_of_the_server_do_no_harm(make_project: MakeProject) -> None:
    # The model's own joins keep the meaning that the settings give them.
    select = "select changes.*, name from changes left join (select 1 as id, 'one' as name) as names using (id)"
    table = Table(make_project("settings"), COLUMNS, select)
    table.project.set_profile(custom_settings={"join_use_nulls": 1, "cast_keep_nullable": 1, "final": 1})
    table.apply([(1, "EU", 5)])
    table.apply([(1, "US", 6), (2, "US", 6)])
    table.check([(1, "one"), (2, None)], "id, name")


def test_a_full_refresh_that_dies_anywhere(make_project: MakeProject, is_exhaustive: bool) -> None:
    project = make_project("refresh_deaths")
    deaths = [*range(0, 28, 1 if is_exhaustive else 6), 28]
    names = [f"t{number:02}x" for number in deaths]
    for name in names:
        project.add_model(name, CONFIG, "select * from changes")
    project.replace_rows("changes", COLUMNS, OLD)
    project.build()
    project.replace_rows("changes", COLUMNS, NEW)
    with dying(dict(zip(names, deaths, strict=True))) as begun:
        outcomes = project.run("--full-refresh")
    died = [name for name in names if outcomes[name].status == "error"]
    assert 0 < len(died) < len(names), (died, begun)
    project.replace_rows("changes", COLUMNS, LATE)
    project.build()
    found = {name: live(project, name) for name in names}
    assert all(rows in (OLD_LIVE, NEW_LIVE) for rows in found.values()), found
    assert found[names[0]] == OLD_LIVE
    assert found[names[-1]] == NEW_LIVE
    helpers = "select name from system.tables where database = currentDatabase() and name like '%\\_\\_dbt\\_build%'"
    assert project.query(helpers) == []


def test_tombstones_that_are_gone_or_of_another_table(make_project: MakeProject) -> None:
    table = Table(make_project("tombstones_gone"), COLUMNS)
    table.apply(OLD)
    table.command("drop table target__tombstones sync")
    message = table.fail(LATE)
    assert "has had 1 delete, but `tombstones_gone`.`target__tombstones`" in message
    table.check([(1, "old")], "id, x")
    table.apply(LATE, *commands(message)[1][2:])
    table.check([(1, "old"), (2, "late"), (3, "late")], "id, x")

    table.command("create table copy as target")
    table.command("insert into copy select * from target")
    table.command("exchange tables copy and target")
    table.command("truncate table versioned_collapsing_ledger")
    message = table.fail(NEW)
    assert "holds the deletes of another table, not of" in message
    adopt, rebuild = commands(message)
    assert rebuild == ["dbt", "run", "--full-refresh", "--select", "target"]
    table.operation(adopt[2], model="target")
    table.apply(NEW)
    table.check([(1, "new"), (2, "late")], "id, x")


def test_a_part_of_the_change_set_does_not_empty_a_table(make_project: MakeProject) -> None:
    table = Table(make_project("refresh_part"), COLUMNS)
    table.apply(OLD)
    for part in ("--empty", "--sample=1 day"):
        message = table.fail(NEW, "--full-refresh", part)
        assert "its select is only a part (--empty or --sample)" in message
        table.check([(1, "old")], "id, x")
    table.apply(NEW, *commands(message)[0][2:])
    table.check([(1, "new")], "id, x")
