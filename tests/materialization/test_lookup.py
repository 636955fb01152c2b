"""The stored rows of the keys that change are found: for few changes through a set, for many through a merge."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

ROWS = 60_000
LAYOUTS: dict[str, dict[str, Any]] = {
    "by_key": {"partition_by": "id % 3"},
    "key_second": {"order_by": ["region", "id"], "partition_by": "id % 3"},
    "two_keys": {"unique_key": ["id", "name"]},
}
# By keys and a version.
CHANGES = """
select toInt64(number) as id, concat('n', toString(number)) as name, if(number % 2, 'EU', 'US') as region,
  toInt64(number * {version}) as amount, toUInt64({version}) as _version
from numbers({keys.start}, {keys.stop} - {keys.start}) where number % {keys.step} = 0
"""


def row(key: int, version: int) -> tuple[int, str, str, int, int]:
    return (key, f"n{key}", "EU" if key % 2 else "US", key * version, version)


@pytest.mark.parametrize("changes", [100, 10_000], ids=["few", "many"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_state_that_changes_is_cancelled(make_project: MakeProject, layout: str, changes: int) -> None:
    unmerged = {"index_granularity": 256, "max_bytes_to_merge_at_max_space_in_pool": 1}
    options = {"settings": unmerged, **LAYOUTS[layout]}
    table = Table(make_project(f"lookup_{layout}_{changes}"))
    live = {}
    for version, keys in (  # in another place each time, because one look-up needs what another one skips
        (1, range(ROWS)),
        (2, range(changes)),
        (3, range(ROWS - changes, ROWS + 10)),
        (4, range(0, ROWS, ROWS // changes)),
    ):
        table.configure(CHANGES.format(version=version, keys=keys), **options)
        table.apply()
        live.update({key: row(key, version) for key in keys})
        table.check(live.values(), "id, name, region, amount, _version")
    # Collapsed pairs among the uncollapsed rows are not unbalanced keys.
    assert {rebalanced for (rebalanced,) in table.ledger("rebalanced")} == {0}
