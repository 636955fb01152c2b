"""The command that lands CSV files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbt.adapters.spark_clickhouse.cli.land import main

CSV = """\ufeffid,name,amount,updated_at
1,"a, ""b""
second line, é",1.50,2026-01-01 00:00:00
2,,0.0000000000000000001,
"""


def land(folder: Path, text: str, *options: str) -> int:
    file = folder / "it's.csv"
    file.write_text(text, encoding="utf-8")
    return main([str(file), str(folder / "landing"), "12", *options])


def rows(folder: Path) -> list[dict[str, str | None]]:
    (file,) = (folder / "landing").glob("batch=12/*")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_every_value_is_in_the_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert land(tmp_path, CSV) == 0
    assert capsys.readouterr().out.startswith("Landed 2 rows as ")
    assert rows(tmp_path) == [
        {"id": "1", "name": 'a, "b"\nsecond line, é', "amount": "1.50", "updated_at": "2026-01-01 00:00:00"},
        {"id": "2", "name": None, "amount": "0.0000000000000000001", "updated_at": None},
    ]


def test_another_delimiter(tmp_path: Path) -> None:
    assert land(tmp_path, "id;name\n1;a,b\n", "--delimiter", ";") == 0
    assert rows(tmp_path) == [{"id": "1", "name": "a,b"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV + "3,c,1.00\n", "line 5: not as many fields as the header"),
        (CSV + "3,c,1.00,,\n", "line 5: not as many fields as the header"),
        (CSV + '3,"c\n', "it's.csv: unexpected end of data"),
        ("id,name,name\n1,a,b\n", "two fields have the same name"),
        ("id,\n1,a\n", "field 2 of the header has no name"),
        # An extract without rows would delete all that the table has.
        ("", "it's.csv has no header, so it is not known which columns it has"),
        ("id,name\n", "it's.csv has a header and no rows"),
    ],
)
def test_a_file_that_is_not_whole_lands_nothing(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert land(tmp_path, text) == 2
    assert message in capsys.readouterr().err
    assert list((tmp_path / "landing").iterdir()) == []
    assert land(tmp_path, CSV) == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("--delimiter", "||", '"delimiter" must be a 1-character string'), ("--encoding", "utf8mb4", "unknown encoding")],
)
def test_options_that_cannot_work(
    tmp_path: Path, option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert land(tmp_path, CSV, option, value) == 2
    assert message in capsys.readouterr().err
    assert list((tmp_path / "landing").iterdir()) == []


def test_a_batch_has_no_negative_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.csv").write_text(CSV)
    assert main([str(tmp_path / "x.csv"), str(tmp_path), "--", "-5"]) == 2
    assert "the number of a batch is 0 or more, not -5" in capsys.readouterr().err


def test_a_batch_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert land(tmp_path, CSV) == 0
    assert land(tmp_path, "id\n1\n") == 2
    assert "exists. Give the file a higher number." in capsys.readouterr().err
    assert len(rows(tmp_path)) == 2
