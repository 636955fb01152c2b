"""Spark tables that ClickHouse cannot or must not read."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (
            "reads_view",
            "ClickHouse cannot read mixed.spark_orders_view, which Spark owns: it is a view of "
            "Spark's, which has no files: materialize it as a table.",
        ),
        (
            "reads_orc",
            "ClickHouse cannot read mixed.spark_orc, which Spark owns: its file format is orc: "
            "set `file_format` to parquet or delta or iceberg.",
        ),
        (
            "reads_text",
            "ClickHouse cannot read text.`{root}/landing/lines`, which Spark owns: it is a folder "
            "of text files: read it in a Spark model, and that model on ClickHouse.",
        ),
        (
            "reads_unbuilt",
            "ClickHouse cannot read the Spark table mixed.spark_unbuilt: there is no receipt in "
            "{warehouse}/spark_unbuilt. Spark has not built the table, did not finish, or built "
            "it when no ClickHouse node read it. Build it first: dbt build --select spark_unbuilt",
        ),
        ("reads_removed", "bytes then, absent now). Build it again: dbt build --select spark_removed"),
        ("reads_truncated", "1 file differs: part-00000-"),
        (
            "reads_doubled",
            "the files in {warehouse}/spark_doubled are not those that Spark wrote. 1 file differs: "
            "part-twice.parquet (absent then, ",
        ),
        (
            "reads_miscounted",
            "The hand-off of the Spark table mixed.spark_miscounted failed: Spark wrote 4 rows, and ClickHouse reads "
            "3. Build it again: dbt build --select spark_miscounted",
        ),
        (
            "reads_null_array",
            "ClickHouse cannot read the Spark table mixed.spark_null_array: its arrays, maps and "
            "structs cannot be null, and these columns hold nulls: tags (1 of array<int>). "
            "Replace them in the Spark model, as in coalesce(tags, array()).",
        ),
    ],
)
def test_spark_node_is_refused(project: Any, refused_hand_offs: Any, reader: str, message: str) -> None:
    expected = message.format(root=project.root, warehouse=project.spark_table(""))
    assert expected in refused_hand_offs.failures()[reader]


def test_nothing_else_failed(refused_hand_offs: Any) -> None:
    assert not refused_hand_offs.success
    assert all(name.startswith("reads_") for name in refused_hand_offs.failures())
    assert len(refused_hand_offs.failures()) == 9
