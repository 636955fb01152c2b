"""Digests of edge values of every type: ClickHouse reads what Spark writes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

_DIGEST_ALL = """
import json, sys
from pathlib import Path
from chdb.session import Session
from pyspark.sql import SparkSession
from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.digests import digest
from dbt.adapters.spark_clickhouse.hand_off.figures import figures_sql, receipt_of
from dbt.adapters.spark_clickhouse.hand_off.reading import reading_sql
from dbt.adapters.spark_clickhouse.core.types import quote

folder, cases = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.ansi.enabled", "false")  # as dbt-spark has it
    .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    .getOrCreate()
)
typed = lambda name: not any(word in cases[name][0] for word in ('array(', 'map(', 'struct('))
rows = max(len(values) for values in cases.values())
# Arrays, maps and structs cannot be null: the last value fills the column.
columns = ", ".join(
    f"get(array({', '.join(values)}), {'i' if typed(name) else f'least(i, {len(values) - 1})'}) "
    f"as {quote(name, 'spark')}" for name, values in cases.items()
)
spark.sql(f"select cast(id as int) as i from range({rows})").createOrReplaceTempView("numbers")
written = spark.sql(f"select i as id, {columns} from numbers")
written.coalesce(1).write.parquet(str(folder))
spark.read.parquet(str(folder)).createOrReplaceTempView("written")
described = [tuple(row)[:2] for row in spark.sql("describe query select * from written").collect()]
on_spark = [[*spark.sql(sql).collect()[0]] for sql in figures_sql(described, "written", "spark")]
receipt = receipt_of(described, on_spark, {"part-0.parquet": 1})
session = Session()
session.query("set session_timezone = 'UTC'")
files = LocalFiles(str(folder), "parquet")
source = reading_sql(files, receipt)

def ask(sql):
    found = session.query(sql, "JSONCompactEachRow")
    return [json.loads(line) for line in str(found).splitlines()]

on_clickhouse = [ask(sql)[0] for sql in figures_sql(described, source, "clickhouse")]
read = receipt_of(described, on_clickhouse, {"part-0.parquet": 1})
def digests_on(engine):
    terms = (
        f"{digest(quote(name, engine), kind, engine)} as _digest_{i}"
        for i, (name, kind) in enumerate(described)
    )
    return ", ".join(terms)

mine = spark.sql(f"select {digests_on('spark')} from written order by id").collect()
theirs = ask(
    f"select {digests_on('clickhouse')} from {source} order by id "
    "settings max_query_size = 10000000, output_format_json_quote_64bit_integers = 0"
)
digests = {
    name: [list(column) for column in columns]
    for (name, _), *columns in zip(described, zip(*mine), zip(*theirs))
}
swapped = "(select * from written where id > 1 union all select "
swapped += ", ".join(
    f"if(id = 0, 1, 0) as id" if name == "id" else quote(name, "spark") for name, _ in described
) + " from written where id <= 1)"
on_swapped = [[*spark.sql(sql).collect()[0]] for sql in figures_sql(described, swapped, "spark")]
Path(sys.argv[2]).write_text(json.dumps({
    "types": dict(described),
    "receipts": [repr(receipt), repr(read)],
    "swapped": repr(receipt_of(described, on_swapped, {"part-0.parquet": 1})),
    "digests": digests,
}))
"""


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
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The receipts and the digests of both engines."""
    folder = tmp_path_factory.mktemp("digests")
    (folder / "cases.json").write_text(json.dumps(CASES))
    process = subprocess.run(
        [sys.executable, "-c", _DIGEST_ALL, str(folder / "table"), str(folder / "cases.json")],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-5000:]
    outcome: dict[str, Any] = json.loads((folder / "cases.json").read_text())
    return outcome


def test_receipts_of_both_engines_are_the_same(found: dict[str, Any]) -> None:
    wrote, read = found["receipts"]
    assert read == wrote


@pytest.mark.parametrize("name", CASES)
def test_digests_of_both_engines_are_the_same(found: dict[str, Any], name: str) -> None:
    on_spark, on_clickhouse = found["digests"][name]
    assert on_clickhouse == on_spark


@pytest.mark.parametrize("name", CASES)
def test_each_value_has_a_digest_of_its_own(found: dict[str, Any], name: str) -> None:
    digests = found["digests"][name][0][: len(CASES[name])]
    assert None not in digests
    assert len(set(digests)) == len(digests)


def test_values_that_change_rows_are_noticed(found: dict[str, Any]) -> None:
    assert found["swapped"] != found["receipts"][0]
