"""Edge values of every type: ClickHouse reads from Spark's files what Spark wrote."""

from __future__ import annotations

import json
import struct
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import chdb
import pytest
from pyspark.sql import SparkSession

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.core.types import quote
from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.reading import reading_sql
from dbt.adapters.spark_clickhouse.hand_off.receipt import Receipt
from tests.support.warm_spark import warm_session

# Exact forms of a value on Spark and on ClickHouse, by the first letters of its Spark type. Nested values are compared
# as JSON.
FORMS = {
    "date": ("unix_date({})", "toInt32({})"),
    "timestamp": ("unix_micros(cast({} as timestamp))", "toUnixTimestamp64Micro({})"),
    "float": ("{}", "reinterpretAsUInt64(toFloat64({}))"),
    "double": ("{}", "reinterpretAsUInt64(toFloat64({}))"),
    "string": ("hex({})", "hex({})"),
    "varchar": ("hex({})", "hex({})"),
    "binary": ("hex({})", "hex({})"),
}
NESTED = ("array", "map", "struct")
READING = (
    "max_query_size = 10000000, output_format_json_quote_64bit_integers = 0, output_format_json_quote_decimals = 1, "
    "output_format_json_named_tuples_as_objects = 1, output_format_json_quote_denormals = 1, session_timezone = 'UTC'"
)


def _written(spark: SparkSession, folder: Path) -> dict[str, str]:
    """Write a table with a column for each case. Return Spark's types."""
    rows = max(len(values) for values in CASES.values())
    columns = []
    for name, values in CASES.items():
        # Arrays, maps and structs cannot be null: the last value fills the column.
        fills = any(f"{kind}(" in values[0] for kind in NESTED)
        at = f"least(i, {len(values) - 1})" if fills else "i"
        columns.append(f"get(array({', '.join(values)}), {at}) as {quote(name, SPARK)}")
    spark.sql(f"select cast(id as int) as i from range({rows})").createOrReplaceTempView("numbers")
    spark.sql(f"select i as id, {', '.join(columns)} from numbers").coalesce(1).write.parquet(str(folder))
    spark.read.parquet(str(folder)).createOrReplaceTempView("written")
    return {row[0]: row[1] for row in spark.sql("describe query select * from written").collect()}


def _forms(types: dict[str, str], engine: Engine) -> str:
    """The terms of a select with the exact forms of the columns."""
    terms = []
    for at, (name, kind) in enumerate(types.items()):
        forms = next((forms for start, forms in FORMS.items() if kind.startswith(start)), ("{}", "{}"))
        terms.append(f"{forms[engine == CLICKHOUSE].format(quote(name, engine))} as c{at}")
    return ", ".join(terms)


def _plain(value: Any, *, is_nested: bool) -> Any:
    """A value of Spark or of ClickHouse's JSON, so that equal values are equal here."""
    if isinstance(value, float) and not is_nested:
        return "nan" if value != value else str(struct.unpack("<Q", struct.pack("<d", value))[0])
    if hasattr(value, "asDict"):
        return {name: _plain(part, is_nested=True) for name, part in value.asDict().items()}
    if isinstance(value, dict):
        return {str(_plain(name, is_nested=True)): _plain(part, is_nested=True) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part, is_nested=True) for part in value]
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, float):
        return "-0" if str(value) == "-0.0" else f"{value:.17g}"
    if isinstance(value, Decimal):  # at some scales, Spark hands over more zeros than the type has
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return value.isoformat(" ", "microseconds") if isinstance(value, datetime) else str(value)


def _is_nan(value: Any, kind: str) -> bool:
    """Whether these bits of a float are one of the many that are not a number."""
    return kind in ("float", "double") and value is not None and value & (2**52 - 1) > 0 and value >> 52 & 2047 == 2047


def _decimals(precision: int, scale: int) -> list[str]:
    """Zero, one unit in the last place, the limits, and values in between, with both signs."""
    digits = {"0", "1", "9" * precision, "1" + "0" * (precision - 1), "12345678901234567890"[:precision]}
    texts = []
    for unscaled in sorted(digits):
        padded = unscaled.rjust(scale + 1, "0")
        whole, fraction = padded[: len(padded) - scale], padded[len(padded) - scale :]
        text = f"{whole}.{fraction}" if scale else whole
        texts += [text] if unscaled == "0" else [text, f"-{text}"]
    return [f"cast('{text}' as decimal({precision}, {scale}))" for text in texts]


def _casts(kind: str, *values: str) -> list[str]:
    return [f"cast({value} as {kind})" for value in values]


_FLOATS = (
    *("0.0", "1.0", "-1.0", "0.1", "1.5", "'3.4028235E38'", "'-3.4028235E38'", "'1.4E-45'", "'-1.4E-45'"),
    *("'1.1754944E-38'", "16777217.0", "'NaN'", "'Infinity'", "'-Infinity'", "100.0", "'1e15'", "'2e-3'"),
)
CASES: dict[str, list[str]] = {
    **{
        f"decimal_{precision}_{scale}": _decimals(precision, scale)
        for precision in (9, 18, 38)
        for scale in range(precision + 1)
    },
    "boolean": ["true", "false"],
    "tinyint": _casts("tinyint", "0", "1", "-1", "127", "-128"),
    "smallint": _casts("smallint", "0", "-1", "32767", "-32768"),
    "int": _casts("int", "0", "-1", "2147483647", "-2147483648"),
    "bigint": _casts("bigint", "0", "-1", "9223372036854775807", "'-9223372036854775808'", "4294967296"),
    "date": _casts(
        *("date", "'1970-01-01'", "'1969-12-31'", "'1900-01-01'", "'2299-12-31'", "'2000-02-29'", "'1582-10-15'")
    ),
    **{
        kind: _casts(
            *(kind, "'1970-01-01 00:00:00'", "'1969-12-31 23:59:59.999999'", "'1900-01-01 00:00:00'"),
            *("'2299-12-31 23:59:59.999999'", "'2024-05-06 07:08:09.000001'", "'1582-10-15 00:00:00'"),
        )
        for kind in ("timestamp", "timestamp_ntz")
    },
    "float": _casts("float", *_FLOATS, "'-0.0'"),
    "double": _casts(
        *("double", *_FLOATS, "'-0.0'", "'1.7976931348623157E308'", "'4.9E-324'", "'2.2250738585072014E-308'"),
        *("'2.2250738585072009E-308'", "9007199254740993", "'0.30000000000000004'"),
    ),
    "string": [
        *("''", "' '", "'a'", "'A'", "'日本 é'", "'e\\u0301'", "'\\n\\t\\0'", "'\\''", "'\\\\'", "'n'", "'null'"),
        *("repeat('x', 1000000)", "cast(x'ff00fe' as string)"),
    ],
    "varchar": _casts("varchar(5)", "'abc'", "'ab '"),
    "binary": ["x''", "x'00'", "x'0000'", "x'ff'", "unhex(repeat('a5', 100000))"],
    "array_of_int": ["array()", "array(1)", "array(1, 2)", "array(2, 1)", "array(12)", "array(cast(null as int))"],
    "array_of_string": [
        "array()",
        "array('')",
        "array('', '')",
        "array('a,b')",
        "array('a', 'b')",
        "array(cast(null as string))",
    ],
    "array_of_double": [
        "array()",
        "array(0.5D)",
        "array(0.5D, cast('NaN' as double), null)",
        "array(-0.0D)",
        "array(0.0D)",
    ],
    "array_of_decimal": ["array(0.00000000BD)", "array(0.00000001BD)", "array(-0.00000001BD, null)"],
    "array_of_arrays": ["array()", "array(array(1), array(2))", "array(array(1, 2))", "array(array(), array(1, 2))"],
    "map": ["map()", "map('a', 1)", "map('a', null)", "map('a', 1, 'b', 2)", "map('a', 2, 'b', 1)", "map('a', 0)"],
    "map_of_struct": [
        "map()",
        "map(1, named_struct('x', 1.5D, 'y', array('z')))",
        "map(1, named_struct('x', 1.5D, 'y', array('q')))",
    ],
    "struct": [
        "named_struct('x', 1, 'y', 'a')",
        "named_struct('x', cast(null as int), 'y', 'a')",
        "named_struct('x', 1, 'y', cast(null as string))",
        "named_struct('x', 2, 'y', 'b')",
    ],
    "struct_of_all": [
        f"named_struct('a', array(named_struct('m', map('k', {value}))), 'at', timestamp'2024-01-01 00:00:00')"
        for value in ("0.0000001BD", "0.0000002BD")
    ],
    # Names that need quotes.
    'a "quoted" name': ["1", "2"],
    "it's a `name`": ["1", "2"],
    "back\\slash": ["1", "2"],
    "_figure_0": ["1", "2"],
    "f0": ["1", "2"],
    "e0": ["array(1)", "array(2)"],
    "fields": [
        f"named_struct('it`s', {value}, 'a:b', {value}, 'x y', {value}, 'a\"b', 'a\\'b', 'back\\\\slash', 2)"
        for value in ("1", "2")
    ],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Any], list[Any]]]:
    """What Spark wrote and what ClickHouse read, by case."""
    folder = tmp_path_factory.mktemp("values") / "table"
    with warm_session() as spark:
        types = _written(spark, folder)
        rows = spark.sql(f"select {_forms(types, SPARK)} from written order by id").collect()
    source = reading_sql(LocalFiles(str(folder), "parquet"), Receipt(len(rows), types, {}, {"part-0.parquet": 1}))
    select = f"select {_forms(types, CLICKHOUSE)} from {source} order by id settings {READING}"
    lines = str(chdb.query(select, "JSONCompactEachRow")).splitlines()
    texts = [json.loads(line, parse_int=lambda text: -0.0 if text == "-0" else int(text)) for line in lines]
    wrote = [
        [_plain(value, is_nested=kind.startswith(NESTED)) for value, kind in zip(row, types.values(), strict=True)]
        for row in rows
    ]
    read = [
        [
            "nan" if _is_nan(value, kind) else _plain(value, is_nested=True)
            for value, kind in zip(row, types.values(), strict=True)
        ]
        for row in texts
    ]
    columns = zip(types, zip(*wrote, strict=True), zip(*read, strict=True), strict=True)
    return {name: (list(mine), list(theirs)) for name, mine, theirs in columns}


@pytest.mark.parametrize("name", CASES)
def test_clickhouse_reads_what_spark_wrote(found: dict[str, tuple[list[Any], list[Any]]], name: str) -> None:
    wrote, read = found[name]
    assert read == wrote
    values = [json.dumps(value) for value in wrote[: len(CASES[name])]]
    assert len(set(values)) == len(values)
