"""Transactions that race for a few keys of a real PostgreSQL: its changes in commit order, and the rows that are left.

PostgreSQL writes the row of an insert before it waits for the unique index. So the log is not in the order in which
transactions commit: a delete that commits first can have the higher LSN. `Races.run` sends one of the races of `RACES`,
step by step, and `Races.load` lets many connections race at random. `Races.changes` returns what logical decoding says
about them, in the shape in which Debezium sends it, and `Races.rows` what the tables hold.
"""

from __future__ import annotations

import json
import queue
import random
import re
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from scripts.debezium.postgres import Postgres
from tests.support.oracle import Event

COLUMNS = ("id", "code", "amount", "note")
# The key of each table's model; for `coded` it is not the primary key.
KEYS: dict[str, tuple[str, ...]] = {
    "accounts": ("id",),
    "deferred": ("id",),
    "emptied": ("id",),
    "coded": ("code",),
    "items": ("id", "code"),
}
PRIMARY_KEYS = {**KEYS, "coded": ("id",)}
TABLES = tuple(KEYS)
_BODY = "id bigint, code bigint, amount bigint, note text"
SCHEMA = f"""
create table accounts ({_BODY}, primary key (id));
create table deferred ({_BODY}, primary key (id) deferrable initially deferred);
create table emptied ({_BODY}, primary key (id));
create table coded ({_BODY}, primary key (id), unique (code));
create table items ({_BODY}, primary key (id, code));
-- Long notes stay out of line: an update of another column does not carry them.
alter table accounts alter note set storage external;
alter table deferred replica identity full;
alter table coded replica identity full;
alter table items replica identity full;
"""
SETTINGS = {"max_prepared_transactions": 50, "max_connections": 60, "deadlock_timeout": "20ms"}
SLOT = "races"
UNAVAILABLE = "__debezium_unavailable_value"
LONG = "repeat('long ', 1000)"

Row = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A change of one row.

    Args:
        op: c, u, d, t, or r for a row that a snapshot has read.
        lsn: the position of the change in the log.
        committed: the LSN of the previous commit; None if there was none since the start of the stream. It is the first
            element of Debezium's `source.sequence`.
        before: the row before, or its key, as far as PostgreSQL writes it.
    """

    table: str
    op: str
    lsn: int
    committed: int | None
    transaction: int
    before: Row | None = None
    after: Row | None = None

    @classmethod
    def of_line(cls, line: str) -> Change:
        """A change that Debezium has sent. A read of an incremental snapshot has no position: it is 0 here."""
        event = json.loads(line)
        source = event["source"]
        committed, _ = json.loads(source["sequence"])
        is_read = source["lsn"] is None
        return cls(
            source["table"],
            event["op"],
            source["lsn"] or 0,
            int(committed) if committed and not is_read else None,
            source["txId"] or 0,
            event["before"],
            event["after"],
        )

    @property
    def line(self) -> str:
        """The change as Debezium sends it."""
        texts = [None if at is None else str(at) for at in (self.committed, self.lsn)]
        source = {
            "version": "3.6.1.Final",
            "connector": "postgresql",
            "name": "races",
            "snapshot": "true" if self.op == "r" else "false",
            "db": "postgres",
            "sequence": json.dumps(texts, separators=(",", ":")),
            "schema": "public",
            "table": self.table,
            "txId": self.transaction,
            "lsn": self.lsn,
            "xmin": None,
        }
        event = {"before": self.before, "after": self.after, "source": source, "op": self.op}
        return json.dumps(event, separators=(",", ":"))


class Session:
    """A connection. Answers may be late, because a statement can wait for another session."""

    def __init__(self, postgres: Postgres, database: str = "postgres") -> None:
        self._psql = subprocess.Popen(
            postgres.command("-v", "ON_ERROR_STOP=0", database=database),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
        )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._asked = self._answered = 0
        self.said: list[str] = []

    def _read(self) -> None:
        assert self._psql.stdout
        for line in self._psql.stdout:
            self._answers.put(line.rstrip("\n"))

    def send(self, sql: str) -> None:
        """Send statements without waiting for them."""
        self._asked += 1
        assert self._psql.stdin
        self._psql.stdin.write(f"{sql};\n\\echo answer {self._asked}\n")
        self._psql.stdin.flush()

    def ask(self, sql: str) -> list[str]:
        """The lines that statements return."""
        self.said.clear()
        self.send(sql)
        return self.answer()

    def answer(self) -> list[str]:
        """Wait until everything is answered. Return the lines."""
        self.wait()
        return list(self.said)

    def wait(self) -> None:
        """Wait until all statements are answered."""
        deadline = monotonic() + 60
        while self.is_busy():
            assert monotonic() < deadline, f"PostgreSQL does not answer: {self.said}"
            sleep(0.0002)

    def is_busy(self) -> bool:
        """Whether a statement has not been answered yet."""
        while True:
            try:
                line = self._answers.get_nowait()
            except queue.Empty:
                return self._answered < self._asked
            if line == f"answer {self._answered + 1}":
                self._answered += 1
            else:
                self.said.append(line)

    def close(self) -> None:
        assert self._psql.stdin
        self._psql.stdin.close()
        self._psql.wait()


@contextmanager
def racing_postgres() -> Iterator[Races]:
    """A PostgreSQL with empty tables to race for."""
    # PostgreSQL runs as another user, and the path of its socket must be short.
    with TemporaryDirectory(prefix="races-") as folder:
        races = Races(Path(folder))
        try:
            races.start()
            yield races
        finally:
            races.stop()


class Races:
    """A PostgreSQL in an empty folder, with tables to race for."""

    def __init__(self, folder: Path) -> None:
        self.postgres = Postgres(folder, SCHEMA, SETTINGS)
        self._sessions: dict[str, Session] = {}
        self._committed: int | None = None
        self._base = 0

    def start(self) -> None:
        self.postgres.start()

    def stop(self) -> None:
        for session in self._sessions.values():
            session.close()
        self.postgres.stop()

    def stream(self) -> None:
        """Begin a stream at the current state of the tables, without a snapshot."""
        self.postgres.query(f"select pg_create_logical_replication_slot('{SLOT}', 'test_decoding')")

    def snapshot(self, steps: str = "") -> list[Change]:
        """Begin a stream with a snapshot, while others write. Return the rows as Debezium reads them.

        They have the position at which the slot begins. Transactions that are open at that point are streamed later,
        with changes from before it: the steps of `OPEN_TRANSACTION` are an example.
        """
        replication = Session(self.postgres, "dbname=postgres replication=database")
        reader = Session(self.postgres)
        try:
            replication.send(f"CREATE_REPLICATION_SLOT {SLOT} LOGICAL test_decoding EXPORT_SNAPSHOT")
            for step in steps.strip().splitlines():
                self._wait_for_slot(replication)
                self.send(step)
            (slot,) = replication.answer()
            _, point, snapshot, _ = slot.split("|")
            begin = f"begin isolation level repeatable read; set transaction snapshot '{snapshot}'"
            reader.ask(begin)
            position = _number(point)
            return [
                Change(table, "r", position, None, 0, after=json.loads(row))
                for table in TABLES
                for row in reader.ask(f"select to_json(t) from {table} as t")
            ]
        finally:
            reader.close()
            replication.close()

    def open_transaction(self) -> tuple[list[Change], list[Row]]:
        """A stream whose snapshot is taken while a transaction is open, and what `accounts` holds in the end."""
        self._base += 10
        self.postgres.query("truncate accounts")
        self.restart_stream()
        self.send("S insert into T values (#4, 4, 1, 'old')")
        self.send("A begin; insert into T values (#1, 1, 1, 'A')")
        changes = self.snapshot(OPEN_TRANSACTION)
        self.send("C update T set amount = 3 where id = #3; commit")
        self.send("S update T set amount = 2 where id = #2")
        return changes + self.changes(), self.rows("accounts")

    def _wait_for_slot(self, replication: Session) -> None:
        """Wait until the slot begins, which is when the transactions that it waits for have ended."""
        waiting = "select count(*) from pg_stat_activity where backend_type = 'walsender' and cardinality(pg_blocking_pids(pid)) > 0"
        deadline = monotonic() + 60
        while replication.is_busy() and self._session("monitor").ask(waiting) == ["0"]:
            assert monotonic() < deadline, "PostgreSQL does not begin the slot"
            sleep(0.001)

    def restart_stream(self) -> None:
        """Drop the stream, so that another one can begin."""
        self.postgres.query(f"select pg_drop_replication_slot('{SLOT}')")
        self._committed = None

    def changes(self) -> list[Change]:
        """What has been committed since the last call, in commit order."""
        found: list[Change] = []
        columns = f"'{SLOT}', null, null, 'skip-empty-xacts', '1'"
        for line in self.postgres.query(f"select lsn, xid, data from pg_logical_slot_get_changes({columns})"):
            lsn, transaction, text = line.split("|", 2)
            if text.startswith("COMMIT"):
                self._committed = _number(lsn)
            elif not text.startswith("BEGIN"):
                found += _parsed(text, _number(lsn), self._committed, int(transaction))
        return found

    def rows(self, table: str) -> list[Row]:
        """What a table holds."""
        return [json.loads(row) for row in self.postgres.query(f"select to_json(t) from {table} as t order by t")]

    def run(self, name: str) -> range:
        """Run one of `RACES`. Return the keys that it used."""
        self._base += 10
        table, *steps = RACES[name].split("|")
        for step in steps:
            self.send(step, table.strip())
        for session in self._sessions.values():
            session.wait()
        return range(self._base, self._base + 10)

    def send(self, step: str, table: str = "accounts") -> None:
        """Send a step of a race: a session, and its statement."""
        who, sql = step.split(maxsplit=1)
        sql = re.sub(r"#(\d)", lambda found: str(self._base + int(found[1])), sql)
        self._session(who).send(re.sub(r"\bT\b", table, sql.replace("LONG", LONG)))
        self._settle()

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            self._sessions[name] = Session(self.postgres)
        return self._sessions[name]

    def _settle(self) -> None:
        """Wait until each session has answered or waits for another."""
        monitor = self._session("monitor")
        deadline = monotonic() + 60
        while busy := self._busy():
            assert monotonic() < deadline, "PostgreSQL does not answer"
            (waiting,) = monitor.ask(
                "select count(*) from pg_stat_activity "
                "where backend_type = 'client backend' and cardinality(pg_blocking_pids(pid)) > 0"
            )
            if int(waiting) >= busy == self._busy():
                return

    def _busy(self) -> int:
        return sum(session.is_busy() for session in self._sessions.values())

    def load(self, seed: int, connections: int = 6, transactions: int = 100) -> None:
        """Let connections race at random until all are done."""
        for psql in self.start_load(seed, connections, transactions):
            psql.wait()

    def start_load(self, seed: int, connections: int = 6, transactions: int = 100) -> list[subprocess.Popen[str]]:
        """Start the same, without waiting."""
        found = []
        for number in range(connections):
            script = self.postgres.folder / f"load-{seed}-{number}.sql"
            chance = random.Random(f"{seed} {number}")
            script.write_text("".join(f"{sql};\n" for sql in _random_statements(chance, transactions, number)))
            command = self.postgres.command("-v", "ON_ERROR_STOP=0", "-f", str(script))
            found.append(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, cwd="/")
            )
        return found


_CHANGE = re.compile(r"table public\.(\w+): (\w+): ?(.*)", re.DOTALL)
_VALUE = re.compile(r"(\w+)\[[^]]+\]:('(?:[^']|'')*'|\S+)")


def _number(lsn: str) -> int:
    high, low = lsn.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def _parsed(text: str, lsn: int, committed: int | None, transaction: int) -> Iterator[Change]:
    """The changes in the output of `test_decoding`. A change of the primary key becomes a delete and an insert, as in
    Debezium."""
    found = _CHANGE.fullmatch(text)
    assert found, text
    table, kind, images = found.groups()
    place = (lsn, committed, transaction)
    if kind == "TRUNCATE":
        yield Change(table, "t", *place)
    elif kind == "INSERT":
        yield Change(table, "c", *place, after=_row(images))
    elif kind == "DELETE":
        yield Change(table, "d", *place, before=_row(images))
    else:
        old, is_known, new = images.rpartition(" new-tuple: ")
        before = _row(old.removeprefix("old-key: ")) if is_known else None
        after = _row(new)
        keys = PRIMARY_KEYS[table]
        if before and any(before[key] != after[key] for key in keys):
            yield Change(table, "d", *place, before=before)
            yield Change(table, "c", *place, after=after)
        else:
            yield Change(table, "u", *place, before, after)


def _row(image: str) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    for name, text in _VALUE.findall(image):
        if text == "unchanged-toast-datum":
            row[name] = UNAVAILABLE
        elif text.startswith("'"):
            row[name] = text[1:-1].replace("''", "'")
        elif text != "null":
            row[name] = int(text)
    return row


# The table, and then the steps, each a session and its statement. `#1` is a key of this race, T the table. A step that
# waits for another session is answered when that session's transaction has ended.
_OLD = "| S insert into T values (#1, 1, 1, 'old') | A begin | A update T set amount = 2 where id = #1"
_WAITS = {
    # What A does to the row of #1, while B waits to insert the same key.
    "a_delete": "delete from T where id = #1",
    "a_moved_key": "update T set id = #2, note = 'moved' where id = #1",
    "a_delete_and_an_insert_of_another": "with d as (delete from T where id = #1) insert into T values (#3, 3, 3, 'x')",
    "a_savepoint_rolled_back_and_a_delete": "savepoint s; delete from T where id = #1; rollback to s; delete from T where id = #1",
    "a_savepoint_released_and_a_delete": "savepoint s; delete from T where id = #1; release s",
    "a_delete_an_insert_and_a_delete": "delete from T where id = #1; insert into T values (#1, 1, 5, 'again'); delete from T where id = #1",
}
RACES: dict[str, str] = {
    **{
        f"an_insert_waits_for_{name}": f"accounts {_OLD} | B insert into T values (#1, 1, 3, 'new') | A {sql} | A commit"
        for name, sql in _WAITS.items()
    },
    "the_waiting_transaction_goes_on": """
        accounts | S insert into T values (#1, 1, 1, 'old') | A begin | A select * from T where id = #1 for update |
        B begin | B insert into T values (#1, 1, 2, 'new') | A delete from T where id = #1 | A commit |
        B update T set amount = 3 where id = #1 | B commit""",
    "an_update_of_a_long_note_follows": f"""
        accounts {_OLD} | B begin | B insert into T values (#1, 1, 2, LONG) | A delete from T where id = #1 |
        A commit | B update T set amount = 3 where id = #1 | B commit | C update T set amount = 4 where id = #1""",
    "a_chain_of_three": f"""
        accounts {_OLD} | B begin | B insert into T values (#1, 1, 3, 'B') | A delete from T where id = #1 |
        A commit | C insert into T values (#1, 1, 4, 'C') | B delete from T where id = #1 | B commit""",
    "two_wait_and_one_of_them_deletes": f"""
        accounts {_OLD} | B begin | B insert into T values (#1, 1, 3, 'B') | C begin |
        C insert into T values (#1, 1, 4, 'C') | A delete from T where id = #1 | A commit |
        B delete from T where id = #1 | B commit | C delete from T where id = #1 | C commit |
        D insert into T values (#1, 1, 5, 'D')""",
    "the_one_that_goes_first_rolls_back": """
        accounts | A begin | A insert into T values (#1, 1, 1, 'A') | B insert into T values (#1, 1, 2, 'B') |
        A rollback""",
    "the_insert_is_tried_again_after_a_savepoint": f"""
        accounts {_OLD} | B begin | B savepoint s | B insert into T values (#1, 1, 3, 'first') |
        A delete from T where id = #1 | A commit | B rollback to s | B insert into T values (#1, 1, 4, 'second') |
        B commit""",
    "a_key_that_moves_in_waits": """
        accounts | S insert into T values (#1, 1, 1, 'old'), (#2, 2, 2, 'other') | A begin |
        A update T set amount = 3 where id = #1 | B update T set id = #1, note = 'moved' where id = #2 |
        A delete from T where id = #1 | A commit""",
    "keys_move_in_a_circle": """
        accounts | S insert into T values (#1, 1, 1, 'a'), (#2, 2, 2, 'b') | A begin |
        A update T set id = #3, note = 'a3' where id = #1 | A update T set id = #1, note = 'b1' where id = #2 |
        B insert into T values (#2, 2, 3, 'B') | A update T set id = #4, note = 'a4' where id = #3 | A commit""",
    "an_upsert_waits": f"""
        accounts {_OLD} |
        B insert into T values (#1, 1, 3, 'B') on conflict (id) do update set amount = excluded.amount |
        A delete from T where id = #1 | A commit""",
    "an_upsert_waits_for_an_insert": """
        accounts | A begin | A insert into T values (#1, 1, 1, 'A') |
        B insert into T values (#1, 1, 3, 'B') on conflict (id) do update set amount = excluded.amount |
        A update T set amount = 2 where id = #1 | A commit""",
    "a_prepared_delete": f"""
        accounts {_OLD} | B insert into T values (#1, 1, 3, 'B') | A delete from T where id = #1 |
        A prepare transaction 'p#1' | S commit prepared 'p#1'""",
    "a_prepared_insert": f"""
        accounts {_OLD} | B begin | B insert into T values (#1, 1, 3, 'B') | A delete from T where id = #1 |
        A commit | B prepare transaction 'q#1' | C insert into T values (#2, 2, 4, 'C') | C commit prepared 'q#1'""",
    "a_prepared_delete_that_is_rolled_back": """
        accounts | S insert into T values (#1, 1, 1, 'old') | A begin | A delete from T where id = #1 |
        B update T set amount = 3 where id = #1 | A prepare transaction 'r#1' | S rollback prepared 'r#1'""",
    "repeatable_read": """
        accounts | S insert into T values (#1, 1, 1, 'old') | B begin isolation level repeatable read |
        B select * from T | A begin | A update T set amount = 2 where id = #1 |
        B insert into T values (#1, 1, 3, 'B') | A delete from T where id = #1 | A commit | B commit""",
    "a_serialization_failure": """
        accounts | S insert into T values (#1, 1, 1, 'old') | B begin isolation level repeatable read |
        B select * from T | A begin | A update T set amount = 2 where id = #1 |
        B update T set amount = 3 where id = #1 | A commit | B rollback""",
    "a_deadlock": """
        accounts | S insert into T values (#1, 1, 1, 'a'), (#2, 2, 2, 'b') | A begin |
        A update T set amount = 3 where id = #1 | B begin | B update T set amount = 4 where id = #2 |
        A update T set amount = 3 where id = #2 | B update T set amount = 4 where id = #1 | A commit | B commit""",
    "a_row_as_a_mutex": """
        accounts | A begin | A insert into T values (#9, 9, 1, 'A') | B begin |
        B insert into T values (#9, 9, 2, 'B') | A insert into T values (#1, 1, 1, 'A') |
        A delete from T where id = #9 | A commit | B update T set amount = 2 where id = #1 | B commit""",
    "a_job_is_taken_and_queued_again": """
        accounts | S insert into T values (#1, 1, 1, 'job'), (#2, 2, 1, 'job') | A begin |
        A select * from T where id = #1 for update skip locked | B insert into T values (#1, 1, 2, 'again') |
        A delete from T where id = #1 | A commit | B begin |
        B delete from T where id = (select min(id) from T where id in (#1, #2) for update skip locked) |
        A insert into T values (#1, 1, 3, 'again') | B commit""",
    "a_long_transaction_commits_last": """
        accounts | S insert into T values (#1, 1, 1, 'a'), (#2, 2, 2, 'b') | A begin |
        A update T set amount = 3 where id = #1 | B update T set amount = 4 where id = #2 |
        B insert into T values (#3, 3, 4, 'B') | A update T set amount = 5 where id = #2 | A commit""",
    "a_row_replaced_within_a_transaction": """
        accounts | S insert into T values (#1, 1, 1, 'old') |
        A begin; delete from T where id = #1; insert into T values (#1, 1, 2, 'new'); commit""",
    "a_deferred_key_is_there_twice": """
        deferred | S insert into T values (#1, 1, 1, 'old') | A begin | B begin |
        B insert into T values (#1, 1, 2, 'B') | A delete from T where id = #1 | A commit | B commit""",
    "a_deferred_check_waits": f"""
        deferred {_OLD} | B insert into T values (#1, 1, 3, 'B') | A delete from T where id = #1 | A commit""",
    "a_truncate_waits": """
        emptied | S insert into T values (#1, 1, 1, 'a'), (#2, 2, 2, 'b') | A begin |
        A update T set amount = 3 where id = #1 | B truncate emptied | A commit |
        C insert into T values (#2, 2, 3, 'C')""",
    "a_truncate_is_rolled_back": """
        emptied | S insert into T values (#1, 1, 1, 'a') | A begin; truncate emptied |
        B insert into T values (#1, 1, 2, 'B') | C insert into T values (#2, 2, 2, 'C') | A rollback""",
    "a_code_is_given_up": """
        coded | S insert into T values (#1, #5, 1, 'old') | A begin | A select * from T where id = #1 for update |
        A update T set amount = 2 where id = #1 | B insert into T values (#2, #5, 3, 'B') |
        A update T set code = #6 where id = #1 | A commit""",
    "a_code_is_taken_over": """
        coded | S insert into T values (#1, #5, 1, 'old'), (#2, #6, 2, 'other') | A begin |
        A update T set amount = 2 where id = #1 | B update T set code = #5 where id = #2 |
        A delete from T where id = #1 | A commit""",
    "a_primary_key_changes_and_the_code_stays": """
        coded | S insert into T values (#1, #5, 1, 'old') | A update T set id = #2 where id = #1 | B begin |
        B update T set id = #3, amount = 3 where id = #2 | C insert into T values (#4, #5, 4, 'C') |
        B delete from T where id = #3 | B commit""",
    "the_items_of_a_parent_are_replaced": """
        items | S insert into T values (#1, 1, 1, 'old'), (#1, 2, 1, 'old') | A begin |
        A update T set amount = 2 where id = #1 | B insert into T values (#1, 1, 3, 'B'), (#1, 3, 3, 'B') |
        A delete from T where id = #1 | A insert into T values (#1, 2, 4, 'A') | A commit""",
}

# Steps while a slot is created. It waits for A, and then for B, which was open when A ended. C begins later, and is
# still open when the slot begins: its first change is before the snapshot, which does not see it.
OPEN_TRANSACTION = """
B begin; insert into T values (#2, 2, 1, 'B')
A commit
C begin; insert into T values (#3, 3, 1, 'C'); update T set amount = 5, note = 'C' where id = #4
B commit
"""


def _random_statements(chance: random.Random, transactions: int, number: int) -> Iterator[str]:
    """The statements of one connection, at random."""
    for at in range(transactions):
        table = chance.choices(TABLES, [8, 2, 1, 3, 3])[0]
        kinds: list[tuple[int, Callable[[random.Random, str, str], str]]] = [
            (8, _single),
            (5, _locked_delete),
            (3, _replaced),
            (3, _rolled_back_in_part),
            (2, _prepared),
            (2, _repeatable_read),
            (2, _job),
        ]
        if table == "deferred":
            # Within one transaction a deferrable key can exist twice, which no order of events would show.
            kinds = kinds[:1]
        elif table == "emptied" and chance.random() < 0.2:
            yield "truncate emptied"
            continue
        kind = chance.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]
        yield kind(chance, table, f"t{number}x{at}x{chance.randrange(10**6)}")


def _key(chance: random.Random) -> int:
    return chance.randint(1, 6)


def _pause(chance: random.Random) -> str:
    return f"select pg_sleep({chance.choice([0, 0, 0.001, 0.003])})"


def _single(chance: random.Random, table: str, name: str) -> str:
    """One statement."""
    code = f"{_key(chance)}"
    is_long = table == "accounts" and chance.random() < 0.3
    note = LONG if is_long else f"'it''s {name}'"
    insert = f"insert into {table} values ({_key(chance)}, {code}, {chance.randrange(100)}, {note})"
    where = f"where id = {_key(chance)}"
    moved = ", ".join(f"{key} = {_key(chance)}" for key in KEYS[table])
    on_conflict = f"on conflict ({', '.join(KEYS[table])}) do update set amount = excluded.amount"
    choices = [
        insert,
        insert,
        f"delete from {table} {where}",
        f"update {table} set amount = {chance.randrange(100)} {where}",
    ]
    if table != "deferred":
        choices += [
            f"{insert} {on_conflict}",
            f"update {table} set {moved}, note = '{name}' {where}",
            f"update {table} set id = {_key(chance)}, note = '{name}' {where}",
        ]
    return chance.choice(choices)


def _transaction(statements: list[str], begin: str = "begin", end: str = "commit") -> str:
    return "; ".join([begin, *statements, end])


def _locked_delete(chance: random.Random, table: str, name: str) -> str:
    """Lock a row before deleting it: whoever inserts it in between waits."""
    where = f"where id = {_key(chance)}"
    lock = chance.choice([f"select * from {table} {where} for update", f"update {table} set amount = -1 {where}"])
    return _transaction([lock, _pause(chance), f"delete from {table} {where}"])


def _replaced(chance: random.Random, table: str, name: str) -> str:
    """Several statements in one transaction."""
    return _transaction(
        [statement for _ in range(chance.randint(2, 4)) for statement in (_single(chance, table, name), _pause(chance))]
    )


def _rolled_back_in_part(chance: random.Random, table: str, name: str) -> str:
    """Use a savepoint: errors after it are rolled back too."""
    return _transaction(
        [
            _single(chance, table, name),
            "savepoint s",
            _single(chance, table, name),
            _pause(chance),
            chance.choice(["rollback to s", "release s"]),
            _single(chance, table, name),
        ]
    )


def _prepared(chance: random.Random, table: str, name: str) -> str:
    """Commit in two phases. A failed transaction can be neither prepared nor committed."""
    statements = [_single(chance, table, name), _pause(chance), _single(chance, table, name)]
    prepare = f"prepare transaction '{name}'; {_pause(chance)}; "
    return _transaction(statements, end=prepare + chance.choice([f"commit prepared '{name}'"] * 3 + [f"rollback prepared '{name}'"]))  # fmt: skip


def _repeatable_read(chance: random.Random, table: str, name: str) -> str:
    return _transaction(
        [f"select count(*) from {table}", _single(chance, table, name), _single(chance, table, name)],
        begin="begin isolation level repeatable read",
    )  # fmt: skip


def _job(chance: random.Random, table: str, name: str) -> str:
    """Take a row from a queue, and perhaps put it back."""
    job = f"(select ctid from {table} order by random() limit 1 for update skip locked)"
    again = [_single(chance, table, name)] if chance.random() < 0.5 else []
    return _transaction([f"delete from {table} where ctid = {job}", _pause(chance), *again])


def events(changes: Iterable[Change], table: str, order: Callable[[Change], Any] | None = None) -> list[Event]:
    """The changes of a table as events for the oracle. By default a change's version is its position in the list."""
    found = []
    for place, change in enumerate(changes):
        if change.table != table:
            continue
        row = change.after or change.before or {}
        values = tuple(row.get(name) for name in COLUMNS)
        left_out = [name for name, value in row.items() if value == UNAVAILABLE]
        before = change.before if change.before and change.after else row
        found.append(
            Event(
                key_of(row, table),
                order(change) if order else place,
                values,
                is_deleted=change.op == "d",
                is_truncate=change.op == "t",
                unset=frozenset(left_out),
                key_before=key_of(before, table),
            )
        )
    return found


def key_of(row: Row, table: str) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in KEYS[table])
