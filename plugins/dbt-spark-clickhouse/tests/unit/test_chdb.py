"""When the embedded ClickHouse stays open, when it shuts down, and how it copes with definitions lost to a full
disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLIENTS = '''
import sys
from pathlib import Path
from dbt.adapters.spark_clickhouse.core import store
from dbt.adapters.spark_clickhouse.clickhouse.chdb import ChDbClient
from dbt.adapters.spark_clickhouse.core.credentials import SparkClickHouseCredentials

def rows_in_memory(home):
    """A table in memory lasts as long as its engine."""
    profile = SparkClickHouseCredentials(database="clickhouse", schema="shop", home=str(home))
    client = ChDbClient(profile.engine_credentials(home.parent)[1])
    client.command("create table if not exists default.rows (number UInt8) engine = Memory")
    client.command("insert into default.rows values (1)")
    found = client.query("select count() from default.rows").result_rows
    client.close()
    store.release(home)
    return found[0][0]

for folder, is_shared in zip(sys.argv[1::2], sys.argv[2::2]):
    home = Path(folder)
    if is_shared == "shared":
        store.share(home, 0)
    print(rows_in_memory(home))
'''


@pytest.mark.parametrize(
    ("uses", "rows"),
    [
        ([("one", "shared"), ("one", "shared")], "1 2"),
        ([("one", "alone"), ("one", "alone")], "1 1"),
        ([("one", "shared"), ("other", "alone"), ("one", "shared")], "1 1 1"),
    ],
    ids=["while Spark runs", "without Spark", "in another folder"],
)
def test_engine_between_two_clients(tmp_path: Path, uses: list[tuple[str, str]], rows: str) -> None:
    arguments = [word for home, use in uses for word in (str(tmp_path / home), use)]
    found = subprocess.run([sys.executable, "-c", CLIENTS, *arguments], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == rows.split()


TABLES = """
import sys
from pathlib import Path
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark_clickhouse.clickhouse.chdb import ChDbClient
from dbt.adapters.spark_clickhouse.core.credentials import SparkClickHouseCredentials

home, *names = sys.argv[1:]
profile = SparkClickHouseCredentials(database="clickhouse", schema="shop", home=home)
try:
    client = ChDbClient(profile.engine_credentials(Path(home).parent)[1])
except FailedToConnectError as error:
    print(error)
    sys.exit()
for name in names:
    client.command(f"create table `{name}` (id Int8) engine = MergeTree order by id as select 1")
print(*(row[0] for row in client.query("select name from system.tables where database = 'shop' order by 1").result_rows))
"""
HELPERS = ("a.b__dbt_input", "a__dbt_build")


def tables(home: Path, *names: str) -> str:
    """Make tables with these names. Return all existing tables, or what went wrong."""
    found = subprocess.run(
        [sys.executable, "-c", TABLES, str(home), *names], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def definition(home: Path, name: str) -> Path:
    (path,) = home.glob(f"clickhouse/store/*/*/{name.replace('.', '%2E')}.sql")
    return path


def test_empty_definitions_of_helper_tables_are_removed(tmp_path: Path) -> None:
    """Such files remain after the disk was full."""
    assert tables(tmp_path, "a", *HELPERS) == "a a.b__dbt_input a__dbt_build"
    for name in HELPERS:
        definition(tmp_path, name).write_text("")
    warning, names = tables(tmp_path).splitlines()
    assert warning.endswith("the next run creates the tables again: a.b__dbt_input, a__dbt_build")
    assert names == "a"
    assert tables(tmp_path, *HELPERS) == "a a.b__dbt_input a__dbt_build"


@pytest.mark.parametrize("name", ["a.b", "a__dbt_backup", "a__dbt_build__tombstones"])
def test_any_other_empty_definition_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    tables(tmp_path, name)
    path = definition(tmp_path, name)
    text = path.read_text()
    path.write_text("")
    message = tables(tmp_path)
    assert f"could not write the definition of {name}, probably because the disk was full." in message
    assert f"This file is empty: {path}\n" in message
    assert message.endswith("dbt run --full-refresh --select <model>+")
    path.write_text(text)
    assert tables(tmp_path) == name
