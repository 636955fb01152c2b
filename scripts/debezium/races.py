"""Makes the fixture tests/change_sets/dialects/races: racing transactions, as the real Debezium sends them.

    python -m scripts.debezium.races

The connector takes its snapshot while a transaction is open. Then connections race at random, then come the races of
`tests/support/racing_postgres.py`, one by one, and finally connections race at random again, while an incremental
snapshot reads all tables once more. `races.jsonl.gz` has the values of all messages in order. `races.expected.json` has
PostgreSQL's own rows at marks: `lines` is the number of lines sent before the mark.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.debezium.dialects import FOLDER
from scripts.debezium.engine import Debezium
from scripts.debezium.recording import MARKER, Recording, wait_until
from tests.support.racing_postgres import OPEN_TRANSACTION, RACES, TABLES, Races, racing_postgres

SETTINGS = {
    "name": "races",
    "skipped.operations": "none",  # by default Debezium sends no truncates
    "signal.data.collection": "public.signals",
    "tombstones.on.delete": "false",
    "incremental.snapshot.chunk.size": "10",
}
SLOT_WAITS = (
    "select count(*) from pg_stat_activity where backend_type = 'walsender' and cardinality(pg_blocking_pids(pid)) > 0"
)
SETUP = f"""
create table {MARKER} (id integer primary key);
insert into {MARKER} values (0);
create table signals (id text primary key, type text, data text);
"""


def main() -> int:
    """Make the fixture."""
    with tempfile.TemporaryDirectory(prefix="races-") as folder, racing_postgres() as races:
        postgres = races.postgres
        postgres.query(SETUP)
        settings = {**postgres.connector("races"), **SETTINGS}
        marks: list[dict[str, Any]] = []
        with Debezium(Path(folder) / "debezium.log") as debezium:
            races.load(seed=1, transactions=50)
            postgres.query("truncate accounts")
            races.send("S insert into T values (#4, 4, 1, 'old')")
            races.send("A begin; insert into T values (#1, 1, 1, 'A')")
            with Recording(debezium, settings) as recording:
                for step in OPEN_TRANSACTION.strip().splitlines():
                    wait_until(lambda: postgres.query(SLOT_WAITS) != ["0"])
                    races.send(step)
                recording.wait_for_marker(0)
                races.send("C update T set amount = 3 where id = #3; commit")
                races.send("S update T set amount = 2 where id = #2")
                _mark(races, recording, marks)
                races.load(seed=2)
                _mark(races, recording, marks)
                for name in RACES:
                    races.run(name)
                _mark(races, recording, marks)
                under_way = races.start_load(seed=3)
                tables = ", ".join(f'"public.{table}"' for table in (*TABLES, MARKER))
                postgres.query(
                    "insert into signals values ('again', 'execute-snapshot', "
                    f'\'{{"type": "incremental", "data-collections": [{tables}]}}\')'
                )
                # The snapshot reads the rows of the marker table last.
                recording.wait_for_marker(len(marks), 2)
                for psql in under_way:
                    psql.wait()
                lines = _mark(races, recording, marks)
    FOLDER.mkdir(exist_ok=True)
    with gzip.GzipFile(FOLDER / "races.jsonl.gz", "wb", mtime=0) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    text = ",\n".join(json.dumps(mark, ensure_ascii=False) for mark in marks)
    (FOLDER / "races.expected.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
    print(f"{len(lines):,} lines")
    return 0


def _mark(races: Races, recording: Recording, marks: list[dict[str, Any]], more: int = 0) -> list[str]:
    """Record the rows, now that nobody writes, and how many lines were sent so far. Return those lines."""
    number = len(marks) + 1
    rows = {table: races.rows(table) for table in TABLES}
    races.postgres.query(f"insert into {MARKER} values ({number})")
    records = recording.wait_for_marker(number)
    lines = [record.value for record in records if record.value and ".signals" not in record.topic]
    marks.append({"lines": len(lines), "tables": rows})
    return lines


if __name__ == "__main__":
    sys.exit(main())
