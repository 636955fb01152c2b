"""An aggregating projection says what the signed sums say, at every step."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject

STRUCTURE = "id Int64, region String, day Date, amount Decimal(12, 2), _version UInt64"
BY_REGION = {"name": "by_region", "query": "select region, sum(amount * _sign), sum(_sign) group by region"}
CONFIG: dict[str, Any] = {"unique_key": "id", "partition_by": "toYYYYMM(day)"}
SUMS = "select region, sum(amount * _sign), sum(_sign) as n from target group by region having n <> 0 order by region"


def check(project: CollapsingProject) -> None:
    raw = project.query(f"{SUMS} settings optimize_use_projections = 0")
    assert project.query(f"{SUMS} settings force_optimize_projection = 1") == raw
    final = SUMS.replace("from target", "from target final")
    assert project.query(final) == raw


def test_it_agrees_and_can_be_added_to_a_table_with_rows(make_project: MakeProject) -> None:
    project = make_project("projections")
    project.add_model("target", CONFIG, "select * from changes")
    rows: list[Row] = [(key, ("EU", "US")[key % 2], date(2025, 1 + key % 3, 1), key, 1) for key in range(50)]
    project.replace_rows("changes", STRUCTURE, rows)
    assert project.run()["target"].status == "success"
    project.add_model("target", {**CONFIG, "projections": [BY_REGION]}, "select * from changes")
    for version in (1, 2, 3):
        rows = [
            (key, ("EU", "US", "AP")[(key + version) % 3], date(2025, 1 + (key + version) % 4, 1), key * version, version)
            for key in range(0, 50, version)
        ]  # fmt: skip
        project.replace_rows("changes", STRUCTURE, rows)
        assert project.run()["target"].status == "success"
        check(project)
        project.command("optimize table target final")
        check(project)
    query = "select name from system.projections where database = 'projections' and table = 'target'"
    assert project.query(query) == [("by_region",)]


def test_a_table_is_built_with_it(make_project: MakeProject) -> None:
    project = make_project("projections_built")
    project.add_model("target", {**CONFIG, "projections": [BY_REGION]}, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [(1, "EU", date(2025, 1, 1), 1, 1)])
    assert project.run()["target"].status == "success"
    check(project)
