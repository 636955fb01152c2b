"""`hand_off: push`: a ClickHouse that cannot read Spark's files gets the same data as one that can."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clickhouse_connect
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clickhouse_connect.driver.client import Client

from dbt.adapters.spark_clickhouse.hand_off.push import PushedFiles
from tests.support.chdb_http import running_server
from tests.support.commands import run_all
from tests.support.shop import REPOSITORY

MIXED = REPOSITORY / "plugins/dbt-spark-clickhouse/tests/functional/project/models/spark"
ROWS = 250_000  # more than are sent at once
MANY = f"""
{{{{ config(partition_by=['part']) }}}}
select id, id % 97 as digit, repeat('x', cast(id % 50 as int)) as text, id % 3 as part from range({ROWS})
"""
# It asks for the columns of its input before any node has read the input.
UNIT_TEST = {
    "name": "columns_of_an_input",
    "model": "ch_nothing",
    "given": [{"input": "ref('nothing')", "rows": [{"id": 1, "text": "b"}]}],
    "expect": {"rows": [{"id": 1, "text": "b"}]},
}
SPARK = {
    "types": (MIXED / "spark_types.sql").read_text(),
    "partitioned": (MIXED / "spark_partitioned.sql").read_text(),
    "many": MANY,
    "nothing": "select 1 as id, 'a' as text where 1 = 0",
}
# It reads its input while it compiles.
COUNTED = """
select {% if execute %}{{ run_query('select count() from ' ~ ref('many')).rows[0][0] }}{% else %}0{% endif %} as n
-- depends_on: {{ ref('many') }}
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    with running_server(tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture
def client(address: tuple[str, int]) -> Iterator[Client]:
    with clickhouse_connect.get_client(host=address[0], port=address[1]) as found:
        yield found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, address: tuple[str, int]) -> dict[str, str]:
    """The statements for ClickHouse in a project that pulls and then pushes, by model and way."""
    folder = tmp_path_factory.mktemp("push")
    for name, sql in SPARK.items():
        for engine, text in {"spark": sql, "clickhouse": f"select * from {{{{ ref('{name}') }}}}"}.items():
            path = folder / "models" / engine / f"{name if engine == 'spark' else f'ch_{name}'}.sql"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (folder / "models" / "clickhouse" / "ch_counted.sql").write_text(COUNTED)
    (folder / "models" / "unit_tests.yml").write_text(json.dumps({"unit_tests": [UNIT_TEST]}))
    project = {
        "name": "pushed",
        "profile": "pushed",
        "models": {
            "pushed": {engine: {"+database": engine, "+materialized": "table"} for engine in ("spark", "clickhouse")}
        },
        "flags": {"send_anonymous_usage_stats": False},
    }
    host, port = address
    outputs = {
        way: {
            "type": "spark_clickhouse",
            "schema": way,
            "threads": 2,
            "home": str(folder / "home"),
            "hand_off": way,
            "clickhouse": {"host": host, "port": port},
        }
        for way in ("pull", "push")
    }
    (folder / "dbt_project.yml").write_text(json.dumps(project))
    profiles = {"pushed": {"target": "pull", "outputs": outputs}}
    (folder / "profiles.yml").write_text(json.dumps(profiles))
    compiled = {}
    for outcome, way in zip(
        run_all([["build", "--target", way, "--target-path", way] for way in outputs], folder), outputs, strict=True
    ):
        assert outcome.success, outcome.why()
        for path in (folder / way / "compiled").rglob("ch_*.sql"):
            compiled[f"{way} {path.stem}"] = path.read_text()
    return compiled


@pytest.mark.parametrize("name", SPARK)
def test_the_rows_are_those_of_a_pull(client: Client, compiled: dict[str, str], name: str) -> None:
    assert "file('/" in compiled[f"pull ch_{name}"]
    assert "file(" not in compiled[f"push ch_{name}"]
    found = {
        way: client.query(
            f"select (select groupArray((name, type)) from system.columns where database = '{way}' "
            f"and table = 'ch_{name}'), count(), groupBitXor(cityHash64(formatRow('JSONEachRow', *))) from {way}.ch_{name}"
        ).result_rows
        for way in ("pull", "push")
    }
    assert found["push"] == found["pull"]
    assert found["push"][0][1] == {"types": 2, "partitioned": 2, "many": ROWS, "nothing": 0}[name]


def test_a_node_reads_it_while_it_is_compiled(client: Client, compiled: dict[str, str]) -> None:
    for way in ("pull", "push"):
        assert client.query(f"select n from {way}.ch_counted").result_rows == [(ROWS,)]


class Sender:
    """A folder with Parquet files, and a connection to ClickHouse that can break."""

    def __init__(self, folder: Path, client: Client) -> None:
        self.folder = folder
        self.sent = 0
        self.breaks_at: int | None = None
        self._client = client

    def write(self, files: int) -> None:
        """Write files of 250,000 rows each."""
        self.folder.mkdir()
        for number in range(files):
            ids = range(number * ROWS, (number + 1) * ROWS)
            pq.write_table(pa.table({"id": ids}), self.folder / f"{number}.parquet")

    def deliver(self) -> int:
        """Deliver all files. Return the number of rows that ClickHouse then reads."""
        files = PushedFiles(str(self.folder), "parquet", "default", self._query, self._insert)
        files.deliver({"id": "Nullable(Int64)"}, files.sizes())
        counted = f"select count(), uniqExact(id), max(id) from {files.source()}"
        rows, ids, last = self._query(counted)[0]
        assert (ids, last) == (rows, rows - 1)
        return int(rows)

    def _query(self, sql: str) -> list[Any]:
        return list(self._client.query(sql).result_rows)

    def _insert(self, table: str, parquet: bytes) -> None:
        self._client.raw_insert(table, insert_block=parquet, fmt="Parquet")
        self.sent += 1
        if self.sent == self.breaks_at:
            raise ConnectionError("The answer is lost.")


@pytest.fixture
def sender(tmp_path: Path, client: Client) -> Sender:
    return Sender(tmp_path / "orders", client)


def test_what_was_sent_is_not_sent_again(sender: Sender) -> None:
    sender.write(2)
    assert (sender.deliver(), sender.sent) == (2 * ROWS, 6)
    assert (sender.deliver(), sender.sent) == (2 * ROWS, 6)


@pytest.mark.parametrize("breaks_at", range(1, 7))
def test_a_delivery_goes_on_where_it_broke(sender: Sender, breaks_at: int) -> None:
    """It breaks at a file that ClickHouse may already have, in part or completely."""
    sender.write(2)
    sender.breaks_at = breaks_at
    with pytest.raises(ConnectionError):
        sender.deliver()
    sender.sent = 0
    sender.breaks_at = None
    assert sender.deliver() == 2 * ROWS
    whole = breaks_at // 3
    assert sender.sent == 6 - 3 * whole


def test_rows_that_came_twice_are_replaced(sender: Sender, client: Client) -> None:
    """This happens when a client repeats an insert whose answer was lost."""
    sender.write(2)
    sender.deliver()
    table = PushedFiles(str(sender.folder), "parquet", "default", list, print).table
    client.command(f"insert into {table} select * from {table} where _dbt_file = 1 limit 7")
    assert (sender.deliver(), sender.sent) == (2 * ROWS, 9)


def test_a_table_that_spark_wrote_anew_replaces_the_copy(sender: Sender) -> None:
    sender.write(2)
    sender.deliver()
    for path in sender.folder.iterdir():
        path.unlink()
    sender.folder.rmdir()
    sender.write(1)
    assert sender.deliver() == ROWS
