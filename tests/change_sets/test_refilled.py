"""Tables of a change set that are emptied and filled again, in place of being dropped and created."""

from __future__ import annotations

import json
from pathlib import Path

from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from tests.support.change_set_project import ChangeSetProject, Situation

KEY = "key=['id'], version='v'"
NARROW = f"parse_upserts(SOURCE, columns={{'id': 'bigint', 'v': 'bigint'}}, {KEY})"
WIDE = f"parse_upserts(SOURCE, columns={{'id': 'bigint', 'v': 'bigint', 'note': 'string'}}, {KEY})"
OUTPUT = {"type": "spark_clickhouse", "schema": "shop", "threads": 1, "spark": {"method": "session"}}
READER = "{{ config(materialized='table', database='spark') }} select id from {{ ref('lines_changes') }}"
NAMES = ("lines_changes", "lines_changes__stg_lines")


def lines(parser: str) -> Situation:
    types = {"id": "Int64", "note": "Nullable(String)"}
    return Situation(
        "lines",
        parser,
        "one_change_per_key(EVENTS, key=['id'])",
        types if parser == WIDE else {"id": "Int64"},
        {"unique_key": "id", "on_schema_change": "append_new_columns", "contract": {"enforced": False}},
        select=f"id, {'note, ' if parser == WIDE else ''}_version, _is_deleted",
    )


def row(key: int, version: int, note: str = "") -> str:
    return json.dumps({"id": key, "v": version, "note": note})


def test_tables_are_filled_again_while_their_definition_stays(tmp_path: Path) -> None:
    models = {"staging/reader.sql": READER}
    project = ChangeSetProject(tmp_path, [lines(NARROW)], output=OUTPUT, parsed_once=["lines"], models=models)
    log = tmp_path / "home" / "logs" / "dbt.log"

    def run(*arguments: str) -> str:
        log.unlink(missing_ok=True)
        [outcome] = project.dbt(["run", *arguments])
        assert outcome.success, outcome.why()
        return log.read_text()

    def made(said: str) -> tuple[list[bool], list[bool]]:
        """Which of the tables were created, and which were filled."""
        return (
            [f"create table shop.{name}\n" in said or f"create table shop.{name} " in said for name in NAMES],
            [f"insert overwrite table `shop`.`{name}` " in said for name in NAMES],
        )

    def quarantined() -> list[tuple[int, str]]:
        return sorted((batch, text) for _, batch, _, _, _, text in project.quarantined())

    project.land("lines", 1, [row(1, 1), "broken 1", ""])
    assert made(run()) == ([True, True], [False, False])

    # The same definition. What is counted comes from the job that parses.
    project.land("lines", 2, [row(1, 2), row(2, 2), "broken 2"])
    said = run()
    assert made(said) == ([False, False], [True, True])
    assert "count_if(_is_blank)" not in said
    assert project.change_set("lines", ["batch", "lines", "blank", "quarantined", "events"], "__manifest") == [
        (2, 3, 0, 1, 2)
    ]
    project.assert_manifest_adds_up("lines")

    # Several batches are counted by a statement.
    project.land("lines", 3, [row(3, 3), "broken 3"])
    project.land("lines", 4, ["", row(4, 4)])
    said = run()
    assert made(said) == ([False, False], [True, True])
    assert "count_if(_is_blank)" in said
    project.assert_manifest_adds_up("lines")

    # A run that died when it had emptied both. What the manifest says is no longer there.
    project.land("lines", 5, [row(5, 5), "broken 5"])
    run("--select", "lines_changes")
    for name in NAMES:
        assert LocalFiles(str(tmp_path / "home" / "warehouse" / "shop.db" / name), "parquet").empty()
    run("--select", "cdc_quarantine_changes+")
    [outcome] = project.dbt(["test", "--select", "lines_fields"])
    assert outcome.nodes["lines_fields"] == ("warn", "Got 1 result, configured to warn if != 0")
    assert quarantined() == [(batch, f"broken {batch}") for batch in (1, 2, 3, 5)]
    [outcome] = project.dbt(["run", "--select", "lines", "reader"])
    assert "are not those that Spark wrote" in outcome.nodes["lines"][1]
    assert "Spark would read no rows" in outcome.nodes["reader"][1]
    assert made(run()) == ([True, True], [False, False])

    # Other columns.
    ChangeSetProject(tmp_path, [lines(WIDE)], output=OUTPUT, parsed_once=["lines"], models=models)
    project.land("lines", 6, [row(1, 6, "six")])
    assert made(run()) == ([True, True], [False, False])

    project.land("lines", 7, [row(2, 7, "seven")])
    assert made(run()) == ([False, False], [True, True])
    rows = project.queries(rows="select id, note, _version from shop.lines final where _sign = 1 order by id")["rows"]
    assert rows == [(1, "six", 6), (2, "seven", 7), (3, None, 3), (4, None, 4), (5, None, 5)]
    assert quarantined() == [(batch, f"broken {batch}") for batch in (1, 2, 3, 5)]
