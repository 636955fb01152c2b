"""Folders that runs left behind, and failing inserts, on a Spark of the test's own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.spark.undo import Undo

_RUN = """
import json, sys
from pathlib import Path
from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials
from dbt.adapters.spark_clickhouse.core.spark_errors import with_advice, without_stack
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord
from dbt.adapters.spark_clickhouse.spark.session import start_session
from dbt.adapters.spark_clickhouse.spark.table_folders import TableFolders

folder, home = Path(sys.argv[1]), Path(sys.argv[1], "home")
(home / "metastore" / "seg0").mkdir(parents=True, exist_ok=True)  # of a first start that died
start_session(
    EmbeddedSparkCredentials(
        method="session", host="localhost", schema="shop", home=str(home), project_root=sys.argv[1],
        server_side_parameters={"spark.driver.memory": "1g", "spark.sql.ansi.enabled": "false"},
    ),
    0,
)
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
folders = TableFolders(home)

def run(sql):
    try:
        with folders.executing(sql):
            spark.sql(sql)
    except Exception as error:
        return with_advice(without_stack(str(error)))
    return None

def rows(table):
    return sorted(row[0] for row in spark.sql(f"select id from {table}").collect())

outcomes = []
for setup, remains, sql, table in json.loads(sys.argv[2]):
    for statement in setup:
        spark.sql(statement.format(folder=folder))
    for path in remains:
        (folder / path).mkdir(parents=True, exist_ok=True)
        (folder / path / "part-0.parquet").write_text("half")
    error = run(sql)
    left = [path for path in remains if (folder / path / "part-0.parquet").exists()]
    outcomes.append([error, left, rows(table) if table else None])
outcomes.append([path.name for path in (home / "undo").glob("*")])
files = spark._jvm.org.apache.hadoop.fs.FileSystem.get(spark._jsc.hadoopConfiguration())
modes = {}
for mode, given in (("640", "640"), ("1777", "1777"), ("2755", "755"), ("2700", "700")):
    home.chmod(int(mode, 8) & 0o6000 | 0o755)  # by the bit of 2000, new files get the group of the folder
    permission = spark._jvm.org.apache.hadoop.fs.permission.FsPermission(given)
    files.setPermission(spark._jvm.org.apache.hadoop.fs.Path(str(home)), permission)
    modes[mode] = f"{home.stat().st_mode & 0o7777:o}"
home.chmod(0o755)
record, changed = MetastoreRecord(home, ""), []
for statement in json.loads(sys.argv[3]):
    stamp = record.settled_stamp()
    spark.sql(statement).collect()
    if record.stamp() != stamp:
        changed.append(statement)
(folder / "found.json").write_text(json.dumps([modes, changed]))
(folder / "young" / "home").mkdir(parents=True, exist_ok=True)
derby = f"jdbc:derby:;databaseName={folder}/young/home/metastore;create=true"
spark._jvm.java.sql.DriverManager.getConnection(derby).close()
(folder / "outcomes.json").write_text(json.dumps(outcomes))
"""

SHOP = "home/warehouse/shop.db"
CREATE = "create table {} using parquet as select explode(array(1, 2)) as id"
ROWS = "select explode(array(1, 2)) as id, 'a' as name"
# It fails when half of it is written.
FAILS = "select /*+ repartition(2) */ if(id = 999, raise_error('no'), cast(id as int)) as id{} from range(1000)"

# The situation before: statements, and folders with a file that no statement wrote. Then the statement; which of these
# folders remain; the rows of a table afterwards; and the error.
CASES: dict[str, tuple[list[str], list[str], str, list[str], str | None, list[int], str]] = {
    "no table names it": ([], [f"{SHOP}/a"], CREATE.format("shop.a"), [], "shop.a", [1, 2], ""),
    "nor one in it": ([], [f"{SHOP}/aa/x=1"], CREATE.format("shop.aa"), [], "shop.aa", [1, 2], ""),
    "after comments": (
        [],
        [f"{SHOP}/b"],
        '/* {"app": "dbt"} */\n-- a comment\n  ' + CREATE.format("shop.B"),
        [],
        "shop.b",
        [1, 2],
        "",
    ),
    "in quotes": ([], [f"{SHOP}/c"], CREATE.format("`shop`.`c`"), [], "shop.c", [1, 2], ""),
    "of three parts": ([], [f"{SHOP}/d"], CREATE.format("spark_catalog.shop.d"), [], "shop.d", [1, 2], ""),
    "with columns": (
        [],
        [f"{SHOP}/e"],
        "create table if not exists shop.e (id int) using parquet",
        [],
        "shop.e",
        [],
        "",
    ),
    "of the schema default": ([], ["home/warehouse/f"], CREATE.format("default.f"), [], "default.f", [1, 2], ""),
    "another table is there": (
        ["create table shop.other (id int) using parquet location '{folder}/" + SHOP + "/g'"],
        [f"{SHOP}/g"],
        CREATE.format("shop.g"),
        [f"{SHOP}/g"],
        None,
        [],
        "An interrupted run may have left the folder, or it belongs to a table of another metastore.",
    ),
    "another table is within": (
        ["create table shop.inner_one (id int) using parquet location '{folder}/" + SHOP + "/h/x'"],
        [f"{SHOP}/h/x"],
        CREATE.format("shop.h"),
        [f"{SHOP}/h/x"],
        None,
        [],
        "[LOCATION_ALREADY_EXISTS]",
    ),
    "outside of the home": (
        ["create schema elsewhere location '{folder}/elsewhere'"],
        ["elsewhere/i"],
        CREATE.format("elsewhere.i"),
        ["elsewhere/i"],
        None,
        [],
        "If nothing else uses the folder, delete it and run the command again.",
    ),
    "a place of its own": (
        [],
        [f"{SHOP}/j", "lake/k"],
        "create table shop.j using parquet location 'lake/j' as select 1 as id",
        [f"{SHOP}/j", "lake/k"],
        "shop.j",
        [1],
        "",
    ),
    "there is such a table": (
        ["create table shop.k using parquet as select 1 as id"],
        [],
        "create table if not exists shop.k using parquet as select 2 as id",
        [],
        "shop.k",
        [1],
        "",
    ),
    "no such schema": ([], [], CREATE.format("nowhere.l"), [], None, [], "[SCHEMA_NOT_FOUND]"),
    "an append fails": (
        [CREATE.format("shop.m")],
        [],
        "insert into table shop.m " + FAILS.format(""),
        [],
        "shop.m",
        [1, 2],
        "no",
    ),
    "an overwrite fails": (
        [CREATE.format("shop.n")],
        [],
        "insert overwrite table shop.n " + FAILS.format(""),
        [],
        "shop.n",
        [1, 2],
        "no",
    ),
    "an overwrite of partitions fails": (
        [f"create table shop.o using parquet partitioned by (name) as {ROWS}"],
        [],
        "insert overwrite table shop.o " + FAILS.format(", 'a' as name"),
        [],
        "shop.o",
        [1, 2],
        "no",
    ),
    "an append succeeds": ([], [], "insert into shop.m select 3", [], "shop.m", [1, 2, 3], ""),
    "an insert into a view": (
        ["create view shop.v as select 1 as id"],
        [],
        "insert into shop.v select 2",
        [],
        "shop.v",
        [1],
        "shop",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folders")


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> list[Any]:
    """For each case, the error, the remaining folders and the rows; and finally what is left in the undo folder."""
    cases: list[Any] = [[setup, remains, sql, table] for setup, remains, sql, _, table, _, _ in CASES.values()]
    cases[0][0] = ["create schema shop", *cases[0][0]]
    return _run(folder, cases, CHANGES)


def _run(folder: Path, cases: list[Any], statements: Sequence[str] = ()) -> list[Any]:
    programs = folder / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    chmod = programs / "chmod"
    chmod.write_text(
        f'#!/bin/sh\necho "$@" >> {shlex.quote(str(folder / "chmods"))}\nexec {shutil.which("chmod")} "$@"\n'
    )
    chmod.chmod(0o755)
    process = subprocess.run(
        [sys.executable, "-c", _RUN, str(folder), json.dumps(cases), json.dumps(statements)],
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-5000:]
    found: list[Any] = json.loads((folder / "outcomes.json").read_text())
    return found


CHANGES = (
    "create schema more",
    "create table more.a (i int) using parquet",
    "create view more.v as select * from more.a",
    "create or replace view more.v as select 1 as x",
    "create or replace view more.v as select 1 as x",
    "alter view more.v as select 2 as x",
    "alter table more.a add columns (j int)",
    "alter table more.a set tblproperties ('x' = 'y')",
    "alter table more.a set tblproperties ('x' = 'z')",
    "comment on table more.a is 'x'",
    "create function more.f as 'a.B'",
    "drop function more.f",
    "alter table more.a rename to more.b",
    "drop view more.v",
    "drop table more.b",
    "drop schema more",
)


@pytest.mark.parametrize("name", CASES)
def test_statement_ends_with(outcomes: list[Any], name: str) -> None:
    _, _, _, left, table, rows, message = CASES[name]
    error, found, is_there = outcomes[list(CASES).index(name)]
    if message:
        assert message in error
        assert "\n\tat " not in error
    else:
        assert error is None
    assert found == left
    assert is_there == (rows if table else None)


def test_nothing_is_kept_when_inserts_have_ended(outcomes: list[Any]) -> None:
    assert outcomes[-1] == []


def test_files_get_their_permissions_without_a_program(outcomes: list[Any], folder: Path) -> None:
    modes, _ = json.loads((folder / "found.json").read_text())
    assert modes == {mode: mode for mode in modes}
    assert not (folder / "chmods").exists()


def test_files_of_the_metastore_show_whether_it_has_changed(outcomes: list[Any], folder: Path) -> None:
    _, changed = json.loads((folder / "found.json").read_text())
    assert tuple(changed) == CHANGES


def test_a_first_start_died_before_hive_made_its_tables(outcomes: list[Any], folder: Path) -> None:
    young = folder / "young"
    assert _run(young, [[["create schema shop"], [], CREATE.format("shop.a"), "shop.a"]])[0] == [None, [], [1, 2]]


def test_tables_move_with_the_home(outcomes: list[Any], folder: Path) -> None:
    """Here in the middle of an append, too."""
    home, table = folder / "home", folder / SHOP / "m"
    Undo(home).keep("shop.m", table)
    (table / "part-9.parquet").write_text("half")
    place = folder.with_name("another place's")
    folder.rename(place)
    statements = {
        "shop.m": "insert into shop.m select 4",
        "shop.o": "insert overwrite table shop.o select 3 as id, 'b' as name",
        "shop.f": CREATE.format("shop.f"),
        "default.f": "insert into default.f select 3",
    }
    found = _run(place, [[[], [], sql, table] for table, sql in statements.items()])
    assert [error for error, _, _ in found[:-1]] == [None] * len(statements)
    assert [rows for _, _, rows in found[:-1]] == [[1, 2, 3, 4], [3], [1, 2], [1, 2, 3]]
    assert found[-1] == []
    assert not folder.exists()
