"""The shop on a Spark cluster and a ClickHouse server: a short test of the target `cluster`; `make cluster` is the long
one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.end_to_end.test_shop import assert_all_succeeded
from tests.support import shop
from tests.support.chdb_http import running_server
from tests.support.cluster_values import assert_values, values_project
from tests.support.commands import dbt, variables
from tests.support.spark_cluster import running_cluster

SELECTED = ["--select", "+order_items_live", "--indirect-selection", "buildable"]


def test_shop_and_values_on_a_cluster(tmp_path: Path) -> None:
    with (
        running_cluster(tmp_path / "spark") as cluster,
        running_server(tmp_path / "server", password="secret") as (host, port),
    ):
        environment: dict[str, Any] = {
            **cluster.environment(),
            "CLICKHOUSE_HOST": host,
            "CLICKHOUSE_PORT": str(port),
            "CLICKHOUSE_PASSWORD": "secret",
            "DBT_TARGET": "cluster",
        }
        absolute = {"landing_path": str(shop.LANDING), "through_batch": 10}
        outcomes = dbt(
            tmp_path / "home",
            ["run", *SELECTED, *variables(through_batch=7)],
            ["build", *SELECTED, *variables(**absolute)],
            ["docs", "generate", *SELECTED],
            **environment,
        )
        assert_all_succeeded(outcomes)
        catalog = json.loads((tmp_path / "home" / "target" / "catalog.json").read_text())["nodes"]
        for model in ("order_items_changes", "order_items"):  # on Spark, and on ClickHouse
            columns = catalog[f"model.versioned_collapsing.{model}"]["columns"]
            assert {"order_id", "line_no", "_version"} <= columns.keys()
        output = {
            "type": "spark_clickhouse",
            "schema": "shop",
            "threads": 4,
            "spark": cluster.profile(),
            "clickhouse": {"host": host, "port": port, "password": "secret"},
        }
        outcomes = values_project(tmp_path / "values", output).dbt(["build"], zone="America/New_York")
        assert_all_succeeded(outcomes)
        with shop.clickhouse_server((host, port), "secret") as client:
            expected = sorted(shop.expected_rows("order_items", 10), key=repr)
            assert sorted(shop.net_rows(client, "order_items"), key=repr) == expected
            assert sorted(shop.rows_of_live_view(client, "order_items"), key=repr) == expected
            assert_values(client)
    assert not (tmp_path / "home" / "clickhouse").exists()
    assert not (tmp_path / "home" / "logs" / "spark.log").exists()  # dbt has not started a JVM
