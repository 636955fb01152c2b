"""Edge values of each type, from a JSON line to a ClickHouse table: stored as given, or quarantined."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

import pytest

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import variables

NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
EXACT = Context(prec=2000)


class Refused(Exception):
    """The value cannot be stored. The message is the end of the reason."""


@dataclass(frozen=True)
class Column:
    """A declared column, the values given for it, and what it stores of them.

    Args:
        spark: the declared type.
        clickhouse: the table's type.
        given: JSON values, as written on the line.
        stored: returns what is stored for a value's text, or raises Refused.
        encoding: how the text is encoded.
    """

    spark: str
    clickhouse: str
    given: Sequence[str]
    stored: Callable[[str], Any]
    encoding: str | None = None


def text_of(token: str) -> str:
    """The text of a JSON value: that of a string, or else the value as written."""
    value = json.loads(token, parse_int=str, parse_float=str, parse_constant=str)
    return value if token.startswith('"') else token


def number(text: str) -> Decimal:
    if not NUMBER.fullmatch(text.strip(" ")):
        raise Refused
    return EXACT.create_decimal(text.strip(" "))


def whole(bits: int) -> Callable[[str], int]:
    def stored(text: str) -> int:
        value = number(text)
        if value != value.to_integral_value() or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise Refused
        return int(value)

    return stored


def fixed(precision: int, scale: int) -> Callable[[str], Decimal]:
    def stored(text: str) -> Decimal:
        value = number(text)
        units = EXACT.multiply(value, EXACT.power(Decimal(10), scale))
        if units != units.to_integral_value(context=EXACT) or units.copy_abs() >= EXACT.power(Decimal(10), precision):
            raise Refused
        return value

    return stored


# As Debezium writes them in columns of PostgreSQL's numeric, by decimal.handling.mode: double or string
# (SpecialValueDecimal.java; tests/change_sets/dialects has recorded NaN and NAN). With precise it writes null.
NOT_FINITE = ['"NaN"', '"Infinity"', '"-Infinity"', '"NAN"', '"POSITIVE_INFINITY"', '"NEGATIVE_INFINITY"']
SPECIAL = {"nan": math.nan, "infinity": math.inf, "inf": math.inf}


def floating(bits: int) -> Callable[[str], float]:
    """A float that has the digits of the text, as many as are given."""

    def stored(text: str) -> float:
        sign, name = re.fullmatch(r"([+-]?)(.*)", text.lower(), re.DOTALL).groups()  # type: ignore[union-attr]
        if name in SPECIAL and not (name == "nan" and sign):
            return -SPECIAL[name] if sign == "-" else SPECIAL[name]
        value = float(number(text))
        if bits == 32:
            try:
                value = struct.unpack("f", struct.pack("f", value))[0]
            except OverflowError:
                raise Refused from None
        if math.isinf(value):
            raise Refused
        digits = len(number(text).normalize(EXACT).as_tuple().digits)
        if Context(prec=digits).create_decimal(Decimal(value)) != number(text):
            raise Refused
        return value

    return stored


def table_of(values: dict[str, Any]) -> Callable[[str], Any]:
    """A lookup of the expected result for each text; any other text is refused."""

    def stored(text: str) -> Any:
        if text not in values:
            raise Refused
        if isinstance(values[text], Refused):
            raise values[text]
        return values[text]

    return stored


def listed(
    spark: str, clickhouse: str, values: dict[str, Any], refused: Sequence[str], encoding: str | None = None
) -> Column:
    return Column(spark, clickhouse, [*map(json.dumps, [*values, *refused])], table_of(values), encoding)


def given_whole(bits: int) -> list[str]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return [
        *map(str, (0, 1, -1, low, high, low - 1, high + 1, low + 1, high - 1)),
        "-0", f'"{high}"', f'"{high + 1}"', f"{high}.5", f"{high + 1}.0", "1.5", "1E-1", "1.25",
        "1e400", "1e-400", "1.00000000000000000000000000000000000000000000001", "12345678901234567890.1",
        '""', '"."', '" 7 "', '"+5"', '"x"', '"0x10"', '"1_0"', '"5d"', '"٣"', "true", "NaN", "Infinity", "[1]", '{"a":1}',
    ]  # fmt: skip


def given_fixed(precision: int, scale: int) -> list[str]:
    ulp = Decimal(1).scaleb(-scale)
    high = Decimal("9" * precision).scaleb(-scale, EXACT)
    exact = [
        f"{value:f}"
        for value in (
            Decimal(0),
            ulp,
            -ulp,
            high,
            -high,
            EXACT.add(high, ulp),
            EXACT.subtract(-high, ulp),
            EXACT.subtract(high, ulp),
            ulp / 10,
            EXACT.divide(ulp, Decimal(2)),
            EXACT.add(high, ulp / 10),
        )
    ]
    return [
        *exact, *(f'"{text}"' for text in exact), f"{high:E}", f"{ulp:E}", f'"{ulp:E}"', f"{ulp / 10:E}", f"{exact[1]}0000" if scale else "1.0000",
        "-0", "-0.0", "0E-9", "0e7", '"0E+3"', "1e3", "1E-7", "1E-11", '"15E-11"', "1.2E7", "1.10", "0.5", "5e-1", "50E-2", "1e400", "1e-400", "1e-5000", "1E+2",
        "123456789012345678.91", "1.234567890123456789", "12345678.1234567", "12345678901234567890123456789.123456789", "0.00000000001",
        '""', '"."', '" 1 "', '"abc"', '"1,5"', '"1.5.1"', *NOT_FINITE, "NaN", "-Infinity", "true", "[1.5]",
    ]  # fmt: skip


FLOATS = [
    "0", "-0", "-0.0", "0.0", "1", "0.1", "1.5", "-1.5", "3.14", "1e3", "1.2E7", "1E-11", "16777216", "16777217", "16777218", "9007199254740992", "9007199254740993",
    "9007199254740994", "5.327337733681531e+18", "0.1234567890123456789", "0.10000000149011612", "123456789", "3.4028235e38", "3.4028236e39", "1.17549435e-38", "1e-46", "1e-60", "5e-324",
    "1.234e-323", "2.2250738585072014e-308", "1.7976931348623157e308", "1e309", "1e400", "1e-400", "-1e400", "12345678901234567890123456789012345678901234567890",
    "NaN", "Infinity", "-Infinity", *NOT_FINITE, '"inf"', '"-inf"', '"+infinity"', '"nan"', '"5d"', '"5f"', '"0x1p3"', '""', '"."', '"e5"', '" 2.5 "', '"1_0"', "true", "[1.5]",
]  # fmt: skip

NESTED = '{"price":1.10, "n":12345678901234567890.123,"u":"ü😀\\u00e9", "x" : [1 , 2.50,{"e":[]}] , "s":"a\\"]}","z":null,"b":-0}'
TEXTS = [
    '""', '"a"', '"null"', '" "', '"ü😀雪"', r'"\u00e9\ud83d\ude00"', r'"q\"b\\s\/n\nt\tr\rf\fb\b"', r'"\u0000"', r'"\\ud83d"', '"\u2028\x7f"', '"[x"', '"{"', '"[]"', '"{\\"a\\": 1.10}"', '"\\"["',
    "0", "-0", "1", "1.10", "1e3", "1E-11", "-0.0", "12345678901234567890.123", "1" * 1500, "0." + "1" * 1500, "true", "false", "NaN", "-Infinity",
    "[]", "{}", "[1.10]", "[ 1 ,\t2.50]", '["a","b\\"]"]', NESTED, "[" * 20 + "1.0" + "]" * 20, '"' + "x" * 21_000_000 + '"',
]  # fmt: skip

HIGH = datetime(2299, 12, 31, 23, 59, 59, 999999)
OUTSIDE_TIME = Refused("is outside 1900-01-01 00:00:00Z to 2299-12-31 23:59:59.999999Z")
OUTSIDE_DAY = Refused("is outside 1900-01-01 to 2299-12-31")
TIMES = {
    "2025-01-31T10:20:30Z": datetime(2025, 1, 31, 10, 20, 30),
    "2025-01-31 10:20:30": datetime(2025, 1, 31, 10, 20, 30),
    "2025-01-31T10:20": datetime(2025, 1, 31, 10, 20),
    "2025-01-31": datetime(2025, 1, 31),
    "2025-01-31T10:20:30.5+05:30": datetime(2025, 1, 31, 4, 50, 30, 500000),
    "2025-01-31 10:20:30.123456-0800": datetime(2025, 1, 31, 18, 20, 30, 123456),
    "2025-01-31 10:20:30.123456000+00": datetime(2025, 1, 31, 10, 20, 30, 123456),
    "1970-01-01T00:00:00Z": datetime(1970, 1, 1),
    "1900-01-01T00:00:00Z": datetime(1900, 1, 1),
    "2299-12-31T23:59:59.999999Z": HIGH,
    "2024-02-29T00:00:00Z": datetime(2024, 2, 29),
    "1899-12-31T23:59:59.999999Z": OUTSIDE_TIME,
    "2300-01-01T00:00:00Z": OUTSIDE_TIME,
    "9999-12-31T23:59:59Z": OUTSIDE_TIME,
}
NO_TIMES = [
    "10:00:00Z", "T10:00", "10:00", "2025", "2025-01", "2025-1-1 0:0:0", "2025-01-31T10:20:30.1234567Z", "2025-02-29T00:00:00Z", "2025-13-01T00:00:00Z", "2025-01-31T24:00:00Z", "2025-01-31T10:20:60Z",
    "2025-01-31T10:20:30.Z", "2025-01-31T10:20:30 Europe/Berlin", "2025-01-31T10:20:30[UTC]", "2025-01-31 junk", "now", "today", "epoch", "infinity", "", "1738318830", "20250131T102030Z", "2025-W05-5",
]  # fmt: skip
DAYS = {
    "2025-01-31": date(2025, 1, 31),
    "2025-01-31T00:00:00": date(2025, 1, 31),
    "2025-01-31 00:00": date(2025, 1, 31),
    "1900-01-01": date(1900, 1, 1),
    "2299-12-31": date(2299, 12, 31),
    "1970-01-01": date(1970, 1, 1),
    "2024-02-29": date(2024, 2, 29),
    "1899-12-31": OUTSIDE_DAY,
    "2300-01-01": OUTSIDE_DAY,
}
NO_DAYS = [
    "2025-01-31 junk", "2025-01-31T23:59:59-05:00", "2025-01-31T10:00:00", "2025", "2025-01", "2025-02-29", "2025-13-01", "2025-1-1", "today", "epoch", "", "2023", "20250131", "31.01.2025", "0000-00-00",
]  # fmt: skip


def signed_bytes(value: int, length: int = 0) -> str:
    size = length or (value.bit_length() // 8 + 1)
    return base64.b64encode(value.to_bytes(size, "big", signed=True)).decode()


def encoded() -> dict[str, Column]:
    """Columns whose encoding differs from Spark's own."""
    kind = "Nullable(DateTime64(6, 'UTC'))"
    high_micros = 10413791999999999
    variable = {
        json.dumps({"scale": scale, "value": signed_bytes(value)}): Decimal(value).scaleb(-scale, EXACT)
        for scale, value in ((0, 5), (2, -123), (4, 12300), (30, 0))
    }
    lossy = json.dumps({"scale": 3, "value": signed_bytes(12345)})
    precise = Column(
        "decimal(20,2)",
        "Nullable(Decimal(20, 2))",
        [*(f'"{signed_bytes(value)}"' for value in (0, 1, -1, 128, -129, 10**20 - 1, 1 - 10**20, 10**20)), *variable, lossy, '""', '"12.34"', '"-5"', '"12"', '"!"', "12.34"],
        table_of({**{signed_bytes(value): Decimal(value).scaleb(-2, EXACT) for value in (0, 1, -1, 128, -129, 10**20 - 1, 1 - 10**20)}, **variable}),
        "precise",
    )  # fmt: skip
    return {
        "precise": precise,
        "base64": listed("binary", "Nullable(String)", {base64.b64encode(value).decode(): value for value in (b"", b"\0", b"\xff\xfe", b"text", bytes(range(256)))}, ["*", "AAA*", "A"], "base64"),
        "epoch_days": Column("date", "Nullable(Date32)", ["0", "-1", '"1"', "-25567", "-25568", "120529", "120530", "1.5", "1e2", '"x"', '""', "99999999999", str(2**63)], table_of({"0": date(1970, 1, 1), "-1": date(1969, 12, 31), "1": date(1970, 1, 2), "-25567": date(1900, 1, 1), "120529": date(2299, 12, 31), "-25568": OUTSIDE_DAY, "120530": OUTSIDE_DAY}), "epoch_days"),
        "epoch_millis": Column("timestamp", kind, ["0", "-1", "1", "0.5", '"x"', str(2**63 - 1), str(2**63), "10413792000000"], table_of({"0": datetime(1970, 1, 1), "-1": datetime(1969, 12, 31, 23, 59, 59, 999000), "1": datetime(1970, 1, 1, 0, 0, 0, 1000), "10413792000000": OUTSIDE_TIME}), "epoch_millis"),
        "epoch_micros": Column("timestamp", kind, ["0", "-1", "1", str(high_micros), str(high_micros + 1), "1.5", str(2**63)], table_of({"0": datetime(1970, 1, 1), "-1": datetime(1969, 12, 31, 23, 59, 59, 999999), "1": datetime(1970, 1, 1, 0, 0, 0, 1), str(high_micros): HIGH, str(high_micros + 1): OUTSIDE_TIME}), "epoch_micros"),
        "epoch_nanos": Column("timestamp", kind, ["0", "1000", "-1000", "1", "999", "1.5", str(2**63)], table_of({"0": datetime(1970, 1, 1), "1000": datetime(1970, 1, 1, 0, 0, 0, 1), "-1000": datetime(1969, 12, 31, 23, 59, 59, 999999)}), "epoch_nanos"),
    }  # fmt: skip


COLUMNS: dict[str, Column] = {
    **{
        f"an_{spark}": Column(spark, f"Nullable(Int{bits})", given_whole(bits), whole(bits))
        for spark, bits in (("tinyint", 8), ("smallint", 16), ("int", 32), ("bigint", 64))
    },
    **{
        f"decimal_{p}_{s}": Column(f"decimal({p}, {s})", f"Nullable(Decimal({p}, {s}))", given_fixed(p, s), fixed(p, s))
        for p, s in ((4, 0), (9, 2), (18, 8), (20, 2), (33, 10), (38, 0), (38, 9), (38, 18), (38, 38))
    },
    "a_float": Column("float", "Nullable(Float32)", FLOATS, floating(32)),
    "a_double": Column("double", "Nullable(Float64)", FLOATS, floating(64)),
    "a_boolean": Column("boolean", "Nullable(Bool)", ["true", "false", '"true"', '"false"', '"x"', '""', "2", "1.5"], table_of({"true": True, "false": False})),
    "a_string": Column("string", "Nullable(String)", TEXTS, str),
    "bytes": Column("binary", "Nullable(String)", TEXTS[:-1], str.encode, "text"),
    "a_timestamp": listed("timestamp", "Nullable(DateTime64(6, 'UTC'))", TIMES, NO_TIMES),
    "a_timestamp_ntz": listed("timestamp_ntz", "Nullable(DateTime64(6, 'UTC'))", {"2025-01-31T10:20:30.5": datetime(2025, 1, 31, 10, 20, 30, 500000), "2025-01-31": datetime(2025, 1, 31)}, ["2025-01-31T10:20:30Z", "2025-01-31T10:20:30+05:00", *NO_TIMES]),
    "a_date": listed("date", "Nullable(Date32)", DAYS, NO_DAYS),
    **encoded(),
}  # fmt: skip

PLACEHOLDER = "__not_sent"
UNAVAILABLE = [
    f'"{PLACEHOLDER}"', f'["{PLACEHOLDER}"]', f'{{"{PLACEHOLDER}": "{PLACEHOLDER}"}}', json.dumps(list(PLACEHOLDER.encode())), '["747364d9-0c05-3960-8aac-6548be4e43be"]',
    json.dumps(base64.b64encode(PLACEHOLDER.encode()).decode()), json.dumps(PLACEHOLDER.encode().hex()),
]  # fmt: skip


@dataclass(frozen=True)
class Given:
    """A line with a value for a column, or a whole line, and the reason for which it is refused."""

    row: bytes
    column: str = ""
    stored: Any = None
    reason: str | None = None


def given_values() -> list[Given]:
    found = []
    for name, column in COLUMNS.items():
        spark = column.spark.replace(" ", "")
        for token in [*column.given, "null"]:
            row = f'"{name}":{token}'.encode()
            try:
                value = None if token == "null" else column.stored(text_of(token))
            except Refused as refused:
                found.append(
                    Given(row, name, reason=f"{name} {refused}" if str(refused) else f"{name} does not fit {spark}")
                )
            else:
                found.append(Given(row, name, value))
    # A name with an escape; Spark alone would make the text 1.5 of the number.
    found.append(Given(rb'"a_str\u0069ng":1.50', "a_string", "1.50"))
    return found


UNREADABLE = "row nests deeper than 20 levels or names a field twice"
BROKEN_ROWS = [
    Given(b'"a_string":"caf\xe9"', reason="invalid UTF-8"),
    Given(b'"a_string":"\xed\xa0\xbd"', reason="invalid UTF-8"),
    Given(rb'"a_string":"\ud83d"', reason="half of a surrogate pair"),
    Given(rb'"a_string":"\ude00\ud83d"', reason="half of a surrogate pair"),
    Given(rb'"a_string":"\\\ud83d\u0041"', reason="half of a surrogate pair"),
    Given(b'"a_string":' + b"[" * 40 + b"]" * 40, reason=UNREADABLE),
    Given(b'"a_string":{"a":1},"a_string":{"a":2}', reason=UNREADABLE),
    Given(b'"a_string":{"a":1.0},"a_str\\u0069ng":{"a":2}', reason=UNREADABLE),
    Given(b'"a_string":' + b"[" * 1500 + b"]" * 1500, reason="nests deeper than 900 levels"),
    Given(b'"a_string":' + b"[" * 950 + b"]" * 950, reason="nests deeper than 900 levels"),
    *(
        Given(row, reason="malformed JSON")
        for row in (b'"a_string":01', b'"a_string":+1.5', b'"a_string":1.', b'"a_string":.5', b'"a_string":tru', b'"a_string":1.5.1', b"'a_string':1", b'"a_string":"a\tb"', b'"a_string":[1,]', b'"a_string":{"a":01}', b'"a_string":[1.5,{"a":tru}]', b"a_string:1.5", b'"a_string":"\\x"', b'"a_string":1.5,')
    ),
    *(Given(f'"a_string":{token}'.encode(), reason="a_string is unavailable") for token in UNAVAILABLE),
]  # fmt: skip
BEHIND = [b"}", b" junk", b"],[", b"]", b",", b",null", b"{}", b"//"]
SILENT = [b"", b"   ", b"\t", b" \t ", b"null", b"\xef\xbb\xbf", b"\xef\xbb\xbfnull"]


def upsert(key: int, row: bytes) -> bytes:
    return b'{"id":%d%s}' % (key, row and b"," + row)


def event(key: int, row: bytes) -> bytes:
    """A Debezium envelope with this row and another row before it."""
    image = upsert(key, row)
    return (
        b'{"schema":{"v":1.0},"payload":{"before":{"id":%d,"a_string":[1.0]},"after":%s,"source":{"lsn":1},"op":"u"}}'
        % (key, image)
    )


KINDS: dict[str, Callable[[int, bytes], bytes]] = {"upserts": upsert, "events": event}


def lines(wrap: Callable[[int, bytes], bytes]) -> list[tuple[bytes, Given]]:
    given = [(wrap(key, value.row), value) for key, value in enumerate(GIVEN, start=1)]
    given += [(wrap(10**6, b"") + end, Given(b"", reason="malformed JSON")) for end in BEHIND]
    given += [(wrap(10**6, b"") + b"],[" + wrap(10**6, b""), Given(b"", reason="malformed JSON"))]
    given += [(line, Given(b"")) for line in SILENT]
    return [*given, (b"\xef\xbb\xbf" + wrap(10**7, b""), Given(b""))]


GIVEN = [*given_values(), *BROKEN_ROWS]


@dataclass(frozen=True)
class Stored:
    """The values in the tables, by column and key, and the reasons, by line."""

    values: dict[str, dict[str, dict[int, Any]]]
    reasons: dict[str, dict[int, str]]
    keys: dict[str, set[int]]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    columns = {"id": "BIGINT", **{name: column.spark for name, column in COLUMNS.items()}}
    encodings = {name: column.encoding for name, column in COLUMNS.items() if column.encoding}
    arguments = f"SOURCE, key=['id'], columns={columns}, encodings={encodings}, unavailable_value='{PLACEHOLDER}'"
    types = {"id": "Int64", **{name: column.clickhouse for name, column in COLUMNS.items()}}
    calls = {
        "upserts": f"parse_upserts({arguments}, version='_batch', missing_fields='null')",
        "events": f"parse_debezium({arguments}, missing_fields='null', version='source.lsn_despite_races')",
    }
    versions = {"upserts": {}, "events": {"_version": "Int128"}}
    project = ChangeSetProject(
        tmp_path_factory.mktemp("values"),
        [
            Situation(kind, call, "one_change_per_key(EVENTS, key=['id'])", types | versions[kind], {"unique_key": "id"})
            for kind, call in calls.items()
        ],
    )  # fmt: skip
    for kind, wrap in KINDS.items():
        project.land(kind, 1, [line for line, _ in lines(wrap)])
    # A value of 20 MB takes a gigabyte of Java's heap in each model that reads it: one at a time.
    [outcome] = project.dbt(["run", "--threads", "1", *variables(through_batch=1)])
    assert outcome.success, outcome.why()
    queries = {}
    for kind in KINDS:
        queries[f"{kind} keys"] = f"select id, 1 from shop.{kind} final where _sign = 1"
        queries[f"{kind} reasons"] = (
            f"select line_number, reason from shop.cdc_quarantine final where source_table = '{kind}' and _sign = 1"
        )
        for name, column in COLUMNS.items():
            value = f"hex({name})" if column.spark == "binary" else name
            queries[f"{kind} {name}"] = (
                f"select id, {value} from shop.{kind} final where _sign = 1 and {name} is not null"
            )
    found: dict[str, dict[Any, Any]] = {name: dict(rows) for name, rows in project.queries(**queries).items()}
    return Stored(
        {kind: {name: found[f"{kind} {name}"] for name in COLUMNS} for kind in KINDS},
        {kind: found[f"{kind} reasons"] for kind in KINDS},
        {kind: set(found[f"{kind} keys"]) for kind in KINDS},
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_value_is_stored_as_it_was_given(stored: Stored, kind: str, name: str) -> None:
    def comparable(value: Any) -> str:
        if isinstance(value, bytes):
            return value.hex().upper()
        return repr(EXACT.add(value.normalize(EXACT), Decimal(0)) if isinstance(value, Decimal) else value)

    expected = {
        (key, value.row[:80]): comparable(value.stored)
        for key, value in enumerate(GIVEN, start=1)
        if value.column == name and value.stored is not None
    }
    rows = {key: value.row[:80] for key, value in enumerate(GIVEN, start=1)}
    found = {
        (key, rows[key]): value if COLUMNS[name].spark == "binary" else comparable(value)
        for key, value in stored.values[kind][name].items()
    }
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
def test_any_other_is_in_quarantine_with_its_reason(stored: Stored, kind: str) -> None:
    given = lines(KINDS[kind])
    expected = {
        number: (line[:160], value.reason) for number, (line, value) in enumerate(given, start=1) if value.reason
    }
    found = {number: (given[number - 1][0][:160], reason) for number, reason in stored.reasons[kind].items()}
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
def test_lines_that_say_nothing_change_nothing(stored: Stored, kind: str) -> None:
    used = {key for key, value in enumerate(GIVEN, start=1) if value.reason is None}
    assert stored.keys[kind] == used | {10**7}
