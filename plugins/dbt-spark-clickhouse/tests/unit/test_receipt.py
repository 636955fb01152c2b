"""The receipt that is written next to Spark's files, and how later differences are found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.reading import reading_sql
from dbt.adapters.spark_clickhouse.hand_off.receipt import (
    Receipt,
    counts_sql,
    require_no_nested_nulls,
    require_same_files,
    require_same_rows,
)

RECEIPT = Receipt(
    rows=3,
    columns={"id": "bigint", "price": "double", "tags": "array<string>"},
    nested_nulls={},
    files={"part-0.parquet": 5},
)


def parquet(location: Path) -> LocalFiles:
    return LocalFiles(str(location), "parquet")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The folder of a table that matches ``RECEIPT``."""
    (tmp_path / "part-0.parquet").write_bytes(b"12345")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.parquet.crc").touch()
    RECEIPT.save(parquet(tmp_path))
    return tmp_path


def test_receipt_is_read_as_it_was_written(table: Path) -> None:
    assert Receipt.load(parquet(table)) == RECEIPT
    assert [path.name for path in table.glob("*draft*")] == []


@pytest.mark.parametrize("folder", ["empty", "missing"])
def test_folder_without_a_receipt_has_none(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    assert Receipt.load(parquet(tmp_path / folder)) is None
    assert parquet(tmp_path / folder).sizes() == {}


def test_files_are_the_parquet_files_and_nothing_beside_them(table: Path) -> None:
    assert parquet(table).sizes() == {"part-0.parquet": 5}


def test_same_files_pass(table: Path) -> None:
    assert require_same_files("shop.orders", "orders", parquet(table), RECEIPT) is RECEIPT


def test_missing_receipt_says_what_to_build(tmp_path: Path) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        require_same_files("shop.orders_v2", "orders", parquet(tmp_path), None)
    assert error.value.msg == (
        "ClickHouse cannot read the Spark table shop.orders_v2: there is no receipt in "
        f"{tmp_path}. Spark has not built the table, did not finish, or built it when no "
        "ClickHouse node read it. Build it first: dbt build --select orders"
    )


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("removed", "1 file differs: part-0.parquet (5 bytes then, absent now)"),
        ("truncated", "1 file differs: part-0.parquet (5 bytes then, 4 bytes now)"),
        ("emptied", "1 file differs: part-0.parquet (5 bytes then, 0 bytes now)"),
        ("added", "1 file differs: part-1.parquet (absent then, 5 bytes now)"),
        (
            "multiplied",
            "4 files differ, such as part-1.parquet (absent then, 1 byte now), "
            "part-2.parquet (absent then, 1 byte now), "
            "part-3.parquet (absent then, 1 byte now)",
        ),
    ],
)
def test_changed_files_are_named(table: Path, change: str, difference: str) -> None:
    file = table / "part-0.parquet"
    if change == "removed":
        file.unlink()
    elif change == "truncated":
        file.write_bytes(b"1234")
    elif change == "emptied":
        file.write_bytes(b"")
    elif change == "added":
        (table / "part-1.parquet").write_bytes(b"54321")
    else:
        for number in range(1, 5):
            (table / f"part-{number}.parquet").write_bytes(b"x")
    with pytest.raises(DbtRuntimeError) as error:
        require_same_files("shop.orders", "orders", parquet(table), RECEIPT)
    assert error.value.msg == (
        f"ClickHouse cannot read the Spark table shop.orders: the files in {table} are not those "
        f"that Spark wrote. {difference}. Build it again: dbt build --select orders"
    )


def test_a_receipt_of_another_form_is_none(table: Path) -> None:
    (table / "_hand_off.json").write_text('{"rows": 3}')
    assert Receipt.load(parquet(table)) is None


@pytest.mark.parametrize("read", [2, 4])
def test_rows_that_are_missing_or_too_many_are_counted(read: int) -> None:
    require_same_rows("shop.orders_v2", "orders", 3, 3)
    with pytest.raises(DbtRuntimeError) as error:
        require_same_rows("shop.orders_v2", "orders", 3, read)
    assert error.value.msg == (
        f"The hand-off of the Spark table shop.orders_v2 failed: Spark wrote 3 rows, and ClickHouse reads {read}. "
        "Build it again: dbt build --select orders"
    )


def test_nulls_of_nested_types_are_counted() -> None:
    require_no_nested_nulls("shop.orders", RECEIPT)
    with pytest.raises(DbtRuntimeError) as error:
        require_no_nested_nulls("shop.orders", replace(RECEIPT, nested_nulls={"tags": 2}))
    assert error.value.msg == (
        "ClickHouse cannot read the Spark table shop.orders: its arrays, maps and structs cannot "
        "be null, and these columns hold nulls: tags (2 of array<string>). Replace them in the "
        "Spark model, as in coalesce(tags, array())."
    )


def test_spark_counts_rows_and_nulls_of_nested_types() -> None:
    columns = {"id": "bigint", "ta`gs": "array<string>", "place": "struct<x:int>"}
    assert counts_sql(columns, "shop.orders") == (
        "select count(*), count_if(`ta``gs` is null), count_if(`place` is null) from shop.orders"
    )


def test_source_that_differs_has_advice_that_works(table: Path) -> None:
    advice = (
        "Nothing may write to a source while dbt reads it. Wait until it is complete. Then delete "
        "_hand_off.json from its folder, and dbt writes a new one."
    )
    (table / "part-0.parquet").write_bytes(b"1234")
    with pytest.raises(DbtRuntimeError) as error:
        require_same_files("landing.orders", None, parquet(table), RECEIPT)
    assert error.value.msg.endswith(f"5 bytes then, 4 bytes now). {advice}")
    with pytest.raises(DbtRuntimeError) as error:
        require_same_rows("landing.orders", None, 3, 2)
    assert error.value.msg.endswith(f"Spark wrote 3 rows, and ClickHouse reads 2. {advice}")


def test_files_of_the_same_size_that_were_written_again_are_noticed(table: Path) -> None:
    files, file = parquet(table), table / "part-0.parquet"
    os.utime(file, ns=(0, 0))
    while files.are_newer_than_receipt():  # a file system's clock is coarse
        RECEIPT.save(files)
    file.write_bytes(b"54321")
    assert files.are_newer_than_receipt()
    written = max(file.stat().st_mtime_ns, file.stat().st_ctime_ns)
    os.utime(table / "_hand_off.json", ns=(written, written))
    assert files.are_newer_than_receipt()


def test_table_function_spells_out_the_structure_of_the_receipt() -> None:
    assert reading_sql(parquet(Path("/lake/o'brien")), RECEIPT) == (
        r"file('/lake/o\'brien/*.parquet', 'Parquet', '`id` Nullable(Int64), "
        "`price` Nullable(Float64), `tags` Array(Nullable(String))')"
    )


def test_quotes_within_the_structure_are_escaped() -> None:
    receipt = replace(RECEIPT, columns={"at": "timestamp"})
    assert reading_sql(parquet(Path("/lake")), receipt) == (
        r"file('/lake/*.parquet', 'Parquet', '`at` Nullable(DateTime64(6, \'UTC\'))')"
    )


def test_table_function_without_a_receipt_leaves_the_structure_to_clickhouse() -> None:
    assert reading_sql(parquet(Path("/lake")), None) == "file('/lake/*.parquet', 'Parquet')"


def test_partition_columns_are_read_from_the_names_of_folders() -> None:
    receipt = replace(
        RECEIPT,
        columns={"id": "bigint", "day": "date"},
        files={"day=2025-01-01/part-0.parquet": 5},
    )
    assert reading_sql(parquet(Path("/lake")), receipt) == (
        "(select `id`, cast(nullIf(decodeURLComponent(`day`), '__HIVE_DEFAULT_PARTITION__') as "
        "Nullable(Date32)) as `day` from file('/lake/day=*/*.parquet', 'Parquet', "
        "'`id` Nullable(Int64), `day` Nullable(String)'))"
    )


@pytest.mark.parametrize(("file_format", "function"), [("delta", "deltaLakeLocal"), ("iceberg", "icebergLocal")])
def test_lake_table_is_read_by_its_log(file_format: str, function: str) -> None:
    receipt = replace(RECEIPT, columns={"id": "bigint"})
    assert reading_sql(LocalFiles("/lake", file_format), receipt) == (
        f"{function}('/lake', 'Parquet', '`id` Nullable(Int64)')"
    )
    assert reading_sql(LocalFiles("/lake", file_format), None) == f"{function}('/lake')"
