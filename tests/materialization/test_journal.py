"""Materialized views on the table: each row reaches each of them once, whatever happens.

That runs die before any of their statements is in test_deaths.py; here they die in the middle of
one, or the views change meanwhile. Blocks are small: a view that throws stops an insert between two.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import STARTED, Send, dying, intercepted

STRUCTURE = "id Int64, part UInt8, amount Int64, _version UInt64, _is_deleted Bool"
CONFIG = {"unique_key": "id", "partition_by": "part"}
SUMS = "select part, sum(amount * _sign) as total, sum(_sign) as c from {} group by part"
KEYS = 40


def rows(version: int) -> list[Row]:
    return [(key, (key + version) % 3, key * version, version, key % 7 == version) for key in range(KEYS)]


def make(make_project: MakeProject, schema: str) -> CollapsingProject:
    """A table with rows, and no views yet."""
    project = make_project(schema)
    project.set_variables(versioned_collapsing_block_rows=10)
    project.add_model("target", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, rows(1))
    assert project.run()["target"].status == "success"
    return project


def add_view(project: CollapsingProject, name: str, source: str = "target") -> None:
    """A view that is filled with what its source holds."""
    project.command(
        f"create table if not exists {name} (part UInt8, total Int64, c Int64) engine = SummingMergeTree order by part"
    )
    project.command(f"create materialized view {name}_mv to {name} as {SUMS.format(source)}")
    project.command(f"insert into {name} {SUMS.format(source)}")


def apply(project: CollapsingProject, version: int | None) -> str:
    project.replace_rows("changes", STRUCTURE, rows(version) if version else [])
    return project.run("--select", "target")["target"].message


def agrees(project: CollapsingProject, name: str) -> bool:
    kept = project.query(f"select part, sum(total), sum(c) as n from {name} group by part having n <> 0 order by part")
    return kept == project.query(f"{SUMS.format('target')} having c <> 0 order by part")


def live_versions(project: CollapsingProject) -> list[Row]:
    return project.query("select distinct _version from target final where _sign = 1 order by 1")


@pytest.mark.parametrize("bomb", ["aaa", "zzz"], ids=["fires_first", "fires_last"])
def test_a_view_that_throws_in_the_middle(make_project: MakeProject, bomb: str) -> None:
    """The rows of the insert that it breaks have reached the table, or others of the views."""
    project = make(make_project, f"journal_throws_{bomb}")
    project.command("system stop merges target")
    add_view(project, "mmm")
    project.command("create table limit_of (id Int64) engine = MergeTree order by id")
    project.command("insert into limit_of values (0)")
    project.command(f"create table {bomb} (id Int64) engine = MergeTree order by id")
    # In a view, `target` is the block that is inserted; the table itself is found by its name.
    written = f"select count() from merge('journal_throws_{bomb}', '^target$') where _version = 2"
    project.command(
        f"create materialized view {bomb}_mv to {bomb} as select id from target "
        f"where throwIf(({written}) > (select max(id) from limit_of)) = 0"
    )
    assert "throwIf" in apply(project, 2)
    assert 0 < project.query(written)[0][0] < KEYS
    # Not mended yet: it stops there again.
    assert "throwIf" in apply(project, None)
    project.command("insert into limit_of values (1000)")
    assert "rows" in apply(project, None)
    assert live_versions(project) == [(2,)]
    assert agrees(project, "mmm")
    every_row = "select id from target where _version = 2 or _sign = -1 order by id"
    assert project.query(f"select id from {bomb} order by id") == project.query(every_row)


def torn(make_project: MakeProject, schema: str) -> CollapsingProject:
    """A project whose last run died before its third block, with one view."""
    project = make(make_project, schema)
    add_view(project, "sums")
    with dying({"/2'": 0}):  # The end of the block's token.
        assert "died here" in apply(project, 2)
    assert live_versions(project) != [(2,)]
    return project


@pytest.mark.parametrize("has_view", [True, False], ids=["view", "no_view"])
@pytest.mark.parametrize("block", [0, 2])
def test_a_part_that_is_noted_and_not_added(make_project: MakeProject, block: int, has_view: bool) -> None:
    """ClickHouse notes the parts of a block, then adds them: one that is killed between drops the repetition."""
    project = make(make_project, f"journal_noted_{block}_{has_view}")
    project.add_model("target", {**CONFIG, "publish": "journal"}, "select * from changes")
    project.command("alter table target modify setting max_bytes_to_merge_at_max_space_in_pool = 1")
    if has_view:
        add_view(project, "sums")

    def lose_a_part(send: Send, sql: str) -> Any:
        answer = send(sql)
        if f"/{block}'" in sql:
            part = project.query(
                "select name from system.parts where active and table = 'target' "
                "and database = currentDatabase() order by max_block_number desc limit 1"
            )[0][0]
            lost = project.query(f"select id, _version, _sign from target where _part = '{part}'")
            assert lost
            project.command(
                f"alter table target delete where (id, _version, _sign) in {(*lost,)} settings mutations_sync = 1"
            )
            raise DbtDatabaseError("died here")
        return answer

    with intercepted(lose_a_part):
        assert "died here" in apply(project, 2)
    assert "rows" in apply(project, None)
    assert live_versions(project) == [(2,)]
    live = [(row[0],) for row in rows(2) if not row[-1]]
    assert project.query("select id from target final where _sign = 1 order by id") == live
    assert project.query("select sum(_sign) from target") == [(len(live),)]
    if has_view:
        assert agrees(project, "sums")


@pytest.mark.parametrize("threads", [(1, 4), (4, 1)])
def test_a_block_of_several_parts_is_known_again(make_project: MakeProject, threads: tuple[int, int]) -> None:
    """The parts of chunks have no keys in common: several threads would read them as several chunks."""
    before, after = threads
    project = make_project(f"journal_parts_{before}_{after}")
    project.set_profile(custom_settings={"max_threads": before})
    config = {"unique_key": "id", "publish": "journal", "chunks": 4}
    project.add_model("target", config, "select * from changes")
    apply(project, 1)
    add_view(project, "sums")

    def die_after_the_block(send: Send, sql: str) -> Any:
        answer = send(sql)
        if "/0'" in sql:
            # ClickHouse reads so few rows by one thread anyway.
            assert re.search(r"\bmax_threads = 1\b", sql)
            raise DbtDatabaseError("died here")
        return answer

    with intercepted(die_after_the_block):
        assert "died here" in apply(project, 2)
    project.set_profile(custom_settings={"max_threads": after})
    assert "rows" in apply(project, None)
    assert live_versions(project) == [(2,)]
    assert project.query("select sum(_sign) from target") == [(KEYS - 6,)]
    assert agrees(project, "sums")


def test_a_view_that_is_dropped_is_no_hindrance(make_project: MakeProject) -> None:
    project = torn(make_project, "journal_dropped")
    project.command("drop view sums_mv")
    assert "rows" in apply(project, None)
    assert live_versions(project) == [(2,)]


def test_a_view_that_is_new_stops_the_completion(make_project: MakeProject) -> None:
    project = torn(make_project, "journal_new")
    add_view(project, "newer")
    message = apply(project, None)
    assert "This materialized view was created or changed since then: journal_new.newer_mv." in message
    project.command("drop view newer_mv")
    assert "rows" in apply(project, None)
    assert live_versions(project) == [(2,)]
    assert agrees(project, "sums")
    project.command("drop table newer")
    add_view(project, "newer")
    assert "rows" in apply(project, 3)
    assert agrees(project, "newer")
    assert agrees(project, "sums")


def test_a_view_that_is_altered_stops_the_completion(make_project: MakeProject) -> None:
    project = torn(make_project, "journal_altered")
    project.command(
        f"alter table sums_mv modify query {SUMS.format('target').replace('group', 'where amount >= 0 group')}"
    )
    assert "created or changed since then: journal_altered.sums_mv." in apply(project, None)
    project.command(f"alter table sums_mv modify query {SUMS.format('target')}")
    project.command("drop view sums_mv")
    project.command(f"create materialized view sums_mv to sums as {SUMS.format('target')}")
    assert "rows" in apply(project, None)
    assert agrees(project, "sums")


def test_a_view_on_a_table_that_was_torn_without_one(make_project: MakeProject) -> None:
    """The run had no journal; what completes it has one, and may die as well."""
    project = make(make_project, "journal_late")
    project.replace_rows("changes", STRUCTURE, rows(2))
    with dying({"target": STARTED}):
        assert "died here" in project.run()["target"].message
    add_view(project, "sums")
    for death in range(12):
        with dying({"target": death}):
            project.replace_rows("changes", STRUCTURE, [])
            project.run()
    assert "rows" in apply(project, None)
    assert live_versions(project) == [(2,)]
    assert agrees(project, "sums")


def test_a_table_that_knows_no_blocks_is_warned_of(make_project: MakeProject) -> None:
    project = make(make_project, "journal_memory")
    project.command("create table kept (part UInt8, total Int64, c Int64) engine = Memory")
    project.command(f"create materialized view kept_mv to kept as {SUMS.format('target')}")
    assert "rows" in apply(project, 2)
    warning = "has the engine Memory, which does not recognise repeated blocks"
    assert warning in project.logged("JinjaLogWarning")


def test_publish_atomic_is_refused_where_views_would_miss_the_rows(make_project: MakeProject) -> None:
    project = make(make_project, "journal_atomic")
    add_view(project, "sums")
    project.add_model("target", {**CONFIG, "publish": "atomic"}, "select * from changes")
    message = apply(project, 2)
    assert "materialized views read `journal_atomic`.`target`: journal_atomic.sums_mv" in message
    assert live_versions(project) == [(1,)]
    project.command("drop view sums_mv")
    assert "rows" in apply(project, 2)
    query = "select publish from versioned_collapsing_ledger order by at desc limit 1"
    assert project.query(query) == [("atomic",)]


def test_publish_direct_names_what_took_its_place(make_project: MakeProject) -> None:
    project = make(make_project, "journal_direct")
    project.add_model("target", {**CONFIG, "publish": "direct"}, "select * from changes")
    assert "publish is 'direct'; it takes 'auto', 'atomic' or 'journal'" in apply(project, 2)


def test_publish_journal_writes_with_one_also_without_views(make_project: MakeProject) -> None:
    """State, cancel, the same state again: no block is taken for another one's repetition."""
    project = make(make_project, "journal_always")
    config = {**CONFIG, "publish": "journal", "remember_deletes": False}
    project.add_model("target", config, "select * from changes")
    state = (1, 1, 1, 10, False)
    for change in (state, (1, 1, 1, 10, True), state):
        project.replace_rows("changes", STRUCTURE, [change])
        assert project.run()["target"].status == "success"
    assert project.query("select sum(_sign) from target where id = 1") == [(1,)]
    query = "select publish from versioned_collapsing_ledger order by at desc limit 1"
    assert project.query(query) == [("journal",)]
