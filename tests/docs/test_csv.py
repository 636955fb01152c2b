"""The documentation's script that turns a CSV file into a batch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.page import blocks

CSV = """\ufeffid,name,amount,updated_at
1,"a, ""b""
second line, é",1.50,2026-01-01 00:00:00
2,,0.0000000000000000001,
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (text,) = (block.text for block in blocks("docs/change_sets.md") if "import csv" in block.text)
    path = tmp_path / "land_csv.py"
    path.write_text(text)
    return path


def land(script: Path, text: str, batch: int) -> subprocess.CompletedProcess[str]:
    script.with_name("it's.csv").write_text(text)
    arguments = ["it's.csv", "landing/orders", str(batch)]
    return subprocess.run(
        [sys.executable, script, *arguments], cwd=script.parent, check=False, capture_output=True, text=True
    )


def test_every_value_is_in_the_batch(script: Path) -> None:
    assert land(script, CSV, 12).returncode == 0
    folder = script.parent / "landing" / "orders" / "batch=12"
    lines = (folder / "part-00000.json").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "1", "name": 'a, "b"\nsecond line, é', "amount": "1.50", "updated_at": "2026-01-01 00:00:00"},
        {"id": "2", "name": None, "amount": "0.0000000000000000001", "updated_at": None},
    ]


@pytest.mark.parametrize("row", ["3,c,1.00", "3,c,1.00,,", '3,"c'])
def test_a_row_that_is_not_whole_lands_nothing(script: Path, row: str) -> None:
    ended = land(script, CSV + row + "\n", 13)
    assert ended.returncode == 1
    assert "line 5: not as many fields" in ended.stderr or "unexpected end of data" in ended.stderr
    batch = script.parent / "landing" / "orders" / "batch=13"
    assert not batch.exists()
    assert land(script, CSV, 13).returncode == 0
    assert len((batch / "part-00000.json").read_text().splitlines()) == 2


def test_a_name_that_comes_twice_is_an_error(script: Path) -> None:
    ended = land(script, "id,name,name\n1,a,b\n", 1)
    assert ended.returncode == 1
    assert "two fields have the same name" in ended.stderr
