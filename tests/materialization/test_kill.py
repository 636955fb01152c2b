"""dbt, and with it the embedded engine, killed in the middle of the INSERT that publishes."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from tests.support import shop
from tests.support.commands import start, variables

KEYS = 60_000
# An INSERT makes the parts of its partitions visible one after the other: of many, it takes long enough to be killed
# among them.
PARTS = 300
# Every run changes every key, and moves it to another partition.
MODEL = f"""
{{{{ config(materialized='versioned_collapsing', unique_key='id', partition_by='part', database='clickhouse') }}}}
select
  number as id,
  (number + {{{{ var('version') }}}}) % {PARTS} as part,
  number * {{{{ var('version') }}}} as amount,
  toUInt64({{{{ var('version') }}}}) as _version
from numbers({KEYS} * {{{{ var('share', 1) }}}})
"""
PUBLISHING = "insert into `kill`.`target` ("


def _make_project(folder: Path) -> None:
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "target.sql").write_text(MODEL)
    output = {"type": "spark_clickhouse", "schema": "kill", "home": str(folder / "home")}
    profiles = {"kill": {"target": "embedded", "outputs": {"embedded": {**output, "threads": 1}}}}
    (folder / "profiles.yml").write_text(json.dumps(profiles))
    project = {
        "name": "versioned_collapsing",
        "profile": "kill",
        "version": "1.0",
        "macro-paths": [str(shop.REPOSITORY / "macros")],
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(json.dumps(project))


def _start(folder: Path, **values: int) -> subprocess.Popen[str]:
    return start("--quiet", "run", *variables(**values), folder=folder)


def _kill_while_publishing(folder: Path, process: subprocess.Popen[str], delay: float) -> bool:
    """Kill the run ``delay`` seconds into its INSERT; whether it was still running."""
    log = folder / "logs" / "dbt.log"
    log.unlink(missing_ok=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if log.exists() and PUBLISHING in log.read_text():
            time.sleep(delay)
            break
        time.sleep(0.005)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    return was_running


def test_what_a_killed_run_tore_is_healed_by_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    _make_project(folder)
    assert _start(folder, version=1).wait() == 0
    torn = 0  # keys, of which a run was killed while it wrote them
    delay = first_delay = 0.1
    for version in range(2, 22):
        # How long the INSERT takes depends on the machine: the kills walk through it, and begin anew.
        was_running = _kill_while_publishing(folder, _start(folder, version=version), delay)
        delay = delay * 1.5 if was_running else first_delay
        with shop.clickhouse(folder / "home") as client:
            torn += shop.query(
                client,
                "select count() from (select id from kill.target group by id having sum(_sign) <> 1)",
            )[0][0]
        # The next run has an empty change set: what the dead one had begun is completed first.
        assert _start(folder, version=version, share=0).wait() == 0
        with shop.clickhouse(folder / "home") as client:
            live = shop.query(
                client,
                "select count(), uniqExact(id), min(_version), max(_version), "
                f"countIf(part <> (id + {version}) % {PARTS} or amount <> id * {version}) "
                "from kill.target final where _sign = 1",
            )[0]
            assert live == (KEYS, KEYS, version, version, 0)
            unpaired = shop.query(
                client,
                "select count() from (select * except (_sign), sum(_sign) as net from kill.target "
                "group by all having net not in (0, 1))",
            )[0]
            assert unpaired == (0,)
        if torn and version > 3:
            return
    assert torn > 0, "no kill fell into the INSERT: the test has shown nothing"
