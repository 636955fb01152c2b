"""A resident run on a server that is killed: it waits, and continues when the server is back."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.cluster.conftest import PASSWORD, Front
from tests.cluster.relay import HOST, relaying
from tests.end_to_end.test_shop import assert_tables_equal_postgresql
from tests.support import shop
from tests.support.commands import dbt
from tests.support.resident import Resident

PUBLICATION = "attach partition all from `shop`.`orders__dbt_signed`"


def test_clickhouse_is_killed_in_a_run_and_between_runs(tmp_path: Path) -> None:
    resident = Resident(tmp_path)
    with ExitStack() as stack:
        front = Front(tmp_path / "clickhouse")
        stack.callback(front.stop)
        http = stack.enter_context(relaying(front.port))
        server: dict[str, Any] = {
            "CLICKHOUSE_HOST": HOST,
            "CLICKHOUSE_PORT": str(http.port),
            "CLICKHOUSE_PASSWORD": PASSWORD,
        }
        (seeds,) = dbt(resident.home, ["seed"], **server, DBT_TARGET="server")
        assert seeds.success, seeds.why()
        stack.enter_context(resident.running("--target", "server", **server))

        resident.land(*range(1, 6))
        resident.wait_for("orders batches 1-5: ")
        http.when(PUBLICATION, front.kill)
        resident.land(6)
        resident.wait_for("Trying again in ", 2)
        assert f"The connection to ClickHouse at {HOST}:{http.port} is lost: " in resident.output
        resident.land(7)
        front.start()
        http.target = front.port
        # Batch 6 is applied together with it, or was started and is completed.
        resident.wait_until(lambda: bool(re.search(r"orders batch(es 6-| )7: ", resident.output)))
        resident.wait_until(lambda: resident.state() == "idle")

        front.kill()
        tries = resident.lines("Trying again in ")
        resident.land(8, 9, 10)
        resident.wait_for("Trying again in ", tries + 2)
        front.start()
        http.target = front.port
        resident.wait_for("-10: ")
        resident.wait_until(lambda: resident.state() == "idle")
        assert resident.end() == 0, resident.output

        with shop.clickhouse_server((HOST, front.port), PASSWORD) as client:
            assert_tables_equal_postgresql(client, 10)
