"""What the starter infers from a sample of files, and what it asks."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.cli.sampling import SampleError, landed, sample_of_files, sample_of_table
from dbt.adapters.spark_clickhouse.cli.start import main


def land(folder: Path, *lines: str) -> Path:
    batch = folder / "landing" / "batch=1"
    batch.mkdir(parents=True)
    with gzip.open(batch / "part.json.gz", "wt") as file:
        file.write("".join(f"{line}\n" for line in lines))
    return folder / "landing"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1", "-9223372036854775808"), "bigint"),
        (("1", "9223372036854775808"), "decimal(38,0)"),
        (("1", "0.5"), "decimal(38,2)"),
        (("0.125", "null"), "decimal(38,3)"),
        (("1e3", "0.5"), "double"),
        (("true", "null"), "boolean"),
        (('"2025-01-31"',), "date"),
        (('"2025-01-31"', '"2025-01-31T10:00:00.5Z"'), "timestamp"),
        (('"2025-01-31 10:00:00+02:00"',), "timestamp"),
        (('"1.0"', '"1.1"'), "string"),
        (('"2025-01-31"', '"soon"'), "string"),
        (("1", "true"), "string"),
        (('{"a": 1}', "[1]"), "string"),
        (("null",), "string"),
    ],
)
def test_the_type_of_values(values: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    landing = land(tmp_path, "no JSON", "[]", *(f'{{"n": 1, "x": {value}}}' for value in values))
    found = sample_of_files(landed(landing), is_debezium=False, types={})
    assert found.columns == {"n": "bigint", "x": expected}


OPEN_ENDS = ("9999-12-31", "infinity", "0001-01-01", "2300-01-01")


@pytest.mark.parametrize("end", OPEN_ENDS)
def test_open_ends_of_dates_are_seen(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They do not make a text of the column, and the staging model says what becomes of them."""
    land(
        tmp_path,
        f'{{"id": 1, "until": "{end}", "at": "{end}"}}',
        '{"id": 2, "until": "2026-01-05", "at": "2026-01-06"}',
    )
    arguments = ["orders", "--kind", "upserts", "--landing", "landing", "--key", "id", "--version", "at"]
    assert main([*arguments, "--project-dir", str(tmp_path)]) == 0
    (staging,) = tmp_path.rglob("stg_orders.sql")
    text = " ".join(staging.read_text().split())
    assert "'until': 'date'" in text
    # A version is not clamped: two of them would become one.
    assert "ranges={ 'until': 'clamp', }" in text


@pytest.mark.parametrize("is_debezium", [True, False])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"database": "a", "table": "t", "type": "insert", "ts": 1, "data": {"id": 1}}', "look like those of Maxwell"),
        ('{"data": [{"id": "1"}], "isDdl": false, "pkNames": ["id"], "type": "INSERT"}', "those of Canal or TiCDC"),
        (
            '{"table": "A.B", "op_type": "I", "pos": "1", "after": {"ID": 1}}',
            "look like those of GoldenGate. docs/other_",
        ),
        ('{"_airbyte_data": {"id": 1}}', "has the staging model that reads them; the other models are those of docs"),
        (
            '{"_airbyte_ab_id": "a", "_airbyte_emitted_at": 1, "_airbyte_data": "{}"}',
            "look like those of Airbyte. docs/",
        ),
        (
            '{"_id": {"_data": "82"}, "operationType": "delete", "documentKey": {"_id": 1}}',
            "the lines are MongoDB's own change stream. Land it by Debezium's connector for MongoDB.",
        ),
        ('{"id": "x", "specversion": "1.0", "data": {}}', "the lines are CloudEvents. Let the sink write plain JSON"),
    ],
)
def test_lines_of_other_tools_are_named(line: str, is_debezium: bool, message: str, tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=re.escape(message)):
        sample_of_files(landed(land(tmp_path, line)), is_debezium=is_debezium, types={})


def test_a_type_that_is_given_counts_for_more(tmp_path: Path) -> None:
    landing = land(tmp_path, '{"x": 0.5}')
    found = sample_of_files(landed(landing), is_debezium=False, types={"x": "decimal(12,4)"})
    assert found.columns == {"x": "decimal(12,4)"}


@pytest.mark.parametrize(
    ("line", "is_debezium", "message"),
    [
        ('{"a b": 1}', False, "the column 'a b' does not begin with a letter, or contains characters"),
        ('{"_x": 1}', False, "the column '_x' does not begin with a letter"),
        ("nothing", False, "no line of the sample has a row. Land a batch first"),
    ],
)
def test_what_cannot_be_read(line: str, is_debezium: bool, message: str, tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=message):
        sample_of_files(landed(land(tmp_path, line)), is_debezium=is_debezium, types={})


def test_debezium_of_postgresql_without_a_schema(tmp_path: Path) -> None:
    events = [
        {"op": "c", "before": None, "after": {"id": 1, "at": "2025-01-31T10:00:00Z"}, "source": {"lsn": 5}},
        {"op": "d", "before": {"id": 2, "at": None}, "after": None, "source": {"lsn": 6}},
    ]
    found = sample_of_files(landed(land(tmp_path, *map(json.dumps, events))), is_debezium=True, types={})
    assert (found.columns, found.version) == ({"id": "bigint", "at": "timestamp"}, "source.lsn_despite_races")


def _event(table: str, column: str, connector: str = "postgresql", **source: Any) -> str:
    place = {"connector": connector, "schema": "public", "table": table, **source}
    return json.dumps({"op": "c", "after": {"id": 1, column: "x"}, "source": place})


def test_events_of_several_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(
        tmp_path, _event("orders", "a", lsn=8, sequence='["8","8"]'), _event("carts", "b", lsn=8, sequence='["8","8"]')
    )
    arguments = ["things", "--kind", "debezium", "--landing", "landing", "--key", "id"]
    arguments += ["--project-dir", str(tmp_path)]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "the events are of several tables: public.carts, public.orders. Name one of them: " in said
    assert main([*arguments, "--source-table", "orders"]) == 0
    model = (tmp_path / "models" / "staging" / "stg_things.sql").read_text()
    assert "table='public.orders',\n    version='source.sequence'," in model
    assert "'b'" not in model


@pytest.mark.parametrize(
    ("event", "version", "stored"),
    [
        (_event("t", "a", lsn=None, snapshot="incremental"), "source.sequence", "Int128"),
        (_event("t", "a", lsn=8), "source.lsn_despite_races", "Int128"),
        (_event("t", "a", "mariadb", file="b.1", pos=4), "source.pos", "Int128"),
        (_event("t", "a", "sqlserver", commit_lsn="1:2:3"), "source.commit_lsn", "UInt256"),
        (_event("t", "a", "oracle", scn="7", commit_scn="8"), "source.commit_scn", "UInt256"),
        (_event("t", "a", "mongodb", ord=1), "source.ord", "Int128"),
    ],
)
def test_the_position_of_a_connector(
    event: str, version: str, stored: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    land(tmp_path, event)
    arguments = ["things", "--kind", "debezium", "--landing", "landing", "--key", "id"]
    assert main([*arguments, "--project-dir", str(tmp_path)]) == 0, capsys.readouterr().err
    assert f"version='{version}'" in (tmp_path / "models" / "staging" / "stg_things.sql").read_text()
    properties = (tmp_path / "models" / "current" / "things.yml").read_text()
    assert f'{{name: "_version", data_type: "{stored}"}}' in properties


def test_events_of_two_connectors(tmp_path: Path) -> None:
    land(tmp_path, _event("t", "a", lsn=8), _event("t", "a", "mysql", file="b.1", pos=4))
    with pytest.raises(SampleError, match="whose positions have no common order"):
        sample_of_files(landed(tmp_path / "landing"), is_debezium=True, types={})


def test_events_without_a_position_need_a_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(tmp_path, json.dumps({"op": "c", "after": {"id": 1, "rev": 2}, "source": {}}))
    arguments = ["things", "--kind", "debezium", "--landing", "landing", "--key", "id"]
    arguments += ["--project-dir", str(tmp_path)]
    assert main(arguments) == 2
    assert "the events have no position by which they could be ordered" in capsys.readouterr().err
    assert main([*arguments, "--version", "rev"]) == 0
    assert "version='rev'" in (tmp_path / "models" / "staging" / "stg_things.sql").read_text()


def test_it_asks_for_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    land(tmp_path, '{"id": 1, "rev": 1, "gone": false}')
    answers = iter(["upserts", "landing", "id", "rev", "gone"])
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)

    def answer(text: str) -> str:
        asked.append(text)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    assert main(["things", "--project-dir", str(tmp_path)]) == 0
    assert [text.partition("?")[0] for text in asked] == [
        "What is the source",
        "In which folder are the folders batch=N",
        "Which columns identify a row",
        "Which column grows with each change of a row",
        "Which column is true for a deleted row",
    ]
    model = (tmp_path / "models" / "staging" / "stg_things.sql").read_text()
    assert "key=['id']" in model
    assert "version='rev',\n    is_deleted='gone'," in model
    assert "dbt build --select stg_things+" in capsys.readouterr().out


def test_it_asks_for_another_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return ""

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", answer)
    given = ["things", "--kind", "peerdb", "--table", "shop.things", "--key", "id", "--project-dir", str(tmp_path)]
    assert main(given) == 2
    assert asked == ["Which is the raw table of the mirror, in the same database? Empty if none: "]
    assert "Make one first: dbt init." in capsys.readouterr().err


def test_a_name_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["My Table", "--kind", "upserts", "--landing", "l", "--key", "id", "--version", "v"]
    assert main([*arguments, "--project-dir", str(tmp_path)]) == 2
    assert "'My Table' cannot be the name of models. Take my_table." in capsys.readouterr().err


def test_neither_a_name_nor_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project-dir", str(tmp_path)]) == 2
    assert "the name is missing. What is the name of the table? Or take several: --tables, --all" in (
        capsys.readouterr().err
    )


def test_a_kind_that_there_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: "excel")
    assert main(["things", "--project-dir", str(tmp_path)]) == 2
    assert "--kind is excel. It is one of debezium, upserts, " in capsys.readouterr().err


def test_a_column_without_a_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(tmp_path, '{"id": 1}')
    arguments = ["--kind", "upserts", "--landing", "landing", "--key", "id", "--version", "v"]
    assert main(["a", *arguments, "--column", "id", "--project-dir", str(tmp_path)]) == 2
    assert "--column is id. Write it as name:type." in capsys.readouterr().err


def test_a_table_without_a_project(tmp_path: Path) -> None:
    message = "the columns of shop.orders are read by the profile of a project. Make one first"
    with pytest.raises(SampleError, match=message):
        sample_of_table("shop.orders", tmp_path)


def test_a_project_without_a_profile(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: none\n")
    with pytest.raises(SampleError, match=r"dbt cannot read the columns of shop.orders, see above"):
        sample_of_table("shop.orders", tmp_path)


PLAIN = {
    "before": None,
    "after": {"id": 1, "name": "x"},
    "source": {"connector": "postgresql", "sequence": "[1,2]"},
    "op": "c",
}


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        (PLAIN, ["id", "name"]),
        ({"topic": "t", "partition": 0, "offset": 1, "key": "1", "payload": json.dumps(PLAIN)}, ["id", "name"]),
        ({"key": {"id": 1}, "value": PLAIN, "headers": []}, ["id", "name"]),
        ({"schema": None, "payload": json.dumps(PLAIN)}, ["id", "name"]),
        ({"id": 1, "name": "x", "__op": "c", "__deleted": "false", "__lsn": 5}, ["id", "name"]),
        ({**PLAIN, "after": '{"_id": {"$oid": "5f"}, "n": 1}'}, ["id", "document"]),
    ],
)
def test_forms_of_events(line: dict[str, Any], columns: list[str], tmp_path: Path) -> None:
    landing = land(tmp_path, json.dumps(line))
    assert list(sample_of_files(landed(landing), is_debezium=True, types={}).columns) == columns


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "Dzw=",
            "x has \"Dzw=\", a decimal or bytes: --column 'x:decimal(12,2):precise' with the scale of the source, --column x:binary:base64, ",
        ),
        ({"scale": 2, "value": "AZA="}, "a decimal: --column 'x:decimal(38,9):precise'"),
        (
            1767607200123456,
            "x has 1767607200123456, a time or a number: --column x:timestamp:epoch_micros, or --column x:bigint",
        ),
    ],
)
def test_what_a_value_does_not_say_is_asked(value: Any, message: str, tmp_path: Path) -> None:
    landing = land(tmp_path, json.dumps({**PLAIN, "after": {"id": 1, "x": value}}))
    with pytest.raises(SampleError, match=re.escape(message)):
        sample_of_files(landed(landing), is_debezium=True, types={})
    found = sample_of_files(landed(landing), is_debezium=True, types={"x": "decimal(12,2):precise"})
    assert (found.columns["x"], found.encodings) == ("decimal(12,2)", {"x": "precise"})


def test_numbers_of_a_csv_file(tmp_path: Path) -> None:
    """Where all values are texts. Elsewhere, a text is one because its source says so."""
    row = {"id": "7", "price": "177.5", "code": "007", "name": "x", "note": None, "day": "2026-01-05"}
    landing = land(tmp_path, json.dumps(row), json.dumps(row | {"price": "20", "note": "5"}))
    found = sample_of_files(landed(landing), is_debezium=False, types={})
    types = ["bigint", "decimal(38,2)", "string", "string", "bigint", "date"]
    assert list(found.columns.values()) == types
    assert found.looks["price"] == "a number in each row. For a text: --column price:string"
    (tmp_path / "json").mkdir()
    landing = land(tmp_path / "json", json.dumps(row | {"n": 1}))
    found = sample_of_files(landed(landing), is_debezium=False, types={})
    assert (found.columns["id"], found.columns["price"]) == ("string", "string")


@pytest.mark.parametrize("values", [[20458], [20458, 2932896, None, 20459], [1741523696123, -30610224000000]])
def test_a_date_or_a_number_is_asked(values: list[int | None], tmp_path: Path) -> None:
    """Also if some are 9999-12-31, or another day that means none."""
    landing = land(tmp_path, *(json.dumps({**PLAIN, "after": {"id": 1, "day": value}}) for value in values))
    with pytest.raises(SampleError, match=r"the events have no schema, and some values do not say what they are\."):
        sample_of_files(landed(landing), is_debezium=True, types={})


def test_a_flattened_stream_needs_deletes(tmp_path: Path) -> None:
    landing = land(tmp_path, '{"id": 1, "__op": "c", "__lsn": 5}')
    with pytest.raises(SampleError, match="the events are flattened and have no __deleted: the stream has no deletes"):
        sample_of_files(landed(landing), is_debezium=True, types={})


def test_codes_of_operations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(tmp_path, '{"Op": "I", "id": 1, "at": "2025-01-31"}', '{"Op": "D", "id": 1, "at": "2025-02-01"}')
    given = ["flags", "--kind", "upserts", "--landing", "landing", "--key", "id", "--version", "at"]
    given += ["--project-dir", str(tmp_path), "--is-deleted"]
    assert main([*given, "Op"]) == 2
    assert (
        "Op is not true or false. It has D, I. Say which of them mean a deleted row: --is-deleted Op="
        in capsys.readouterr().err
    )
    assert main([*given, "Op=D"]) == 0
    model = (tmp_path / "models" / "staging" / "stg_flags.sql").read_text()
    assert "is_deleted={'Op': {'D': True, 'I': False}}," in model


@pytest.mark.parametrize(
    ("folder", "name"),
    [("My-Shop 2", "my_shop_2"), ("2026", "project_2026"), ("flags", "flags_project"), ("ö", "project")],
)
def test_a_project_is_named_after_its_folder(folder: str, name: str, tmp_path: Path) -> None:
    land(tmp_path / folder, '{"id": 1, "rev": 1}')
    arguments = ["orders", "--kind", "upserts", "--landing", "landing", "--key", "id", "--version", "rev"]
    assert main([*arguments, "--project-dir", str(tmp_path / folder)]) == 0
    assert f"\nprofile: {name}\n" in (tmp_path / folder / "dbt_project.yml").read_text()
    assert f"schema: {name}\n" in (tmp_path / folder / "profiles.yml").read_text()


def _start(folder: Path, *arguments: str) -> int:
    return main([*arguments, "--landing", "landing", "--project-dir", str(folder)])


PLACE: dict[str, Any] = {"lsn": 8, "sequence": '["8","8"]'}


def test_all_tables_of_a_topic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its models, its columns and its key; one quarantine has the lines of all."""
    land(tmp_path, _event("orders", "price", **PLACE), _event("Order Lines", "line", **PLACE))
    of_all = ("--all", "--kind", "debezium", "--key")
    assert _start(tmp_path, *of_all, "id,order_lines.line,order_lines.id", "--column", "orders.price:double") == 0
    said = capsys.readouterr().out
    assert "order_lines: key line, id; version source.sequence\n" in said
    assert "  price  double, can be null\n" in said
    assert "dbt build --select stg_order_lines+ stg_orders+" in said
    lines = (tmp_path / "models" / "staging" / "stg_order_lines.sql").read_text()
    assert "key=['line', 'id']" in lines
    assert "table='public.Order Lines'" in lines
    assert "price" not in lines
    quarantine = (tmp_path / "models" / "changes" / "quarantine_changes.sql").read_text()
    assert quarantine.count("quarantined_lines(") == 2


def test_some_tables_in_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More of them can follow: the quarantine then has theirs, too."""
    for name in ("a", "b", "c"):
        batch = tmp_path / "landing" / name / "batch=1"
        batch.mkdir(parents=True)
        (batch / "part.json").write_text(f'{{"{name}_id": 1, "rev": 1}}\n')
    of_two = ("--tables", "a, c", "--kind", "upserts", "--version", "rev", "--key")
    assert _start(tmp_path, *of_two, "a_id") == 2
    assert "c: the sample has no column a_id. It has c_id, rev. Name the key of this table: --key c.c_id" in (
        capsys.readouterr().err
    )
    assert _start(tmp_path, "--tables", "a,d", "--kind", "upserts", "--version", "rev", "--key", "id") == 2
    assert "landing has no table d. It has a, b, c: a table is a folder with folders batch=N" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()
    assert _start(tmp_path, *of_two, "a.a_id,c.c_id") == 0
    assert _start(tmp_path, "--all", "--kind", "upserts", "--version", "rev", "--key", "id") == 2
    assert "models/staging/stg_a.sql" in capsys.readouterr().err
    assert _start(tmp_path, "--tables", "b", "--kind", "upserts", "--version", "rev", "--key", "b_id") == 0
    assert "Added to models/changes/quarantine_changes.sql\n" in capsys.readouterr().out
    quarantine = (tmp_path / "models" / "changes" / "quarantine_changes.sql").read_text()
    assert re.findall(r"ref\('stg_(\w)'\)", quarantine) == ["a", "c", "b"]


def test_a_table_is_started_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it says. The quarantine has the lines of the table once."""
    land(tmp_path, '{"id": 1, "rev": 1, "price": "1"}')
    given = ("a", "--landing", "landing", "--kind", "upserts", "--version", "rev", "--key", "id")
    assert _start(tmp_path, *given) == 0
    removes = re.search(r"If a type is wrong: rm (.+)\nThen start it again", capsys.readouterr().out)
    assert removes is not None
    for path in removes[1].split():
        (tmp_path / path).unlink()
    assert _start(tmp_path, *given, "--column", "price:bigint") == 0
    quarantine = (tmp_path / "models" / "changes" / "quarantine_changes.sql").read_text()
    assert quarantine.count("quarantined_lines(") == 1


def test_two_tables_of_one_name_or_none_with_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(tmp_path, _event("a b", "x", **PLACE), _event("a-b", "y", **PLACE))
    assert _start(tmp_path, "--all", "--kind", "debezium", "--key", "id") == 2
    assert "two of public.a b, public.a-b would have one name. Start them one by one." in capsys.readouterr().err
    assert _start(tmp_path, "--tables", "a-b", "--kind", "debezium", "--key", ",") == 2
    assert "--key has no column of this table. It has id, y." in capsys.readouterr().err


def test_problems_of_all_tables_are_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(
        tmp_path,
        *(json.dumps({**json.loads(_event(table, "x", **PLACE)), "after": {"id": 1, "x": "Dzw="}}) for table in "ab"),
    )
    assert _start(tmp_path, "--all", "--kind", "debezium", "--key", "id") == 2
    said = capsys.readouterr().err
    assert "--column 'a.x:decimal(12,2):precise'" in said
    assert "--column 'b.x:decimal(12,2):precise'" in said


def test_what_the_values_look_like_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column that was null, or is missing in a row that is not deleted, can be null."""
    row = {
        "id": 1,
        "rev": 1,
        "price": "1.25",
        "is_vip": 1,
        "op": "I",
        "note": None,
        "until": "9999-12-31",
        "gone": False,
    }
    rows = [{**row, "id": key, "op": "IU"[key % 2], "is_vip": key % 2} for key in range(120)]
    land(tmp_path, *map(json.dumps, rows), '{"id": 1, "rev": 2, "gone": true}')
    assert _start(tmp_path, "t", "--kind", "upserts", "--key", "id", "--version", "rev", "--is-deleted", "gone") == 0
    said = " ".join(capsys.readouterr().out.split())
    for part in (
        "rev bigint, always has a value",
        "price string, always has a value, has \"1.25\". For a number: --column 'price:decimal(18,2)'",
        "is_vip bigint, always has a value, has 0 and 1. For a flag: --column is_vip:boolean",
        "op string, always has a value, has I, U. If one means a deleted row: --is-deleted op=…",
        "note string, can be null, has only nulls. For another type: --column 'note:decimal(12,2)'",
        "until date, always has a value, values beyond 1900 to 2299 become the nearest bound",
    ):
        assert part in said
    assert "required=['price', 'is_vip', 'op', 'until']" in (tmp_path / "models" / "staging" / "stg_t.sql").read_text()
    properties = (tmp_path / "models" / "current" / "t.yml").read_text()
    assert '{name: "price", data_type: "String"}' in properties
    assert "note" not in properties


def test_a_key_or_a_version_that_does_not_fit_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": 1, "rev": 1, "x": 1}, {"id": 1, "rev": 1, "x": 1}, {"id": 1, "rev": 1, "x": 2}, {"id": 2, "x": 1}]
    land(tmp_path, *map(json.dumps, rows))
    assert _start(tmp_path, "t", "--kind", "upserts", "--key", "id", "--version", "rev") == 0
    said = capsys.readouterr().out
    assert "  Check --key and --version: 1 of 4 rows lack id or rev.\n" in said
    assert "  Check --key and --version: 1 of 4 rows have id and rev of another row, and other values.\n" in said


def test_a_key_that_extracts_repeat_is_doubted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": number, "kind": number % 2} for number in range(4)]
    land(tmp_path, *map(json.dumps, rows))
    for name, doubt in {"id": "", "kind": "  Check --key: kind has 2 values in 4 rows of 1 extract.\n"}.items():
        assert _start(tmp_path, f"by_{name}", "--kind", "extracts", "--key", name) == 0
        said = capsys.readouterr().out
        assert (doubt in said, "Check --key" in said) == (True, bool(doubt))


@pytest.mark.parametrize(("name", "advice"), [("a.csv", "turn it into a batch"), ("a.parquet", "only lines of JSON")])
def test_files_of_other_formats_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, advice: str
) -> None:
    folder = tmp_path / "landing" / "batch=1"
    folder.mkdir(parents=True)
    (folder / name).write_text("id\n1\n")
    assert _start(tmp_path, "t", "--kind", "extracts", "--key", "id") == 2
    said = capsys.readouterr().err
    assert f"found batch=1/{name}: {advice}" in said
