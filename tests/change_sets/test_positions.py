"""The version of an event follows the order in which its source commits: tested with races on a real PostgreSQL, and
with the positions that each Debezium connector sends. The macros' SQL runs in one Spark, without dbt."""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import chdb
import pytest
from pyspark.sql import Row, SparkSession

from tests.macros.harness import Project, parsed_project
from tests.support.racing_postgres import KEYS, RACES, racing_postgres
from tests.support.shop import REPOSITORY
from tests.support.warm_spark import warm_session

DIALECTS = Path(__file__).parent / "dialects"
COLUMNS = {"id": "bigint", "code": "bigint", "amount": "bigint", "note": "string"}
# Of the tables `orders` and `returns` in one topic, which Debezium has recorded.
RECORDED_COLUMNS = {"id": "bigint", "amount": "decimal(12,2)", "note": "string"}
CONTROL = {"_is_deleted", "_is_truncate", "_key_before", "_first_lsn", "_snapshot_lsn", "_unset"}


def _parse(key: Sequence[str], more: str = "", columns: dict[str, str] = COLUMNS) -> str:
    return f"{{{{ parse_debezium('SOURCE', key={list(key)}, columns={columns}, missing_fields='null'{more}) }}}}"


def _fold(key: Sequence[str], columns: dict[str, str] = COLUMNS) -> str:
    types = dict.fromkeys([*columns, *sorted(CONTROL), "_version", "_batch", "_file", "_block_start"], "")
    payload = [name for name in columns if name not in key]
    lines = {"relation": "staged", "is_pending": "true", "is_parsed": True}
    return (
        f"{{%- set types = {types} -%}}"
        f"{{%- set lines = get_lines_with_commits_sql({lines}, {{'identifier': 'staged'}}, types) -%}}"
        f"{{{{ get_folded_changes_sql(lines, {list(key)}, {payload}, types, {{}}, ['_duplicates']) }}}}"
    )


MODELS = {
    **{f"parse_{table}": _parse(key, f", toasted=['note'], table='public.{table}'") for table, key in KEYS.items()},
    **{f"fold_{table}": _fold(key) for table, key in KEYS.items()},
    **{
        f"parse_{table}": _parse(["id"], f", table='{table}', toasted=['note']", RECORDED_COLUMNS)
        for table in ("orders", "returns")
    },
    "fold_recorded": _fold(["id"], RECORDED_COLUMNS),
    "parse": _parse(["id"]),
    "parse_gtid": _parse(["id"], ", version='source.gtid', servers=['a', 'b'], epochs=[7]"),
    "parse_epochs": _parse(["id"], ", epochs=[2, '2026-01-05 10:00:00.5']"),
    "parse_despite": _parse(["id"], ", version='source.lsn_despite_races'"),
    "parse_tables": _parse(["id"], ", table=['public.shop_*', 'carts']"),
    "parse_rows": "{{ parse_upserts('SOURCE', key=['id'], columns={'id': 'bigint', 'code': 'bigint'}, version='code', is_deleted='gone') }}",
    "parse_sums": "{{ parse_upserts('SOURCE', key=['id'], columns={'id': 'bigint', 'code': 'bigint', 'amount': 'bigint'}, version='code', is_deleted='gone') }}",
    "folded_rows": (
        "{{ get_folded_changes_sql({'relation': 'staged', 'is_pending': 'true', 'is_parsed': true}, ['id'], "
        "['code', 'amount'], {'id': '', 'code': '', 'amount': '', '_file': '', '_block_start': ''}, "
        "{'amount': 'greatest'}, ['_superseded']) }}"
    ),
    "latest_rows": (
        "{{ get_latest_changes_sql({'relation': 'staged', 'is_pending': 'true', 'is_parsed': true}, ['id'], ['code'], "
        "{'id': '', 'code': '', '_file': '', '_block_start': ''}, ['_duplicates', '_conflicts', '_superseded']) }}"
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with parsed_project(tmp_path_factory.mktemp("parsed"), MODELS, engine="spark") as found:
        yield found


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with warm_session() as session:
        yield session


class Landing:
    """Lines in batches, and the models' results for them."""

    def __init__(self, folder: Path, spark: SparkSession, project: Project) -> None:
        self._folder, self._spark, self._project = folder, spark, project

    def land(self, *batches: Sequence[str]) -> None:
        for number, lines in enumerate(batches, start=len([*self._folder.iterdir()]) + 1):
            folder = self._folder / f"batch={number}"
            folder.mkdir()
            (folder / "part.json").write_text("".join(f"{line}\n" for line in lines))

    def stage(self, model: str) -> list[Row]:
        """The lines as a parser reads them, by batch."""
        sql = self._project.compiled(model).replace("from SOURCE", f"from text.`{self._folder}`")
        staged = self._spark.sql(sql).localCheckpoint()
        staged.createOrReplaceTempView("staged")
        return sorted(staged.collect(), key=lambda row: int(row["_batch"]))

    def query(self, model: str, snapshots: str = "cast(null as bigint)") -> list[Row]:
        sql = self._project.compiled(model)
        return self._spark.sql(sql.replace("cast(null /* snapshot of staged */ as bigint)", snapshots)).collect()


@pytest.fixture
def landing(tmp_path: Path, spark: SparkSession, project: Project) -> Landing:
    return Landing(tmp_path, spark, project)


def _live(changes: Sequence[Row], columns: Iterable[str] = COLUMNS) -> list[dict[str, Any]]:
    rows = [row.asDict() for row in changes if not row["_is_deleted"] and not row["_is_truncate"]]
    found = [{name: row[name] for name in columns} for row in rows]
    return sorted(found, key=lambda row: (row["id"], row.get("code")))


def _assert_rows(landing: Landing, table: str, rows: list[dict[str, Any]]) -> None:
    """The rows of one of several tables in a topic are PostgreSQL's."""
    staged = landing.stage(f"parse_{table}")
    assert {row["_reason"] for row in staged} == {None}
    snapshots = [row["_snapshot_lsn"] for row in staged if row["_snapshot_lsn"]]
    position = f"{max(snapshots)}L" if snapshots else "cast(null as bigint)"
    assert _live(landing.query(f"fold_{table}", position)) == rows, table


def test_races_end_as_in_postgresql(landing: Landing) -> None:
    """After each race of `RACES`, and many connections at random, no row is missing, extra or outdated."""
    with racing_postgres() as races:
        races.stream()
        for name in RACES:
            races.run(name)
        changes = races.changes()
        races.load(seed=5, transactions=60)
        changes += races.changes()
        rows = {table: races.rows(table) for table in KEYS}
    lines = [change.line for change in changes]
    random.Random(1).shuffle(lines)
    landing.land(lines)
    for table in KEYS:
        _assert_rows(landing, table, rows[table])


@pytest.mark.parametrize("mark", [0, 3])
def test_races_that_debezium_has_recorded(landing: Landing, mark: int) -> None:
    """They include a transaction that is open during the snapshot, and an incremental snapshot during writes."""
    expected = json.loads((DIALECTS / "races.expected.json").read_text())[mark]
    with gzip.open(DIALECTS / "races.jsonl.gz", "rt") as file:
        landing.land([line.strip() for line, _ in zip(file, range(expected["lines"]), strict=False)])
    for table in ("accounts", "items") if mark else ("accounts",):
        _assert_rows(landing, table, expected["tables"][table])


def test_a_transaction_is_open_when_the_snapshot_is_taken(landing: Landing) -> None:
    with racing_postgres() as races:
        races.stream()
        changes, rows = races.open_transaction()
    landing.land([change.line for change in changes])
    staged = landing.stage("parse_accounts")
    position = max(row["_snapshot_lsn"] for row in staged if row["_snapshot_lsn"])
    assert any(row["_first_lsn"] and row["_first_lsn"] < position for row in staged)
    _assert_rows(landing, "accounts", rows)


def _recorded(stream: str) -> tuple[list[str], dict[str, Any]]:
    lines = (DIALECTS / f"{stream}.jsonl").read_text().splitlines()
    return lines, json.loads((DIALECTS / f"{stream}.expected.json").read_text())["tables"]


def _recorded_rows(landing: Landing, table: str) -> list[dict[str, Any]]:
    staged = landing.stage(f"parse_{table}")
    assert {row["_reason"] for row in staged} == {None}
    snapshots = [f"{row['_snapshot_lsn']}L" for row in staged if row["_snapshot_lsn"]]
    rows = _live(landing.query("fold_recorded", max(snapshots, default="cast(null as bigint)")), RECORDED_COLUMNS)
    return [{name: str(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize(
    "stream",
    [
        *("postgresql_incremental", "postgresql_truncates"),
        *(pytest.param(name, marks=pytest.mark.all) for name in ("mysql_incremental", "mysql_truncates")),
    ],
)
def test_streams_that_debezium_has_recorded(landing: Landing, stream: str) -> None:
    """Incremental and blocking snapshots, truncates, and updates of primary keys, which are a delete, a tombstone and an
    insert at one position."""
    lines, tables = _recorded(stream)
    landing.land(lines)
    for table, expected in tables.items():
        assert _recorded_rows(landing, table) == expected["rows"], table


def test_without_truncates_their_rows_stay(landing: Landing) -> None:
    """By default Debezium sends none: skipped.operations is t."""
    lines, tables = _recorded("postgresql_truncates")
    landing.land([line for line in lines if '"op":"t"' not in line])
    assert [row["id"] for row in tables["orders"]["rows"]] == ["1"]
    assert [row["id"] for row in _recorded_rows(landing, "orders")] == ["1", "2", "3", "4"]


def test_a_new_slot_misses_what_was_deleted_before_its_snapshot(landing: Landing) -> None:
    """The snapshot corrects the other rows. A truncate just below it, as docs/parse_debezium.md has it, removes that one."""
    with racing_postgres() as races:
        races.stream()
        races.send("S insert into T select id, id, 0, 'old' from generate_series(1, 4) as id")
        races.send("S delete from T where id = 4")
        before = races.changes()
        races.restart_stream()
        races.send("S update T set amount = 1 where id = 1")
        races.send("S delete from T where id = 2")
        races.send("S insert into T values (4, 4, 1, 'again'), (5, 5, 1, 'new')")
        snapshot = races.snapshot()
        races.send("S update T set amount = 2 where id = 5")
        after = races.changes()
        rows = races.rows("accounts")
    landing.land([change.line for change in before], [change.line for change in (*snapshot, *after)])
    landing.stage("parse_accounts")
    position = snapshot[0].lsn
    since_snapshot = f"if(_batch >= 2, {position}L, null)"
    found = _live(landing.query("fold_accounts", since_snapshot))
    assert [row["id"] for row in found] == [1, 2, 3, 4, 5]
    assert [row for row in found if row["id"] != 2] == rows
    (example,) = re.findall(r'^\{"op":"t".*', (REPOSITORY / "docs" / "parse_debezium.md").read_text(), re.MULTILINE)
    landing.land([example.replace("orders", "accounts").replace("799", str(position - 1))])
    landing.stage("parse_accounts")
    assert _live(landing.query("fold_accounts", since_snapshot)) == rows


def test_a_blocking_snapshot_comes_after_the_first_transaction(landing: Landing) -> None:
    """Only an initial snapshot can have been taken while the first transaction of the stream was open."""
    source: dict[str, Any] = {"schema": "public", "table": "orders"}
    landing.land(
        [
            _line("r", "postgresql", key=1, lsn=800, sequence='[null,"800"]', snapshot="true", **source),
            _line("d", "postgresql", key=1, lsn=808, sequence='[null,"808"]', **source),
            _line("c", "postgresql", key=1, lsn=824, sequence='["816","824"]', **source),
            _line("r", "postgresql", key=1, lsn=840, sequence='["832","840"]', snapshot="true", **source),
        ]
    )
    assert [row["id"] for row in _recorded_rows(landing, "orders")] == ["1"]


def _line(op: str, connector: str, key: int = 1, **source: Any) -> str:
    row = {"id": key, "code": 1}
    images = {"before": row} if op == "d" else {"after": row}
    total_order = source.pop("total_order", None)
    envelope = {"op": op, **images, "source": {"connector": connector, **source}}
    return json.dumps({**envelope, "transaction": {"total_order": total_order}})


def test_a_truncate_in_the_json_of_avro_has_a_position(landing: Landing) -> None:
    """It has no image, by which the unions of other events are known."""
    text = '{"before":null,"after":null,"source":{"connector":"postgresql","snapshot":{"string":"false"},"sequence":{"string":"[\\"816\\",\\"824\\"]"},"lsn":{"long":824}},"op":"t","ts_ms":{"long":1}}'
    landing.land([_line("c", "postgresql", lsn=808, sequence='["800","808"]'), text])
    row, truncate = landing.stage("parse")
    assert truncate["_reason"] is None
    assert truncate["_is_truncate"]
    assert int(truncate["_version"]) > int(row["_version"])


def _hex(*numbers: int) -> str:
    return ":".join(f"{number:0{length}x}" for number, length in zip(numbers, (8, 8, 4), strict=True))


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Events of one key, in the order in which they count.
ORDERS = {
    "postgresql": [
        _line("r", "postgresql", lsn=None, sequence='["900",null]', snapshot="incremental"),
        _line("r", "postgresql", lsn=800, sequence='[null,"800"]', snapshot="true"),
        _line("u", "postgresql", lsn=640, sequence='["800","640"]'),
        _line("r", "postgresql", lsn=840, sequence='["840","840"]', snapshot="true"),
        _line("d", "postgresql", lsn=824, sequence='["840","824"]'),
        _line("c", "postgresql", lsn=824, sequence='["840","824"]'),
        _line("u", "postgresql", lsn=856, sequence='["840","856"]'),
        _line("u", "postgresql", lsn=832, sequence='["864","832"]'),
        _line("u", "postgresql", lsn=808, sequence='["864","808"]', commit_lsn=896),
        _line("u", "postgresql", lsn=2**53, sequence=f'["{2**53}","{2**53}"]'),
    ],
    "mysql": [
        _line("r", "mysql", file="mysql-bin.000009", pos=154, snapshot="true"),
        _line("d", "mysql", file="mysql-bin.000009", pos=219, row=0),
        _line("c", "mysql", file="mysql-bin.000009", pos=219, row=0),
        _line("u", "mysql", file="mysql-bin.000009", pos=219, row=10),
        _line("u", "mysql", file="mysql-bin.000009", pos=4 * 10**9, row=0),
        _line("u", "mysql", file="mysql-bin.000010", pos=4, row=0),
        _line("u", "mysql", file="mysql-bin.1000000", pos=4, row=0),
    ],
    "mariadb": [
        _line("u", "mariadb", file="mariadb-bin.999999", pos=4, row=0),
        _line("u", "mariadb", file="mariadb-bin.1000000", pos=4, row=0),
    ],
    "mongodb": [
        _line("r", "mongodb", ts_ms=1767607100000, ord=1, snapshot="true"),
        _line("u", "mongodb", ts_ms=1767607200000, ord=2),
        _line("u", "mongodb", ts_ms=1767607200000, ord=10),
        _line("u", "mongodb", ts_ms=1767607201000, ord=1),
    ],
    "sqlserver": [
        _line("r", "sqlserver", commit_lsn=_hex(39, 2752, 1), change_lsn=None, snapshot="true"),
        _line("u", "sqlserver", commit_lsn=_hex(39, 2752, 2), change_lsn=_hex(39, 2752, 1)),
        _line("d", "sqlserver", commit_lsn=_hex(39, 2753, 1), change_lsn=_hex(39, 80, 9), event_serial_no=1),
        _line("c", "sqlserver", commit_lsn=_hex(39, 2753, 1), change_lsn=_hex(39, 80, 9), event_serial_no=2),
        _line("u", "sqlserver", commit_lsn=_hex(39, 2753, 1), change_lsn=_hex(39, 80, 10), event_serial_no=1),
        _line("u", "sqlserver", commit_lsn=_hex(256, 1, 1), change_lsn=_hex(39, 1, 1), event_serial_no=1),
    ],
    "oracle": [
        _line("r", "oracle", scn="1000", commit_scn=None, snapshot="true"),
        _line("u", "oracle", scn="990", commit_scn="1001", rs_id="0x00003b.0000091f.0010", ssn=0),
        _line("u", "oracle", scn="995", commit_scn="1001", rs_id="0x00003b.0000091f.0010", ssn=0),
        _line("u", "oracle", scn="995", commit_scn="1001", rs_id="0x00003b.0000091f.0010", ssn=1),
        _line("u", "oracle", scn="995", commit_scn="1001", rs_id=" 0x00003c.00000001.0010 ", ssn=0),
        _line("u", "oracle", scn="500", commit_scn="20000", rs_id=None, ssn=None),
    ],
}


def test_each_connector_has_an_order(landing: Landing, project: Project) -> None:
    """Versions grow with the lines of a connector, and ClickHouse can store them. A stream gets the same order if it
    lands in ClickHouse."""
    landing.land(*ORDERS.values())
    staged = landing.stage("parse")
    assert [row["_reason"] for row in staged if row["_reason"]] == []
    for batch, connector in enumerate(ORDERS, start=1):
        versions = [row["_version"] for row in staged if row["_batch"] == batch]
        assert versions == sorted(set(versions)), connector
        highest = 2**256 if connector in ("sqlserver", "oracle") else 2**118
        assert all(0 <= int(version) < highest for version in versions), connector
        assert len({len(version) for version in versions}) == 1
    assert [int(row["_version"]) for row in staged if row["_batch"] == 1][:3] == [
        1,
        800 * 2**64 + 1,
        800 * 2**64 + 2**62 - 160 + 1,
    ]
    assert staged[-1]["_first_lsn"] is None
    lines = [line for name in ORDERS if name not in ("sqlserver", "oracle") for line in ORDERS[name]]
    sql = project.rendered("get_position_sql", fields=ast.literal_eval(project.rendered("get_envelope_fields")))
    events = [{"op": json.loads(line)["op"], "source": json.dumps(json.loads(line)["source"])} for line in lines]
    rows = ", ".join(f"({_quoted(event['op'])}, {_quoted(event['source'])})" for event in events)
    found = chdb.query(f"select {sql} from values('op String, source String', {rows})", "TSV").data()
    assert found.splitlines() == [str(int(row["_version"])) for row in staged[: len(lines)]]


def test_epochs_stand_above_positions(landing: Landing) -> None:
    """The server's positions start again in batch 2, and later at a time."""
    begin = 1767607200500
    line = _line("u", "postgresql", lsn=10**12, sequence=f'["{10**12}","{10**12}"]', ts_ms=begin - 1)
    lower = _line("u", "postgresql", lsn=8, sequence='["8","8"]', ts_ms=0)
    moved = [
        _line("u", "postgresql", lsn=8, sequence='["8","8"]', ts_ms=begin),
        _line("r", "mysql", file="b.1", pos=4, ts_ms=begin),
    ]
    untimed = _line("u", "mysql", file="b.1", pos=4)
    landing.land([line], [lower, line], moved, [untimed])
    *placed, without = landing.stage("parse_epochs")
    assert without["_reason"] == "source.ts_ms is missing, and epochs has times"
    versions = sorted((row["_batch"], row["_version"]) for row in placed)
    assert [int(version) >> 118 for _, version in versions] == [0, 1, 1, 2, 2]
    assert versions == sorted(versions, key=lambda found: found[1])


def test_transactions_of_servers(landing: Landing) -> None:
    placed = [
        _line("r", "mysql", gtid=None, snapshot="true"),
        _line("d", "mysql", gtid="A:7", total_order=1),
        _line("c", "mysql", gtid="a:7", total_order=1),
        _line("c", "mysql", gtid="a:7", total_order=2),
        _line("c", "mysql", gtid="b:1", total_order=1),
    ]
    unplaced = {
        _line("u", "mysql", gtid="a:7"): "transaction.total_order is missing",
        _line("u", "mysql", total_order=1): "source.gtid is missing",
        _line("u", "mysql", gtid="beef:1", total_order=1): "source.gtid is no transaction of a known server",
        _line("u", "mysql", gtid="a:tag:5", total_order=1): (
            "source.gtid has a tag, whose transactions have no order with others"
        ),
        # MariaDB's transactions are domain-server-sequence.
        _line("u", "mariadb", gtid="0-1-270", total_order=1): "source.gtid is no transaction of a known server",
    }
    landing.land(placed, [*unplaced])
    staged = landing.stage("parse_gtid")
    versions = [row["_version"] for row in staged[: len(placed)]]
    assert versions == sorted(set(versions))
    assert [len(version) for version in versions] == [38] * 5
    assert [row["_reason"] for row in staged[len(placed) :]] == [*unplaced.values()]


UNPLACED: dict[str, list[tuple[str, str | None]]] = {
    "parse": [
        (_line("u", "postgresql", lsn=8), "source.sequence is missing"),
        (_line("u", "postgresql", sequence='["8","8"]'), "source.lsn is missing"),
        (_line("u", "postgresql", lsn="x", sequence='["8","8"]'), "source.lsn does not fit bigint"),
        (_line("u", "postgresql", lsn=2**55, sequence='["8","8"]'), "source.sequence is no position"),
        (json.dumps({"op": "u", "after": {"id": 1}, "source": {"lsn": 8}}), "source.connector is missing"),
        (_line("u", "vitess", vgtid="x"), "source.connector is vitess, which has no known order of commits"),
        (_line("u", "mysql", file="b.1"), "source.pos is missing"),
        (_line("u", "sqlserver", commit_lsn="39:2752"), "source.commit_lsn and source.change_lsn are no position"),
        (_line("u", "oracle", scn="7"), "source.commit_scn and source.scn are no position"),
        (_line("u", "mongodb", ord=1), "source.ts_ms and source.ord are no position"),
    ],
    "parse_despite": [
        (_line("u", "postgresql", lsn=8), None),
        (_line("u", "postgresql", lsn=2**55), "source.lsn is no position"),
    ],
}


@pytest.mark.parametrize("model", UNPLACED)
def test_no_position(landing: Landing, model: str) -> None:
    landing.land([line for line, _ in UNPLACED[model]])
    assert [row["_reason"] for row in landing.stage(model)] == [reason for _, reason in UNPLACED[model]]


def test_an_update_as_delete_and_insert(landing: Landing) -> None:
    """At one version, the last line decides whether the row exists."""
    rows = [
        {"id": 1, "code": 200, "gone": True},
        {"id": 1, "code": 200, "gone": False},
        {"id": 2, "code": 200, "gone": False},
        {"id": 2, "code": 200, "gone": True},
        {"id": 3, "code": 200, "gone": True},
        {"id": 3, "code": 200, "gone": True},
    ]
    # Batch 10 comes after batch 9, unlike its folder by name.
    ninth, tenth = ([{"id": 4, "code": 200, "gone": is_gone}] for is_gone in (False, True))
    batches = [rows, [rows[1]], *[[]] * 6, ninth, tenth]
    landing.land(*([json.dumps(row) for row in batch] for batch in batches))
    landing.stage("parse_rows")
    found = {row["id"]: row for row in landing.query("latest_rows")}
    assert {key: row["_is_deleted"] for key, row in found.items()} == {1: False, 2: True, 3: True, 4: True}
    assert {key: (row["_superseded"], row["_duplicates"]) for key, row in found.items()} == {
        1: (1, 1),
        2: (0, 1),
        3: (0, 1),
        4: (0, 1),
    }


def test_lines_of_other_tables_are_passed_over(landing: Landing) -> None:
    """They are recognised by name, by schema and name, or by a pattern; truncates too. A line must name its table."""
    position: dict[str, Any] = {"lsn": 8, "sequence": '["8","8"]'}

    def line(op: str, **source: Any) -> str:
        return _line(op, "postgresql", **position, **source)

    landing.land(
        [
            line("u", schema="public", table="shop_1"),
            line("u", schema="other", table="shop_1"),
            line("d", schema="any", table="carts"),
            line("t", schema="public", table="carts_old"),
            line("t", schema="public", table="shop_x"),
            line("u", schema="public"),
        ]
    )
    found = [(row["_ignored"], row["_reason"], row["_version"] is not None) for row in landing.stage("parse_tables")]
    assert found == [
        (None, None, True),
        ("table other.shop_1", None, False),
        (None, None, True),
        ("table public.carts_old", None, False),
        (None, None, True),
        (None, "source.table is missing", True),
    ]
    assert {row["_table"] for row in landing.stage("parse")} == {
        "public.shop_1",
        "other.shop_1",
        "any.carts",
        "public.carts_old",
        "public.shop_x",
        None,
    }


def test_a_delete_and_insert_begins_anew(landing: Landing) -> None:
    """Nothing from before the delete is combined with the insert at the same version."""
    rows = [
        {"id": 1, "code": 100, "amount": 9, "gone": False},
        {"id": 1, "code": 200, "amount": 9, "gone": True},
        {"id": 1, "code": 200, "amount": 5, "gone": False},
        {"id": 1, "code": 300, "amount": 4, "gone": False},
    ]
    landing.land([json.dumps(row) for row in rows])
    landing.stage("parse_sums")
    (row,) = landing.query("folded_rows")
    assert (row["code"], row["amount"], row["_is_deleted"], row["_reset"]) == (300, 5, False, True)
