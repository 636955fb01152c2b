"""Values that go from Spark to ClickHouse, on a machine whose time zone is not UTC."""

from __future__ import annotations

from typing import Any

Rows = dict[str, list[dict[str, Any]]]

VALUES = {
    "id": 1,
    "a_tinyint": 127,
    "a_smallint": -32768,
    "an_int": 2147483647,
    "a_bigint": -9223372036854775808,
    "a_float": 1.5,
    "a_double": 0.1,
    "a_decimal": "-12345678901234567.89",
    "a_wide_decimal": "9" * 38,
    "a_boolean": True,
    "a_string": "日本 'quoted' \\ back",
    "a_binary": "00FF10",
    "an_early_date": "1500-02-03",
    "a_late_date": "2299-12-31",
    "an_early_timestamp": "1500-01-02 03:04:05.678901",
    "a_late_timestamp": "2999-12-31 23:59:59.999999",
    "a_timestamp_ntz": "2024-05-06 07:08:09.123456",
    "an_array": [1, None, 3],
    "a_map": {"a": 1, "b": None},
    "a_map_by_struct": {"(1)": "one"},
    "a_struct": {"x": 1, "y": [{"z": "deep"}]},
}
EMPTY: dict[str, Any] = {"an_array": [], "a_map": {}, "a_map_by_struct": {}}
NULLS = {**dict.fromkeys(VALUES), **EMPTY, "id": 2, "a_struct": {"x": None, "y": [{"z": "deep"}]}}


def test_values_at_the_edges_of_each_type_arrive_unchanged(tables: Rows) -> None:
    assert tables["types"][0] == VALUES


def test_nulls_of_each_scalar_type_and_empty_nested_values_arrive_unchanged(tables: Rows) -> None:
    assert tables["types"][1] == NULLS
    assert len(tables["types"]) == 2


def test_columns_have_the_types_of_the_hand_off(tables: Rows) -> None:
    types = {row["name"]: row["type"] for row in tables["types_columns"]}
    assert types["a_decimal"] == "Nullable(Decimal(19, 2))"
    assert types["an_early_timestamp"] == "Nullable(DateTime64(6, 'UTC'))"
    assert types["an_early_date"] == "Nullable(Date32)"
    assert types["an_array"] == "Array(Nullable(Int32))"
    assert types["a_map"] == "Map(String, Nullable(Int32))"
    assert list(types) == list(VALUES)


def test_partition_columns_arrive_from_the_names_of_folders(tables: Rows) -> None:
    assert tables["partitioned"] == [
        {
            "id": 1,
            "a_date": "1950-02-03",
            "a_timestamp": "2024-05-06 07:08:09.123456",
            "a_decimal": "-1.25",
            "a_boolean": True,
            "an_int": -7,
            "a_string": "a/b=c %20 日本 'q'",
        },
        dict.fromkeys(tables["partitioned"][0]) | {"id": 2},
    ]
