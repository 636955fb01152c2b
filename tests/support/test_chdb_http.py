"""The front against its real clients: clickhouse-connect and stock dbt-clickhouse over HTTP."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

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


@pytest.mark.parametrize(
    ("sql", "code", "status"),
    [
        ("SELECT * FROM no_such_table", 60, 404),
        ("SELECT 1; SELECT ';' -- two", 62, 400),
        ("INSERT INTO t SELECT 1; DROP TABLE t", 62, 400),
        ("SELECT throwIf(1)", 395, 500),
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
