"""The shop and a project of edge values on servers, compared row by row with the embedded engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.conftest import PASSWORD, Servers
from tests.cluster.relay import HOST
from tests.cluster.stored import differences, stored
from tests.end_to_end.test_shop import assert_all_succeeded, assert_tables_equal_postgresql
from tests.support import shop
from tests.support.cluster_values import assert_values, values_project
from tests.support.commands import REPOSITORY, dbt, variables
from tests.support.shop import Row

# A relative path, an absolute one, and the project's own, which is relative too.
COMMANDS = (
    ["run", *variables(landing_path="data/landing", through_batch=7)],
    ["run", *variables(landing_path=str(REPOSITORY / "data/landing"), through_batch=10)],
    ["build"],
    ["docs", "generate"],
    ["run"],
)


@pytest.fixture(scope="module")
def of_embedded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    home = tmp_path_factory.mktemp("embedded")
    assert_all_succeeded(dbt(home, *COMMANDS))
    with shop.clickhouse(home) as client:
        assert_tables_equal_postgresql(client, 20)
        return stored(client)


@pytest.mark.parametrize("target", ["cluster", "server"])
def test_tables_are_those_of_embedded(
    servers: Servers, of_embedded: dict[str, list[Row]], target: str, tmp_path: Path
) -> None:
    with servers.client() as client:
        client.command("drop database if exists shop sync")
        assert_all_succeeded(dbt(tmp_path, *COMMANDS, **servers.environment(target)))
        assert_tables_equal_postgresql(client, 20)
        found = stored(client)
    assert differences(found, of_embedded) == {}
    assert (tmp_path / "logs" / "spark.log").exists() == (target == "server")


def test_values(servers: Servers, tmp_path: Path) -> None:
    output = {
        "type": "spark_clickhouse",
        "schema": "shop",
        "threads": 4,
        "spark": {**servers.cluster.profile(), "port": servers.thrift.port},
        "clickhouse": {"host": HOST, "port": servers.http.port, "password": PASSWORD},
    }
    with servers.client() as client:
        client.command("drop database if exists shop sync")
        assert_all_succeeded(values_project(tmp_path / "cluster", output).dbt(["build"]))
        assert_values(client)
    embedded = {"type": "spark_clickhouse", "schema": "shop", "threads": 4}
    assert_all_succeeded(values_project(tmp_path / "embedded", embedded).dbt(["build"]))
    with shop.clickhouse(tmp_path / "embedded" / "home") as client:
        assert_values(client)
