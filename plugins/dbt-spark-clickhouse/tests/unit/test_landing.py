"""Landing zones, listed without Spark."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter
from dbt.adapters.spark_clickhouse.landing.batches import batches, is_listed, local_files, local_folder


def write(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("part-1.json", True),
        ("batch=1", True),
        (".batch=1", False),
        ("_batch=1", True),
        ("_SUCCESS", False),
        ("_metadata", True),
        ("_common_metadata", True),
        ("part-1._COPYING_", False),
    ],
)
def test_what_spark_passes_over(name: str, expected: bool) -> None:
    assert is_listed(name) is expected


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/data/a b%20#c", "/data/a b%20#c"),
        ("file:/data", "/data"),
        ("file:///data", "/data"),
        ("file://host/data", None),
        ("s3a://bucket/data", None),
        ("hdfs://host/data", None),
        ("/data/{a,b}", None),
        ("/data/batch=*", None),
    ],
)
def test_folders_of_this_machine(location: str, expected: str | None) -> None:
    found = local_folder(location)
    assert (str(found).replace("//", "/").replace("//", "/") if found else None) == expected


def test_batches_and_strays(tmp_path: Path) -> None:
    root = tmp_path / "orders"
    write(root, "batch=000002/b.json", "batch=000002/a.json", "batch=10/a.json", "batch=2/c.json")
    write(root, "batch=9223372036854775808/a.json", "batch=x/a.json", "batch=x/b.json", "loose.json")
    write(root, "batch=1/deep/a.json", "batch=1/.hidden", "_temporary/a.json")
    write(root, "batch=1/empty.json", text="")
    found = batches(local_files(root), "orders")
    assert [(row["batch"], row["files"], row["example"]) for row in found] == [
        (None, 1, "orders/batch=1/deep/a.json"),
        (None, 1, "orders/batch=9223372036854775808/a.json"),
        (None, 2, "orders/batch=x/a.json and 1 more beside it"),
        (None, 1, "orders/loose.json"),
        (2, 3, "orders/batch=000002/a.json and 2 more beside it"),
        (10, 1, "orders/batch=10/a.json"),
    ]


def test_a_batch_that_has_changed_has_another_hash(tmp_path: Path) -> None:
    write(tmp_path, "batch=1/a.json")
    [before] = batches(local_files(tmp_path), "orders")
    write(tmp_path, "batch=1/a.json", text="xy")
    [after] = batches(local_files(tmp_path), "orders")
    assert before["hash"] != after["hash"]


def test_a_file_that_is_replaced_by_an_older_one_has_another_time(tmp_path: Path) -> None:
    """The last file of its batch is still as old as before."""
    write(tmp_path, "batch=1/a.json", "batch=1/b.json")
    [before] = batches(local_files(tmp_path), "orders")
    os.utime(tmp_path / "batch=1/a.json", (1, 1))
    [after] = batches(local_files(tmp_path), "orders")
    assert (before["hash"], before["times"] != after["times"]) == (after["hash"], True)


def test_a_file_of_the_same_size_and_time_counts_as_the_same(tmp_path: Path) -> None:
    """This is the limit that docs/change_sets.md states."""
    write(tmp_path, "batch=1/a.json", text="old")
    os.utime(tmp_path / "batch=1/a.json", (1, 1))
    before = batches(local_files(tmp_path), "orders")
    write(tmp_path, "batch=1/a.json", text="new")
    os.utime(tmp_path / "batch=1/a.json", (1, 1))
    assert batches(local_files(tmp_path), "orders") == before


@pytest.mark.parametrize(
    ("spark", "expected"),
    [
        ({}, [1]),
        ({"server_side_parameters": {"spark.hadoop.fs.defaultFS": "hdfs://host"}}, None),
        ({"method": "thrift", "host": "spark", "port": 10000}, None),
    ],
)
def test_only_spark_lists_what_another_machine_has(
    make_adapter: Callable[..., SparkClickHouseAdapter],
    tmp_path: Path,
    spark: dict[str, Any],
    expected: list[int] | None,
) -> None:
    write(tmp_path / "landing", "batch=1/a.json")
    found = make_adapter(spark=spark).list_batches("landing", "orders")
    assert (found and [row["batch"] for row in found]) == expected


def test_spark_says_what_a_folder_has_that_is_not_here(adapter: SparkClickHouseAdapter) -> None:
    assert adapter.list_batches("landing", "orders") is None


def test_a_run_lists_a_landing_zone_once(adapter: SparkClickHouseAdapter, tmp_path: Path) -> None:
    """It lists the zone again only to look for changes."""
    write(tmp_path / "landing", "batch=1/a.json")
    first = adapter.list_batches("landing", "orders")
    write(tmp_path / "landing", "batch=2/a.json")
    again = adapter.list_batches("landing", "orders", again=True)
    assert again is not None
    assert [row["batch"] for row in again] == [1, 2]
    assert adapter.list_batches("landing", "orders") == first
