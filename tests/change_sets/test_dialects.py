"""The forms in which Debezium's events come: each is read correctly, or refused for a reason that names it.

The recorded streams come from the real Debezium, with PostgreSQL and MariaDB. Their expected rows are what the database
itself printed at the end. The other lines have the form that the documentation of each tool shows:

- https://debezium.io/documentation/reference/stable/transformations/event-flattening.html
- https://debezium.io/documentation/reference/stable/connectors/mongodb.html#mongodb-events
- https://github.com/edenhill/kcat, `-J`; Kafka's `kafka-console-consumer --property print.key=true`
- https://avro.apache.org/docs/1.11.1/specification/#json-encoding
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.change_sets.parsed import Parse, parsed
from tests.support.shop import REPOSITORY

RECORDED = REPOSITORY / "tests" / "change_sets" / "dialects"


def _number(text: str) -> Any:
    return Decimal(text.strip("$").replace(",", "").replace("-$", "-"))


def _moment(text: str) -> Any:
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _clock(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _bits(text: str) -> int:
    return int(text or "0", 2)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("\\x"))


def _flag(text: str) -> bool:
    return text in ("1", "true")


def _same(text: str) -> str:
    return text


# For each column: its type, and what to compare of the database's text and the parsed value.
Read = Callable[[Any], Any]
Columns = dict[str, tuple[str, Read, Read]]
COMMON: Columns = {
    "id": ("int", int, int),
    "small": ("int", int, int),
    "big": ("bigint", int, int),
    "price": ("decimal(12,2)", _number, Decimal),
    "name": ("string", _same, str),
    "mood": ("string", _same, str),
    "day": ("date", _same, str),
    "seen": ("timestamp", _moment, lambda value: value.replace(tzinfo=None)),
    "seen_ms": ("timestamp", _moment, lambda value: value.replace(tzinfo=None)),
    "opens": ("string", _clock, _clock),
    "raw": ("binary", _bytes, bytes),
    "flags": ("string", _bits, _bits),
    "flag": ("boolean", _flag, bool),
    "mask": ("string", _bits, _bits),
}
POSTGRESQL: Columns = {
    **COMMON,
    "cash": ("decimal(18,2)", _number, Decimal),
    "is_open": ("boolean", _flag, bool),
    "uid": ("string", _same, str),
    "made": ("timestamp", _moment, lambda value: value.replace(tzinfo=None)),
}
MYSQL: Columns = {
    **COMMON,
    "is_open": ("boolean", _flag, bool),
    "precise": ("decimal(38,10)", _number, Decimal),
    "marks": ("string", _same, str),
    "year": ("int", int, int),
    "opens_us": ("string", _clock, _clock),
    "seen_us": ("timestamp", _moment, lambda value: value.replace(tzinfo=None)),
}
STREAMS: dict[str, Columns] = {
    "postgresql_schemas": POSTGRESQL,
    "postgresql_flat_schemas": POSTGRESQL,
    # Debezium itself sends null for a time that does not fit into nanoseconds.
    "postgresql_nanoseconds": {name: read for name, read in POSTGRESQL.items() if name != "seen_ms"},
    "mysql_schemas": MYSQL,
}

EVENT = '{"before":null,"after":{"id":1,"name":"x","doc":{"a":1.10}},"source":{"connector":"postgresql"},"op":"c"}'
ROW = {"id": 1, "name": "x", "doc": '{"a":1.10}'}
TIME = """{"schema":{"fields":[{"field":"after","type":"struct","fields":[{"field":"id","type":"int32"},
{"field":"name","type":"int64","name":"io.debezium.time.MicroTime"}]}]},
"payload":{"before":null,"after":{"id":1,"name":-3020399000000},"source":{},"op":"c"}}""".replace("\n", "")

# The digits are base64. Numbers of this name are in the schema and in `source`.
DECIMAL = """{"schema":{"amount":1,"fields":[{"field":"after","type":"struct","fields":[{"field":"id","type":"int32"},
{"field":"amount","type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}}]}]},
"payload":{"before":null,"after":{"id":1,"amount":"1234"},"source":{"amount":5},"op":"c"}}""".replace("\n", "")


@dataclass(frozen=True)
class Shape:
    """A line, and what becomes of it: a row, a reason, or nothing."""

    line: str
    row: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    is_deleted: bool = False


def _flat(**fields: Any) -> str:
    return json.dumps({"id": 1, "name": "x", "doc": None, **fields})


def _document(**event: Any) -> str:
    return json.dumps({"before": None, "after": None, "source": {"connector": "mongodb"}, "op": "c", **event})


DOCUMENT = (
    '{"_id": {"$oid": "5f"},"name": "x","n": {"$numberLong": "7"},"at": {"$date": 1767600000123},"doc": {"a": 1.10}}'
)
SHAPES = {
    "plain": Shape(EVENT, ROW),
    "kcat -J": Shape(json.dumps({"topic": "t", "partition": 0, "offset": 5, "tstype": "create", "ts": 1, "key": "1", "payload": EVENT}), ROW),
    "kcat -J, tombstone": Shape('{"topic":"t","partition":0,"offset":6,"key":"1","payload":null}'),
    "key and value": Shape(f'{{"key":{{"id":1}},"value":{EVENT},"headers":[]}}', ROW),
    "console consumer": Shape(f'CreateTime:1767600000000\t{{"id":1}}\t{EVENT}', ROW),
    "console consumer, tombstone": Shape('{"id":1}\tnull'),
    "console consumer, tombstone without a key": Shape("null\tnull"),
    "console consumer, no key": Shape(f"null\t{EVENT}", ROW),
    "console consumer, a key with the name of a field": Shape(f'{{"op":1}}\t{EVENT}', ROW),
    "text in JSON": Shape(json.dumps({"schema": None, "payload": EVENT}), ROW),
    "a JSON text": Shape(json.dumps(EVENT), ROW),
    "tombstone with a schema": Shape('{"schema":{"type":"struct"},"payload":null}'),
    "flat": Shape(_flat(__op="u", __deleted="false", __lsn=7), {"id": 1, "name": "x"}),
    "flat, of the source": Shape(_flat(__deleted="false", __source_lsn=7), {"id": 1, "name": "x"}),
    "flat, deleted": Shape(_flat(__op="d", __deleted="true"), {"id": 1}, is_deleted=True),
    "flat, with columns named as an envelope's fields": Shape(json.dumps({"op": "c", "source": {"connector": "postgresql"}, "before": None, "after": {"id": 2}, **json.loads(_flat(__deleted="false"))}), {"id": 1, "name": "x"}),
    "flat in kcat -J": Shape(json.dumps({"topic": "t", "partition": 0, "payload": _flat(__op="c", __deleted="false")}), {"id": 1, "name": "x"}),
    "flat without deletes": Shape(_flat(__op="u"), reason="__deleted is missing, without which a flattened stream has no deletes"),
    "flat without deletes, with columns named as an envelope's fields": Shape(_flat(__op="u", op="c", after={"id": 2}), reason="__deleted is missing, without which a flattened stream has no deletes"),
    "Avro": Shape('{"before":null,"after":{"shop.public.t.Value":{"id":1,"name":{"string":"x"},"n":{"long":5},"doc":{"string":"{\\"a\\":1.10}"}}},"source":{"connector":"postgresql","lsn":{"long":9}},"op":"c","ts_ms":{"long":1}}', {**ROW, "n": 5}),
    "Avro, deleted": Shape('{"before":{"shop.public.t.Value":{"id":1,"name":{"string":"x"}}},"after":null,"source":{"connector":"postgresql"},"op":"d","ts_ms":{"long":1}}', {"id": 1}, is_deleted=True),
    "Avro, bytes": Shape('{"before":null,"after":{"shop.public.t.Value":{"id":1,"amount":{"bytes":"5"}}},"source":{},"op":"c"}', reason="amount does not fit decimal(12,2)"),
    "MongoDB": Shape(_document(after=DOCUMENT.replace('{"$oid": "5f"}', "1")), {**ROW, "doc": '{"a": 1.10}', "n": 7, "at": datetime(2026, 1, 5, 8, 0, 0, 123000)}),
    "MongoDB, a change": Shape(_document(op="u", updateDescription={"updatedFields": '{"n": 1}'}), reason="the update has no document, only what it changes"),
    "MongoDB, a change of Debezium 1": Shape(_document(op="u", patch='{"$set": {"n": 1}}'), reason="the update has no document, only what it changes"),
    "a decimal in digits, and a field of its name": Shape(DECIMAL, {"id": 1, "amount": Decimal("-26588.24")}),
    "a schema beside the fields": Shape(json.dumps({"schema": json.loads(TIME)["schema"], **json.loads(TIME)["payload"], "source": {"connector": "postgresql"}}), {"id": 1, "name": "-838:59:59"}),
    "a time below 0": Shape(TIME, {"id": 1, "name": "-838:59:59"}),
    "Db2": Shape(EVENT.replace("postgresql", "db2"), ROW),
    "no event": Shape('{"id":1,"name":"x"}', reason="op is missing"),
    "a field twice": Shape(EVENT.replace('"name":"x","doc":{"a":1.10}', '"name":"x","name":"y"'), reason="row nests deeper than 20 levels or names a field twice"),
    "a field twice, and as many fields as columns": Shape(EVENT.replace('"name":"x","doc":{"a":1.10}', '"name":"x","name":"y","at":null,"n":null,"doc":null'), reason="row nests deeper than 20 levels or names a field twice"),
    "heartbeat": Shape('{"ts_ms":1}'),
    "cut off": Shape(EVENT[:-9], reason="malformed JSON"),
}  # fmt: skip


def _of(connector: str, op: str = "c", **source: Any) -> str:
    row = {"id": 1, "name": "x"}
    return json.dumps({"before": None, "after": row, "source": {"connector": connector, **source}, "op": op})


def _cells(connector: str, op: str = "c") -> str:
    row = {"id": {"value": 1, "set": True}, "name": {"value": "x", "deletion_ts": None, "set": True}}
    images = {"before": row, "after": None} if op == "d" else {"before": None, "after": row}
    return json.dumps({**images, "source": {"connector": connector}, "op": op})


# Shapes of other connectors and sinks, by the pages of each, and why their lines are no rows. None may become one.
NO_ORDER = "source.connector is {}, which has no known order of commits"
UNREAD = {
    _of("db2", change_lsn="00000025:00000d98:00a2", commit_lsn="00000025:00000d98:00a2"): NO_ORDER.format("db2"),
    _of("informix", commit_lsn="68719476736", change_lsn="68719476800"): NO_ORDER.format("informix"),
    _of("vitess", vgtid='[{"keyspace":"shop","shard":"-","gtid":"MySQL56/a:1-9"}]'): NO_ORDER.format("vitess"),
    _of("spanner", project_id="p", mod_type="INSERT", server_transaction_id="7"): NO_ORDER.format("spanner"),
    _of("TiCDC", commit_ts=463361000000000001, cluster_id="default"): NO_ORDER.format("TiCDC"),
    '{"before":null,"after":{"id":1,"name":"x"},"op":"c"}': "source.connector is missing",  # Flink's debezium-json
    _of("cassandra", "i"): "unknown op i",
    _cells("cassandra"): "each value of cassandra is an object with value and set",
    _cells("yugabytedb", "u"): "each value of yugabytedb is an object with value and set",
    _cells("yugabytedb", "d"): "each value of yugabytedb is an object with value and set",
    json.dumps({
        "id": "name:shop;lsn:29274832;txId:565", "source": "/debezium/postgresql/shop", "specversion": "1.0",
        "type": "io.debezium.connector.postgresql.DataChangeEvent", "datacontenttype": "application/json",
        "iodebeziumop": "c", "iodebeziumconnector": "postgresql", "iodebeziumlsn": "29274832", "data": json.loads(EVENT),
    }): "op is missing",  # CloudEvents
    json.dumps({"data": "eyJvcCI6ImMifQ==", "attributes": {"k": "1"}, "messageId": "7"}): "op is missing",  # Pub/Sub
    EVENT + EVENT: "malformed JSON",  # Kinesis Data Firehose
    f"[{EVENT},{EVENT}]": "malformed JSON",  # a batch over HTTP
    f'{{"key":{{"id":1}},"value":{EVENT},"offset":5}},': "source.lsn is missing",  # a line of an array, as S3 sinks write them, is the event
    f"\x00\x00\x00\x00\x07{EVENT}": "malformed JSON",  # Confluent's wire format
    json.dumps({"scn": 7, "xid": "1.2.3", "payload": [json.loads(EVENT)]}): "op is missing",  # OpenLogReplicator
    '{"id":1,"name":"x","aggregatetype":"order","payload":"{\\"op\\":\\"c\\"}"}': "op is missing",  # outbox
    '{"action":"I","schema":"public","table":"t","columns":[{"name":"id","value":1}]}': "op is missing",  # wal2json
    '{"data":{"id":1,"name":"x"},"metadata":{"operation":"insert","record-type":"data"}}': "op is missing",  # DMS, Kinesis
    '{"_id":{"_data":"82"},"operationType":"insert","fullDocument":{"id":1,"name":"x"}}': "op is missing",  # MongoDB
    '{"eventName":"INSERT","dynamodb":{"NewImage":{"id":{"N":"1"}}}}': "op is missing",
    '{"_meta":{"op":"c"},"id":1,"name":"x"}': "op is missing",  # Estuary Flow
}  # fmt: skip
AVRO_TRUNCATE = (
    '{"before":null,"after":null,"source":{"connector":"postgresql","snapshot":{"string":"false"},"sequence":'
    '{"string":"[\\"8\\",\\"16\\"]"},"lsn":{"long":16}},"transaction":null,"op":"t","ts_ms":{"long":1}}'
)
COLUMNS = {"id": "int", "name": "string", "doc": "string", "n": "bigint", "at": "timestamp", "amount": "decimal(12,2)"}


def _recorded(name: str) -> tuple[list[str], dict[str, Any]]:
    lines = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    expected = json.loads((RECORDED / f"{name}.expected.json").read_text(encoding="utf-8"))
    return [line for line in lines if '"types"' in line], expected["tables"]["types"]


def _call(columns: dict[str, str], more: str = "") -> str:
    # The version is a column, because the order of events has tests of its own.
    return f"parse_debezium(SOURCE, key=['id'], columns={columns}, missing_fields='null', version='id'{more})"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    lines = [[shape.line for shape in SHAPES.values()]]
    of_plain = f"get_sql_of_plain_envelopes(versioned_collapsing.{_call(COLUMNS)})"
    parses = {"shapes": Parse(_call(COLUMNS), lines), "plain": Parse(of_plain, lines)}
    of_rows = "columns={'id': 'int', 'name': 'string'}, missing_fields='null'"
    parses["unread"] = Parse(f"parse_debezium(SOURCE, key=['id'], {of_rows})", [list(UNREAD)])
    without_time = AVRO_TRUNCATE.replace('{"long":1}', "1")
    without_snapshot = AVRO_TRUNCATE.replace('{"string":"false"}', '"false"')
    truncates = [AVRO_TRUNCATE, without_time, without_snapshot]
    parses["truncates"] = Parse(f"parse_debezium(SOURCE, key=['id'], {of_rows})", [truncates])
    parses["unread_rows"] = Parse(f"parse_upserts(SOURCE, key=['id'], version='id', {of_rows})", [list(UNREAD)])
    of_two = "columns={'id': 'int', 'day': 'date', 'at': 'timestamp'}, ranges={'day': 'clamp', 'at': 'clamp'}"
    parses["open_ends"] = Parse(f"parse_upserts(SOURCE, key=['id'], version='id', {of_two})", [OPEN_LINES])
    for name, columns in STREAMS.items():
        types = {column: kind for column, (kind, _, _) in columns.items()}
        parses[name] = Parse(_call(types, ", encodings={'raw': 'base64'}"), [_recorded(name)[0]])
    clamped = ", ranges={'day': 'clamp', 'seen': 'clamp', 'made': 'clamp'}"
    types = {"id": "int", "day": "date", "seen": "timestamp", "made": "timestamp"}
    numbers = ", encodings={'day': 'epoch_days', 'seen': 'epoch_micros'}"
    for name in ("postgresql_schemas", "postgresql_flat_schemas", "postgresql_nanoseconds", "postgresql_texts"):
        parses[f"clamped_{name}"] = Parse(_call(types, clamped), [_recorded(name)[0]])
    parses["clamped_postgresql_defaults"] = Parse(
        _call(types, clamped + numbers), [_recorded("postgresql_defaults")[0]]
    )
    return parsed(tmp_path_factory.mktemp("dialects"), parses)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read_or_named(rows: dict[str, list[dict[str, Any]]], name: str) -> None:
    found = rows["shapes"][list(SHAPES).index(name)]
    shape = SHAPES[name]
    reason: str | None = found["_reason"]
    assert reason == shape.reason
    if not reason:
        assert (found["_version"] is not None) == bool(shape.row)
        assert shape.row or found["_ignored"] or name == "tombstone with a schema"
        assert {column: found[column] for column in COLUMNS if found[column] is not None} == shape.row
        assert found["_is_deleted"] is (True if shape.is_deleted else False if shape.row else found["_is_deleted"])


def test_no_shape_of_others_becomes_a_row(rows: dict[str, list[dict[str, Any]]]) -> None:
    reasons = [row["_reason"] for row in rows["unread"]]
    assert dict(zip(UNREAD, reasons, strict=True)) == UNREAD
    # As rows, only those are read that are rows.
    read = [line for line, row in zip(UNREAD, rows["unread_rows"], strict=True) if not row["_reason"]]
    assert all(line.startswith(('{"id":1,"name":"x"', '{"_meta"')) for line in read), read


def test_a_truncate_in_the_json_of_avro_is_told_by_what_is_beside_its_images(
    rows: dict[str, list[dict[str, Any]]],
) -> None:
    assert [(row["_reason"], row["_is_truncate"]) for row in rows["truncates"]] == [(None, True)] * 3
    assert len({row["_version"] for row in rows["truncates"]} - {None}) == 1


def test_without_the_other_forms_a_line_is_the_same_or_marked(rows: dict[str, list[dict[str, Any]]]) -> None:
    plain = set()
    for name, found, whole in zip(SHAPES, rows["plain"], rows["shapes"], strict=True):
        if found["_reason"] != "another form":
            assert found | {"_file": ""} == whole | {"_file": ""}, name
            plain.add(name)
    assert plain >= {"plain", "Db2"}
    assert not plain & {"flat", "a time below 0"}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_with_a_schema_comes_to_the_rows_of_its_database(
    rows: dict[str, list[dict[str, Any]]], name: str
) -> None:
    columns = STREAMS[name]
    live: dict[int, dict[str, Any]] = {}
    for row in rows[name]:
        assert row["_reason"] is None or row["_reason"].startswith(("day ", "seen ")), row["_reason"]
        if row["_version"] is None or row["_reason"]:
            continue
        if row["_key_before"]:
            live.pop(row["_key_before"]["id"], None)
        if row["_is_deleted"]:
            live.pop(row["id"], None)
        else:
            live[row["id"]] = row
    # Times outside ClickHouse's range go to the quarantine.
    expected = {
        int(row["id"]): row
        for row in _recorded(name)[1]["rows"]
        if row["seen"] not in ("infinity", "9999-12-31 23:59:59")
    }
    assert live.keys() == expected.keys()
    for key, stored in expected.items():
        for column, (_, of_database, of_row) in columns.items():
            given, found = stored[column], live[key][column]
            wanted = None if given is None else of_database(given)
            assert (None if found is None else of_row(found)) == wanted or _is_nan(wanted), (key, column, given, found)


LOW, HIGH = ("1900-01-01", "1900-01-01 00:00:00"), ("2299-12-31", "2299-12-31 23:59:59.999999")
# Dates that are none, as texts, and what each becomes.
OPEN_ENDS = {
    "9999-12-31": HIGH,
    "infinity": HIGH,
    "Infinity": HIGH,
    "-infinity": LOW,
    "0001-01-01": LOW,
    "2300-01-01": HIGH,
    "2026-01-05": ("2026-01-05", "2026-01-05 00:00:00"),
    "soon": None,
}
OPEN_LINES = [json.dumps({"id": place, "day": text, "at": text}) for place, text in enumerate(OPEN_ENDS)]


def test_open_ends_become_the_bounds(rows: dict[str, list[dict[str, Any]]]) -> None:
    for found, (text, expected) in zip(rows["open_ends"], OPEN_ENDS.items(), strict=True):
        if expected is None:
            assert found["_reason"] == "day does not fit date"
        else:
            assert found["_reason"] is None, text
            assert (str(found["day"]), str(found["at"]).split("+")[0]) == expected, text


@pytest.mark.parametrize("name", ["schemas", "flat_schemas", "nanoseconds", "texts", "defaults"])
def test_infinity_of_postgresql_becomes_a_bound(rows: dict[str, list[dict[str, Any]]], name: str) -> None:
    """As the real Debezium has sent it: days that have gone beyond an integer, times of the year 294247."""
    bounds = {
        "day": {"infinity": "2299-12-31", "-infinity": "1900-01-01"},
        "seen": {"infinity": HIGH[1], "-infinity": LOW[1]},
        "made": {"infinity": HIGH[1], "-infinity": LOW[1]},
    }
    found = {row["id"]: row for row in rows[f"clamped_postgresql_{name}"] if row["_version"] is not None}
    checked = 0
    for row in _recorded(f"postgresql_{name}")[1]["rows"]:
        for column, of in bounds.items():
            if row[column] in of:
                checked += 1
                assert found[int(row["id"])]["_reason"] is None
                assert str(found[int(row["id"])][column]).split("+")[0] == of[row[column]], (row["id"], column)
    assert checked >= 3


def _is_nan(value: Any) -> bool:
    return isinstance(value, Decimal | float) and math.isnan(value)
