"""When the embedded ClickHouse stays open, and when it shuts down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLIENTS = '''
import sys
from pathlib import Path
from dbt.adapters.spark_clickhouse import store
from dbt.adapters.spark_clickhouse.chdb_client import ChDbClient
from dbt.adapters.spark_clickhouse.credentials import SparkClickHouseCredentials

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
    found = subprocess.run(
        [sys.executable, "-c", CLIENTS, *arguments], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == rows.split()
