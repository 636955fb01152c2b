"""Spark's types in ClickHouse."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.types import clickhouse_type, is_nullable, without_collations

SCALARS = {
    "boolean": "Nullable(Bool)",
    "tinyint": "Nullable(Int8)",
    "smallint": "Nullable(Int16)",
    "int": "Nullable(Int32)",
    "bigint": "Nullable(Int64)",
    "float": "Nullable(Float32)",
    "double": "Nullable(Float64)",
    "date": "Nullable(Date32)",
    "timestamp": "Nullable(DateTime64(6, 'UTC'))",
    "timestamp_ntz": "Nullable(DateTime64(6, 'UTC'))",
    "string": "Nullable(String)",
    "binary": "Nullable(String)",
    "varchar(20)": "Nullable(String)",
    "char(2)": "Nullable(String)",
    "decimal(10,0)": "Nullable(Decimal(10, 0))",
    "decimal(38, 18)": "Nullable(Decimal(38, 18))",
}
NESTED = {
    "array<int>": "Array(Nullable(Int32))",
    "array<array<string>>": "Array(Array(Nullable(String)))",
    "map<string,bigint>": "Map(String, Nullable(Int64))",
    "map<decimal(5,2),date>": "Map(Decimal(5, 2), Nullable(Date32))",
    "map<timestamp,array<int>>": "Map(DateTime64(6, 'UTC'), Array(Nullable(Int32)))",
    "map<struct<a:int>,int>": "Map(Tuple(`a` Nullable(Int32)), Nullable(Int32))",
    "struct<a:int,b:decimal(4,1)>": "Tuple(`a` Nullable(Int32), `b` Nullable(Decimal(4, 1)))",
    "struct<Name:struct<first:string>,tags:array<string>>": (
        "Tuple(`Name` Tuple(`first` Nullable(String)), `tags` Array(Nullable(String)))"
    ),
    "array<map<string,struct<x:double>>>": ("Array(Map(String, Tuple(`x` Nullable(Float64))))"),
    "struct<a:b:int,it`s:date>": "Tuple(`a:b` Nullable(Int32), `it``s` Nullable(Date32))",
}


@pytest.mark.parametrize(("spark_type", "expected"), [*SCALARS.items(), *NESTED.items()])
def test_type_is_read_as(spark_type: str, expected: str) -> None:
    assert clickhouse_type(spark_type) == expected


@pytest.mark.parametrize("spark_type", ["INT", " Timestamp ", "Decimal(10,0)", "ARRAY<INT>"])
def test_case_and_blanks_around_a_type_do_not_matter(spark_type: str) -> None:
    assert clickhouse_type(spark_type) == clickhouse_type(spark_type.strip().lower())


@pytest.mark.parametrize(
    ("spark_type", "expected"),
    [
        ("string collate UTF8_BINARY", "string"),
        ("map<string collate unicode_ci,varchar(5) collate UTF8_LCASE>", "map<string,varchar(5)>"),
        ("struct<collate:int,b:string>", "struct<collate:int,b:string>"),
    ],
)
def test_collations_of_strings_are_left_out(spark_type: str, expected: str) -> None:
    assert without_collations(spark_type) == expected


@pytest.mark.parametrize("spark_type", SCALARS)
def test_scalars_keep_their_nulls(spark_type: str) -> None:
    assert is_nullable(spark_type)


@pytest.mark.parametrize("spark_type", NESTED)
def test_nested_types_cannot_be_null(spark_type: str) -> None:
    assert not is_nullable(spark_type)


@pytest.mark.parametrize(
    ("spark_type", "named"),
    [
        ("void", "void"),
        ("variant", "variant"),
        ("interval day to second", "interval day to second"),
        ("array<interval year to month>", "interval year to month"),
        ("map<string,void>", "void"),
        ("struct<a:int,b:variant>", "variant"),
        ("array", "array"),
    ],
)
def test_type_that_clickhouse_does_not_have_is_an_error_that_names_it(spark_type: str, named: str) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        clickhouse_type(spark_type)
    assert error.value.msg == (
        f"The Spark type '{named}' cannot be handed to ClickHouse. Cast the column in the Spark "
        "model, to a string for instance."
    )


def test_field_whose_name_cannot_be_told_from_its_type_is_an_error_that_names_it() -> None:
    with pytest.raises(DbtRuntimeError) as error:
        clickhouse_type("struct<a,b:int>")
    assert error.value.msg == (
        "A field of a struct is 'a', and its name and type cannot be read from it. "
        "Give it a name of letters, digits and underscores in the Spark model."
    )
