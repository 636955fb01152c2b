"""Checksums that come out the same on both engines for the same values."""

from __future__ import annotations

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.core.types import DECIMAL, quote, struct_fields, type_arguments

# Separators between the arguments of concat().
_COMMA, _COLON = ", ',', ", ", ':', "
_FLOATS = {"float", "double"}
_INTEGERS = {"tinyint", "smallint", "int", "bigint"}


def digest(value: str, spark_type: str, engine: Engine) -> str:
    """SQL for an integer that is the same on both engines for the same value, and almost always differs for different
    values; null for a null scalar.

    Args:
        value: the value, as SQL.
        spark_type: its type in Spark.
        engine: the engine whose SQL to write.
    """
    name = spark_type.strip().lower()
    on_spark = engine == SPARK
    if name in _INTEGERS or name == "boolean":
        return f"cast({value} as bigint)" if on_spark else f"toInt64({value})"
    if name == "date":
        return f"cast(unix_date({value}) as bigint)" if on_spark else f"toInt64({value})"
    if name in ("timestamp", "timestamp_ntz"):
        if on_spark:
            return f"unix_micros(cast({value} as timestamp))"
        return f"toUnixTimestamp64Micro({value})"
    if name in _FLOATS:
        return _crc32(_bits_of_float(value, engine), engine)
    if decimal := DECIMAL.fullmatch(name):
        return _crc32(_digits(value, int(decimal[2]), engine), engine)
    if name in ("string", "binary") or name.startswith(("varchar(", "char(")):
        return _crc32(value, engine)
    return _crc32(_nested_text(value, spark_type, engine), engine)


def text_of_digest(value: str, spark_type: str, engine: Engine) -> str:
    """SQL for the digest as text, which is never null."""
    own = digest(value, spark_type, engine)
    if engine == SPARK:
        return f"coalesce(cast({own} as string), 'n')"
    return f"ifNull(toString({own}), 'n')"


def sum_of_digests(own: str, engine: Engine) -> str:
    """SQL for a checksum over a column of digests.

    The upper and the lower half are summed separately: a sum of 64-bit integers could overflow, which is an error in
    ANSI mode. The sum over no rows is NULL in Spark, and 0 or NULL in ClickHouse.
    """
    if engine == SPARK:
        return f"coalesce(sum(shiftright({own}, 32) + ({own} & 4294967295)), 0)"
    return f"coalesce(sum(bitShiftRight({own}, 32) + bitAnd({own}, 4294967295)), 0)"


def _crc32(text: str, engine: Engine) -> str:
    return f"crc32({text})" if engine == SPARK else f"toInt64(CRC32({text}))"


def _digits(value: str, scale: int, engine: Engine) -> str:
    """The digits of a decimal. As text, Spark writes one below 0.000001 with an exponent."""
    if engine == CLICKHOUSE:
        return f"toDecimalString({value}, {scale})"
    if scale <= 6:
        return f"cast({value} as string)"
    return f"format_number({value}, '0.{'0' * scale}')"


def _bits_of_float(value: str, engine: Engine) -> str:
    """All bits of a float in Java's hexadecimal form, such as 0x1.8p1: its decimal digits depend on the version of
    Java."""
    if engine == SPARK:
        return f"if({value} is null, null, format_string('%a', cast({value} as double)))"
    double = f"toFloat64({value})"
    bits = f"reinterpretAsInt64({double})"
    exponent = f"bitAnd(bitShiftRight({bits}, 52), 2047)"
    mantissa = f"bitAnd({bits}, 4503599627370495)"
    digits = f"right(leftPad(lower(hex({mantissa})), 14, '0'), 13)"
    return (
        f"multiIf(isNaN({double}), 'NaN', isInfinite({double}), "
        f"if({double} < 0, '-Infinity', 'Infinity'), "
        f"concat(if({bits} < 0, '-', ''), if({exponent} = 0, '0x0.', '0x1.'), "
        f"if({mantissa} = 0, '0', trim(trailing '0' from {digits})), 'p', "
        f"toString(multiIf({exponent} > 0, {exponent} - 1023, {mantissa} = 0, 0, -1022))))"
    )


def _nested_text(value: str, spark_type: str, engine: Engine, depth: int = 0) -> str:
    """The digests of the elements of an array, map or struct.

    Nulls count as ClickHouse reads them: a null array or map as empty, a null struct as one of nulls.
    """
    kind = spark_type.strip()

    def inner(part: str, part_type: str) -> str:
        if part_type.strip().lower().startswith(("array<", "map<", "struct<")):
            return _nested_text(part, part_type, engine, depth + 1)
        return text_of_digest(part, part_type, engine)

    on_spark = engine == SPARK
    element = f"e{depth}"
    if elements := type_arguments(kind, "array"):
        text = inner(element, elements[0])
        if on_spark:
            joined = f"array_join(transform({value}, {element} -> {text}), ',')"
        else:
            joined = f"arrayStringConcat(arrayMap({element} -> {text}, {value}), ',')"
        return f"concat('[', coalesce({joined}, ''), ']')"
    if entries := type_arguments(kind, "map"):
        parts = ("key", "value") if on_spark else (1, 2)
        texts = (inner(f"{element}.{part}", entry) for part, entry in zip(parts, entries, strict=True))
        pair = f"concat({_COLON.join(texts)})"
        if on_spark:
            pairs = f"array_sort(transform(map_entries({value}), {element} -> {pair}))"
            joined = f"array_join({pairs}, ',')"
        else:
            listed = f"arrayZip(mapKeys({value}), mapValues({value}))"
            joined = f"arrayStringConcat(arraySort(arrayMap({element} -> {pair}, {listed})), ',')"
        return f"concat('{{', coalesce({joined}, ''), '}}')"
    fields = struct_fields(kind)
    names = [
        f"{value}.{quote(name, SPARK)}" if on_spark else f"tupleElement({value}, {number})"
        for number, (name, _) in enumerate(fields, 1)
    ]
    texts = (inner(name, field) for name, (_, field) in zip(names, fields, strict=True))
    return f"concat('(', {_COMMA.join(texts)}, ')')"
