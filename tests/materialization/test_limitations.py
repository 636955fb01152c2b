"""The limitations in docs/versioned_collapsing.md that no other test shows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, intercepted
from tests.support.table import Table


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    return make_project("limitations")


def add(project: CollapsingProject, name: str, value: str, **config: Any) -> None:
    """Add a table with one row in each version, and a value that depends on the version."""
    select = f"select 1 as id, {value} as x, toUInt64({{{{ var('version') }}}}) as _version"
    project.add_model(name, {"unique_key": "id", **config}, select)


def apply(project: CollapsingProject, version: int, *names: str) -> None:
    project.build("--vars", f"version: {version}", "--select", *names)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_nan_and_infinity_stay_in_the_sums_of_a_view(project: CollapsingProject, value: str) -> None:
    add(project, f"of_{value}", f"if({{{{ var('version') }}}} = 1, {value}, 2.5)")
    view = {"materialized": "versioned_collapsing_view", "order_by": "id"}
    names = [f"of_{value}"]
    for name, term in (("stuck", "x"), ("finite", "if(isFinite(x), x, 0)")):
        names.append(f"{name}_{value}")
        select = (
            f"select id, sum({term} * _sign) as total, sum(_sign) as n from {{{{ ref('of_{value}') }}}} group by id"
        )
        project.add_model(names[-1], view, select)
    for version in (1, 2):
        apply(project, version, *names)
    total = "select isNaN(sum(total)), if(isNaN(sum(total)), 0, sum(total)) from {}"
    assert project.query(total.format(f"stuck_{value}")) == [(1, 0)]
    assert project.query(total.format(f"finite_{value}")) == [(0, 2.5)]


def test_a_view_into_a_table_that_is_no_mergetree_gets_a_repeated_block_twice(project: CollapsingProject) -> None:
    add(project, "viewed", "{{ var('version') }}")
    apply(project, 1, "viewed")
    for name, engine in (("no_mergetree", "Memory"), ("mergetree", "MergeTree order by id")):
        project.command(f"create table {name} (id UInt8, n Int8) engine = {engine}")
        project.command(f"create materialized view {name}_mv to {name} as select id, _sign as n from viewed")

    def die_after_the_block(send: Send, sql: str) -> Any:
        answer = send(sql)
        if "/0'" in sql:
            raise DbtDatabaseError("died here")
        return answer

    with intercepted(die_after_the_block):
        died = project.run("--vars", "version: 2", "--select", "viewed")["viewed"]
    assert "died here" in died.message
    apply(project, 2, "viewed")
    assert project.query("select sum(_sign) from viewed final") == [(1,)]
    assert project.query("select count() from mergetree") == [(2,)]
    assert project.query("select count() from no_mergetree") == [(4,)]


@pytest.mark.parametrize("drops_parts", [False, True])
def test_a_ttl_takes_a_state_row_from_its_cancel_row(project: CollapsingProject, drops_parts: bool) -> None:
    name = f"expires_{drops_parts}".lower()
    day = "toDateTime(if({{ var('version') }} = 2, '2020-01-01', '2100-01-01'), 'UTC')"
    whole = {"partition_by": "toYYYYMM(x)", "settings": {"ttl_only_drop_parts": 1}}
    add(project, name, day, ttl="x + interval 1 day", **(whole if drops_parts else {}))
    apply(project, 1, name)
    project.command(f"system stop ttl merges {name}")
    for version in (2, 3):
        apply(project, version, name)
    net = f"select sum(_sign) from {name}"
    assert project.query(net) == [(1,)]
    # A merge that has not reached the part with the cancel row.
    ((part,),) = project.query(f"select _part from {name} where _version = 2 and _sign = -1")
    project.command(f"alter table {name} detach part '{part}'")
    project.command(f"system start ttl merges {name}")
    project.command(f"optimize table {name} final settings optimize_skip_merged_partitions = 0")
    project.command(f"system stop ttl merges {name}")
    project.command(f"alter table {name} attach part '{part}'")
    assert project.query(net) == [(0,)]
    project.command(f"system start ttl merges {name}")
    project.command(f"optimize table {name} final")
    assert project.query(net) == [(1,)]


def test_a_partition_that_is_dropped_takes_whole_pairs(project: CollapsingProject) -> None:
    add(project, "dropped", "{{ var('version') }}", partition_by="x")
    for version in (1, 2):
        apply(project, version, "dropped")
    project.command("alter table dropped drop partition 1")
    assert project.query("select x, _sign from dropped") == [(2, 1)]


def test_two_different_state_rows_of_a_version_stay_until_a_newer_one_comes(project: CollapsingProject) -> None:
    add(project, "doubled", "{{ var('version') }}")
    apply(project, 1, "doubled")
    project.command("insert into doubled (id, x, _version, _sign) values (1, 100, 1, 1)")
    apply(project, 1, "doubled")
    rows = "select x from doubled final where _sign = 1 order by x"
    assert project.query(rows) == [(1,), (100,)]
    apply(project, 2, "doubled")
    assert project.query(rows) == [(2,)]


def test_older_tombstones_have_forgotten_a_delete(project: CollapsingProject) -> None:
    select = "select 1 as id, toUInt64({{ var('version') }}) as _version, {{ var('version') }} = 2 as _is_deleted"
    project.add_model("revived", {"unique_key": "id"}, select)
    rows = "select _version from revived final where _sign = 1"
    apply(project, 1, "revived")
    ((comment,),) = project.query(
        "select comment from system.tables where database = currentDatabase() and name = 'revived__tombstones'"
    )
    project.command("create table of_yesterday as revived__tombstones")
    project.command(f"alter table of_yesterday modify comment '{comment}'")
    apply(project, 2, "revived")
    apply(project, 1, "revived")
    assert project.query(rows) == []
    project.command("exchange tables of_yesterday and revived__tombstones")
    apply(project, 1, "revived")
    assert project.query(rows) == [(1,)]


def test_where_a_proxy_keeps_no_session_the_profile_allows_wide_statements(project: CollapsingProject) -> None:
    columns = ", ".join(f"toNullable('{at}') as a_column_number_{at:04d}" for at in range(1000))
    select = f"select 1 as id, {columns}, toUInt64(1) as _version"
    project.add_model("wide", {"unique_key": "id"}, select)
    project.declare("wide", {f"a_column_number_{at:04d}": "Int64" for at in range(1000)})
    limits: dict[str, str] = {}

    def forget(send: Send, sql: str) -> Any:
        if "set max_query_size" not in sql:
            return send(sql)
        limits.update(re.findall(r"(\w+) = (\d+)", sql))
        return send("select 1")

    with intercepted(forget):
        assert "Max query size exceeded" in project.run("--select", "wide")["wide"].message
        project.set_profile(custom_settings=limits)
        assert project.run("--select", "wide")["wide"].message == "1 row: 1 state"


def test_a_source_whose_versions_begin_anew_is_noticed(make_project: MakeProject) -> None:
    table = Table(make_project("anew"))
    table.apply([(key, 1, 900, False) for key in range(5)])
    table.apply([(key, 2, 5 + key, key == 4) for key in range(1, 5)])
    warned = "the changes of 4 of 4 keys have lower versions than the stored rows or deletes, and were left out."
    logged = table.project.logged("JinjaLogWarning")
    assert warned in logged
    assert "anew, and rebuild: dbt run --full-refresh --select target." in logged
    table.apply([(0, 2, 5, False), (1, 2, 6, False), *((key, 3, 901, False) for key in range(2, 5))])
    assert "lower versions" not in table.project.logged("JinjaLogWarning")
    table.check([(0, 1, 900), (1, 1, 900), (2, 3, 901), (3, 3, 901), (4, 3, 901)])
