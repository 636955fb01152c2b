"""Files that change before Spark or ClickHouse has read them to the end: the run stops, and the next one is correct."""

from __future__ import annotations

import base64
import gzip
import json
import random
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support import dying_files
from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import Outcome, variables
from tests.support.dying_files import Fault

ROWS = 800  # per file, which is more than Spark reads at once
PARSE = "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'string'}, version='_batch')"
ONE_CHANGE = "one_change_per_key(EVENTS, key=['id'])"
TYPES = {"id": "Int64", "v": "String"}
# It reads the view instead of the parsed lines.
PLAIN = """
    select id, v, _version, _is_deleted from {{ ref('stg_read') }}
    where _reason is null and {{ is_pending('_batch') }}
"""
# What another run could do after ClickHouse has checked the change set and before it reads it.
EMPTIED = """
    {% if var('empties', false) %}
    {% do adapter.query_on('spark', 'truncate table shop.emptied_changes') %}
    {% endif %}
"""

OPENED, HALF_READ, LISTED = "open", "read [1-9][0-9]*", "list"
GROWS, REPLACED, SHRINKS = ("cat $other >> $file", "cat $other > $file", "truncate -s $half $file")
GONE, ADDED = "mv $file $other", "cp $other $folder/added"


@dataclass(frozen=True)
class Change:
    """What happens to a file, and at which operation of Spark.

    Args:
        at: the operation.
        script: the change of $file; $other is a file with other lines.
        is_zipped: whether both files are.
        failure: Spark's message, if it cannot continue to read.
    """

    at: str
    script: str
    is_zipped: bool = False
    failure: str = ""


CHANGES = [
    Change(OPENED, GROWS),
    Change(HALF_READ, GROWS),
    Change(OPENED, SHRINKS),
    Change(HALF_READ, SHRINKS),
    Change(OPENED, REPLACED),
    Change(HALF_READ, REPLACED),
    Change(HALF_READ, GONE),
    Change(LISTED, GONE),
    Change(LISTED, ADDED),
    Change(OPENED, GROWS, is_zipped=True),
    Change(HALF_READ, GROWS, is_zipped=True),
    Change(OPENED, REPLACED, is_zipped=True),
    Change(HALF_READ, GONE, is_zipped=True),
    Change(OPENED, GONE, failure="it was removed or replaced while Spark read it"),
    Change(OPENED, SHRINKS, is_zipped=True, failure="The file is incomplete or damaged"),
]
READ = [change for change in CHANGES if not change.failure]
FAILING = {f"failing_{i}": change for i, change in enumerate(CHANGES) if change.failure}
STEADY = len(READ) + 1  # the batch that does not change


class Changing(ChangeSetProject):
    """A table with a batch for each change, and a table for each change that Spark itself rejects."""

    def __init__(self, folder: Path) -> None:
        self.faults = folder / "faults"
        settings = dying_files.settings(folder / "java", sys.executable, self.faults)
        output = {
            "type": "spark_clickhouse",
            "schema": "shop",
            "threads": 1,
            "spark": {"method": "session", "server_side_parameters": settings},
        }
        hooks = {"emptied": {"pre_hook": EMPTIED}}
        tables = ["read", "emptied", *FAILING]
        situations = [
            Situation(name, PARSE, ONE_CHANGE, TYPES, {"unique_key": "id", **hooks.get(name, {})}) for name in tables
        ]
        super().__init__(
            folder, situations, output=output, models={"changes/plain_changes.sql": PLAIN}, parsed_once=tables
        )
        self._copies: dict[Path, Path] = {}
        self._aside = folder / "aside"
        self._aside.mkdir()
        for batch, change in enumerate(READ, 1):
            self._land("read", batch, change)
        self._land("read", STEADY, None)
        self._land("emptied", 1, None)
        for table, change in FAILING.items():
            self._land(table, 1, change)

    def _land(self, table: str, batch: int, change: Change | None) -> None:
        folder = self.landing / table / f"batch={batch:06d}"
        folder.mkdir(parents=True)
        is_zipped = change is not None and change.is_zipped
        file = folder / ("a.gz" if is_zipped else "a")
        other = self._aside / f"{table}-{batch}"
        for path, value in ((file, "old"), (other, "new")):
            letters = random.Random(value)
            rows = (
                {"id": batch * ROWS + i, "v": f"{value} {base64.b64encode(letters.randbytes(90)).decode()}"}
                for i in range(ROWS)
            )
            raw = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
            path.write_bytes(gzip.compress(raw) if is_zipped else raw)
        if change and change.script in (GONE, SHRINKS):
            self._copies[file] = self._aside / f"{table}-{batch}-copy"
            shutil.copy2(file, self._copies[file])
        if change:
            half = file.stat().st_size // 2
            script = f"file={file} other={other} folder={folder} half={half}\nset -e\n{change.script}"
            place = folder if change.at == LISTED else file
            Fault(f"{change.at} {place}", script).plan(self.faults / f"{table}-{batch}.plan")

    def run_twice(self) -> list[Outcome]:
        """A run, and a second run that finds what the first one had listed and then found missing or shrunk."""
        back = [["mv", str(copy), str(file)] for file, copy in self._copies.items()]
        return self.dbt(["run", *variables(empties=True)], *back, ["run"])

    def landed(self, table: str) -> list[tuple[int, str]]:
        """The rows in the files of a table now; for each key, the row with the greater value."""
        rows: dict[int, str] = {}
        for file in sorted((self.landing / table).glob("batch=*/*")):
            raw = file.read_bytes()
            lines = (gzip.decompress(raw) if file.suffix == ".gz" else raw).splitlines()
            for row in sorted(map(json.loads, lines), key=lambda row: str(row["v"])):
                rows[row["id"]] = max(row["v"], rows.get(row["id"], ""))
        return sorted(rows.items())


def test_files_that_change_stop_the_run_and_the_next_is_right(tmp_path: Path) -> None:
    project = Changing(tmp_path)
    stopped, completed = project.run_twice()
    assert not list(project.faults.glob("*.plan")), stopped.failures()  # All changes have happened.
    changed = f"files of batches 1 to {STEADY - 1} changed while Spark read them"
    for reader in ("read_changes", "plain_changes"):
        status, message = stopped.nodes[reader]
        assert (status, changed in message) == ("error", True), (reader, message)
    for table, change in FAILING.items():
        status, message = stopped.nodes[f"{table}_changes"]
        assert (status, change.failure in message) == ("error", True), (table, message)
    assert "are not those that Spark wrote" in stopped.nodes["emptied"].message
    assert completed.success, completed.why()
    live = project.live_rows()
    for table in project.situations:
        assert live[table] == project.landed(table), table
    assert project.quarantined() == []
