"""Makes the fixtures of tests/change_sets/dialects: what Debezium sends of one table under various settings.

python -m scripts.debezium.dialects [name ...]

For each variant it writes `<name>.jsonl`, the values of Debezium's messages in order, and `<name>.expected.json`: the
settings, the types of the columns, and the table's rows at the end, as the database itself prints them. The snapshot
reads rows 1 to 9, the others are streamed. Rows 4 and 14 hold values that Debezium or other databases lack: NaN,
infinity, zero dates. Debezium itself loses some of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from scripts.debezium.engine import Debezium, Record
from scripts.debezium.mariadb import MariaDB
from scripts.debezium.postgres import Postgres
from scripts.debezium.recording import MARKER, Recording, wait_until

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "change_sets" / "dialects"
FLAT = {
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.delete.tombstone.handling.mode": "rewrite",
    "transforms.unwrap.add.fields": "op,table,lsn,source.sequence,source.ts_ms",
}
FLAT_MYSQL = {**FLAT, "transforms.unwrap.add.fields": "op,table,file,pos,row,source.ts_ms"}
WITH_SCHEMAS = {"value.converter.schemas.enable": "true"}
TRUNCATES = {"skipped.operations": "none"}
# Every table of a shop in one topic, as with the router of logical tables and the sinks of Debezium Server.
ONE_TOPIC = {
    "transforms": "route",
    "transforms.route.type": "io.debezium.transforms.ByLogicalTableRouter",
    "transforms.route.topic.regex": r"(.*)\.(?!marker)[^.]+",
    "transforms.route.topic.replacement": "$1.all",
}

POSTGRESQL_TYPES = """
create extension hstore;
create type mood as enum ('sad', 'ok', 'happy');
create table types (
  id integer primary key, small smallint, big bigint, price numeric(12,2), free numeric, cash money, ratio double precision,
  single real, is_open boolean, name text, code char(5), mood mood, day date, seen timestamp, seen_ms timestamp(3),
  made timestamptz, opens time, opens_tz timetz, lasts interval, uid uuid, doc jsonb, raw bytea, flags bit(5), flag bit(1),
  mask bit varying(70), tags text[], numbers integer[], prices numeric(8,2)[], days date[], attrs hstore, net inet,
  span int4range, place point, note text
);
alter table types alter note set storage external;
"""
POSTGRESQL_ROWS = {
    "ordinary": """'7', '9000000000', '12.50', '0.123456789', '99.95', '0.1', '1.5', 'true', 'Zoë "Q" 雪', 'ab', 'ok', '2025-03-09',
      '2025-03-09 12:34:56.123456', '2025-03-09 12:34:56.123', '2025-03-09 12:34:56.123456+00', '08:30:00.5', '08:30:00+02',
      '1 year 2 mons 3 days 04:05:06.789', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', '{"a": [1, null, "x"], "b": 1.50}',
      '\\x00ff10', '10110', '1', '1011', '{a,NULL,"b,c",""}', '{1,NULL,3}', '{1.50,-2.25}', '{2025-01-01}', 'a=>1,b=>NULL',
      '10.0.0.1/24', '[1,5)', '(1.5,-2)', repeat('ü ', 700)""",
    "nulls": ", ".join(["null"] * 33),
    "extremes": """'-32768', '-9223372036854775808', '-9999999999.99', '-123456789012345678901234567890.0000000001', '-0.01',
      '1.7976931348623157e308', '-1e-37', 'false', '', '', 'happy', '1900-01-01', '1900-01-01 00:00:00', '2299-12-31 23:59:59.999',
      '2299-12-31 23:59:59.999999+00', '23:59:59.999999', '23:59:59.999999-12', '-1 years -3 days -00:00:00.000001',
      '00000000-0000-0000-0000-000000000000', '[]', '\\x', '00000', '0', '', '{}', '{}', '{}', '{}', '', '::1', 'empty', '(0,0)', ''""",
    # Values that other databases lack.
    "beyond": """null, null, null, 'NaN', null, 'NaN', 'Infinity', null, null, null, null, 'infinity', 'infinity', '9999-12-31 00:00:00',
      '-infinity', '24:00:00', null, null, null, null, null, null, null, null, null, null, null, '{0044-03-15 BC,infinity}', null,
      null, null, null, null""",
}  # fmt: skip
MARIADB_TYPES = """
create table types (
  id integer primary key, tiny tinyint, is_open tinyint(1), small smallint unsigned, medium mediumint, whole int unsigned,
  big bigint, huge bigint unsigned, price decimal(12,2), precise decimal(38,10), ratio double, single float, name varchar(50),
  code char(5), mood enum('sad', 'ok', 'happy'), marks set('a', 'b', 'c'), day date, seen datetime, seen_ms datetime(3),
  seen_us datetime(6), made timestamp(6) null, opens time, opens_us time(6), year year, doc json, raw varbinary(10),
  fixed binary(4), picture blob, flags bit(5), flag bit(1), mask bit(64), place point, note text
) default charset utf8mb4;
"""
MARIADB_ROWS = {
    "ordinary": """7, true, 65535, -8388608, 4294967295, 9000000000, 12, '12.50', '0.1234567891', 0.1, 1.5, 'Zoë "Q" 雪', 'ab', 'ok',
      'a,c', '2025-03-09', '2025-03-09 12:34:56', '2025-03-09 12:34:56.123', '2025-03-09 12:34:56.123456',
      '2025-03-09 12:34:56.123456', '08:30:00', '08:30:00.500000', 2025, '{"a": [1, null, "x"]}', x'00ff10', x'0102',
      x'ffd8', b'10110', b'1', b'1011', point(1.5, -2), 'a note'""",
    "nulls": ", ".join(["null"] * 32),
    "extremes": """-128, false, 0, 8388607, 0, -9223372036854775808, 18446744073709551615, '-9999999999.99',
      '-1234567890123456789012345678.0000000001', -1.7976931348623157e308, -1e-37, '', '', 'happy', '', '1900-01-01',
      '1900-01-01 00:00:00', '2299-12-31 23:59:59.999', '2299-12-31 23:59:59.999999', '2037-12-31 23:59:59.999999',
      '23:59:59', '23:59:59.999999', 1901, '[]', '', x'00000000', '', b'00000', b'0', 0xffffffffffffffff, point(0, 0), ''""",
    "beyond": """null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, '0000-00-00',
      '9999-12-31 23:59:59', '1000-01-01 00:00:00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '-838:59:59', '838:59:59', 0,
      null, null, null, null, null, null, null, null, null""",
}  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """Settings, and what happens in the database.

    Args:
        settings: the connector's, without the address of the database.
        before: statements before the connector starts.
        after: groups of statements after its snapshot; each starts when the connector has caught up with the last one.
    """

    settings: Mapping[str, str]
    before: str
    after: tuple[str, ...]
    tables: Mapping[str, str] = field(default_factory=lambda: {"types": "id"})


def _changes(rows: Mapping[str, str], first: int) -> str:
    return "".join(
        f"insert into types values ({number}, {values});\n" for number, values in enumerate(rows.values(), first)
    )


def _of_types(settings: Mapping[str, str], create: str, rows: Mapping[str, str], identity: str = "") -> Variant:
    """Four rows before the snapshot and four after it. Some of them change: an update, other keys, deletes."""
    before = create + identity + _changes(rows, 1) + _changes({"deleted": rows["nulls"], "moved": rows["ordinary"]}, 8)
    after = _changes(rows, 11) + (
        "update types set name = 'updated' where id in (1, 2, 11);\n"
        "update types set id = 99 where id = 9;\n"
        "delete from types where id in (8, 12);\n"
        f"insert into types values (8, {rows['extremes']});\n"
    )
    return Variant(settings, before, (after,))


def _postgresql(settings: Mapping[str, str], *, has_full_identity: bool = True) -> Variant:
    identity = "alter table types replica identity full;\n" if has_full_identity else ""
    return _of_types(settings, POSTGRESQL_TYPES, POSTGRESQL_ROWS, identity)


def _mariadb(settings: Mapping[str, str]) -> Variant:
    return _of_types(settings, f"set sql_mode = '';\n{MARIADB_TYPES}", MARIADB_ROWS)


# Two tables with the same keys, so that mixing up their rows would show.
ORDERS = """
create table orders (id integer primary key, amount numeric(12,2), note varchar(50));
create table returns (id integer primary key, amount numeric(12,2), note varchar(50));
create table signals (id varchar(50) primary key, type varchar(50), data varchar(500));
"""
ORDERS_BEFORE = ORDERS + (
    "insert into orders values (1, 1.50, 'o1'), (2, 2.50, 'o2'), (3, 3.50, 'o3'), (4, 4.50, 'o4');\n"
    "insert into returns values (2, -2.50, 'r2'), (3, -3.50, 'r3');\n"
)
ORDERS_CHANGE = (
    "update orders set amount = amount + 1 where id = 1;\n"
    "delete from returns where id = 3;\n"
    "update orders set id = 5, note = 'o5' where id = 4;\n"
    "insert into returns values (4, -4.50, 'r4');\n"
    "insert into orders values (6, 6.50, 'o6');\n"
)


def _snapshot(kind: str, schema: str) -> str:
    """A snapshot command for Debezium; the marker is read last."""
    tables = json.dumps([f"{schema}.{table}" for table in ("orders", "returns", MARKER)])
    data = f'{{"type": "{kind}", "data-collections": {tables}}}'
    return f"insert into signals values ('{kind}', 'execute-snapshot', '{data}');\n"


def _of_orders(settings: Mapping[str, str], *after: str) -> Variant:
    schema = {"signal.data.collection": "SCHEMA.signals", "decimal.handling.mode": "string"}
    return Variant({**schema, **settings}, ORDERS_BEFORE, after, {"orders": "id", "returns": "id"})


VARIANTS = {
    "postgresql_defaults": _postgresql({}, has_full_identity=False),
    "postgresql_schemas": _postgresql(WITH_SCHEMAS, has_full_identity=False),
    "postgresql_texts": _postgresql(
        {"decimal.handling.mode": "string", "time.precision.mode": "isostring", "binary.handling.mode": "hex", "interval.handling.mode": "string"}
    ),
    "postgresql_doubles": _postgresql(
        {"decimal.handling.mode": "double", "time.precision.mode": "connect", "binary.handling.mode": "base64", "hstore.handling.mode": "map"}
    ),
    "postgresql_nanoseconds": _postgresql({**WITH_SCHEMAS, "time.precision.mode": "nanoseconds", "binary.handling.mode": "base64-url-safe"}),
    "postgresql_flat": _postgresql(FLAT),
    "postgresql_flat_schemas": _postgresql({**FLAT, **WITH_SCHEMAS}, has_full_identity=False),
    "postgresql_one_topic": _of_orders(ONE_TOPIC, ORDERS_CHANGE),
    # Debezium reads no rows at first. An incremental snapshot does later, and its rows have no position.
    "postgresql_incremental": _of_orders(
        {"snapshot.mode": "no_data"},
        "update orders set note = 'before' where id = 2;\n",
        _snapshot("incremental", "SCHEMA"),
        ORDERS_CHANGE,
        _snapshot("blocking", "SCHEMA"),
        "update orders set note = 'after' where id = 2;\n",
    ),
    "postgresql_truncates": _of_orders(
        {**TRUNCATES, "provide.transaction.metadata": "true"},
        "update orders set note = 'new' where id = 1; truncate returns;\n",
        "begin; insert into returns values (7, 7, 'r7'); truncate orders; insert into orders values (1, 9, 'again'); commit;\n",
    ),
    "mysql_defaults": _mariadb({}),
    "mysql_schemas": _mariadb(WITH_SCHEMAS),
    "mysql_texts": _mariadb(
        {"decimal.handling.mode": "string", "time.precision.mode": "isostring", "binary.handling.mode": "hex", "bigint.unsigned.handling.mode": "precise"}
    ),
    "mysql_doubles": _mariadb({"decimal.handling.mode": "double", "time.precision.mode": "connect", "binary.handling.mode": "base64"}),
    "mysql_flat": _mariadb(FLAT_MYSQL),
    "mysql_one_topic": _of_orders(ONE_TOPIC, ORDERS_CHANGE),
    "mysql_incremental": _of_orders(
        {"snapshot.mode": "no_data"},
        "update orders set note = 'before' where id = 2;\n",
        _snapshot("incremental", "SCHEMA"),
        ORDERS_CHANGE,
    ),
    "mysql_truncates": _of_orders(
        {**TRUNCATES, "provide.transaction.metadata": "true"},
        "update orders set note = 'new' where id = 1; truncate table returns;\n",
        "truncate table orders; insert into orders values (1, 9, 'again');\n",
    ),
}  # fmt: skip


def main() -> int:
    """Make the named fixtures, or all."""
    names = sys.argv[1:] or list(VARIANTS)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dialects-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)  # PostgreSQL's account must be able to pass through it
        with Debezium(folder / "debezium.log") as debezium:
            for server, make in (("postgresql", _of_postgresql), ("mysql", _of_mariadb)):
                (folder / server).mkdir()
                make(debezium, folder / server, [name for name in names if name.startswith(server)])
    return 0


def _of_postgresql(debezium: Debezium, folder: Path, names: list[str]) -> None:
    postgres = Postgres(folder)
    try:
        if names:
            postgres.start()
        for name in names:
            postgres.query(f"create database {name}")
            run = _Run(partial(postgres.query, database=name), postgres.connector(name, name), _postgresql_table)
            _record(debezium, run, name, VARIANTS[name])
    finally:
        postgres.stop()


def _of_mariadb(debezium: Debezium, folder: Path, names: list[str]) -> None:
    mariadb = MariaDB(folder)
    try:
        if names:
            mariadb.start()
        for name in names:
            mariadb.query(f"create database {name}")
            run = _Run(partial(mariadb.query, database=name), mariadb.connector(name), _mariadb_table)
            _record(debezium, run, name, VARIANTS[name])
    finally:
        mariadb.stop()


@dataclass(frozen=True)
class _Run:
    query: Callable[[str], list[str]]
    connector: Mapping[str, str]
    table: Callable[[Callable[[str], list[str]], str, str], tuple[dict[str, str], list[Any]]]


def _record(debezium: Debezium, run: _Run, name: str, variant: Variant) -> None:
    run.query(variant.before)
    run.query(f"create table {MARKER} (id integer primary key); insert into {MARKER} values (0);")
    schema = "public" if name.startswith("postgresql") else name
    settings = {key: value.replace("SCHEMA", schema) for key, value in variant.settings.items()}
    with Recording(debezium, {**run.connector, **settings, "name": name}) as recording:
        if variant.settings.get("snapshot.mode") == "no_data":
            _wait_for_stream(run, recording)
        else:
            recording.wait_for_marker(0)
        for number, statements in enumerate(variant.after, 1):
            is_snapshot = f".{MARKER}" in statements
            if is_snapshot:
                _mark(run, number)
            run.query(statements.replace("SCHEMA", schema))
            if not is_snapshot:
                _mark(run, number)
            records = recording.wait_for_marker(number, 1 + is_snapshot)
    _write(
        name, variant, run, [record for record in records if record.topic != "shop" and "signals" not in record.topic]
    )


def _wait_for_stream(run: _Run, recording: Recording) -> None:
    """Without a snapshot, only a change shows that the stream has begun."""
    numbers = count(1000)

    def has_begun() -> bool:
        if not recording.markers:
            _mark(run, next(numbers))
        return bool(recording.markers)

    wait_until(has_begun)


def _mark(run: _Run, number: int) -> None:
    run.query(f"insert into {MARKER} values ({number})")


def _write(name: str, variant: Variant, run: _Run, records: list[Record]) -> None:
    lines = [record.value or "null" for record in records]
    (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    tables = {}
    for table, key in variant.tables.items():
        columns, rows = run.table(run.query, table, key)
        tables[table] = {"key": key, "columns": columns, "rows": rows}
    expected = {"settings": variant.settings, "tables": tables}
    (FOLDER / f"{name}.expected.json").write_text(f"{_row_by_row(expected)}\n", encoding="utf-8")
    print(f"{name}: {len(lines)} lines")


def _row_by_row(value: Any, depth: int = 0) -> str:
    """JSON with one line for each row and each entry around the rows."""
    indent = " " * (depth + 1)
    if isinstance(value, Mapping) and depth < 3:
        inner = [f"{indent}{json.dumps(name)}: {_row_by_row(each, depth + 1)}" for name, each in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{indent[1:]}}}"
    if isinstance(value, list):
        inner = [indent + json.dumps(each, ensure_ascii=False) for each in value]
        return "[\n" + ",\n".join(inner) + f"\n{indent[1:]}]"
    return json.dumps(value, ensure_ascii=False)


def _postgresql_table(query: Callable[[str], list[str]], table: str, key: str) -> tuple[dict[str, str], list[Any]]:
    found = query(
        "select json_build_array(attname, format_type(atttypid, atttypmod)) from pg_attribute "
        f"where attrelid = '{table}'::regclass and attnum > 0 and not attisdropped order by attnum"
    )
    columns: dict[str, str] = dict(map(json.loads, found))
    texts = ", ".join(f"'{name}', {name}::text" for name in columns)
    return columns, [
        json.loads(line) for line in query(f"select json_build_object({texts}) from {table} order by {key}")
    ]


def _mariadb_table(query: Callable[[str], list[str]], table: str, key: str) -> tuple[dict[str, str], list[Any]]:
    found = query(
        "select json_array(column_name, column_type) from information_schema.columns "
        f"where table_schema = database() and table_name = '{table}' order by ordinal_position"
    )
    columns: dict[str, str] = dict(map(json.loads, found))
    texts = ", ".join(f"'{name}', {_mariadb_text(name, kind)}" for name, kind in columns.items())
    return columns, [json.loads(line) for line in query(f"select json_object({texts}) from {table} order by {key}")]


def _mariadb_text(name: str, kind: str) -> str:
    if kind.startswith("bit"):
        return f"bin({name})"
    if "binary" in kind or "blob" in kind:
        return f"hex({name})"
    return f"st_astext({name})" if kind == "point" else f"cast({name} as char)"


if __name__ == "__main__":
    sys.exit(main())
