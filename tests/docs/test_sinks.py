"""The table of docs/which_engine.md on ways that end with the right rows is that of the benchmark."""

from __future__ import annotations

import json

from tests.support.shop import REPOSITORY

# The columns of the page, and the ways of the benchmark.
WAYS = {
    "`atomic`": "versioned_collapsing, atomic",
    "`chunks: 3`": "versioned_collapsing, chunks: 3",
    "`journal`": "versioned_collapsing, journal",
    "`delete_insert`": "dbt-clickhouse delete_insert",
    "Replacing": "ReplacingMergeTree, FINAL",
    "Replacing, by LSN": "ReplacingMergeTree, FINAL, by log position",
    "published": "published technique",
}
SEEN = {"torn reads, %": "torn, %", "visible after, s": "rows visible after, s"}


def test_the_table_is_the_benchmarks() -> None:
    page = (REPOSITORY / "docs" / "which_engine.md").read_text()
    section = page.split("## Which ways end with the right rows\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    (_, *ways), _, *rows = [[cell.strip() for cell in line] for line in lines]
    assert ways == list(WAYS)

    wrong, seen = json.loads((REPOSITORY / "benchmarks" / "results" / "sinks.json").read_text())["tables"].values()
    by_way = {found["way"]: (found, seen_by_way) for found, seen_by_way in zip(wrong, seen, strict=True)}
    histories = [name for name in wrong[0] if name != "way"]
    assert [name for name, *_ in rows] == [*(f"`{name}`" for name in histories), *SEEN]
    for name, *cells in rows:
        found = [by_way[WAYS[way]] for way in ways]
        if name in SEEN:
            assert cells == [f"{seen_by_way[SEEN[name]]:.1f}" for _, seen_by_way in found], name
        else:
            assert cells == [f"{wrong_of_way[name.strip('`')]:,}" for wrong_of_way, _ in found], name
