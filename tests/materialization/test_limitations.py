"""What docs/versioned_collapsing.md has under Limitations, where no other test shows it."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, intercepted


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    return make_project("limitations")


def add(project: CollapsingProject, name: str, value: str, **config: Any) -> None:
    """A table with one row in each version, and a value that depends on the version."""
    select = f"select 1 as id, {value} as x, toUInt64({{{{ var('version') }}}}) as _version"
    project.add_model(name, {"unique_key": "id", **config}, select)


def apply(project: CollapsingProject, version: int, *names: str) -> None:
    outcomes = project.run("--vars", f"version: {version}", "--select", *names)
    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_nan_and_infinity_stay_in_the_sums_of_a_view(
    project: CollapsingProject, value: str
) -> None:
    add(project, f"of_{value}", f"if({{{{ var('version') }}}} = 1, {value}, 2.5)")
    view = {"materialized": "versioned_collapsing_view", "order_by": "id"}
    names = [f"of_{value}"]
    for name, term in (("stuck", "x"), ("finite", "if(isFinite(x), x, 0)")):
        names.append(f"{name}_{value}")
        select = f"select id, sum({term} * _sign) as total, sum(_sign) as n from {{{{ ref('of_{value}') }}}} group by id"
        project.add_model(names[-1], view, select)
    for version in (1, 2):
        apply(project, version, *names)
    total = "select isNaN(sum(total)), if(isNaN(sum(total)), 0, sum(total)) from {}"
    assert project.query(total.format(f"stuck_{value}")) == [(1, 0)]
    assert project.query(total.format(f"finite_{value}")) == [(0, 2.5)]


def test_a_view_into_a_table_that_is_no_mergetree_gets_a_repeated_block_twice(
    project: CollapsingProject,
) -> None:
    add(project, "viewed", "{{ var('version') }}")
    apply(project, 1, "viewed")
    for name, engine in (("no_mergetree", "Memory"), ("mergetree", "MergeTree order by id")):
        project.command(f"create table {name} (id UInt8, n Int8) engine = {engine}")
        project.command(
            f"create materialized view {name}_mv to {name} as select id, _sign as n from viewed"
        )

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
