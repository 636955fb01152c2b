"""The stored value is the given one, or the row is refused: edge values of every type, from every compatible type.

Each pair of types is a column. One table has a row for each value that must be refused, another has all other values,
so that two dbt runs suffice. Python computes the expected values.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal, localcontext
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node


@dataclass(frozen=True)
class Pair:
    """Values of one type, declared as another: literals, each with the stored text, or None."""

    given: str
    declared: str
    values: dict[str, str | None]


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Oracles: ClickHouse's text of a value, or None if it must be refused.


def integer(bits: int, is_signed: bool) -> Callable[[str], str | None]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)

    def stored(text: str) -> str | None:
        if not re.fullmatch(r"[+-]?\d+", text) or (text[0] == "-" and not is_signed):
            return None
        return str(int(text)) if low <= int(text) <= high else None

    return stored


def decimal(precision: int, scale: int) -> Callable[[str], str | None]:
    def stored(text: str) -> str | None:
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
            return None
        with localcontext(Context(prec=200)):
            scaled = Decimal(text).scaleb(scale)
            if scaled != scaled.to_integral_value() or abs(scaled) >= 10**precision:
                return None
            number = format(Decimal(text), "f")
        whole, _, fraction = number.partition(".")
        return (whole.lstrip("+") + "." + fraction.rstrip("0")).rstrip(".").replace("-0", "0", number == "-0")

    return stored


def floating(bits: int) -> Callable[[str], str | None]:
    code, digits = {32: ("f", 9), 64: ("d", 17)}[bits]

    def stored(text: str) -> str | None:
        if text.lower().lstrip("+-") in ("inf", "infinity", "nan"):
            return text.lower().replace("infinity", "inf").lstrip("+").replace("-nan", "nan")
        try:
            (value,) = struct.unpack(code, struct.pack(code, float(text)))
        except (ValueError, OverflowError):
            return None
        shown = Decimal(text).normalize(Context(prec=200)).as_tuple()
        known = Context(prec=len(shown.digits)).create_decimal(Decimal(value)).normalize()
        is_same = len(shown.digits) <= digits and known == Decimal(text)
        return repr(value) if is_same or Decimal(repr(value)) == Decimal(text) else None

    return stored


def moment(scale: int, zone: str, low: datetime, high: datetime) -> Callable[[str], str | None]:
    def stored(text: str) -> str | None:
        parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?)? ?(Z|UTC|[+-]\d\d:?\d\d)?", text)
        if parts is None:
            return None
        day, clock, fraction, offset = parts.groups()
        fraction = (fraction or "").rstrip("0")
        try:
            local = datetime.fromisoformat(f"{day}T{clock or '00:00:00'}")
        except ValueError:
            return None
        if offset is None:
            found = local.replace(tzinfo=ZoneInfo(zone))
            if found.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != local:
                return None  # an hour that the time zone skips
        else:
            found = datetime.fromisoformat(local.isoformat() + offset.replace("UTC", "Z"))
        if len(fraction) > scale or not low <= found.astimezone(UTC) <= high:
            return None
        shown = found.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S")
        return shown + ("." + fraction.ljust(scale, "0") if scale else "")

    return stored


def day(low: date, high: date) -> Callable[[str], str | None]:
    def stored(text: str) -> str | None:
        parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[ T]00:00:00)?", text)
        try:
            found = date.fromisoformat(parts.group(1)) if parts else None
        except ValueError:
            return None
        return found.isoformat() if found and low <= found <= high else None

    return stored


def one_of(**texts: str) -> Callable[[str], str | None]:
    return texts.get


# Edge values.


def around(*numbers: int) -> list[str]:
    return [str(number + step) for number in numbers for step in (-1, 0, 1)]


INTEGERS = [*around(0), *("+1", "007", "-0", "", " 1", "1 ", "1.0", "1e3", "many", "-", "0x1", "true", "9" * 90)]
DECIMALS = [
    *("0", "-0", "0.00", "1.23", "1.239", "1.2300", "-1.23", "-1.239", "+1.2", ".5", "1.", "1e2", "123e-2", "1e-3"),
    *("1.5e-40", "1e20", "9999999.99", "-9999999.99", "10000000", "9999999.995", "", ".", "-", "nan", "inf", "1,5"),
    *("0.01", "0.009", "-0.01", "1e400", "1e-400", "001.20", "1.23e0"),
]
FLOATS = [
    *("0", "0.1", "-1.5", "1.50", ".5", "1e5", "1e400", "-1e400", "1e39", "1e-400", "16777216", "16777217", "inf"),
    *("-inf", "Infinity", "nan", "NaN", "0.10000000000000001", "0.1234567890123456789", "9007199254740993", "", "x"),
    *("3.4028235e38", "1.7976931348623157e308", "5e-324", "1e-45", "9007199254740992", "0.3", "123456789.123"),
]
DAYS = [
    *("1970-01-01", "1969-12-31", "1960-01-01", "2149-06-06", "2149-06-07", "2200-01-01", "1900-01-01", "2299-12-31"),
    *("2025-02-28", "2025-02-29", "2025-02-30", "2024-02-29", "2025-13-45", "2025-00-10", "", "soon"),
    *("2025-01-31 00:00:00", "2025-01-31 10:00:00", "2025-01-31T00:00:00"),
]
MOMENTS = [
    *("1970-01-01 00:00:00", "1969-12-31 23:59:59", "2106-02-07 06:28:15", "2106-02-07 06:28:16"),
    *("2200-01-01 00:00:00", "2025-01-01", "2025-01-01 12:34:56", "2025-01-01T12:34:56", "2025-01-01T12:34:56Z"),
    *("2025-01-01T12:34:56+01:00", "2025-01-01T12:34:56-0230", "2025-01-01 12:34:56 UTC", "2025-01-01 12:34:56.000"),
    *("2025-01-01 12:34:56.5", "2025-01-01T12:34:56.120Z", "2025-01-01 12:34:56.1234", "2025-01-01T12:34:56.123456Z"),
    *("2025-01-01 25:00:00", "2025-02-30 10:00:00", "2025-01-01 12:60:00", "2025-03-30 02:30:00"),
    *("2025-10-26 02:30:00", "", "soon", "2025-03-30T02:30:00Z", "1970-01-01T00:30:00+01:00"),
    "1970-01-01T00:30:00-01:00",
]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_SECOND = datetime(2106, 2, 7, 6, 28, 15, tzinfo=UTC)
UUID = "61f0c404-5cb3-11e7-907b-a6006ad3dba0"

TEXTS: dict[str, tuple[list[str], Callable[[str], str | None]]] = {
    **{
        f"{'' if is_signed else 'U'}Int{bits}": (
            [*INTEGERS, *around(2**bits, 2 ** (bits - 1), -(2 ** (bits - 1)))],
            integer(bits, is_signed),
        )
        for bits in (8, 16, 32, 64, 128, 256)
        for is_signed in (True, False)
    },
    "Decimal(9, 2)": (DECIMALS, decimal(9, 2)),
    "Decimal(38, 10)": (DECIMALS, decimal(38, 10)),
    "Decimal(76, 38)": (DECIMALS, decimal(76, 38)),
    "Float32": (FLOATS, floating(32)),
    "Float64": (FLOATS, floating(64)),
    "Date": (DAYS, day(date(1970, 1, 1), date(2149, 6, 6))),
    "Date32": (DAYS, day(date(1900, 1, 1), date(2299, 12, 31))),
    "DateTime('UTC')": (MOMENTS, moment(0, "UTC", EPOCH, LAST_SECOND)),
    "DateTime('Europe/Berlin')": (MOMENTS, moment(0, "Europe/Berlin", EPOCH, LAST_SECOND)),
    "DateTime64(3, 'UTC')": (MOMENTS, moment(3, "UTC", EPOCH - timedelta(36500), EPOCH + timedelta(100000))),
    "DateTime64(6, 'Europe/Berlin')": (
        MOMENTS,
        moment(6, "Europe/Berlin", EPOCH - timedelta(36500), EPOCH + timedelta(100000)),
    ),
    "Enum8('a' = 1, 'it\\'s' = -2)": (["a", "it's", "b", "A", "", "1"], {"a": "a", "it's": "it's"}.get),
    "UUID": (
        [UUID, UUID.upper(), UUID.replace("-", ""), UUID[:-1], UUID + "0", ""],
        lambda text: UUID if text.lower().replace("-", "") == UUID.replace("-", "") else None,
    ),
    "IPv4": (["0.0.0.0", "255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4/8", "x"], {t: t for t in ("0.0.0.0", "255.255.255.255")}.get),
    "IPv6": (["::", "::1", "0:0:0:0:0:0:0:1", "::1%eth0", "g::"], {"::": "::", "::1": "::1", "0:0:0:0:0:0:0:1": "::1"}.get),
    "Bool": (["true", "false", "1", "0", "2", "maybe"], {"true": "true", "false": "false", "1": "true", "0": "false"}.get),
    "FixedString(3)": (["abc", "ab", "", "abcd", "üx"], {"abc": "abc", "ab": "ab\0", "": "\0\0\0", "üx": "üx"}.get),
}  # fmt: skip


# Types whose texts are also given inside arrays, maps and tuples: one for each way to judge a text.
NESTED = ("UInt128", "Decimal(9, 2)", "Float32", "Date", "DateTime('UTC')", "FixedString(3)")


def of_texts() -> Iterator[Pair]:
    """Texts for every type, on their own and inside other values."""
    for declared, (texts, stored) in TEXTS.items():
        values = {text: stored(text) for text in dict.fromkeys(texts)}
        yield Pair(
            "Nullable(String)", f"Nullable({declared})", {literal(text): found for text, found in values.items()}
        )
        shapes = (
            ("Array(String)", f"Array({declared})", "[{}]"),
            ("Map(String, Array(String))", f"Map(String, Array({declared}))", "map('k', [{}])"),
            ("Array(Tuple(a String, b Int8))", f"Array(Tuple(a {declared}, b Int8))", "[({}, 1)]"),
        )
        for given, nested, shape in shapes if declared in NESTED else ():
            yield Pair(
                given,
                nested,
                {
                    shape.format(literal(text)): found
                    if found is None
                    else "*" + ("" if "Float" in declared else found)
                    for text, found in values.items()
                },
            )


OTHERS = [
    Pair("Nullable(Int64)", "Nullable(UInt8)", {"0": "0", "255": "255", "256": None, "-1": None}),
    Pair("Nullable(Int64)", "Nullable(Float64)", {"9007199254740992": "9007199254740992", "9007199254740993": None}),
    Pair("Nullable(Int64)", "Nullable(Decimal(9, 2))", {"9999999": "9999999", "100000000": None}),
    Pair("Nullable(Int64)", "Nullable(Bool)", {"0": "false", "1": "true", "2": None}),
    Pair("Nullable(Int64)", "Nullable(Date)", {"0": "1970-01-01", "65535": "2149-06-06", "100000": None, "-1": None}),
    Pair("Nullable(Int64)", "Nullable(Enum8('a' = 1))", {"1": "a", "5": None}),
    Pair("Nullable(UInt64)", "Nullable(Int64)", {"9223372036854775807": "9223372036854775807", "9223372036854775808": None}),
    Pair("Nullable(Float64)", "Nullable(Float32)", {"0.5": "0.5", "0.1": None, "1e39": None, "nan": "nan", "inf": "inf"}),
    Pair("Nullable(Float64)", "Nullable(Int32)", {"1": "1", "1.5": None, "nan": None, "inf": None, "2147483648": None}),
    Pair("Nullable(Float64)", "Nullable(Decimal(9, 2))", {"0.29": "0.29", "1.239": None, "nan": None, "inf": None}),
    Pair("Nullable(Decimal(12, 3))", "Nullable(Decimal(9, 2))", {"1.230": "1.23", "1.239": None, "99999999": None}),
    Pair("Nullable(Decimal(12, 3))", "Nullable(Int8)", {"-128": "-128", "1.5": None, "128": None}),
    Pair("Nullable(Decimal(38, 10))", "Nullable(Float32)", {"0.5": "0.5", "16777217": None}),
    Pair("Nullable(Date32)", "Nullable(Date)", {"'2149-06-06'": "2149-06-06", "'2149-06-07'": None, "'1969-12-31'": None}),
    Pair("Nullable(Date32)", "Nullable(DateTime('UTC'))", {"'2106-02-07'": "2106-02-07 00:00:00", "'2106-02-08'": None}),
    Pair("Nullable(DateTime64(6, 'UTC'))", "Nullable(DateTime('UTC'))", {"'2025-01-01 00:00:00'": "2025-01-01 00:00:00", "'2025-01-01 00:00:00.5'": None, "'2200-01-01 00:00:00'": None, "'1960-01-01 00:00:00'": None}),
    Pair("Nullable(DateTime64(6, 'UTC'))", "Nullable(Date)", {"'2025-01-01 00:00:00'": "2025-01-01", "'2025-01-01 00:00:01'": None}),
    Pair("Nullable(Enum8('a' = 1, 'b' = 2))", "Nullable(Enum8('b' = 1, 'c' = 2))", {"'a'": None, "'b'": "b"}),
    Pair("Nullable(Enum8('a' = 1))", "Nullable(String)", {"'a'": "a"}),
    Pair("Nullable(FixedString(3))", "Nullable(Int16)", {"'12'": "12", "'abc'": None}),
    Pair("Nullable(FixedString(3))", "Nullable(FixedString(2))", {"'12'": "12", "'abc'": None}),
    Pair("Nullable(FixedString(3))", "Nullable(String)", {"'abc'": "abc"}),
    Pair("Nullable(IPv4)", "Nullable(IPv6)", {"'1.2.3.4'": "::ffff:1.2.3.4"}),
    Pair("LowCardinality(Nullable(String))", "Nullable(Int8)", {"'127'": "127", "'128'": None}),
    Pair("LowCardinality(Nullable(String))", "LowCardinality(Nullable(FixedString(3)))", {"'abc'": "abc", "'abcd'": None}),
    Pair("Nullable(String)", "Nullable(String)", {"repeat(repeat('x', 20000), 1000)": "x" * 20_000_000, "''": ""}),
    Pair("Nullable(String)", "LowCardinality(Nullable(String))", {"repeat(repeat('x', 20000), 1000)": "x" * 20_000_000}),
    Pair("Array(Date32)", "Array(Date)", {"['2025-01-01']": "['2025-01-01']", "['2200-01-01']": None}),
    Pair("Array(Decimal(9, 3))", "Array(Decimal(9, 2))", {"[1.230]": "[1.23]", "[1.23, 1.239]": None}),
    Pair("Array(Int64)", "Array(UInt8)", {"[1, 255]": "[1,255]", "[256]": None, "[-1]": None}),
    Pair("Array(Nullable(Int64))", "Array(UInt8)", {"[1]": "[1]", "[null]": None}),
    Pair("Array(Nullable(Int64))", "Array(Nullable(UInt8))", {"[1, null]": "[1,NULL]", "[256]": None}),
    Pair("Array(Array(Int64))", "Array(Array(UInt8))", {"[[], [1]]": "[[],[1]]", "[[1], [2, 256]]": None}),
    Pair("Map(Int64, Float64)", "Map(Int8, Float32)", {"map(1, 0.5)": "{1:0.5}", "map(128, 1)": None, "map(1, 0.1)": None}),
    Pair("Tuple(a Int64, b String)", "Tuple(b String, a Int8)", {"(1, 'x')": "('x',1)", "(128, 'x')": None}),
    Pair("Tuple(Int64, String)", "Tuple(Int8, LowCardinality(String))", {"(1, 'x')": "(1,'x')", "(128, 'x')": None}),
    Pair("String default '[]'", "Array(Int64)", {"'[1, 2]'": "[1,2]", "'[]'": "[]"}),
    Pair("Nullable(String)", "Nullable(JSON)", {'\'{"a": 1.10, "b": {"c": [1, "x"]}, "n": null, "e": {}}\'': '{"a":1.1,"b":{"c":[1,"x"]}}', '\'{"a": 12345678901234567890.123}\'': None, '\'{"d": "2025-01-31", "e": "soon"}\'': '{"d":"2025-01-31","e":"soon"}', '\'{"e": "2025-02-30"}\'': None, "'{'": None, "'[1]'": None}),
    Pair("Tuple(a UInt8, b String)", "JSON", {"(1, 'x')": '{"a":1,"b":"x"}'}),
    Pair("Variant(Int64, String)", "Nullable(Int8)", {"5::Int64": "5", "'x'::String": None, "300::Int64": None}),
    Pair("Dynamic", "Nullable(Decimal(9, 2))", {"'1.23'::String": "1.23", "'1.239'::String": None}),
    Pair("Nullable(UInt8)", "Variant(String, UInt8)", {"5": "5"}),
    Pair("Int64", "Dynamic", {"5": "5"}),
]  # fmt: skip

PAIRS = [*of_texts(), *OTHERS]


def build(
    project: CollapsingProject, name: str, is_refused: bool, **config: Any
) -> tuple[Node, dict[tuple[int, str], int]]:
    """A run on the values to be refused, or on the others, and the row number of each value."""
    project.command(
        f"create table {name}_changes (id Int64, _version Int64, "
        + ", ".join(f"c{at} {pair.given}" for at, pair in enumerate(PAIRS))
        + ") engine = Memory"
    )
    numbers: dict[tuple[int, str], int] = {}
    for at, pair in enumerate(PAIRS):
        chosen = [value for value, found in pair.values.items() if (found is None) == is_refused]
        if not chosen:
            continue
        for value in chosen:
            numbers[at, value] = len(numbers)
        rows = " union all ".join(f"select {numbers[at, value]}, 1, {value}" for value in chosen)
        project.command(f"insert into {name}_changes (id, _version, c{at}) {rows}")
    project.add_model(name, {"unique_key": "id", **config}, f"select * from {name}_changes")
    project.declare(name, {f"c{at}": pair.declared for at, pair in enumerate(PAIRS)})
    return project.run("--select", name)[name], numbers


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    return make_project("edge_values")


def is_same(text: str, stored: str, declared: str) -> bool:
    """Whether a text is that of a value or, after a star, of part of it."""
    if text.startswith("*"):
        return text[1:].replace("\0", "\\0") in stored
    if declared.startswith("Nullable(Float"):
        code = "f" if "Float32" in declared else "d"
        return struct.pack(code, float(stored)) == struct.pack(code, float(text))
    return stored == text.rstrip("\0")


def test_what_is_stored_is_what_was_given(project: CollapsingProject) -> None:
    outcome, numbers = build(project, "kept", is_refused=False)
    assert outcome.status == "success", outcome.message
    wrong = {}
    for at, pair in enumerate(PAIRS):
        found: dict[int, str] = dict(project.query(f"select id, toString(c{at}) from kept where c{at} is not null"))
        for value, text in pair.values.items():
            stored = found.get(numbers.get((at, value), -1))
            if text is not None and (stored is None or not is_same(text, stored, pair.declared)):
                wrong[pair.given, pair.declared, value[:50]] = (text[:50], stored and stored[:50])
    assert wrong == {}
    assert project.run("--select", "kept")["kept"].message.endswith(f"{len(numbers)} duplicates")


def test_what_is_not_stored_as_given_is_refused(project: CollapsingProject) -> None:
    outcome, _ = build(project, "wrong", is_refused=True)
    assert outcome.status == "error"
    found = {
        int(column): int(count)
        for count, column in re.findall(r"^ *- (\d+) rows?: c(\d+) does not fit", outcome.message, re.MULTILINE)
    }
    expected = {
        at: count for at, pair in enumerate(PAIRS) if (count := sum(text is None for text in pair.values.values()))
    }
    assert expected, outcome.message
    wrong = {at for at in {*found, *expected} if found.get(at) != expected.get(at)}
    assert [(PAIRS[at], found.get(at), expected.get(at)) for at in sorted(wrong)] == [], outcome.message
