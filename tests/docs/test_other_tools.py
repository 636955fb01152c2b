"""The page on the files of other tools: its lines, read by its models, give the rows that it shows."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from tests.change_sets.parsed import Parse, parsed
from tests.support.shop import REPOSITORY

PAGE = (REPOSITORY / "docs" / "other_tools.md").read_text(encoding="utf-8")
TOOLS = {
    title: (lines.splitlines(), call, ast.literal_eval(row))
    for title, lines, call, row in re.findall(
        r"^## (.+?)\n.*?```json\n(.*?)```.*?```sql\n\{\{ (.*?) \}\} -- (\(.*?\))\n```", PAGE, re.MULTILINE | re.DOTALL
    )
}
SOURCE = re.compile(r"source\('landing', '\w+'\)")
PARQUET = "AWS DMS, Parquet"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    folder = tmp_path_factory.mktemp("tools")
    parses = {
        re.sub(r"\W", "_", title).lower(): Parse(SOURCE.sub("SOURCE", call), [lines])
        for title, (lines, call, _) in TOOLS.items()
    }
    landing = folder / "parquet" / "batch=1"
    landing.mkdir(parents=True)
    lines, call, _ = TOOLS["AWS DMS"]
    found = [json.loads(line) for line in lines]
    # A full load has other columns than the changes that follow it.
    for name, part in {"LOAD00000001": found[:2], "20260105-100001000": found[2:]}.items():
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part), landing / f"{name}.parquet")
    parses["parquet"] = Parse(SOURCE.sub("SOURCE", call), [], parquet=landing.parent)
    return parsed(folder, parses)


@pytest.mark.parametrize("title", [*TOOLS, PARQUET])
def test_a_tool(rows: dict[str, list[dict[str, Any]]], title: str) -> None:
    name = "parquet" if title == PARQUET else re.sub(r"\W", "_", title).lower()
    expected = TOOLS[title.removesuffix(", Parquet")][2]
    assert [row["_reason"] for row in rows[name] if row["_reason"]] == []
    newest: dict[object, dict[str, object]] = {}
    for row in rows[name]:
        key = next(iter(row.values()))
        if row["_version"] is not None and (key not in newest or row["_version"] > newest[key]["_version"]):
            newest[key] = row
    live = [tuple(row.values())[:2] for row in newest.values() if not row["_is_deleted"]]
    assert live == [expected]


def test_the_page_has_the_tools() -> None:
    assert list(TOOLS) == re.findall(r"^## (.+)", PAGE, re.MULTILINE)


def test_a_file_that_lacks_a_column_changes_none(rows: dict[str, list[dict[str, Any]]]) -> None:
    """The columns of all Parquet files count: `Op` is missing in the full load, but is read where it exists."""
    assert sorted(str(row["_is_deleted"]) for row in rows["parquet"]) == ["False", "False", "False", "True"]
    assert {name for row in rows["parquet"] for name in row["_missing_fields"] or ()} == set()
