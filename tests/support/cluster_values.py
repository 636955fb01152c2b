"""A small project for any profile, with values that Spark and ClickHouse could read differently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.shop import REPOSITORY, Row, query

# Models from the adapter's own tests: edge values of each type, and partitions by each type.
_MODELS = REPOSITORY / "plugins/dbt-spark-clickhouse/tests/functional/project/models/spark"
_COLUMNS = {
    "id": "bigint",
    "day": "date",
    "at": "timestamp",
    "amount": "decimal(38, 10)",
    "whole": "bigint",
    "text": "string",
    "v": "bigint",
}
_READINGS = Situation(
    "readings",
    f"parse_upserts(SOURCE, key=['id'], columns={_COLUMNS!r}, version='v')",
    "one_change_per_key(EVENTS, key=['id'])",
    {
        "id": "Int64",
        "day": "Nullable(Date32)",
        "at": "Nullable(DateTime64(6, 'UTC'))",
        "amount": "Nullable(Decimal(38, 10))",
        "whole": "Nullable(Int64)",
        "text": "Nullable(String)",
    },
    {"unique_key": "id"},
    select="id, day, at, amount, whole, text, _version, _is_deleted",
)
# Per line: id, version, day, at, amount, whole, text.
_LINES = (
    (1, 1, "2001-01-01", None, None, 2**53, "is replaced"),
    (1, 2, "1901-02-03", "1969-12-31 23:59:59.999999", "-9007199254740993.0000000001", 2**53 + 1, ""),
    (2**53 + 1, 2, "2299-12-31", "2025-03-30T01:30:00.123456Z", f"{'9' * 28}.{'9' * 10}", None, "日本"),
    (-(2**63), 1, None, None, None, 2**63 - 1, "'quoted' \\ \t back"),
)
READINGS: list[Row] = [
    ("-9223372036854775808", None, None, None, "9223372036854775807", "'quoted' \\ \t back"),
    (*("1", "1901-02-03", "1969-12-31 23:59:59.999999", "-9007199254740993.0000000001"), *("9007199254740993", "")),
    (
        *("9007199254740993", "2299-12-31", "2025-03-30 01:30:00.123456"),
        *("9999999999999999999999999999.9999999999", None, "日本"),
    ),
]
# Spark's tables as ClickHouse reads them, and a ClickHouse table made from one.
_CURRENT = {
    "current/edges_served.sql": "{{ config(materialized='table') }} select * from {{ ref('edges') }}",
    "current/folders_served.sql": "{{ config(materialized='table') }} select * from {{ ref('folders') }}",
    "current/edges_kept.sql": (
        "{{ config(unique_key='id') }} select *, toInt64(id) as _version from {{ ref('edges') }}"
    ),
}
EDGES: list[Row] = [
    (
        *("1", "127", "-32768", "2147483647", "-9223372036854775808", "1.5", "0.1"),
        *("-12345678901234567.89", "9" * 38, "true", "日本 'quoted' \\ back", "\0\\xff\x10"),
        *("1500-02-03", "2299-12-31", "1500-01-02 03:04:05.678901", "2999-12-31 23:59:59.999999"),
        *("2024-05-06 07:08:09.123456", "[1,NULL,3]", "{'a':1,'b':NULL}", "{(1):'one'}"),
        "(1,[('deep')])",
    ),
    ("2", *(None,) * 16, "[]", "{}", "{}", "(NULL,[('deep')])"),
]
FOLDERS: list[Row] = [
    (*("1", "1950-02-03", "2024-05-06 07:08:09.123456", "-1.25", "true", "-7"), "a/b=c %20 日本 'q'"),
    ("2", *(None,) * 6),
]


def values_project(folder: Path, output: Mapping[str, Any]) -> ChangeSetProject:
    """The project with two batches, and with ``output`` as its profile."""
    staging = {
        "staging/edges.sql": "{{ config(materialized='table') }}\n" + (_MODELS / "spark_types.sql").read_text(),
        "staging/folders.sql": (_MODELS / "spark_partitioned.sql")
        .read_text()
        .replace("config(", "config(materialized='table', "),
    }
    project = ChangeSetProject(folder, [_READINGS], output=output, models={**staging, **_CURRENT})
    for batch, lines in ((1, _LINES[:1]), (2, _LINES[1:])):
        names = ("id", "v", "day", "at", "amount", "whole", "text")
        lines_of_batch = [json.dumps(dict(zip(names, line, strict=True))) for line in lines]
        project.land("readings", batch, lines_of_batch)
    return project


def assert_values(client: Client) -> None:
    """Every table holds what landed, and what Spark was told to create."""
    columns = "id, day, at, amount, whole, text"
    assert texts(client, f"select {columns} from shop.readings final where _sign = 1") == READINGS
    assert texts(client, "select * from shop.edges_served") == EDGES
    assert texts(client, "select * except (_version, _sign) from shop.edges_kept") == EDGES
    assert texts(client, "select * from shop.folders_served") == FOLDERS


def texts(client: Client, sql: str) -> list[Row]:
    """The rows of a query, ordered by all columns, each value as ClickHouse prints it."""
    rows = query(client, f"select * apply(x -> hex(toString(x))) from ({sql}) order by all")
    return [
        tuple(None if v is None else bytes.fromhex(v).decode(errors="backslashreplace") for v in row) for row in rows
    ]
