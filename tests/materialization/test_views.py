"""`versioned_collapsing_view`: sums of a table, filled once, and then updated from its change feed."""

from __future__ import annotations

import re

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying
from tests.support.table import Table

COLUMNS = "id Int64, region String, amount Int64, _version UInt64, _is_deleted Bool"
SUMS = "select region, sum(amount * _sign) as total, sum(_sign) as c from {} group by region"
MODEL = SUMS.format("{{ ref('target') }}")
FILLED = "filled from target"
CHANGED = "added the changes of target"
NOTHING = "nothing has changed"


def rows(version: int) -> list[Row]:
    regions = {key: ("EU", "US", "AP")[(key + version) % 3] for key in range(12)}
    return [(key, region, key * version, version, key == version) for key, region in regions.items()]


def make(make_project: MakeProject, schema: str) -> Table:
    """A table with rows, and the model of a view that is not built yet."""
    project = make_project(schema)
    project.set_variables(versioned_collapsing_block_rows=5)
    table = Table(project, COLUMNS)
    table.apply(rows(1))
    table.add_view("sums", "region", MODEL)
    return table


def apply(table: Table, version: int) -> None:
    """Apply changes that the view does not know yet."""
    table.apply(rows(version), "--select", "target")


def keep(table: Table, version: int | None = None, view: str = "sums") -> str:
    """Run all models, with the changes of a version or none. Return dbt's message for the view, which must be
    correct."""
    said = table.build(rows(version) if version else [])[view]
    assert agrees(table, view)
    return said


def agrees(table: Table, view: str = "sums") -> bool:
    kept = table.query(
        f"select region, sum(total), sum(c) as n from {view} group by region having n <> 0 order by region"
    )
    return bool(kept) and kept == table.query(f"{SUMS.format('target')} having c <> 0 order by region")


def failure(table: Table, *selected: str) -> str:
    """The error message of the view."""
    outcome = table.run("--select", *(selected or ("sums",)))["sums"]
    assert outcome.status == "error", outcome
    return outcome.message


def test_it_is_filled_once_and_kept(make_project: MakeProject) -> None:
    """It is filled from an old table; and again by a full refresh, and when its definition changes."""
    table = make(make_project, "view_first")
    assert keep(table) == FILLED
    assert keep(table, 2) == CHANGED
    for version in (3, 4):
        apply(table, version)
        assert not agrees(table)
    assert keep(table) == CHANGED
    table.command("insert into sums values ('EU', 1, 1)")
    assert table.build((), "--select", "sums")["sums"] == NOTHING
    assert table.build((), "--full-refresh", "--select", "sums")["sums"] == FILLED
    assert agrees(table)
    # Even if only the table is rebuilt: the view then reads another table.
    table.build(rows(5), "--full-refresh", "--select", "target")
    assert keep(table) == FILLED
    table.add_view("sums", "region", MODEL.replace("amount", "amount * 2"))
    assert table.build()["sums"] == FILLED
    assert not agrees(table)
    table.add_view("sums", ["region", "lower(region)"], MODEL)
    assert keep(table) == FILLED
    query = "select sorting_key from system.tables where database = 'view_first' and name = 'sums'"
    assert table.query(query) == [("region, lower(region)",)]
    assert keep(table, 6) == CHANGED


def test_it_is_filled_again_when_keys_were_repaired(make_project: MakeProject) -> None:
    """By an operation or by a run. For rows that somebody else wrote, the feed has only the rows that cancel them."""
    table = make(make_project, "view_repaired")
    keep(table)
    doubled = "insert into target select * from target final where _sign = 1 limit 3"
    table.command(doubled)
    table.operation("rebalance", model="target", dry_run=False)
    assert keep(table) == FILLED
    assert keep(table, 2) == CHANGED
    table.command(doubled)
    assert keep(table, 3) == FILLED
    assert keep(table, 4) == CHANGED
    # The view has used those rows as well.
    table.command("insert into target (id, region, amount, _version, _sign) values (3, 'EU', 1, 0, 1)")
    table.build((), "--full-refresh", "--select", "sums")
    table.operation("rebalance", model="target", dry_run=False)
    assert not agrees(table)
    assert keep(table) == FILLED


LOST = {
    "view": "drop table sums",
    "feed": "drop table target__feed",
    "emptied_feed": "truncate table target__feed",
    "one_apply": "alter table target__feed delete where _apply = {} settings mutations_sync = 1",
}


def test_what_is_lost_is_filled_again(make_project: MakeProject) -> None:
    table = make(make_project, "view_lost")
    keep(table)
    for number, (lost, statement) in enumerate(LOST.items()):
        apply(table, 2 * number + 2)
        apply(table, 2 * number + 3)
        table.command(statement.format(2 * number + 2))
        assert table.build((), "--select", "sums")["sums"] == FILLED, lost
        if lost != "view":
            assert "the change feed of target does not reach back" in table.project.logged("JinjaLogInfo"), lost
        assert agrees(table), lost
    assert keep(table, 10) == CHANGED


def test_a_feed_that_was_off_is_seen(make_project: MakeProject) -> None:
    table = make(make_project, "view_off")
    keep(table)
    apply(table, 2)
    table.configure(change_feed=False)
    apply(table, 3)
    assert "target has `change_feed: false`, and a view is maintained from the change feeds" in failure(table)
    table.configure()
    apply(table, 4)
    assert keep(table) == FILLED


def test_a_feed_has_only_what_views_have_not_used(make_project: MakeProject) -> None:
    table = make(make_project, "view_trimmed")
    assert table.query("exists table target__feed") == [(0,)]
    keep(table)
    applies = []
    for version in range(2, 6):
        keep(table, version)
        applies.append(sorted(table.query("select groupUniqArray(_apply) from target__feed")[0][0]))
    assert {len(each) for each in applies} <= {1, 2}, applies
    assert applies[-1][-1] == 5
    # A view that does not run keeps them.
    table.add_view("more", "region", MODEL)
    keep(table, 6)
    for version in (7, 8):
        table.build(rows(version), "--exclude", "more")
    assert keep(table, view="more") == CHANGED


def test_columns_that_come_later_are_in_the_feed(make_project: MakeProject) -> None:
    table = make(make_project, "view_columns")
    keep(table)
    apply(table, 2)
    table.configure("select *, amount * 3 as tax from changes", on_schema_change="append_new_columns")
    apply(table, 3)
    assert keep(table) == CHANGED
    table.add_view("sums", "region", MODEL.replace("amount", "(amount + tax - amount * 3)"))
    keep(table, 4)
    table.command("alter table target modify column amount Int128")
    table.project.declare("target", {"amount": "Int128"})
    apply(table, 5)
    # From now on, its sums have the wider type too.
    assert keep(table, 6) == FILLED
    assert keep(table, 7) == CHANGED


def test_columns_that_the_table_works_out_are_in_the_feed(make_project: MakeProject) -> None:
    table = make(make_project, "view_worked_out")
    table.command("alter table target add column twice Int64 materialized amount * 2")
    table.command("alter table target add column thrice Int64 alias amount * 3")
    table.command("alter table target add column given Int64 ephemeral 0")
    table.add_view("sums", "region", MODEL.replace("amount", "(thrice - twice)"))
    assert keep(table) == FILLED
    assert keep(table, 2) == CHANGED


def test_a_column_that_the_feed_needs_is_refused(make_project: MakeProject) -> None:
    table = make(make_project, "view_reserved")
    reserved, options = "select *, 1 as _apply from changes", {"on_schema_change": "append_new_columns"}
    table.configure(reserved, **options)
    refused = "has a column with a name that the change feed needs: _apply. Rename it in the model"
    assert refused in table.fail(rows(2))
    table.configure(reserved, **options, change_feed=False)
    apply(table, 2)


def test_a_view_of_two_tables(make_project: MakeProject) -> None:
    """In several schemas. Either table may have several applies, or none, before the view runs. One of them keeps a
    feed of what the view has used."""
    table = make(make_project, "view_schemas")
    for schema in ("view_schemas_left", "view_schemas_right"):
        table.command(f"create database {schema}")
    table.add_model("other", {"unique_key": "id", "schema": "left", "change_feed": True}, "select * from changes")
    table.add_view(
        "sums",
        "region",
        "select a.region as region, sum(a.amount * b.amount * a._sign * b._sign) as total, sum(a._sign * b._sign) as c "
        "from {{ ref('target') }} as a inner join {{ ref('other') }} as b on a.id = b.id group by region",
        schema="right",
    )
    live = "(select * from {} final where _sign = 1)"
    expected = (
        "select a.region as region, sum(a.amount * b.amount), count() from "
        f"{live.format('target')} as a inner join {live.format('view_schemas_left.other')} as b on a.id = b.id "
        "group by region order by region"
    )
    kept = (
        "select region, sum(total), sum(c) as n from view_schemas_right.sums group by region having n <> 0 order by 1"
    )
    version = 1
    for applies, said in (
        (["target other"], "filled from other and target"),
        (["target"], CHANGED),
        (["other", "target other"], "added the changes of other and target"),
        ([], NOTHING),
    ):
        for names in applies:
            version += 1
            table.build(rows(version), "--select", names)
        assert table.build((), "--select", "sums")["sums"] == said
        assert table.query(kept) == table.query(expected), applies


@pytest.mark.parametrize("is_fill", [True, False], ids=["fill", "changes"])
def test_a_run_that_died_is_begun_anew(make_project: MakeProject, is_exhaustive: bool, is_fill: bool) -> None:
    """Each view dies before another statement, every third unless the test is exhaustive. The table advances
    meanwhile."""
    table = make(make_project, f"view_deaths_{is_fill}")
    # Within a run, a view that died holds the lock of the table.
    table.project.set_variables(versioned_collapsing_block_rows=5, versioned_collapsing_lock_seconds=1)
    deaths = {f"v{number:02}x": number for number in range(0, 19, 1 if is_exhaustive else 3)} | {"lives": None}
    for name in deaths:
        table.add_view(name, "region", MODEL)
    if not is_fill:
        table.build()
        apply(table, 2)
    with dying(deaths) as begun:
        outcomes = table.run("--select", *deaths)
    died = [name for name in deaths if outcomes[name].status == "error"]
    assert 3 < len(died) < len(deaths), begun
    apply(table, 3)
    table.build((), "--select", *deaths)
    assert [name for name in deaths if not agrees(table, name)] == []


@pytest.mark.parametrize("has_view", [False, True], ids=["fill", "changes"])
def test_a_torn_table_is_completed_before_it_is_read(make_project: MakeProject, has_view: bool) -> None:
    table = make(make_project, f"view_torn_{has_view}")
    if has_view:
        keep(table)
    table.die(rows(2))
    assert table.build((), "--select", "sums")["sums"] == (CHANGED if has_view else FILLED)
    assert agrees(table)
    assert table.query("select max(_version) from target final where _sign = 1") == [(2,)]
    keep(table, 3)


def test_several_views_complete_a_torn_table_once(make_project: MakeProject) -> None:
    table = make(make_project, "view_several")
    names = [f"sums_{number}" for number in range(3)]
    for name in names:
        table.add_view(name, "region", MODEL)
    keep(table)
    table.die(rows(2))
    table.project.set_profile(threads=4)
    table.project.set_variables(versioned_collapsing_lock_seconds=5)  # a busy machine is not dead
    table.build((), "--select", *names)
    assert table.query("select count(), uniqExact(id) from target final where _sign = 1") == [(11, 11)]
    assert all(agrees(table, name) for name in names)


# fmt: off
ERRORS: dict[str, tuple[dict[str, object], str, str]] = {
    "order_by": ({"order_by": None}, MODEL, "order_by is missing. Name the columns by which the sums are grouped."),
    "engine": ({"engine": "Memory"}, MODEL, "engine is 'Memory'; it takes SummingMergeTree or MergeTree. Other engines lose rows"),
    "other_engine": ({"engine": "SummingMergeTree(total)"}, MODEL, "engine is 'SummingMergeTree(total)'; it takes"),
    "projections": ({"projections": [{"name": "p", "query": "select sum(c)"}]}, MODEL, "projections has no meaning for this materialization. A table of sums has no"),
    "chunks": ({"chunks": 2}, MODEL, "chunks: there is no such option"),
    "no_source": ({}, "select 1 as region", "select: the view reads from no versioned_collapsing model. `ref` at least one."),
    "no_sign": ({}, MODEL.replace("amount * _sign", "amount"), "does not multiply by the sign of target"),
    "twice": ({}, f"{MODEL} union all {MODEL}", "`.`target` occurs 2 times in the compiled select. `ref` each table once"),
}
# fmt: on


def test_errors(make_project: MakeProject) -> None:
    """They leave no lock behind."""
    table = make(make_project, "view_errors")
    for name, (config, sql, _) in ERRORS.items():
        table.add_model(name, {"materialized": "versioned_collapsing_view", "order_by": "region", **config}, sql)
    outcomes = table.run("--select", *ERRORS)
    for name, (_, _, error) in ERRORS.items():
        assert "cannot be built as versioned_collapsing_view:" in outcomes[name].message
        assert error in outcomes[name].message
    assert table.query("exists table target__dbt_lock") == [(0,)]


def test_collapse_status_says_how_far_it_is(make_project: MakeProject) -> None:
    table = make(make_project, "view_status")
    keep(table, 1)
    assert "view sums: up to date" in table.operation("collapse_status")
    apply(table, 2)
    status = table.operation("collapse_status")
    assert "view sums: has used apply 1 of 2 (dbt run --select sums)" in status
    assert re.search(r"change feed target__feed: \d+ rows of applies 2 to 2\n", status)
    table.build(rows(3), "--full-refresh", "--select", "target")
    assert "view sums: not filled from this table (dbt run --select sums)" in table.operation("collapse_status")


def test_a_model_that_may_change_unseen_is_refused(make_project: MakeProject) -> None:
    """Only seeds, and tables that no model builds, count as constants."""
    table = make(make_project, "view_model")
    regions = {"materialized": "table", "engine": "MergeTree()", "order_by": "region"}
    table.add_model("regions", regions, "select 'EU' as region")
    join = "from {{ ref('target') }} as target inner join {{ ref('regions') }} as r using (region)"
    table.add_view("sums", "region", MODEL.replace("from {{ ref('target') }}", join))
    refused = "regions is a model of the materialization table, and the view does not notice"
    assert refused in failure(table, "+sums")
    table.add_model("regions", {"materialized": "ephemeral"}, "select 'EU' as region")
    assert table.build((), "--select", "sums")["sums"] == FILLED


def test_a_key_that_may_be_null_says_what_to_declare(make_project: MakeProject) -> None:
    """What the message advises works."""
    changes = "select toInt64(1) as id, toNullable('EU') as region, toInt64(5) as amount, toUInt64(1) as _version"
    table = Table(make_project("view_nullable"), select=changes)
    keys, partition = ["region", "lower(region)"], {"partition_by": "region"}
    table.add_view("sums", keys, MODEL, **partition)
    table.add_model("shops", {"unique_key": "id"}, "select toInt64(1) as id, toUInt64(1) as _version")
    joined = (
        "select t.region as region, sum(t._sign * s._sign) as n from {{ ref('target') }} as t "
        "inner join {{ ref('shops') }} as s on t.id = s.id group by region"
    )
    table.add_view("joined", "region", joined)
    outcome = table.run()
    message = outcome["joined"].message
    assert "and rebuild that table: dbt run --full-refresh --select target+" in message
    assert "--select shops" not in message
    table.add_view("joined", "region", joined.replace("t.region as", "assumeNotNull(t.region) as"))
    message = outcome["sums"].message
    for problem in (
        "order_by: lower(region) is Nullable(String), but a key of a table cannot be null. Replace nulls in the select",
        "partition_by: region is Nullable(String)",
        "in the properties of its table, and rebuild that table: dbt run --full-refresh --select target+",
    ):
        assert problem in message
    table.project.declare("target", {"region": "String"})
    assert table.build((), "--full-refresh", "--select", "target+")["sums"] == FILLED
    table.add_view("sums", keys, MODEL + " -- one", **partition, settings={"allow_nullable_key": 1})
    table.project.declare("target", {"region": "Nullable(String)"})
    assert table.build((), "--full-refresh", "--select", "target+")["sums"] == FILLED


def test_what_is_in_the_place_of_the_table_or_of_the_view(make_project: MakeProject) -> None:
    table = Table(make_project("view_place"), COLUMNS)
    table.add_view("sums", "region", MODEL)
    assert "`view_place`.`target`, which the view reads, does not exist" in failure(table)
    table.apply(rows(1), "--select", "target")
    table.command("create view sums as select 1 as x")
    assert "is a view, and a table cannot replace it" in failure(table)


def test_a_contract_is_kept(make_project: MakeProject) -> None:
    table = make(make_project, "view_contract")
    contract = {"contract": {"enforced": True}}
    table.add_view("sums", "region", MODEL, **contract)
    table.project.declare("sums", {"region": "String", "total": "Int64", "c": "UInt8"})
    assert "enforced contract that failed" in failure(table)
    assert table.query("exists table sums") == [(0,)]
    table.add_view("sums", "region", f"{MODEL} settings max_threads = 1 -- one", **contract)
    table.project.declare("sums", {"region": "String", "total": "Int64", "c": "Int64"})
    assert table.build((), "--select", "sums")["sums"] == FILLED
    assert agrees(table)
