"""The README: its statements return what it says, and its figures are those of the files that it links to."""

from __future__ import annotations

import re
from pathlib import Path

import clickhouse_connect

from tests.support.chdb_http import running_server
from tests.support.shop import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
# The rows of the README's comparison, and of the table with one million changes in benchmarks/results/ways.md.
WAYS = {
    "`versioned_collapsing`": "versioned_collapsing",
    "ReplacingMergeTree, `FINAL`": "ReplacingMergeTree(version)",
    "lightweight update": "lightweight update, values from a table",
    "`alter table … update`": "alter table update (a mutation)",
}


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_the_sum_is_wrong_without_it(tmp_path: Path) -> None:
    (statements,) = re.findall(r"```sql\n(create table.*?)```", README, re.DOTALL)
    *before, query, comment = statements.strip().split(";")
    says = re.fullmatch(r" -- (\d+): .*", comment)
    assert says is not None, comment
    with running_server(tmp_path) as (host, port), clickhouse_connect.get_client(host=host, port=port) as client:
        for statement in before:
            client.command(statement)
        assert client.query(query).result_rows == [(int(says[1]),)]
        for table in ("orders", "revenue"):
            client.command(f"optimize table {table} final")
        assert client.query("select sum(amount) from orders final").result_rows == [(25,)]
        assert client.query(query).result_rows == [(int(says[1]),)]


def test_its_figures_are_those_of_the_benchmark() -> None:
    measured = {
        row[1]: row for row in _rows((REPOSITORY / "benchmarks/results/ways.md").read_text()) if row[0] == "1000000"
    }
    section = README.split("## How it compares\n")[1].split("\n## ")[0]
    header, _, *rows = _rows(section)
    assert header == ["way", "write", "sums after it", "a materialized view of sums is right"]
    assert [row[0] for row in rows] == list(WAYS)
    for way, write, sums, view in rows:
        _, _, *seconds, is_right = measured[WAYS[way]]
        assert [write, sums] == [f"{float(figure):.2f}" for figure in seconds], way
        with_view = measured.get(f"{WAYS[way]}, with the view")
        expected = f"{with_view[4]} (write: {float(with_view[2]):.2f})" if with_view else is_right
        assert view == expected, way
