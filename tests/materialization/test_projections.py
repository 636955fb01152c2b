"""An aggregating projection agrees with the signed sums at every step."""

from __future__ import annotations

from typing import Any

from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

COLUMNS = "id Int64, region String, month UInt8, amount Decimal(12, 2), _version UInt64"
QUERY = "select region, sum(amount * _sign), sum(_sign) group by region"
WITH_IT: dict[str, Any] = {"partition_by": "month", "projections": [{"name": "by_region", "query": QUERY}]}
SUMS = "select region, sum(amount * _sign), sum(_sign) as n from target group by region having n <> 0 order by region"


def check_sums(table: Table) -> None:
    raw = table.query(f"{SUMS} settings optimize_use_projections = 0")
    assert table.query(f"{SUMS} settings force_optimize_projection = 1") == raw
    assert table.query(SUMS.replace("from target", "from target final")) == raw


def test_it_agrees_and_can_be_added_to_a_table_with_rows(make_project: MakeProject) -> None:
    table = Table(make_project("projections"), COLUMNS, partition_by="month")
    table.apply([(key, ("EU", "US")[key % 2], 1 + key % 3, key, 1) for key in range(50)])
    table.configure(**WITH_IT)
    for version in (1, 2, 3):
        regions = {key: ("EU", "US", "AP")[(key + version) % 3] for key in range(0, 50, version)}
        table.apply([(key, region, 1 + (key + version) % 4, key * version, version) for key, region in regions.items()])
        check_sums(table)
        table.command("optimize table target final")
        check_sums(table)
    query = "select name from system.projections where database = 'projections' and table = 'target'"
    assert table.query(query) == [("by_region",)]
