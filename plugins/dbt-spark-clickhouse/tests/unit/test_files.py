"""Where files are, which of them make up a table, and how ClickHouse is told to read them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from dbt.adapters.spark_clickhouse.hand_off.files import FEW_FILES, LocalFiles, partition_columns
from dbt.adapters.spark_clickhouse.hand_off.places import below
from dbt.adapters.spark_clickhouse.hand_off.s3 import S3Files, is_s3

LISTED = {
    "part-0.parquet": 5,
    "day=2025-01-01/part-1.parquet": 6,
    "_temporary/0/part-2.parquet": 7,
    "_delta_log/0.json": 8,
    "metadata/v1.metadata.json": 9,
    "_SUCCESS": 0,
    ".part-0.parquet.crc": 1,
    "_hand_off.json": 2,
}


class Bucket:
    """Answers ClickHouse queries from a given listing, and records the statements."""

    def __init__(self, listed: dict[str, int]) -> None:
        self.listed = listed
        self.asked: list[str] = []

    def query(self, sql: str) -> Iterable[Any]:
        self.asked.append(sql)
        if sql.startswith("select _path"):
            return [(f"lake/shop/orders/{name}", size) for name, size in self.listed.items()]
        return [("{}",)]


@pytest.mark.parametrize(
    ("file_format", "names"),
    [
        ("parquet", ["day=2025-01-01/part-1.parquet", "part-0.parquet"]),
        (
            "delta",
            [
                "_SUCCESS",
                "_delta_log/0.json",
                "_temporary/0/part-2.parquet",
                "day=2025-01-01/part-1.parquet",
                "metadata/v1.metadata.json",
                "part-0.parquet",
            ],
        ),
    ],
)
def test_what_makes_up_a_table_is_the_same_on_disk_and_in_a_bucket(
    tmp_path: Path, file_format: str, names: list[str]
) -> None:
    for name, size in LISTED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    sizes = {name: LISTED[name] for name in names}
    bucket = S3Files("s3a://lake/shop/orders", file_format, "", Bucket(LISTED).query)
    assert LocalFiles(str(tmp_path), file_format).sizes() == sizes
    assert bucket.sizes() == sizes


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [("", "s3://lake/shop/orders"), ("http://127.0.0.1:9000/", "http://127.0.0.1:9000/lake/shop/orders")],
)
@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_clickhouse_reads_and_writes_a_bucket_by_its_url(scheme: str, endpoint: str, url: str) -> None:
    bucket = Bucket(LISTED)
    files = S3Files(f"{scheme}://lake/shop/orders", "parquet", endpoint, bucket.query)
    assert files.source("*.parquet") == f"s3('{url}/*.parquet', 'Parquet')"
    assert files.read_receipt() == "{}"
    files.write_receipt("it's")
    assert bucket.asked[-1] == (
        f"insert into function s3('{url}/_hand_off.json', 'RawBLOB', 'receipt String') "
        r"settings s3_truncate_on_insert = 1 values ('it\'s')"
    )


def test_bucket_without_files_is_not_there_and_has_no_receipt() -> None:
    files = S3Files("s3://lake/shop/orders", "delta", "", Bucket({}).query)
    assert (files.exist(), files.sizes(), files.read_receipt()) == (False, {}, None)
    assert files.source() == "deltaLakeS3('s3://lake/shop/orders')"


def test_only_s3_is_s3() -> None:
    assert [is_s3(place) for place in ("s3://a", "s3a://a", "hdfs://a", "/s3://a")] == [True, True, False, False]


def test_partition_columns_are_those_of_the_folders() -> None:
    assert partition_columns(["year=2025/region=a%3Db/part-0.parquet"]) == ["year", "region"]
    assert partition_columns(["part-0.parquet"]) == []
    assert partition_columns([]) == []


@pytest.mark.parametrize(
    ("location", "place"),
    [("landing/orders", "/project/landing/orders"), ("/landing", "/landing")]
    + [(url, url) for url in ("file:/landing", "file:///landing", "s3a://lake/landing")],
)
def test_relative_location_starts_at_the_project(location: str, place: str) -> None:
    assert below("/project", location) == place


@pytest.mark.parametrize(
    ("rows_by_file", "file_format", "expected"),
    [
        ({"part-0.parquet": 3, "part-1.parquet": 0, "part-2.parquet": 4}, "parquet", 7),
        ({"part-0.parquet": 3, "_temporary/0/part-1.parquet": 4, ".part-0.parquet.crc": 1}, "parquet", 3),
        ({"day=1/part-0.parquet": 3}, "parquet", None),
        ({"part-0.parquet": 3, ".part-1.parquet": 4}, "parquet", None),
        ({"part-0.parquet": 3, "_part-1.parquet": 4}, "parquet", None),
        ({"part-0.parquet": 3}, "delta", None),
        ({}, "parquet", None),
        ({f"part-{number}.parquet": 1 for number in range(FEW_FILES + 1)}, "parquet", None),
    ],
    ids=[
        "files",
        "a file that is no part of the table",
        "a partition",
        "a file that Spark does not list",
        "another one",
        "another format",
        "no file",
        "many files",
    ],
)
def test_files_say_how_many_rows_they_have(
    tmp_path: Path, rows_by_file: dict[str, int], file_format: str, expected: int | None
) -> None:
    for name, rows in rows_by_file.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.table({"id": list(range(rows))}), tmp_path / name)
    assert LocalFiles(str(tmp_path), file_format).rows() == expected


def test_a_broken_file_is_left_to_spark(tmp_path: Path) -> None:
    (tmp_path / "part-0.parquet").write_bytes(b"PAR1 and nothing more")
    assert LocalFiles(str(tmp_path), "parquet").rows() is None


COLUMNS = {"batch": "bigint", "hash": "string", "is_complete": "boolean"}
ROWS: list[dict[str, Any]] = [
    {"hash": "it's \\", "batch": 2**63 - 1, "is_complete": True},
    {"batch": None, "hash": None, "is_complete": None},
]


def test_rows_are_replaced_in_a_file_of_another_name(tmp_path: Path) -> None:
    files = LocalFiles(str(tmp_path), "parquet")
    parquet.write_table(pyarrow.table({"batch": [1]}), tmp_path / "part-0.parquet")
    (tmp_path / ".part-0.parquet.crc").write_text("the sum of the file that was there")
    (tmp_path / "_SUCCESS").touch()
    assert files.replace_rows(COLUMNS, ROWS)
    (name,) = files.sizes()
    assert name != "part-0.parquet"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_SUCCESS", name]
    written = parquet.read_table(tmp_path / name)
    assert written.column_names == list(COLUMNS)
    assert written.to_pylist() == ROWS


@pytest.mark.parametrize(
    ("names", "file_format", "columns"),
    [
        ([], "parquet", COLUMNS),
        (["part-0.parquet", "part-1.parquet"], "parquet", COLUMNS),
        (["day=1/part-0.parquet"], "parquet", COLUMNS),
        (["part-0.parquet"], "iceberg", COLUMNS),
        (["part-0.parquet"], "parquet", COLUMNS | {"amount": "decimal(12,2)"}),
    ],
    ids=["no file", "two files", "a partition", "another format", "another type"],
)
def test_rows_that_cannot_be_replaced_stay(
    tmp_path: Path, names: list[str], file_format: str, columns: dict[str, str]
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("rows")
    assert not LocalFiles(str(tmp_path), file_format).replace_rows(columns, ROWS)
    assert [(tmp_path / name).read_text() for name in names] == ["rows"] * len(names)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(names)


def test_a_full_disk_is_left_to_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_rows: Any, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    (tmp_path / "part-0.parquet").write_text("rows")
    monkeypatch.setattr(parquet, "write_table", write)
    assert not LocalFiles(str(tmp_path), "parquet").replace_rows(COLUMNS, ROWS)
    assert [path.name for path in tmp_path.iterdir()] == ["part-0.parquet"]
