"""The stored rows of the keys that change are found: for few changes through a set, for many through a merge."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.collapsing_projects import MakeProject

ROWS = 30_000
LAYOUTS: dict[str, dict[str, Any]] = {
    "by_key": {"partition_by": "id % 3"},
    "key_second": {"order_by": ["region", "id"], "partition_by": "id % 3"},
    "two_keys": {"unique_key": ["id", "name"]},
}
# By keys and a version. The changes of one version move all keys to one region.
CHANGES = """
select toInt64(number) as id, concat('n', toString(number)) as name,
  if(if({version} = 1, number, {version}) % 2, 'EU', 'US') as region,
  toInt64(number * {version}) as amount, toUInt64({version}) as _version
from numbers({keys.start}, {keys.stop} - {keys.start}) where number % {keys.step} = 0
"""


@pytest.mark.parametrize("changes", [100, 10_000], ids=["few", "many"])
def test_every_state_that_changes_is_cancelled(make_project: MakeProject, changes: int) -> None:
    project = make_project(f"lookup_{changes}")
    unmerged = {"index_granularity": 256, "max_bytes_to_merge_at_max_space_in_pool": 1}
    for version, keys in (  # in another place each time, because one look-up needs what another one skips
        (1, range(ROWS)),
        (2, range(changes)),
        (3, range(ROWS - changes, ROWS + 10)),
        (4, range(0, ROWS, ROWS // changes)),
    ):
        sql = CHANGES.format(version=version, keys=keys)
        for name, options in LAYOUTS.items():
            project.add_model(name, {"unique_key": "id", "settings": unmerged, **options}, sql)
        project.build()
        project.command(f"{'create table sent engine = Memory as' if version == 1 else 'insert into sent'} {sql}")
        expected = "select * from sent order by _version desc limit 1 by id"
        for name in LAYOUTS:
            live = f"select * except (_sign) from {name} final where _sign = 1"
            net = f"select * except (_sign) from {name} group by all having sum(_sign) = 1"
            for found in (live, net):
                count = f"select count() from ({found})"
                assert project.query(count) == project.query(f"select count() from ({expected})"), name
                assert project.query(f"{found} except {expected}".replace(expected, f"({expected})")) == [], name
            assert project.query(f"select sum(_sign) from {name}") == project.query(count), name
    # Collapsed pairs among the uncollapsed rows are not unbalanced keys.
    assert project.query("select sum(rebalanced) from versioned_collapsing_ledger") == [(0,)]
