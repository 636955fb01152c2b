"""A folder with every character that a name may contain, and passwords that must not appear anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import shop
from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.chdb_http import running_server
from tests.support.commands import Outcome
from tests.support.shop import Row

# All except a slash; Hadoop's patterns *?[]{}\, which Spark would take for files to look for; and `;`, which ends the
# name of a database in Derby.
FOLDER = "it's 50% #1 %20 \"ü\n\t$HOME `x` &|<>()!~^=+,@ \u6f22"
SECRETS = {name: f"planted-{name}-secret" for name in ("clickhouse", "s3", "hive", "env", "wrong")}
PARSE = "parse_upserts(SOURCE, key=['id'], columns={'id': 'bigint', 'v': 'bigint'}, version='v')"
QUARANTINED = "select file, line_number, raw_line from shop.cdc_quarantine final where _sign = 1"
LIVE = "select id, _version from shop.orders final where _sign = 1 order by id"


def situation(name: str) -> Situation:
    return Situation(
        name, PARSE, "one_change_per_key(EVENTS, key=['id'])", {"id": "Int64"}, {"unique_key": "id"},
        select="id, _version, _is_deleted",
    )  # fmt: skip


def line(key: int, version: int) -> str:
    return json.dumps({"id": key, "v": version})


@dataclass(frozen=True)
class Built:
    """A project in an odd folder, with passwords in its profile and its environment."""

    folder: Path
    outcomes: dict[str, Outcome]
    rows: list[Row]
    quarantined: list[Row]
    told: dict[str, str]  # the contents of tables and of the query log


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    place = tmp_path_factory.mktemp("hostile")
    folder = place / FOLDER
    with running_server(place / "server", password=SECRETS["clickhouse"]) as (host, port):
        server = {"host": host, "port": port, "user": "default", "driver": "http"}
        spark = {
            "method": "session",
            "server_side_parameters": {
                "spark.hadoop.fs.s3a.secret.key": SECRETS["s3"],
                "spark.hadoop.fs.s3a.access.key": f"access-{SECRETS['s3']}",
                "spark.hadoop.hive.server2.keystore.password": SECRETS["hive"],
            },
        }
        output: dict[str, Any] = {"type": "spark_clickhouse", "schema": "shop", "threads": 2}
        models = {
            "current/broken.sql": "{{ config(materialized='table') }} select no_such_column from {{ ref('orders') }}"
        }
        project = ChangeSetProject(
            folder,
            [situation("orders")],
            models={**models, "staging/broken_on_spark.sql": "select no_such_column from {{ ref('stg_orders') }}"},
            output={**output, "spark": spark, "clickhouse": {**server, "password": SECRETS["clickhouse"]}},
        )
        environment = {"AWS_SECRET_ACCESS_KEY": SECRETS["env"], "DBT_DEBUG": "true", "OWN_JVM": "yes"}
        project.land("orders", 1, [line(1, 1), line(2, 1), "no JSON"])
        commands = {"first": ["run"], "again": ["run"], "docs": ["docs", "generate"], "debug": ["debug"]}
        outcomes = dict(zip(commands, project.dbt(*commands.values(), **environment), strict=True))
        assert outcomes["first"].nodes, outcomes["first"]
        profiles = folder / "project" / "profiles.yml"
        right = profiles.read_text()
        profiles.write_text(right.replace(SECRETS["clickhouse"], SECRETS["wrong"]))
        outcomes["wrong"] = project.dbt(["run", "--select", "orders"], **environment)[0]
        profiles.write_text(right)
        with shop.clickhouse_server((host, port), SECRETS["clickhouse"]) as client:
            rows = shop.query(client, LIVE)
            quarantined = shop.query(client, QUARANTINED)
            told = {
                name: str(shop.query(client, f"select * from {name}"))
                for name in ("shop.versioned_collapsing_ledger", "system.tables", "system.processes", "system.errors")
            }
            client.command("system flush logs")
            if shop.query(client, "exists table system.query_log") == [(1,)]:
                told["query log"] = str(shop.query(client, "select * from system.query_log"))
        yield Built(folder, outcomes, rows, quarantined, told)


def test_rows(built: Built) -> None:
    assert built.rows == [(1, 1), (2, 1)]


def test_only_what_is_broken_fails(built: Built) -> None:
    for name in ("first", "again"):
        failed = built.outcomes[name].failures()
        assert set(failed) == {"broken", "broken_on_spark"}, failed
        assert all("no_such_column" in message for message in failed.values()), failed
    assert built.outcomes["again"].nodes["orders"].message == "no new batches: nothing to change"
    assert not built.outcomes["wrong"].success


def test_files_in_quarantine_have_their_own_names(built: Built) -> None:
    assert built.quarantined == [("orders/batch=000001/part-00000.json", 3, "no JSON")]


def test_no_secret_is_told(built: Built) -> None:
    """The passwords are not in logs, artifacts, the docs, Spark's files, ClickHouse's tables, output, or messages."""
    told = dict(built.told)
    for name, outcome in built.outcomes.items():
        told[f"output of {name}"] = f"{outcome.output} {outcome.exception} {outcome.nodes}"
    for path in built.folder.rglob("*"):
        if path.is_file() and path.name != "profiles.yml":
            told[str(path.relative_to(built.folder))] = path.read_bytes().decode(errors="replace")
    for seen in ("home/logs/dbt.log", "home/logs/spark.log", "home/target/manifest.json"):
        assert told[seen], seen
    for seen in ("home/target/catalog.json", "home/target/run_results.json"):
        assert told[seen], seen
    assert [(secret, place) for place, text in told.items() for secret in SECRETS.values() if secret in text] == []
