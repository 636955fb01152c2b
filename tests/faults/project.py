"""The dbt project of the tables under test: a table of each variant, each with views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.faults.source import STRUCTURE
from tests.support.shop import REPOSITORY

SCHEMA = "faults"
PASSWORD = "planted-8f2c1e-password"
VARIANTS: dict[str, dict[str, Any]] = {
    "atomic": {},
    "chunks": {"chunks": 3},
    "journal": {"publish": "journal"},
    "history": {"change_feed": True},
    # Also fills a materialized view that dbt does not maintain.
    "fed": {},
}
TABLE: dict[str, Any] = {
    "materialized": "versioned_collapsing",
    "unique_key": "id",
    "partition_by": "part",
    "projections": [{"name": "by_region", "query": "select region, sum(_sign), sum(amount * _sign) group by region"}],
    "indexes": [{"name": "by_amount", "definition": "amount type minmax granularity 1"}],
}
VIEW = {"materialized": "versioned_collapsing_view", "order_by": "region"}
SUMS = "select region, sum(_sign) as n, sum(amount * _sign) as total from {} group by region"
JOINED = (
    "select t.region as region, sum(t._sign * r._sign) as n, sum(t.amount * r.rate * t._sign * r._sign) as total "
    "from {} as t inner join {} as r on r.region = t.region group by region"
)
RATES = "region String, rate Int64, _version UInt64, _is_deleted Bool"
BLOCK_ROWS = 100  # per block of a journal, so that an apply has several blocks


def models(variant: str) -> list[str]:
    """The models that a run of a variant selects."""
    return [variant, "rates", f"{variant}_sums", f"{variant}_joined"]


def write_project(folder: Path, profile: Mapping[str, Any]) -> None:
    """Write the project into a folder. The embedded engine's stores are in its folder `home`."""
    (folder / "models").mkdir(parents=True)
    embedded = {"database": "clickhouse"} if profile["type"] == "spark_clickhouse" else {}
    file = 'select * from file(\'{{ var("%s") | replace("\\\\", "\\\\\\\\") | replace("\'", "\\\\\'") }}\', \'Parquet\', \'%s\')'
    select = "select id, part, region, amount, _version, _is_deleted, _is_truncate from"

    def add(name: str, config: Mapping[str, Any], sql: str) -> None:
        text = f"{{{{ config(**{ {**config, **embedded}!r}) }}}}\n{sql}"
        (folder / "models" / f"{name}.sql").write_text(text)

    add("rates", {"materialized": "versioned_collapsing", "unique_key": "region"}, file % ("rates", RATES))
    for variant, config in VARIANTS.items():
        add(variant, {**TABLE, **config}, f"{select} ({file % ('changes', STRUCTURE)})")
        table, rates = f"{{{{ ref('{variant}') }}}}", "{{ ref('rates') }}"
        add(f"{variant}_sums", VIEW, SUMS.format(table))
        add(f"{variant}_joined", VIEW, JOINED.format(table, rates))
    write_profile(folder, profile)
    project = {
        "name": "versioned_collapsing",
        "profile": "faults",
        "version": "1.0",
        "macro-paths": [str(REPOSITORY / "macros"), str(REPOSITORY / "tests" / "generic")],
        "vars": {"versioned_collapsing_block_rows": BLOCK_ROWS, "versioned_collapsing_lock_seconds": 2},
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(json.dumps(project))


def write_profile(folder: Path, profile: Mapping[str, Any]) -> None:
    """Write only the profile, so that what dbt has parsed stays valid."""
    output = {"schema": SCHEMA, "threads": 2, **profile}
    profiles = {"faults": {"target": "test", "outputs": {"test": output}}}
    (folder / "profiles.yml").write_text(json.dumps(profiles))
