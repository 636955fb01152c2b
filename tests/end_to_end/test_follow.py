"""The resident run: batches are applied as they land, whatever is killed meanwhile."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from tests.end_to_end.test_shop import assert_all_lines_are_accounted_for
from tests.support import shop
from tests.support.resident import SECONDS, Resident

SELECTED = ("--select", "+customers", "+revenue_by_region_and_month_live")
_LAG_QUERY = re.compile(r"^```sql\n(select[^`]*quantiles[^`]*)```$", re.MULTILINE)


@pytest.fixture
def resident(tmp_path: Path) -> Resident:
    return Resident(tmp_path)


def test_batches_are_applied_as_they_land_whoever_is_killed(resident: Resident) -> None:
    """Uses part of the shop; tests/end_to_end/test_many_batches.py uses all of it."""
    chance = random.Random(1)
    resident.land(*range(1, 6))
    with resident.running(*SELECTED):
        resident.wait_for("orders batches 1-5: ")
        # The process and its JVM die somewhere in the next run.
        resident.land(6)
        time.sleep(chance.uniform(0.5, 6))
    with resident.running(*SELECTED):
        resident.wait_until(lambda: resident.state() == "idle")
        # Only Spark dies: the process starts anew.
        pid = resident.process.pid
        subprocess.run(["pkill", "-KILL", "-P", str(pid), "java"], check=True)
        resident.land(7)
        resident.wait_for("Spark does not answer any more. Starting it again in 2 s")
        resident.wait_for("orders batch 7: ")
        assert resident.process.pid == pid
        resident.wait_until(lambda: resident.state() == "idle")
        # An applied batch of orders has changed: orders wait, and the other tables continue.
        stray = resident.folder("orders", 3) / "stray.json"
        stray.write_text("{}")
        resident.land(8)
        resident.wait_for("customers batch 8: ")
        resident.wait_for("Trying again in ")
        assert "orders_changes: " in resident.output
        resident.land(9, 10)
        resident.wait_until(
            lambda: resident.lines("customers batch 10: ") + resident.lines("customers batches 9-10: ") > 0
        )
        resident.wait_until(lambda: resident.state() == "failing")
        assert "orders batch 8: " not in resident.output
        stray.unlink()
        # Ctrl-C, which all processes of a terminal receive, ends it after the current run.
        resident.wait_until(lambda: resident.state() == "running")
        os.killpg(pid, signal.SIGINT)
        assert resident.process.wait(SECONDS) == 0
    assert resident.state() == "ended"
    assert resident.lines("orders batches 8-10: ") == 1, resident.output
    assert "The first run also starts the engines." in resident.output
    with shop.clickhouse(resident.home) as client:
        for table in ("customers", "orders"):
            expected = sorted(shop.expected_rows(table, 10), key=repr)
            assert sorted(shop.net_rows(client, table), key=repr) == expected
        assert_all_lines_are_accounted_for(client)
        assert_documented_lags_are_told(client, 10)


def assert_documented_lags_are_told(client: Client, batches: int) -> None:
    """The documentation's queries show for each batch when it was taken, and when it became visible in a table and a
    view."""
    document = (shop.REPOSITORY / "docs/how_a_run_works.md").read_text()
    of_table, of_view = _LAG_QUERY.findall(document)
    [(count, taken, visible)] = client.query(of_table).result_rows
    assert count == batches
    assert all(0 < before < after < SECONDS for before, after in zip(taken, visible, strict=True))
    of_view = of_view.replace("'revenue_by_region'", "'revenue_by_region_and_month_live'")
    [(count, in_view)] = client.query(of_view).result_rows
    assert count == batches
    assert all(before < after < SECONDS for before, after in zip(visible, in_view, strict=True))


def test_how_it_ends_and_begins_anew(resident: Resident) -> None:
    resident.land(1)
    with resident.running("--memory", "1", "--select", "+orders"):
        resident.wait_for("orders batch 1: ")
        pid = resident.process.pid
        resident.land(2)
        resident.wait_for("orders batch 2: ")
        resident.wait_until(lambda: resident.lines("A new one takes its place") > 0)
        resident.land(3)
        resident.wait_for("orders batch 3: ")
        assert resident.process.pid == pid
        # A new process starts with what has landed; one with too much memory works before it ends.
        resident.land(4)
        resident.wait_for("orders batch 4: ")
        # A signal that arrives while it starts anew is not lost.
        resident.wait_until(lambda: resident.lines("A new one takes its place") > 1)
        assert resident.end() == 0, resident.output
    assert "Failed after" not in resident.output
    assert "resource_tracker" not in resident.output
    # It ends when nothing is left.
    with resident.running("--until-idle", "--select", "+orders"):
        assert resident.process.wait(SECONDS) == 0, resident.output
    assert resident.lines("orders batch") == 4
