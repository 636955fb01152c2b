"""The front against its real clients: clickhouse-connect and stock dbt-clickhouse over HTTP."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError
from clickhouse_connect.driver.external import ExternalData

from tests.support.chdb_http import running_server

Address = tuple[str, int]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with running_server(tmp_path_factory.mktemp("engine")) as host_and_port:
        yield host_and_port


def connect(address: Address, **options: Any) -> Client:
    return clickhouse_connect.get_client(host=address[0], port=address[1], **options)


@pytest.fixture
def client(address: Address) -> Iterator[Client]:
    with connect(address) as connected:
        yield connected


def post(address: Address, sql: bytes, query: str = "", **headers: str) -> tuple[int, bytes, Any]:
    url = f"http://{address[0]}:{address[1]}/?{query}"
    request = urllib.request.Request(url, data=sql, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def test_typed_results(client: Client) -> None:
    result = client.query(
        "SELECT toDateTime64('2024-02-29 12:34:56.789', 3, 'UTC') AS at,"
        " toDateTime('2024-02-29 01:02:03') AS at_second, toDecimal64('12.3400', 4) AS amount,"
        " CAST(NULL AS Nullable(String)) AS missing, toLowCardinality('x') AS word,"
        " [1, 2] AS numbers, map('a', 1) AS pairs"
    )
    assert result.column_names[:2] == ("at", "at_second")
    at, at_second, *others = result.result_rows[0]
    assert at.replace(tzinfo=None) == dt.datetime(2024, 2, 29, 12, 34, 56, 789000)
    assert at_second.replace(tzinfo=None) == dt.datetime(2024, 2, 29, 1, 2, 3)
    assert others == [decimal.Decimal("12.3400"), None, "x", [1, 2], {"a": 1}]
    assert str(client.server_tz) == "UTC"


def test_empty_results(client: Client) -> None:
    probe = client.query("SELECT 1 AS a, 'x' AS b LIMIT 0")
    assert [column.name for column in probe.column_types] == ["UInt8", "String"]
    assert client.query("SELECT 1 AS a WHERE 0").result_rows == []
    assert client.command("SELECT 1 WHERE 0") == ""  # A result, although empty.


@pytest.mark.parametrize("compression", [False, True, "lz4", "zstd", "gzip"])
def test_insert_and_read_a_block_of_100000_rows(address: Address, compression: bool | str) -> None:
    with connect(address, compress=compression) as client:
        client.command("CREATE OR REPLACE TABLE block (n UInt32, s Nullable(String)) ORDER BY n")
        rows = [[n, None if n % 7 == 0 else f"row {n}"] for n in range(100_000)]
        summary = client.insert("block", rows, column_names=["n", "s"])
        assert summary.written_rows == 100_000
        assert client.query("SELECT n, s FROM block ORDER BY n").result_rows == [tuple(row) for row in rows]


@pytest.mark.parametrize("encoding", ["lz4", "zstd", "gzip", "deflate", None])
def test_response_encoding_is_what_was_asked_for(address: Address, encoding: str | None) -> None:
    sql = b"SELECT repeat('x', 1000)"
    headers = {"Accept-Encoding": encoding} if encoding else {}
    status, body, answered = post(address, sql, "enable_http_compression=1", **headers)
    assert (status, answered["Content-Encoding"]) == (200, encoding)
    assert (len(body) < 100) is bool(encoding)
    assert post(address, sql, **headers)[1] == b"x" * 1000 + b"\n"


def test_insert_with_data_in_the_statement_or_none_at_all(address: Address, client: Client) -> None:
    client.command("CREATE OR REPLACE TABLE inline (n Int32, s String) ORDER BY n")
    client.command("INSERT INTO inline VALUES (1, 'a; b'), (2, '--')")
    client.command("INSERT INTO inline FORMAT CSV", data='3,"c\n\n;"\n4,d\n')
    client.raw_insert("inline", ["n", "s"], b"5\t\\0\n", fmt="TabSeparated")
    assert post(address, b"INSERT INTO inline FORMAT CSV")[0] == 200
    rows = client.query("SELECT * FROM inline ORDER BY n").result_rows
    assert rows == [(1, "a; b"), (2, "--"), (3, "c\n\n;"), (4, "d"), (5, "\0")]


def test_failed_serialisation_inserts_nothing(client: Client) -> None:
    client.command("CREATE OR REPLACE TABLE numbers_only (n UInt32) ORDER BY n")
    with pytest.raises(Exception, match="Unable to create native array"):
        client.insert("numbers_only", [[1], ["not a number"]], column_names=["n"])
    assert client.command("SELECT count() FROM numbers_only") == 0


def test_settings_hold_for_their_request_only(client: Client) -> None:
    def threads(**settings: Any) -> Any:
        return client.command("SELECT getSetting('max_threads')", settings=settings)

    client.command("SET max_threads = 3")
    assert [threads(), threads(max_threads=5), threads(), threads(max_block_size=9)] == [3, 5, 3, 3]
    client.command("/* dbt */ SET max_threads = 4", settings={"max_threads": 6})
    assert [threads(max_threads=6), threads()] == [6, 4]
    with pytest.raises(DatabaseError, match=r"115.*Unknown setting 'no_such_thing'"):
        client.command("SELECT 1", settings={"max_threads": 7, "no_such_thing": 1})
    assert threads() == 4


def test_sessions_keep_their_state_apart(address: Address) -> None:
    with connect(address) as one, connect(address) as other:
        one.command("CREATE TEMPORARY TABLE scratch (n Int32)")
        one.command("INSERT INTO scratch VALUES (42)")
        assert one.command("SELECT n FROM scratch") == 42
        with pytest.raises(DatabaseError, match="UNKNOWN_TABLE"):
            other.command("SELECT n FROM scratch")
        one.command("SET session_timezone = 'Asia/Tokyo'")
        moment = "SELECT toDateTime('1970-01-01 09:00:00')"
        assert one.query(moment).result_rows[0][0].timestamp() == 0
        assert other.query(moment).result_rows[0][0].timestamp() == 9 * 3600


def test_database_parameter_and_use(address: Address, client: Client) -> None:
    client.command("CREATE DATABASE IF NOT EXISTS elsewhere")
    client.command("USE elsewhere")
    assert client.command("SELECT currentDatabase()", use_database=False) == "elsewhere"
    with connect(address, database="elsewhere") as there:
        assert there.command("SELECT currentDatabase()") == "elsewhere"
        assert there.command("SELECT currentDatabase()", use_database=False) == "default"
        there.command("DROP DATABASE elsewhere")
        with pytest.raises(DatabaseError, match="Code: 81"):
            there.command("SELECT 1")
    body = post(address, b"SELECT currentDatabase()", **{"X-ClickHouse-Database": "system"})[1]
    assert body == b"system\n"
    assert client.command("SELECT engine FROM system.databases WHERE name = 'default'") == "Atomic"


def test_bound_parameters_in_the_url_and_in_a_form(client: Client) -> None:
    sql = "SELECT {s:String} AS s, {n:Int32} AS n, {a:Array(String)} AS a, {x:Nullable(String)} AS x"
    for text in ("it's a\ttab \\ and \n `tick` ü", "long " * 5000):
        values = {"s": text, "n": -5, "a": ["a'b", text], "x": None}
        assert client.query(sql, parameters=values).result_rows == [tuple(values.values())]


def test_external_data(client: Client) -> None:
    data = ExternalData(file_name="people.csv", data=b"Ann,1\r\nBob,2\n", fmt="CSV", types="String, Decimal(9, 2)")
    sql = "SELECT _1, _2 FROM people WHERE _1 = {who:String}"
    result = client.query(sql, parameters={"who": "Bob"}, external_data=data)
    assert result.result_rows == [("Bob", decimal.Decimal(2))]
    with pytest.raises(DatabaseError, match="UNKNOWN_TABLE"):
        client.query("SELECT * FROM people")


@pytest.mark.parametrize(
    ("sql", "code", "status"),
    [
        ("SELECT * FROM no_such_table", 60, 404),
        ("SELEC 1", 62, 400),
        ("-- nothing", 62, 400),
        ("SELECT 1; SELECT ';' -- two", 62, 400),
        ("INSERT INTO t SELECT 1; DROP TABLE t", 62, 400),
        ("SELECT throwIf(1)", 395, 500),
        ("SELECT 1 FORMAT NoSuchFormat", 73, 404),
    ],
)
def test_errors(address: Address, client: Client, sql: str, code: int, status: int) -> None:
    answered, body, headers = post(address, sql.encode())
    assert (answered, headers["X-ClickHouse-Exception-Code"]) == (status, str(code))
    assert body.startswith(f"Code: {code}. DB::Exception: ".encode())
    assert b"(version 2" in body
    assert body.count(b"Code: ") == 1
    with pytest.raises(DatabaseError) as raised:
        client.raw_query(sql)
    assert raised.value.code == code
    assert client.command("SELECT 'a;b' AS `;` -- ; the end\n;") == "a;b"  # The session still works.


def test_get_is_read_only(address: Address) -> None:
    base = f"http://{address[0]}:{address[1]}"
    with urllib.request.urlopen(f"{base}/ping") as response:
        assert response.read() == b"Ok.\n"
    with urllib.request.urlopen(f"{base}/?query=SELECT%201&default_format=JSONEachRow") as response:
        assert json.load(response) == {"1": 1}
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(f"{base}/?query=CREATE%20DATABASE%20nope")
    assert b"(READONLY)" in raised.value.read()
    raised.value.close()


def test_response_headers(address: Address) -> None:
    _, body, headers = post(address, b"SELECT 1 FORMAT JSONEachRow", "query_id=my-own-id")
    assert body == b'{"1":1}\n'
    assert headers["X-ClickHouse-Query-Id"] == "my-own-id"
    assert headers["X-ClickHouse-Timezone"] == "UTC"
    assert headers["X-ClickHouse-Format"] == "JSONEachRow"
    assert headers["X-ClickHouse-Server-Display-Name"]
    assert json.loads(headers["X-ClickHouse-Summary"])["result_rows"] == "1"
    _, body, headers = post(address, b"CREATE DATABASE IF NOT EXISTS default")
    assert (body, headers["X-ClickHouse-Format"]) == (b"", None)


def test_a_busy_session_is_locked(address: Address) -> None:
    slow = threading.Thread(target=post, args=(address, b"SELECT sleep(1)", "session_id=busy"))
    slow.start()
    time.sleep(0.5)
    status, body, _ = post(address, b"SELECT 1", "session_id=busy")
    slow.join()
    assert (status, b"SESSION_IS_LOCKED" in body) == (500, True)
    assert post(address, b"SELECT 1", "session_id=busy")[0] == 200


def test_results_do_not_depend_on_the_hosts_time_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    with running_server(tmp_path) as address:
        body = post(address, b"SELECT timezone(), toString(toDateTime(1717243200))")[1]
    assert body == b"UTC\t2024-06-01 12:00:00\n"


def test_password_and_data_that_outlive_a_restart(tmp_path: Path) -> None:
    with running_server(tmp_path, user="me", password="pass:word") as address:
        with connect(address, username="me", password="pass:word") as client:
            client.command("CREATE TABLE kept ORDER BY tuple() AS SELECT 7 AS n")
        with pytest.raises(DatabaseError) as raised:
            connect(address, username="me", password="wrong")
        assert raised.value.code == 516
        assert post(address, b"SELECT 1")[0] == 403
        assert post(address, b"SELECT 1", "user=me&password=pass:word")[0] == 200
    with running_server(tmp_path) as address, connect(address) as client:
        assert client.command("SELECT n FROM kept") == 7
        client.command("CREATE TABLE other AS kept")
        client.command("EXCHANGE TABLES kept AND other")


def test_last_statements_of_an_engine_that_ends_early(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"ended early, exit code 137, after SYSTEM KILL; --"),
        running_server(tmp_path) as address,
    ):
        kill_engine(address)


def kill_engine(address: Address) -> None:
    with pytest.raises(ConnectionError):
        post(address, b"SYSTEM KILL")
    time.sleep(0.5)  # until its process has ended as well
