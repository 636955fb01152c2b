"""The stored rows of the keys that change are found, of few changes by a set and of many by a merge."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.collapsing_projects import MakeProject

ROWS = 60_000
LAYOUTS: dict[str, dict[str, Any]] = {
    "by_key": {"unique_key": "id", "partition_by": "id % 3"},
    "key_second": {"unique_key": "id", "order_by": ["region", "id"], "partition_by": "id % 3"},
    "two_keys": {"unique_key": ["id", "name"]},
}
LIVE = "select id, name, region, amount, _version from target final where _sign = 1 order by id"


def row(key: int, version: int) -> tuple[int, str, str, int, int]:
    return (key, f"n{key}", "EU" if key % 2 else "US", key * version, version)


@pytest.mark.parametrize("changes", [100, 10_000], ids=["few", "many"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_state_that_changes_is_cancelled(make_project: MakeProject, layout: str, changes: int) -> None:
    project = make_project(f"lookup_{layout}_{changes}")
    unmerged = {"index_granularity": 256, "max_bytes_to_merge_at_max_space_in_pool": 1}
    config = {"settings": unmerged, **LAYOUTS[layout]}
    project.add_model("target", config, "select * from changes")
    live = {}
    for version, keys in (  # elsewhere each time: what one look-up passes over, the next one needs
        (1, range(ROWS)),
        (2, range(changes)),
        (3, range(ROWS - changes, ROWS + 10)),
        (4, range(0, ROWS, ROWS // changes)),
    ):
        project.command(
            "create or replace table changes engine = Memory as select toInt64(number) as id, "
            "concat('n', toString(number)) as name, if(number % 2, 'EU', 'US') as region, "
            f"toInt64(number * {version}) as amount, toUInt64({version}) as _version "
            f"from numbers({keys.start}, {keys.stop - keys.start}) where number % {keys.step} = 0"
        )
        outcome = project.run()["target"]
        assert outcome.status == "success", outcome.message
        live.update({key: row(key, version) for key in keys})
        assert project.query(LIVE) == [live[key] for key in sorted(live)]
        assert project.query("select sum(_sign), sum(amount * _sign) from target") == [
            (len(live), sum(found[3] for found in live.values()))
        ]
    repaired = "select sum(repaired) from versioned_collapsing_ledger"
    assert project.query(repaired) == [(0,)]  # collapsed pairs among the uncollapsed rows are not torn
