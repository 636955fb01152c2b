"""`forget` with Spark: no file keeps a value of the subject but those that the certificate lists."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet

from tests.support import shop
from tests.support.change_set_project import ChangeSetProject, Situation

PEOPLE = Situation(
    "people",
    "parse_upserts(SOURCE, key=['id'], columns={'id': 'string', 'email': 'string', 'x': 'bigint'}, version='_batch')",
    "one_change_per_key(EVENTS, key=['id'])",
    {"id": "String", "email": "String", "x": "Int64"},
    {"unique_key": "id", "change_feed": True},
)
OUTPUT = {"type": "spark_clickhouse", "schema": "shop"}
ADA = "ada-key-9431"
SECRET = {"VERSIONED_COLLAPSING_SECRET": "0123456789abcdef0123456789abcdef"}
FORGET = {
    "people": "select id from shop.requests",
    "cdc_quarantine": (
        "select source_table, batch, file, line_number from shop.cdc_quarantine, shop.requests "
        "where position(raw_line, requests.id) > 0"
    ),
}

# dbt, killed with its Spark when it is about to replace a landing file.
KILLED = """
import os, signal, sys
from dbt.cli.main import dbtRunner
def audit(event, arguments):
    if event == "os.rename" and str(arguments[0]).endswith(".blanked"):
        os.killpg(0, signal.SIGKILL)
sys.addaudithook(audit)
dbtRunner().invoke(sys.argv[1:])
"""


def line(key: str, email: str, x: object) -> str:
    return json.dumps({"id": key, "email": email, "x": x})


def texts(path: Path) -> Iterator[bytes]:
    """What a file says, as it is and unpacked."""
    yield path.read_bytes()
    if path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())
    elif path.suffix == ".parquet":
        yield repr(pyarrow.parquet.ParquetFile(path).read().to_pylist()).encode()


def files_with(folder: Path, *values: str) -> set[str]:
    """The files, and the columns of ClickHouse, that have any of the values."""
    found = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(value.encode() in text for text in texts(path) for value in values)
    }
    with shop.clickhouse(folder / "home") as client:
        for table, column in shop.query(
            client, "select table, name from system.columns where database = 'shop' and type like '%String%'"
        ):
            sought = " or ".join(f"position(toString(`{column}`), '{value}') > 0" for value in values)
            if shop.query(client, f"select count() from shop.`{table}` where {sought}") != [(0,)]:
                found.add(f"{table}.{column}")
    return found


def operation(name: str, **arguments: str) -> list[str]:
    return ["run-operation", name, "--args", json.dumps(arguments)]


def command(folder: Path, *statements: str) -> None:
    with shop.clickhouse(folder / "home") as client:
        for statement in statements:
            client.command(statement)


def test_no_file_keeps_the_subject(tmp_path: Path) -> None:
    project = ChangeSetProject(tmp_path, [PEOPLE], output=OUTPUT, parsed_once={"people"})
    batches: list[list[str]] = [
        [
            line(ADA, "ada@old.example", 1),
            line("eve", "eve@mail.example", 2),
            f'{{"id": "{ADA}", "email": ada@broken.example',
            line(ADA, "ada@text.example", "many"),
        ],
        [line("dan", "dan@mail.example", 4), line(ADA, "ada@linked.example", 8)],
        [line("eve", "eve@mail.example", 16)],
    ]
    for number, lines in enumerate(batches, 1):
        project.land("people", number, lines)
    zipped = project.landing / "people" / "batch=000003" / "part-00001.json.gz"
    zipped.write_bytes(gzip.compress("\r\n".join([line(ADA, "ada@zip.example", 32)] * 9).encode(), 1))
    linked = project.landing / "people" / "batch=000002" / "part-00000.json"
    os.link(linked, tmp_path / "copy.json")
    landed = {path: path.stat() for path in project.landing.rglob("*") if path.is_file()}

    (outcome,) = project.dbt(["run"], **SECRET)
    assert outcome.success, outcome.why()
    left = {"copy.json", str(linked.relative_to(tmp_path))}
    assert len(files_with(tmp_path, ADA, "ada@") - left) > 10
    command(
        tmp_path,
        "create table shop.requests (id String) engine = MergeTree order by id",
        f"insert into shop.requests values ('{ADA}')",
    )
    operations = [operation("forget", model=model, keys=keys) for model, keys in FORGET.items()]
    folders = ["--project-dir", f"{tmp_path}/project", "--profiles-dir", f"{tmp_path}/project"]
    home = {"SPARK_CLICKHOUSE_HOME": f"{tmp_path}/home", "DBT_LOG_PATH": f"{tmp_path}/home/logs"}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *operations[0], *folders],
        cwd=tmp_path,
        env={**os.environ, **home, **SECRET, "DBT_TARGET_PATH": f"{tmp_path}/home/target", "TZ": "UTC"},
        start_new_session=True,
        check=False,
    )
    assert killed.returncode == -9
    assert len(list(project.landing.rglob(".*.blanked"))) == 1
    for outcome in project.dbt(*operations, operation("reconcile", model="people"), **SECRET):
        assert outcome.success, outcome.why()
    command(tmp_path, "drop table shop.requests sync")
    assert files_with(tmp_path, ADA, "ada@") == left
    assert {path for path in project.landing.rglob("*") if path.is_file()} == landed.keys()
    for path, before in landed.items():
        after = path.stat()
        assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns), path
    certificate = project.queries(
        rows="select place, status, found, left, lines from shop.versioned_collapsing_certificates "
        "where model = 'people' and status not in ('found', 'checked') order by place"
    )["rows"]
    folder = f"{project.landing}/people"
    assert certificate == [
        (folder, "removed", 12, 1, []),
        ("people/batch=000002/part-00000.json", "not reached", 1, 1, [2]),
        ("shop.people", "removed", 1, 0, []),
        ("shop.people__feed", "removed", 1, 0, []),
        ("shop.people__tombstones", "removed", 0, 0, []),
        ("shop.requests", "not ours", 1, 1, []),
        ("spark.shop.cdc_quarantine_changes", "dropped", None, None, []),
        ("spark.shop.cdc_quarantine_changes__stg_people", "dropped", None, None, []),
        ("spark.shop.people_changes", "dropped", None, None, []),
        ("spark.shop.people_changes__stg_people", "dropped", None, None, []),
    ]

    # The next runs find nothing changed, and take what lands. A full refresh reads what is left.
    project.land("people", 4, [line(ADA, "ada@late.example", 64), line("dan", "dan@mail.example", 128)])
    *outcomes, reconciled, again = project.dbt(
        ["run"],
        ["test"],
        ["run", "--full-refresh"],
        operation("reconcile", model="people"),
        operation("forget", model="people"),
        **SECRET,
    )
    for outcome in (*outcomes, again):
        assert outcome.success, outcome.why()
    assert f"forgotten keys are back in {folder} (1 row)" in reconciled.output
    assert files_with(tmp_path, ADA, "ada@") == left
    assert project.live_rows() == {
        "people": [("dan", "dan@mail.example", 128), ("eve", "eve@mail.example", 16)],
    }
    assert project.quarantined() == []
    query = """
        select sum(forgotten) from shop.versioned_collapsing_ledger
        where model = 'people' and status = 'applied' group by target_uuid order by min(at)
    """
    assert project.queries(rows=query)["rows"] == [(1,), (2,)]
