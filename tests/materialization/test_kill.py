"""dbt, and with it the embedded engine, killed in the middle of the INSERT that publishes."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import shop
from tests.support.commands import start, variables

KEYS = 60_000
# An INSERT makes the parts of its partitions visible one after the other: of many, it takes long enough to be killed
# among them.
PARTS = 100
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose table holds its first version."""
    folder = tmp_path_factory.mktemp("kill") / "project"
    _make_project(folder)
    assert _start(folder, version=1).wait() == 0
    return folder


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


def _kill_while_publishing(process: subprocess.Popen[str], parts: Path, share: float) -> None:
    """Kill the run when a share of what it writes is visible: parts below the table's folder."""
    before = _count_parts(parts)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if _count_parts(parts) > before + PARTS * share:
            break
        time.sleep(0.002)
    process.kill()
    process.wait()


def _count_parts(folder: Path) -> int:
    """A part that is visible has the name of its partition's hash, one that is not yet has a prefix."""
    return sum(1 for path in folder.iterdir() if path.name.count("_") == 3)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_what_a_killed_run_tore_is_healed_by_the_next(folder: Path, share: float) -> None:
    with shop.clickhouse(folder / "home") as client:
        ((paths, version),) = shop.query(
            client,
            "select (select data_paths from system.tables where database = 'kill' and name = 'target'), "
            "max(_version) + 1 from kill.target",
        )
    _kill_while_publishing(_start(folder, version=version), Path(paths[0]), share)
    with shop.clickhouse(folder / "home") as client:
        torn = shop.query(
            client,
            "select count() from (select id from kill.target group by id having sum(_sign) <> 1)",
        )[0]
    assert torn > (0,), "the kill did not fall into the INSERT: the test has shown nothing"
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
