"""Makes the fixtures tests/change_sets/dialects/moves_*: the source moves to a server whose positions start again.

    python -m scripts.debezium.moves [name ...]

Each file has what Debezium sends from the first server and then from the second one. For each, `moves.expected.json`
says how many lines are from the first server, and which rows the second one has in the end:

- `moves_postgresql`: `pg_dump` into a new cluster; Debezium streams its changes, without a snapshot.
- `moves_restore`: the cluster is restored from a `pg_basebackup`, which lacks the last changes; Debezium reads a
  snapshot.
- `moves_mariadb`: the rows are copied to a new server, whose binlog begins with its first file.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from scripts.debezium.dialects import FOLDER
from scripts.debezium.engine import Debezium
from scripts.debezium.mariadb import MariaDB
from scripts.debezium.postgres import Postgres
from scripts.debezium.recording import MARKER, Recording, wait_until

SCHEMA = f"""
create table {MARKER} (id integer primary key);
create table orders (id integer primary key, note varchar(50));
"""
ROWS = "insert into orders values (1, 'o1'), (2, 'o2'), (3, 'o3'), (4, 'o4');\n"
CHANGES = "update orders set note = 'first' where id <= 2; delete from orders where id = 4;\n"
LOST = "update orders set note = 'lost' where id = 3;\n"
MOVED = (
    "update orders set note = 'second' where id = 1;\n"
    "delete from orders where id = 2; insert into orders values (5, 'o5');\n"
)
BINLOGS = "flush binary logs; flush binary logs; flush binary logs;\n"


class Server(Protocol):
    """A PostgreSQL or a MariaDB."""

    def query(self, sql: str, database: str = ...) -> list[str]:
        """Run statements. Return the lines of their results."""


def _run(
    debezium: Debezium, server: Server, settings: Mapping[str, str], changes: str, database: str, *, mark: int
) -> list[str]:
    """What the connector sends from its start up to these changes."""
    with Recording(debezium, {**settings, "tombstones.on.delete": "false"}) as recording:
        numbers = iter(range(mark, mark + 900))

        def streams() -> bool:
            if not recording.markers:
                server.query(f"insert into {MARKER} values ({next(numbers)})", database)
            return bool(recording.markers)

        wait_until(streams)
        server.query(changes, database)
        server.query(f"insert into {MARKER} values ({mark + 900})", database)
        records = recording.wait_for_marker(mark + 900)
    return [record.value for record in records if record.value and record.topic.endswith(".orders")]


def _orders(server: Server, database: str) -> list[Any]:
    rows = [
        line.replace("\t", "|").split("|") for line in server.query("select id, note from orders order by id", database)
    ]
    return [{"id": int(key), "note": note} for key, note in rows]


def _postgresql(debezium: Debezium, folder: Path, restores: bool) -> dict[str, Any]:
    first, second = Postgres(folder / "first", SCHEMA + ROWS), Postgres(folder / "second")
    try:
        first.start()
        if restores:
            second.restore(first)
        first.query("select pg_switch_wal(); checkpoint; select pg_switch_wal();")
        sent = _run(
            debezium, first, {**first.connector("a"), "name": "a"}, CHANGES + LOST * restores, "postgres", mark=0
        )
        dump = "" if restores else first.dump()
        first.stop()
        second.start()
        second.query(dump)
        settings = {**second.connector("b"), "name": "b", "snapshot.mode": "initial" if restores else "no_data"}
        moved = _run(debezium, second, settings, MOVED, "postgres", mark=1000)
        return {"sent": sent, "moved": moved, "rows": _orders(second, "postgres")}
    finally:
        first.stop()
        second.stop()


def _mariadb(debezium: Debezium, folder: Path) -> dict[str, Any]:
    first, second = MariaDB(folder / "first"), MariaDB(folder / "second")
    try:
        for server in (first, second):
            server.start()
            server.query("create database shop")
            server.query(SCHEMA, "shop")
        first.query(BINLOGS + ROWS, "shop")
        sent = _run(debezium, first, {**first.connector("shop"), "name": "a"}, CHANGES, "shop", mark=0)
        for row in _orders(first, "shop"):
            second.query(f"insert into orders values ({row['id']}, '{row['note']}')", "shop")
        first.stop()
        time.sleep(2)  # times in MariaDB are whole seconds
        settings = {**second.connector("shop"), "name": "b", "snapshot.mode": "no_data"}
        moved = _run(debezium, second, settings, MOVED, "shop", mark=1000)
        return {"sent": sent, "moved": moved, "rows": _orders(second, "shop")}
    finally:
        first.stop()
        second.stop()


MOVES: dict[str, Callable[[Debezium, Path], dict[str, Any]]] = {
    "moves_postgresql": lambda debezium, folder: _postgresql(debezium, folder, restores=False),
    "moves_restore": lambda debezium, folder: _postgresql(debezium, folder, restores=True),
    "moves_mariadb": _mariadb,
}


def main() -> int:
    """Make the named fixtures, or all."""
    path = FOLDER / "moves.expected.json"
    expected = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or MOVES:
        with tempfile.TemporaryDirectory(prefix="moves-") as temporary:
            folder = Path(temporary)
            folder.chmod(0o755)  # PostgreSQL's account must be able to pass through it
            for server in ("first", "second"):
                (folder / server).mkdir()
            with Debezium(folder / "debezium.log") as debezium:
                found = MOVES[name](debezium, folder)
        lines = [*found["sent"], *found["moved"]]
        (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        expected[name] = {"lines_of_first": len(found["sent"]), "rows": found["rows"]}
        print(f"{name}: {len(found['sent'])} and {len(found['moved'])} lines")
    texts = [f"{json.dumps(name)}: {json.dumps(expected[name])}" for name in sorted(expected)]
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
