"""Materialized views on the table: each row reaches each of them exactly once, whatever happens.

test_deaths.py covers deaths before any statement; here runs die in the middle of one, or the views change meanwhile.
Blocks are small: a view that throws stops an insert between two.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, dying, intercepted
from tests.support.table import Table

COLUMNS = "id Int64, part UInt8, amount Int64, _version UInt64, _is_deleted Bool"
SUMS = "select part, sum(amount * _sign) as total, sum(_sign) as c from {} group by part"
KEYS = 40


def rows(version: int) -> list[Row]:
    return [(key, (key + version) % 3, key * version, version, key % 7 == version) for key in range(KEYS)]


def live(version: int) -> list[Row]:
    return [row[:-1] for row in rows(version) if not row[-1]]


def make(make_project: MakeProject, schema: str, **options: Any) -> Table:
    """A table with rows, and no views yet."""
    project = make_project(schema)
    project.set_variables(versioned_collapsing_block_rows=10)
    table = Table(project, COLUMNS, **{"partition_by": "part", **options})
    table.apply(rows(1))
    return table


def follow(table: Table, name: str) -> None:
    """Add a materialized view that is filled with what the table holds."""
    columns = "(part UInt8, total Int64, c Int64) engine = SummingMergeTree order by part"
    table.command(f"create table if not exists {name} {columns}")
    table.command(f"create materialized view {name}_mv to {name} as {SUMS.format('target')}")
    table.command(f"insert into {name} {SUMS.format('target')}")


def agrees(table: Table, name: str = "sums") -> bool:
    kept = table.query(f"select part, sum(total), sum(c) as n from {name} group by part having n <> 0 order by part")
    return kept == table.query(f"{SUMS.format('target')} having c <> 0 order by part")


@pytest.mark.parametrize("bomb", ["aaa", "zzz"], ids=["fires_first", "fires_last"])
def test_a_view_that_throws_in_the_middle(make_project: MakeProject, bomb: str) -> None:
    """The rows of the failed insert have reached the table, or others of the views."""
    table = make(make_project, f"journal_throws_{bomb}")
    table.command("system stop merges target")
    follow(table, "mmm")
    table.command("create table limit_of (id Int64) engine = MergeTree order by id")
    table.command("insert into limit_of values (0)")
    table.command(f"create table {bomb} (id Int64) engine = MergeTree order by id")
    # In a view, `target` means the inserted block, so the table itself is found by its name.
    written = f"select count() from merge('journal_throws_{bomb}', '^target$') where _version = 2"
    table.command(
        f"create materialized view {bomb}_mv to {bomb} as select id from target "
        f"where throwIf(({written}) > (select max(id) from limit_of)) = 0"
    )
    assert "throwIf" in table.fail(rows(2))
    assert 0 < table.query(written)[0][0] < KEYS
    # Not fixed yet: it stops there again.
    assert "throwIf" in table.fail()
    table.command("insert into limit_of values (1000)")
    table.apply()
    table.check(live(2))
    assert agrees(table, "mmm")
    every_row = "select id from target where _version = 2 or _sign = -1 order by id"
    assert table.query(f"select id from {bomb} order by id") == table.query(every_row)


def unbalanced(make_project: MakeProject, schema: str) -> Table:
    """A table with one view, whose last run died before its third block."""
    table = make(make_project, schema)
    follow(table, "sums")
    with dying({"/2'": 0}):  # the end of the block's token
        assert "died here" in table.fail(rows(2))
    assert table.live() != live(2)
    return table


@pytest.mark.parametrize(("block", "has_view"), [(0, True), (2, False)])
def test_a_part_that_is_noted_and_not_added(make_project: MakeProject, block: int, has_view: bool) -> None:
    """ClickHouse notes the parts of a block before it adds them. If it is killed in between, it drops the
    repetition."""
    table = make(make_project, f"journal_noted_{block}_{has_view}")
    table.configure(partition_by="part", publish="journal")
    table.command("alter table target modify setting max_bytes_to_merge_at_max_space_in_pool = 1")
    if has_view:
        follow(table, "sums")

    def lose_a_part(send: Send, sql: str) -> Any:
        answer = send(sql)
        if f"/{block}'" in sql:
            ((part,),) = table.query(
                "select name from system.parts where active and table = 'target' "
                "and database = currentDatabase() order by max_block_number desc limit 1"
            )
            lost = table.query(f"select id, _version, _sign from target where _part = '{part}'")
            assert lost
            where = f"(id, _version, _sign) in {(*lost,)} settings mutations_sync = 1"
            table.command(f"alter table target delete where {where}")
            raise DbtDatabaseError("died here")
        return answer

    with intercepted(lose_a_part):
        assert "died here" in table.fail(rows(2))
    table.apply()
    table.check(live(2))
    if has_view:
        assert agrees(table)


def test_a_block_of_several_parts_is_known_again(make_project: MakeProject) -> None:
    """The parts of chunks have no keys in common: several threads would read them as several pieces."""
    table = Table(make_project("journal_parts"), COLUMNS, publish="journal", chunks=4)
    table.project.set_profile(custom_settings={"max_threads": 1})
    table.apply(rows(1))
    follow(table, "sums")

    def die_after_the_block(send: Send, sql: str) -> Any:
        answer = send(sql)
        if "/0'" in sql:
            # ClickHouse reads so few rows with one thread anyway.
            assert re.search(r"\bmax_threads = 1\b", sql)
            raise DbtDatabaseError("died here")
        return answer

    with intercepted(die_after_the_block):
        assert "died here" in table.fail(rows(2))
    table.project.set_profile(custom_settings={"max_threads": 4})
    table.apply()
    table.check(live(2))
    assert agrees(table)


def test_a_view_that_is_new_stops_the_completion(make_project: MakeProject) -> None:
    table = unbalanced(make_project, "journal_new")
    follow(table, "newer")
    said = "This materialized view was created or changed since then: journal_new.newer_mv."
    assert said in table.fail()
    table.command("drop view newer_mv")
    table.apply()
    table.check(live(2))
    assert agrees(table)
    table.command("drop table newer")
    follow(table, "newer")
    table.apply(rows(3))
    assert agrees(table, "newer")
    assert agrees(table)


def test_a_view_that_is_altered_stops_the_completion_until_it_is_dropped(make_project: MakeProject) -> None:
    table = unbalanced(make_project, "journal_altered")
    query = SUMS.format("target")
    table.command(f"alter table sums_mv modify query {query.replace('group', 'where amount >= 0 group')}")
    assert "created or changed since then: journal_altered.sums_mv." in table.fail()
    table.command("drop view sums_mv")
    table.apply()
    table.check(live(2))


def test_a_view_on_a_table_that_was_torn_without_one(make_project: MakeProject) -> None:
    """The run had no journal. The run that completes it has one, and may die as well."""
    table = make(make_project, "journal_late")
    table.die(rows(2))
    follow(table, "sums")
    for death in (0, 6):
        with dying({"target": death}):
            table.stage([])
            table.run()
    table.apply()
    table.check(live(2))
    assert agrees(table)


def test_a_table_that_knows_no_blocks_is_warned_of(make_project: MakeProject) -> None:
    table = make(make_project, "journal_memory")
    table.command("create table kept (part UInt8, total Int64, c Int64) engine = Memory")
    table.command(f"create materialized view kept_mv to kept as {SUMS.format('target')}")
    table.apply(rows(2))
    warning = "has the engine Memory, which does not recognise repeated blocks"
    assert warning in table.project.logged("JinjaLogWarning")


def test_publish_atomic_is_refused_where_views_would_miss_the_rows(make_project: MakeProject) -> None:
    table = make(make_project, "journal_atomic")
    follow(table, "sums")
    table.configure(partition_by="part", publish="atomic")
    assert "materialized views read `journal_atomic`.`target`: journal_atomic.sums_mv" in table.fail(rows(2))
    table.check(live(1))
    table.command("drop view sums_mv")
    table.apply(rows(2))
    assert table.ledger("publish")[-1] == ("atomic",)


def test_publish_direct_names_what_took_its_place(make_project: MakeProject) -> None:
    table = Table(make_project("journal_direct"), COLUMNS, publish="direct")
    assert "publish is 'direct'; it takes 'auto', 'atomic' or 'journal'" in table.fail(rows(2))


def test_publish_journal_writes_with_one_also_without_views(make_project: MakeProject) -> None:
    """State, cancel, the same state again: no block is taken for the repetition of another."""
    table = Table(make_project("journal_always"), COLUMNS, publish="journal", remember_deletes=False)
    for is_deleted in (False, True, False):
        table.apply([(1, 1, 1, 10, is_deleted)])
    table.check([(1, 1, 1, 10)])
    assert table.ledger("publish")[-1] == ("journal",)
