"""Spark types in ClickHouse."""

from __future__ import annotations

import re

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, Engine

# How ClickHouse stores Spark's scalars.
SCALARS = {
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
_COLLATION = re.compile(r"\b(string|char\(\d+\)|varchar\(\d+\)) collate \w+", re.IGNORECASE)
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def clickhouse_type(spark_type: str) -> str:
    """The ClickHouse type that reads Parquet columns of ``spark_type`` without loss.

    Scalars are Nullable, because any column that Spark writes may hold nulls. Arrays, maps and structs cannot be
    Nullable: their nulls are read as empty values.

    Raises:
        DbtRuntimeError: ClickHouse has no such type.
    """
    name = spark_type.strip().lower()
    if name in SCALARS:
        return f"Nullable({SCALARS[name]})"
    if decimal := _DECIMAL.fullmatch(name):
        return f"Nullable(Decimal({decimal[1]}, {decimal[2]}))"
    if name.startswith(("varchar(", "char(")):
        return "Nullable(String)"
    if arguments := type_arguments(spark_type.strip(), "array"):
        return f"Array({clickhouse_type(arguments[0])})"
    if arguments := type_arguments(spark_type.strip(), "map"):
        key, value = (clickhouse_type(argument) for argument in arguments)
        if key.startswith("Nullable("):
            key = key.removeprefix("Nullable(").removesuffix(")")
        return f"Map({key}, {value})"
    if fields := struct_fields(spark_type.strip()):
        types = (f"{quote(name, CLICKHOUSE)} {clickhouse_type(kind)}" for name, kind in fields)
        return f"Tuple({', '.join(types)})"
    raise DbtRuntimeError(
        f"The Spark type '{spark_type}' cannot be handed to ClickHouse. Cast the column in the "
        "Spark model, to a string for instance."
    )


def without_collations(spark_type: str) -> str:
    """A type without its collations, which do not change the bytes of its strings."""
    return _COLLATION.sub(r"\1", spark_type)


def is_nullable(spark_type: str) -> bool:
    """Whether a column of ``spark_type`` keeps its nulls in ClickHouse."""
    return clickhouse_type(spark_type).startswith("Nullable(")


def quote(name: str, engine: Engine) -> str:
    """A column name, quoted for the SQL of ``engine``."""
    if engine == CLICKHOUSE:
        name = name.replace("\\", "\\\\")
    return f"`{name.replace('`', '``')}`"


def struct_fields(spark_type: str) -> list[tuple[str, str]]:
    """The names and types of a struct's fields. Spark does not quote the names, which may contain a colon."""
    return [_field(argument) for argument in type_arguments(spark_type, "struct")]


def _field(argument: str) -> tuple[str, str]:
    colons = [i for i, character in enumerate(argument) if character == ":"]
    for colon in colons:
        name, kind = argument[:colon], argument[colon + 1 :]
        try:
            clickhouse_type(kind)
        except DbtRuntimeError:
            if colon == colons[-1]:
                raise
        else:
            return name, kind
    raise DbtRuntimeError(
        f"A field of a struct is '{argument}', and its name and type cannot be read from it. "
        "Give it a name of letters, digits and underscores in the Spark model."
    )


def type_arguments(spark_type: str, constructor: str) -> list[str]:
    """The type arguments of ``constructor<...>``, split at top-level commas."""
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
