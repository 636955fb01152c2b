"""The limitations in docs/versioned_collapsing.md that no other test shows. Most are those of ClickHouse's engines."""

from __future__ import annotations

import pytest

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    return make_project("limitations")


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_nan_and_infinity_stay_in_the_sums_of_a_view(project: CollapsingProject, value: str) -> None:
    project.command(f"create table sums_{value} (id Int64, x Float64, n Int8) engine = SummingMergeTree order by id")
    for x, sign in ((value, 1), (value, -1), ("2.5", 1)):
        project.command(
            f"insert into sums_{value} select 1, sum(x * sign), sum(sign) from values('x Float64, sign Int8', ({x}, {sign}))"
        )
    project.command(f"optimize table sums_{value} final")
    assert project.query(f"select isNaN(x), n from sums_{value}") == [(1, 1)]
    finite = f"select sum(if(isFinite(x), x, 0) * sign) from values('x Float64, sign Int8', ({value}, 1), ({value}, -1), (2.5, 1))"
    assert project.query(finite) == [(2.5,)]


@pytest.mark.parametrize("drops_parts", [False, True])
def test_a_ttl_takes_a_state_row_from_its_cancel_row(project: CollapsingProject, drops_parts: bool) -> None:
    name = f"expires_{drops_parts}".lower()
    project.command(
        f"create table {name} (id Int64, x DateTime('UTC'), _version UInt64, _sign Int8) "
        "engine = VersionedCollapsingMergeTree(_sign, _version) order by id partition by toYYYYMM(x) "
        f"ttl x + interval 1 day settings ttl_only_drop_parts = {drops_parts:d}"
    )
    project.command(f"system stop ttl merges {name}")
    old, new = ("2020-01-01 00:00:00", 2), ("2100-01-01 00:00:00", 3)
    for (x, version), sign in ((old, 1), (old, -1), (new, 1)):
        project.command(f"insert into {name} values (1, '{x}', {version}, {sign})")
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
