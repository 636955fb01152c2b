"""The shop with ClickHouse behind HTTP: the target `server`, as a user with a server runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.end_to_end.test_shop import (
    assert_all_succeeded,
    assert_marts_agree,
    assert_tables_equal_postgresql,
)
from tests.support import shop
from tests.support.chdb_http import running_server
from tests.support.commands import dbt, variables


def test_the_demo_on_a_server(tmp_path: Path) -> None:
    with running_server(tmp_path / "server", password="secret") as (host, port):
        server: dict[str, Any] = {
            "CLICKHOUSE_HOST": host,
            "CLICKHOUSE_PORT": str(port),
            "CLICKHOUSE_PASSWORD": "secret",
        }
        outcomes = dbt(
            tmp_path / "home",
            ["run", "--target", "server", *variables(through_batch=10)],
            ["build", "--target", "server"],
            **server,
        )
        assert_all_succeeded(outcomes)
        with shop.clickhouse_server((host, port), "secret") as client:
            assert_tables_equal_postgresql(client, 20)
            assert_marts_agree(client)
    assert not (tmp_path / "home" / "clickhouse").exists()
