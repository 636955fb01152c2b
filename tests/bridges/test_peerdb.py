"""PeerDB's raw tables are read as PeerDB reads them: the rows are those of the table that PeerDB lands.

The test uses PeerDB's own statement: `normalize` is `BuildQuery` in
https://github.com/PeerDB-io/peerdb/blob/6b52fb6cd6db6226c2678e7a522799b317d9ca14/flow/connectors/clickhouse/normalize_query.go,
and `VALUES` are texts as made by `toMap` in
https://github.com/PeerDB-io/peerdb/blob/6b52fb6cd6db6226c2678e7a522799b317d9ca14/flow/model/record_items.go.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.bridges.landings import RAW, Landings
from tests.support.collapsing_projects import MakeProject

RAW_COLUMNS = (
    "(_peerdb_timestamp, _peerdb_destination_table_name, _peerdb_data, _peerdb_record_type, _peerdb_match_data, "
    "_peerdb_batch_id, _peerdb_unchanged_toast_columns)"
)
# For each kind of column: its type, and values.
KINDS: dict[str, tuple[str, list[Any]]] = {
    "int": ("Int64", [0, -1, 9_007_199_254_740_993]),
    "uint": ("UInt64", [0, 18_446_744_073_709_551_615]),
    "bool": ("Bool", [True, False]),
    "float": ("Float64", [0.1, -1e300, None]),
    "text": ("String", ["", "a'b\\c", "\ud83d\ude00", "2026-01-01"]),
    "enum": ("LowCardinality(String)", ["new", "done"]),
    "char": ("FixedString(1)", ["x"]),
    "uuid": ("UUID", ["6a1bd0b2-0bbd-4b7c-8b54-4a2b2f5f5d0a"]),
    "numeric": ("Decimal(38, 9)", ["12345678901234567890.123456789", "-0.1", "1e3"]),
    "numeric_text": ("String", ["123456789012345678901234567890.1"]),
    "day": ("Date32", ["2026-02-28", "9999-12-31", "0001-01-01", "1899-12-31", "2299-12-31"]),
    "at": (
        "DateTime64(6)",
        ["2026-01-01 10:00:00.123456", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00", "1899-12-31 12:30:00.5"],
    ),
    "at_zone": ("DateTime64(6)", ["2026-01-01 10:00:00.5+0000", "1850-03-01 10:00:00.25+0000"]),
    "time": ("Time64(6)", ["9:30:00.000001", "123:30:00.000000", "-1:30:00.000000"]),
    "old_time": ("DateTime64(6)", ["9:30:00.000001", "24:00:00.000000", "-1:30:00.000000"]),
    "document": ("JSON", ['{"a": {"b": [1, 2]}, "c.d": "x"}', "{}", '{"n": 1, "n": 2}']),
    "document_text": ("String", ['{"a": 1}']),
    "bytes": ("String", ["AQL/", ""]),
    "ints": ("Array(Int64)", [[], [1, 2]]),
    "texts": ("Array(String)", [["a", ""], []]),
    "numerics": ("Array(Decimal(38, 9))", [["1.5", "2"]]),
    "days": ("Array(Date)", [["2026-01-01"], []]),
    "ats": ("Array(DateTime64(6))", [["2026-01-01T10:00:00.5Z", "9999-01-01T00:00:00Z"], []]),
}


def clamped_day(day: str) -> str:
    """PeerDB's `clampDates`."""
    bounded = f"least(toDate32('2299-12-31'), greatest(toDate32('1900-01-01'), {day}))"
    return f"if(isNull({day}), null, {bounded})"


def clamped_time(time: str) -> str:
    """PeerDB's `clampTimestamps`."""
    of_day = f"positiveModulo(toUnixTimestamp64Micro({time}), toInt64(86400000000))"
    first, last, last_day = (
        f"toDateTime64('{text}',6,'UTC')"
        for text in ("1900-01-01 00:00:00", "2299-12-31 23:59:59.999999", "2299-12-31 00:00:00")
    )
    return (
        f"multiIf(isNull({time}), null, {time} < {first}, addMicroseconds({first}, {of_day}), "
        f"{time} > {last}, addMicroseconds({last_day}, {of_day}), {time})"
    )


def value(data: str, name: str, kind: str, column_type: str) -> str:
    """The expression for a column in PeerDB's statement."""
    text = f"JSONExtractString({data}, '{name}')"
    inner = column_type.removeprefix("Nullable(").removesuffix(")") if "Nullable" in column_type else column_type
    if kind == "bytes":
        return f"base64Decode({text})"
    if kind == "time":
        return f"toTime64OrNull({text}, 6)"
    if kind == "old_time":
        return f"toDateTime64(toTime64OrNull({text}, 6), 6)"
    if kind == "day":
        return clamped_day(f"toDate32(parseDateTime64BestEffortOrNull({text},6,'UTC'))")
    if kind in ("at", "at_zone"):
        return clamped_time(f"parseDateTime64BestEffortOrNull({text},6,'UTC')")
    if kind == "ats":
        element = clamped_time("parseDateTime64BestEffortOrNull(x,6,'UTC')")
        return f"arrayMap(x -> {element}, JSONExtract({data}, '{name}', 'Array(String)'))"
    if inner == "JSON":
        # PeerDB omits the default, which ClickHouse 26.9 rejects: the row of a delete may have only its key.
        return f"if(empty({text}), '{{}}', {text})::JSON"
    return f"JSONExtract({data}, '{name}', '{column_type}')"


class Mirror:
    """A table of a mirror with columns of all kinds, every second one of which is renamed.

    Args:
        is_nullable: whether the mirror keeps nulls.
    """

    def __init__(self, landings: Landings, name: str, *, is_nullable: bool) -> None:
        self.landings = landings
        self.name = name
        self.columns: dict[str, tuple[str, str, str]] = {"id": ("key", "int", "Int64")}
        for n, (kind, (column_type, _)) in enumerate(KINDS.items()):
            wrapped = (
                column_type
                if not is_nullable or column_type.startswith("Array")
                else "LowCardinality(Nullable(String))"
                if kind == "enum"
                else f"Nullable({column_type})"
            )
            self.columns[f"c_{kind}"] = (f"s_{kind}" if n % 2 else f"c_{kind}", kind, wrapped)
        listed = ", ".join(f"{landed} {found}" for landed, (_, _, found) in self.columns.items())
        landings.create(
            name,
            f"({listed}, synced DateTime64(9) default now64(), gone UInt8, _peerdb_version UInt64) "
            "engine = ReplacingMergeTree(_peerdb_version, gone) order by id",
        )
        landings.create(f"{name}_raw", RAW)
        renamed = {landed: source for landed, (source, _, _) in self.columns.items() if landed != source}
        landings.model(
            f"{name}_current",
            f"{{{{ peerdb_changes(source('shop', '{name}'), raw=source('shop', '{name}_raw'), binary=['c_bytes'], "
            f"renamed={renamed}, is_deleted='gone', watermark='synced') }}}}",
        )

    def change(self, batch: int, rows: list[tuple[int, int, dict[str, Any], dict[str, Any]]]) -> None:
        """Land changes in the raw table: time, type, row after, and row before."""
        columns = RAW_COLUMNS.strip("()").split(", ")
        data = [
            [at, self.name, json.dumps(after), kind, json.dumps(before) if before else "", batch, ""]
            for at, kind, after, before in rows
        ]
        self.landings.project.client.insert(f"{self.name}_raw", data, columns, database=self.landings.project.schema)

    def normalize(self, batch: int) -> None:
        """Land a batch as PeerDB does, with PEERDB_CLICKHOUSE_ENABLE_PRIMARY_UPDATE."""
        parts = {
            "_peerdb_data": ("intDiv(_peerdb_record_type, 2)", "_peerdb_timestamp", "true"),
            "_peerdb_match_data": (
                "1",
                "_peerdb_timestamp - 1",
                "_peerdb_match_data <> '' and _peerdb_record_type = 1",
            ),
        }
        selects = []
        for data, (is_deleted, version, condition) in parts.items():
            values = ", ".join(
                f"{value(data, source, kind, found)} as {landed}"
                for landed, (source, kind, found) in self.columns.items()
            )
            selects.append(
                f"select {values}, {is_deleted} as gone, {version} as _peerdb_version from {self.name}_raw "
                f"where {condition} and _peerdb_batch_id = {batch}"
            )
        self.landings.project.command(
            f"insert into {self.name} ({', '.join(self.columns)}, gone, _peerdb_version) {' union all '.join(selects)} "
            "settings type_json_skip_duplicated_paths = 1, json_type_escape_dots_in_keys = 1"
        )

    def landed(self) -> list[Any]:
        """The rows that PeerDB has landed."""
        return self.texts(self.name)

    def current(self) -> list[Any]:
        """The live rows of the model."""
        return self.texts(f"{self.name}_current", "where _sign = 1")

    def texts(self, table: str, where: str = "") -> list[Any]:
        """The rows of a table as text."""
        listed = ", ".join(f"toString({name})" for name in self.columns)
        return self.landings.project.query(f"select {listed} from {table} final {where} order by id")


@pytest.fixture(scope="module")
def landings(make_project: MakeProject) -> Landings:
    return Landings(make_project("bridge_peerdb"))


class History:
    """Random inserts, updates, deletes and key updates of a mirror."""

    def __init__(self, mirror: Mirror, *, is_nullable: bool) -> None:
        self.mirror = mirror
        self.is_nullable = is_nullable
        self.live: dict[int, dict[str, Any]] = {}
        self._draw = random.Random(is_nullable)
        self._at = 1_760_000_000_000_000_000

    def changes(self, number: int) -> Iterator[tuple[int, int, dict[str, Any], dict[str, Any]]]:
        """Time, type, row after, and row before."""
        for _ in range(number):
            self._at += 1_000_000
            key = self._draw.randrange(20)
            if self.live.pop(key, None) is None:
                self.live[key] = self._row(key)
                yield self._at, 0, self.live[key], {}
            elif self._draw.random() < 0.3:
                yield self._at, 2, {"key": key}, {"key": key}
            else:
                free = [new for new in range(20) if new not in self.live]
                new_key = self._draw.choice(free) if self._draw.random() < 0.3 else key
                self.live[new_key] = self._row(new_key)
                yield self._at, 1, self.live[new_key], {"key": key} if new_key != key else {}

    def _row(self, key: int) -> dict[str, Any]:
        found: dict[str, Any] = {"key": key}
        for source, kind, column_type in self.mirror.columns.values():
            if source != "key":
                has_nulls = "Nullable" in column_type and "JSON" not in column_type
                is_null = has_nulls and self._draw.random() < 0.3
                found[source] = None if is_null else self._draw.choice(KINDS[kind][1])
        return found


def test_every_kind_of_column_in_random_histories(landings: Landings) -> None:
    """In two runs, with mirrors that keep nulls and mirrors that do not."""
    histories = [
        History(Mirror(landings, name, is_nullable=is_nullable), is_nullable=is_nullable)
        for name, is_nullable in (("kinds", False), ("kinds_and_nulls", True))
    ]
    for batch in (1, 2):
        for history in histories:
            history.mirror.change(batch, list(history.changes(80)))
            history.mirror.normalize(batch)
        landings.run(*(f"{history.mirror.name}_current" for history in histories))
        assert "has other values" not in landings.project.logged("JinjaLogWarning")
        for history in histories:
            assert history.mirror.current() == history.mirror.landed()
            assert [int(row[0]) for row in history.mirror.current()] == sorted(history.live)


DOCUMENT = '{"id": 1, "descr": "new text", "photo": "AQI=", "gone_by": 1}'
MISREAD: dict[str, tuple[str, str]] = {
    "renamed": (
        "binary=['photo'], own=['mine']",
        "has the column description, but no row of `bridge_peerdb`.`misread_raw` that this run reads has description. "
        "The rows also have descr, gone_by. If the mirror renames the column, pass renamed={'description': 'descr'}. If "
        "the source has dropped it, pass renamed={'description': none}: new rows get its default then, as PeerDB lands "
        "them. If it is a column of your own, pass own=['description'].",
    ),
    "of_bytes": (
        "renamed={'description': 'descr'}, own=['mine']",
        "has other values of photo than `bridge_peerdb`.`misread_raw` in 1 of the newest rows of the same version, such "
        "as \x01\x02 for AQI=. If it is a column of bytes, pass binary=['photo'], or binary={'photo': 'hex'} if PeerDB "
        "lands bytes so.",
    ),
    "of_another_name": (
        "binary=['photo'], renamed={'descr': 'descr'}",
        "renamed names descr, which is no column of `bridge_peerdb`.`misread`.",
    ),
}


def test_what_the_raw_table_does_not_say(landings: Landings) -> None:
    """The run stops if it would land other values than PeerDB, and names the argument. PeerDB's names can differ."""
    landings.create(
        "misread",
        "(id Int64, description String, photo String, mine String default 'x', _peerdb_synced_at DateTime64(9) "
        "default now64(), _peerdb_is_deleted UInt8, _peerdb_version UInt64) "
        "engine = ReplacingMergeTree(_peerdb_version) order by id",
    )
    landings.land("misread", r"(1, 'new text', '\x01\x02', 0, 100)", columns="(* except (mine, _peerdb_synced_at))")
    landings.create("misread_raw", RAW)
    landings.land("misread_raw", f"(100, 'misread', '{DOCUMENT}', 0, '', 1, '')", columns=RAW_COLUMNS)
    body = "{{{{ peerdb_changes(source('shop', 'misread'), raw=source('shop', 'misread_raw'), {}) }}}}"
    arguments = {name: given for name, (given, _) in MISREAD.items()}
    arguments["right"] = "binary=['photo'], renamed={'description': 'descr'}, own=['mine']"
    for name, given in arguments.items():
        landings.model(f"misread_{name}", body.format(given))
    nodes = landings.try_to_run(*(f"misread_{name}" for name in arguments))
    for name, (_, message) in MISREAD.items():
        assert nodes[f"misread_{name}"].status == "error", name
        assert message in " ".join(nodes[f"misread_{name}"].message.split()), name
    assert landings.live("misread_right") == [(1, "new text", "\x01\x02")]
    # One of several rows was altered where it landed, so it is not the format of a column.
    more = DOCUMENT.replace('"id": 1', '"id": 2')
    landings.land("misread_raw", f"(200, 'misread', '{more}', 0, '', 2, '')", columns=RAW_COLUMNS)
    landings.land("misread", r"(2, 'altered', '\x01\x02', 0, 200)", columns="(* except (mine, _peerdb_synced_at))")
    landings.run("misread_right")
    assert (
        "has other values of description than `bridge_peerdb`.`misread_raw` in 1 of the newest rows of the same version, "
        "such as altered for new text. The model has the value of the raw table."
    ) in landings.project.logged("JinjaLogWarning")
    assert landings.live("misread_right")[1] == (2, "new text", "\x01\x02")
