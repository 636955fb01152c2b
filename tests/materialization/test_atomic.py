"""Atomic publication for tables that were made by hand, altered between applies, or left by a run that died.

The rows to publish are staged in an attachable of the table. Whatever the table is like, the attachable must be too.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import STARTED, at_statement
from tests.support.table import Table

COLUMNS = "id Int64, part UInt8, x Int64, _version UInt64, _is_deleted Bool"
STORED = "id Int64, part UInt8, x Int64, _version UInt64, _sign Int8"
ENGINE = "engine = VersionedCollapsingMergeTree(_sign, _version)"
KEYS = 24


def rows(version: int) -> list[Row]:
    """Keys that are new, that change, move to another partition, are deleted, and come back."""
    return [
        (key, (key + version) % 3, key * version, version, key % 5 == version)
        for key in range(KEYS)
        if key % 6 != version + 2
    ]


def make(make_project: MakeProject, schema: str, **options: Any) -> Table:
    return Table(make_project(schema), COLUMNS, **{"partition_by": "part", **options})


def check(table: Table, last: int) -> None:
    """The rows are those of all versions up to the last."""
    live: dict[int, Row] = {}
    for version in range(1, last + 1):
        for key, part, x, _, is_deleted in rows(version):
            live.pop(key, None)
            if not is_deleted:
                live[key] = (key, part, x, version)
    table.check(live.values(), "id, part, x, _version")


def apply(table: Table, *versions: int) -> None:
    """Apply versions one after another, and check the rows after each."""
    for version in versions:
        table.apply(rows(version))
        check(table, version)


def staged_tables(table: Table) -> list[Row]:
    """The UUIDs of the staged changes and of their result, which are exchanged, and their rows.

    A recreated table has another UUID.
    """
    return table.query(
        "select uuid, total_rows from system.tables where database = currentDatabase() "
        "and name in ('target__dbt_input', 'target__dbt_folded') order by uuid"
    )


BY_PART = f"{ENGINE} partition by part order by id"
# Each has many features at once: a feature that the attachable lacks stops the apply, whatever the others are.
TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "columns": (
        "(_sign Int8 default 1, x Int64 default 7 codec(T64, LZ4) settings (min_compress_block_size = 16777216), "
        "id Int64 comment 'the ''key''' codec(Delta, ZSTD(3)), _version UInt64, part UInt8 codec(NONE), "
        "y Int64 materialized x * 2, z Int64 alias x * 3, e Int64 ephemeral, w Int64 default x * 2, "
        "d DateTime default now() - 10, v Int64 default 1 ttl d + interval 1 second, "
        "constraint positive check x >= 0, constraint a assume id >= 0, index i x type minmax) "
        f"{BY_PART} comment 'it''s a \\\\ `table` SETTINGS x = 1'",
        {"on_schema_change": "ignore"},
    ),
    "keys": (
        f"({STORED}, projection sums (select part, sum(x * _sign) group by part), projection by_x (select * order by x)) "
        f"{ENGINE} partition by (part % 2, intDiv(id, 8)) primary key id order by (id, cityHash64(part)) "
        "settings deduplicate_merge_projection_mode = 'rebuild', index_granularity = 2, min_bytes_for_wide_part = 0, "
        "enable_block_number_column = 1, enable_block_offset_column = 1, add_minmax_index_for_numeric_columns = 1",
        {"order_by": ["id", "cityHash64(part)"], "partition_by": ["part % 2", "intDiv(id, 8)"]},
    ),
    "sampled": (
        f"({STORED}) {ENGINE} partition by tuple() order by (id, cityHash64(part)) sample by cityHash64(part) "
        "ttl toDateTime('2100-01-01 00:00:00') + toIntervalSecond(part) settings storage_policy = 'default', "
        "index_granularity = 4, index_granularity_bytes = 0, non_replicated_deduplication_window = 100, "
        "ratio_of_defaults_for_sparse_serialization = 0.1, primary_key_lazy_load = 0, allow_nullable_key = 1, "
        "ttl_only_drop_parts = 1, merge_with_ttl_timeout = 1",
        {"order_by": ["id", "cityHash64(part)"], "partition_by": None},
    ),
    "limits": (
        f"({STORED}) {BY_PART} settings parts_to_throw_insert = 2, parts_to_delay_insert = 1, max_parts_in_total = 4, "
        "max_avg_part_size_for_too_many_parts = 0, max_bytes_to_merge_at_max_space_in_pool = 1000000, "
        "max_number_of_merges_with_ttl_in_pool = 3, min_age_to_force_merge_seconds = 1",
        {"chunks": 4},
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_that_was_made_by_hand(make_project: MakeProject, kind: str) -> None:
    ddl, options = TABLES[kind]
    table = make(make_project, f"atomic_{kind}", **options)
    table.command(f"create table target {ddl}")
    table.stage([])
    table.operation("adopt_table", model="target")
    apply(table, 1)
    staged = staged_tables(table)
    assert all(row_count == 0 for _, row_count in staged)
    apply(table, 2, 3)
    assert staged_tables(table) == staged
    table.command("optimize table target final")
    check(table, 3)


def test_merges_of_a_table_are_none_of_its_twin(make_project: MakeProject) -> None:
    """Neither are its limits on the number of parts."""
    settings = {"max_bytes_to_merge_at_max_space_in_pool": 10**9}
    table = make(make_project, "atomic_settings", settings=settings)
    table.die(rows(1))
    table.command("truncate table target__dbt_signed")
    table.command("insert into target__dbt_signed values (2, 0, 2, 2, 1)")
    table.command("insert into target__dbt_signed values (2, 0, 2, 2, 1)")
    table.command("optimize table target__dbt_signed")
    assert table.query("select count() from target__dbt_signed") == [(2,)]


def test_no_partition_key_may_be_written_as_an_empty_tuple(make_project: MakeProject) -> None:
    table = make(make_project, "atomic_empty_tuple", partition_by="tuple()")
    apply(table, 1)
    table.configure(partition_by=None)
    apply(table, 2)


PROJECTION = "projection sums (select part, sum(x * _sign) group by part)"
REBUILD = "alter table target modify setting deduplicate_merge_projection_mode = 'rebuild'"
# Alterations before the second apply, and before the third.
ALTERATIONS: dict[str, tuple[list[str], list[str]]] = {
    "columns": (
        [
            "alter table target add column y Int64 default x + 1 first, add column a String, add column n Nullable(String)",
            "alter table target add column m Int64 materialized x * 2, modify column x Int64 first",
        ],
        [
            "alter table target drop column y, modify column n LowCardinality(String) default 'x'",
            "alter table target rename column a to z",
            "alter table target modify column m Int64 alias x * 3, modify column x Int64 after _version",
        ],
    ),
    "clauses": (
        [
            REBUILD,
            f"alter table target add {PROJECTION}, add projection later (select * order by x)",
            "alter table target materialize projection sums settings mutations_sync = 1",
            "alter table target add index by_x x type minmax granularity 1, add constraint c check x >= 0",
            "alter table target modify ttl toDateTime('2100-01-01 00:00:00') + toIntervalSecond(part)",
            "alter table target modify column x codec(ZSTD(9))",
        ],
        [
            "alter table target drop projection sums, drop projection later, drop index by_x, drop constraint c",
            "alter table target remove ttl",
            "alter table target modify column x remove codec",
        ],
    ),
    # These do not change the structure, for which an attachable is made anew.
    "settings": (
        [
            "alter table target modify setting min_bytes_for_wide_part = 0, max_parts_in_total = 50",
            "alter table target modify comment 'it''s', comment column x 'an \\ x'",
            "alter table target delete where id = -1 settings mutations_sync = 1",
        ],
        [
            "alter table target reset setting min_bytes_for_wide_part",
            "alter table target modify comment ''",
            "delete from target where id = -1",
        ],
    ),
    "commented": (
        ["alter table target modify comment 'a'", "alter table target add column aa Int64"],
        ["alter table target rename column aa to a"],
    ),
    "sorting": (["alter table target add column y Int64, modify order by (id, y)"], []),
    "staged": (
        [f"drop table target__dbt_{role}" for role in ("uncollapsed", "deletes", "input")],
        [
            "create table target__dbt_signed as target",
            "insert into target__dbt_signed select * from target",
            "insert into target__dbt_deletes select id, 100, now() from target",
            "insert into target__dbt_input (id) values (1)",
            "insert into target__dbt_uncollapsed (id, _sign) values (1, 1)",
            "insert into target__dbt_unbalanced values (1)",
        ],
    ),
}


@pytest.mark.parametrize("kind", ALTERATIONS)
def test_a_table_that_is_altered_between_applies(make_project: MakeProject, kind: str) -> None:
    options = {"partition_by": "part", "on_schema_change": "ignore"}
    table = make(make_project, f"altered_{kind}", **options)
    apply(table, 1)
    for version, statements in zip((2, 3), ALTERATIONS[kind], strict=True):
        for statement in statements:
            table.command(statement)
        if kind == "sorting":
            table.configure("select *, toInt64(0) as y from changes", **options, order_by=["id", "y"])
        apply(table, version)
    staged = staged_tables(table)
    apply(table, 3)
    assert staged_tables(table) == staged


DEATHS = {"attach": STARTED, "tombstones": "attach partition", "chunk": "'chunk staged'"}


@pytest.mark.parametrize(("death", "kind"), [("chunk", "columns"), ("attach", "clauses"), ("tombstones", "columns")])
def test_a_table_that_is_altered_after_a_run_died(make_project: MakeProject, death: str, kind: str) -> None:
    """The next run has the same changes: those that it completes count as duplicates."""
    table = make(make_project, f"died_altered_{death}", on_schema_change="ignore", chunks=2, publish="atomic")
    apply(table, 1)
    table.die(rows(2), DEATHS[death])
    for version, statements in zip((2, 3), ALTERATIONS[kind], strict=True):
        for statement in statements:
            table.command(statement)
        apply(table, version)


@pytest.mark.parametrize(
    ("death", "policy"), [("chunk", "append_new_columns"), ("attach", "ignore"), ("tombstones", "append_new_columns")]
)
def test_a_column_that_is_dropped_after_a_run_died(make_project: MakeProject, death: str, policy: str) -> None:
    """It is added again, or left out."""
    table = make(make_project, f"died_dropped_{death}")
    table.configure("select *, x * 2 as y from changes", partition_by="part", on_schema_change=policy, chunks=2)
    apply(table, 1)
    table.die(rows(2), DEATHS[death])
    table.command("alter table target drop column y")
    apply(table, 2, 3)


@pytest.mark.parametrize(
    ("death", "before", "after"), [("attach", True, False), ("tombstones", False, True), ("chunk", "3 days", True)]
)
def test_remember_deletes_changes_after_a_run_died(
    make_project: MakeProject, death: str, before: bool | str, after: bool | str
) -> None:
    schema = f"remember_{death}_{before}_{after}".replace(" ", "_")
    table = make(make_project, schema, chunks=3, remember_deletes=before)
    apply(table, 1)
    table.die(rows(2), DEATHS[death])
    table.configure(partition_by="part", chunks=2, remember_deletes=after)
    table.apply()
    check(table, 2)
    if before:
        remembered = "select id from target__tombstones where _version = 2 order by id"
        assert table.query(remembered) == [(row[0],) for row in rows(2) if row[-1]]
    apply(table, 3)


TAMPERINGS = {
    "lost": "alter table target__dbt_signed delete where id = {} settings mutations_sync = 1",
    "doubled": "insert into target__dbt_signed select * from target__dbt_signed where id = {}",
}


@pytest.mark.parametrize(("tampering", "chunks"), [("lost", 1), ("doubled", 3)])
def test_rows_that_were_not_decided_upon_are_not_published(
    make_project: MakeProject, tampering: str, chunks: int
) -> None:
    table = make(make_project, f"tampered_{tampering}_{chunks}", chunks=chunks)
    apply(table, 1)
    tamper = partial(table.command, TAMPERINGS[tampering].format(rows(2)[0][0]))
    counting = (
        "(select count() from `{}`.`target__dbt_signed`)"
        if chunks == 1
        else "from `{}`.`target__dbt_signed` where true"
    )
    with at_statement(counting.format(table.project.schema), tamper):
        message = table.fail(rows(2))
    assert "rows were staged. Nothing was published." in message
    check(table, 1)
    apply(table, 2)
