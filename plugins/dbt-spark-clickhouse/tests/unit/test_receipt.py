"""The receipt that is written next to Spark's files, and how later differences are found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.hand_off.figures import figures_sql, receipt_of
from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.reading import reading_sql
from dbt.adapters.spark_clickhouse.hand_off.receipt import (
    ColumnReceipt,
    Receipt,
    require_no_nested_nulls,
    require_same_figures,
    require_same_files,
)

RECEIPT = Receipt(
    rows=3,
    columns=(
        ColumnReceipt("id", "bigint", 3, 6),
        ColumnReceipt("price", "double", 2, 7),
        ColumnReceipt("tags", "array<string>", 3, 8),
    ),
    files={"part-0.parquet": 5},
    row_checksums=(9,),
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


def test_same_figures_raise_nothing() -> None:
    require_same_figures("shop.orders", "orders", RECEIPT, replace(RECEIPT))


def test_changed_figures_are_named() -> None:
    number, price, tags = RECEIPT.columns
    read = replace(RECEIPT, rows=2, columns=(replace(number, checksum=7), replace(price, values=1), tags))
    with pytest.raises(DbtRuntimeError) as error:
        require_same_figures("shop.orders_v2", "orders", RECEIPT, read)
    assert error.value.msg == (
        "The hand-off of the Spark table shop.orders_v2 failed: ClickHouse does not read what "
        "Spark wrote. rows: Spark 3, ClickHouse 2; column id: Spark 3 values with checksum 6, "
        "ClickHouse 3 with 7; column price: Spark 2 values with checksum 7, ClickHouse 1 with 7. "
        "Build it again: dbt build --select orders"
    )


def test_nulls_of_scalars_raise_nothing() -> None:
    require_no_nested_nulls("shop.orders", RECEIPT)


def test_nulls_of_nested_types_are_counted() -> None:
    number, price, tags = RECEIPT.columns
    with pytest.raises(DbtRuntimeError) as error:
        require_no_nested_nulls("shop.orders", replace(RECEIPT, columns=(number, price, replace(tags, values=1))))
    assert error.value.msg == (
        "ClickHouse cannot read the Spark table shop.orders: its arrays, maps and structs cannot "
        "be null, and these columns hold nulls: tags (2 of array<string>). Replace them in the "
        "Spark model, as in coalesce(tags, array())."
    )


def test_values_in_other_rows_are_named() -> None:
    with pytest.raises(DbtRuntimeError) as error:
        require_same_figures("shop.orders", "orders", RECEIPT, replace(RECEIPT, row_checksums=(8,)))
    assert "wrote. the values are the same, but in different rows. Build" in error.value.msg


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
        require_same_figures("landing.orders", None, RECEIPT, replace(RECEIPT, rows=2))
    assert error.value.msg.endswith(f"rows: Spark 3, ClickHouse 2. {advice}")


def test_files_of_the_same_size_that_were_written_again_are_noticed(table: Path) -> None:
    files, file = parquet(table), table / "part-0.parquet"
    os.utime(file, ns=(0, 0))
    while files.are_newer_than_receipt():  # a file system's clock is coarse
        RECEIPT.save(files)
    file.write_bytes(b"54321")
    assert files.are_newer_than_receipt()


def test_figures_are_selected_and_read_in_the_same_order() -> None:
    columns = [("id", "bigint"), ("_figure_1", "string")]
    (sql,) = figures_sql(columns, "shop.orders", "spark")
    assert sql == (
        "select count(*) as f0, count(case when __figure_0_is_there then 1 end) as f1, "
        "coalesce(sum(shiftright(__figure_0, 32) + (__figure_0 & 4294967295)), 0) as f2, "
        "count(case when __figure_1_is_there then 1 end) as f3, "
        "coalesce(sum(shiftright(__figure_1, 32) + (__figure_1 & 4294967295)), 0) as f4, "
        "coalesce(sum(crc32(concat_ws(',', coalesce(cast(__figure_0 as string), 'n'), "
        "coalesce(cast(__figure_1 as string), 'n')))), 0) as f5 "
        "from (select cast(`id` as bigint) as __figure_0, `id` is not null as __figure_0_is_there, "
        "crc32(`_figure_1`) as __figure_1, `_figure_1` is not null as __figure_1_is_there "
        "from shop.orders) as digests"
    )
    assert receipt_of(columns, [[3, 3, "6", 2, 7, 9]], {"a.parquet": 1}) == Receipt(
        rows=3,
        columns=(ColumnReceipt("id", "bigint", 3, 6), ColumnReceipt("_figure_1", "string", 2, 7)),
        files={"a.parquet": 1},
        row_checksums=(9,),
    )


def test_figures_of_many_columns_are_computed_by_statements_that_clickhouse_can_parse() -> None:
    columns = [(f"a_column_with_a_long_name_{i}", "double") for i in range(250)]
    statements = figures_sql(columns, "file('/a/folder/*.parquet')", "clickhouse")
    assert len(statements) == 3
    assert max(map(len, statements)) < 200_000
    figures = [[1, *([1, 5] * width), 9] for width in (100, 100, 50)]
    receipt = receipt_of(columns, figures, {})
    assert (len(receipt.columns), receipt.row_checksums) == (250, (9, 9, 9))


def test_table_function_spells_out_the_structure_of_the_receipt() -> None:
    assert reading_sql(parquet(Path("/lake/o'brien")), RECEIPT) == (
        r"file('/lake/o\'brien/*.parquet', 'Parquet', '`id` Nullable(Int64), "
        "`price` Nullable(Float64), `tags` Array(Nullable(String))')"
    )


def test_quotes_within_the_structure_are_escaped() -> None:
    receipt = replace(RECEIPT, columns=(ColumnReceipt("at", "timestamp", 3, 6),))
    assert reading_sql(parquet(Path("/lake")), receipt) == (
        r"file('/lake/*.parquet', 'Parquet', '`at` Nullable(DateTime64(6, \'UTC\'))')"
    )


def test_table_function_without_a_receipt_leaves_the_structure_to_clickhouse() -> None:
    assert reading_sql(parquet(Path("/lake")), None) == "file('/lake/*.parquet', 'Parquet')"


def test_partition_columns_are_read_from_the_names_of_folders() -> None:
    receipt = replace(
        RECEIPT,
        columns=(ColumnReceipt("id", "bigint", 3, 6), ColumnReceipt("day", "date", 2, 9)),
        files={"day=2025-01-01/part-0.parquet": 5},
    )
    assert reading_sql(parquet(Path("/lake")), receipt) == (
        "(select `id`, cast(nullIf(decodeURLComponent(`day`), '__HIVE_DEFAULT_PARTITION__') as "
        "Nullable(Date32)) as `day` from file('/lake/day=*/*.parquet', 'Parquet', "
        "'`id` Nullable(Int64), `day` Nullable(String)'))"
    )


@pytest.mark.parametrize(("file_format", "function"), [("delta", "deltaLakeLocal"), ("iceberg", "icebergLocal")])
def test_lake_table_is_read_by_its_log(file_format: str, function: str) -> None:
    receipt = replace(RECEIPT, columns=(ColumnReceipt("id", "bigint", 3, 6),))
    assert reading_sql(LocalFiles("/lake", file_format), receipt) == (
        f"{function}('/lake', 'Parquet', '`id` Nullable(Int64)')"
    )
    assert reading_sql(LocalFiles("/lake", file_format), None) == f"{function}('/lake')"
