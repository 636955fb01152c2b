"""Spark types in ClickHouse, and checksums that both engines compute alike."""

from __future__ import annotations

import re

from dbt_common.exceptions import DbtRuntimeError

_SCALARS = {
    "boolean": "Bool",
    "tinyint": "Int8",
    "smallint": "Int16",
    "int": "Int32",
    "bigint": "Int64",
    "float": "Float32",
    "double": "Float64",
    "date": "Date32",
    "timestamp": "DateTime64(6, 'UTC')",
    "timestamp_ntz": "DateTime64(6, 'UTC')",
    "string": "String",
    "binary": "String",
}
_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def clickhouse_type(spark_type: str) -> str:
    """The ClickHouse type in which Parquet columns of ``spark_type`` are read without loss.

    Scalars are Nullable: any column that Spark writes may hold nulls. Arrays, maps and structs
    cannot be: nulls of theirs would be read as empty ones.

    Raises:
        DbtRuntimeError: ClickHouse has no such type.
    """
    name = spark_type.strip().lower()
    if name in _SCALARS:
        return f"Nullable({_SCALARS[name]})"
    if decimal := _DECIMAL.fullmatch(name):
        return f"Nullable(Decimal({decimal[1]}, {decimal[2]}))"
    if name.startswith(("varchar(", "char(")):
        return "Nullable(String)"
    if arguments := _arguments(spark_type.strip(), "array"):
        return f"Array({clickhouse_type(arguments[0])})"
    if arguments := _arguments(spark_type.strip(), "map"):
        key, value = (clickhouse_type(argument) for argument in arguments)
        if key.startswith("Nullable("):
            key = key.removeprefix("Nullable(").removesuffix(")")
        return f"Map({key}, {value})"
    if arguments := _arguments(spark_type.strip(), "struct"):
        fields = (argument.split(":", 1) for argument in arguments)
        return f"Tuple({', '.join(f'`{name}` {clickhouse_type(kind)}' for name, kind in fields)})"
    raise DbtRuntimeError(
        f"The Spark type '{spark_type}' cannot be handed to ClickHouse. Cast the column in the "
        "Spark model, to a string for instance."
    )


def is_nullable(spark_type: str) -> bool:
    """Whether a column of ``spark_type`` keeps its nulls in ClickHouse."""
    return clickhouse_type(spark_type).startswith("Nullable(")


def checksum_expressions(column: str, spark_type: str) -> dict[str, str] | None:
    """SQL for a checksum over all values of ``column``, by engine; None for types without one.

    Of 64-bit integers the upper and the lower half are summed: their own sum could overflow, which
    is an error in ANSI mode. Floats and nested types have none: their text and their sums are not
    the same in both.
    """
    name = spark_type.strip().lower()
    if name in _INTEGERS:
        return _sums_of_halves(f"cast({column} as bigint)", f"toInt64({column})")
    if name == "boolean":
        return _sums(f"cast({column} as int)", f"toInt64({column})")
    if name == "date":
        return _sums(f"unix_date({column})", f"toInt64({column})")
    if name in ("timestamp", "timestamp_ntz"):
        return _sums_of_halves(
            f"unix_micros(cast({column} as timestamp))", f"toUnixTimestamp64Micro({column})"
        )
    if decimal := _DECIMAL.fullmatch(name):
        # As a string, Spark writes 0 with an exponent where the scale is large.
        scale = int(decimal[2])
        plain = f"format_number({column}, '0{'.' * (scale > 0)}{'0' * scale}')"
        return _sums(f"crc32({plain})", f"CRC32(toDecimalString({column}, {scale}))")
    if name in ("string", "binary") or name.startswith(("varchar(", "char(")):
        return _sums(f"crc32({column})", f"CRC32({column})")
    return None


def _sums_of_halves(spark: str, clickhouse: str) -> dict[str, str]:
    return _sums(
        f"shiftright({spark}, 32) + ({spark} & 4294967295)",
        f"bitShiftRight({clickhouse}, 32) + bitAnd({clickhouse}, 4294967295)",
    )


def _sums(spark: str, clickhouse: str) -> dict[str, str]:
    # An empty set sums to NULL in Spark, to 0 or NULL in ClickHouse.
    return {
        "spark": f"coalesce(sum({spark}), 0)",
        "clickhouse": f"coalesce(sum({clickhouse}), 0)",
    }


def _arguments(spark_type: str, constructor: str) -> list[str]:
    """The type arguments of ``constructor<...>``, split at the outermost commas."""
    if not (spark_type.lower().startswith(f"{constructor}<") and spark_type.endswith(">")):
        return []
    arguments, depth = [""], 0
    for character in spark_type[len(constructor) + 1 : -1]:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += character
    return [argument.strip() for argument in arguments]
