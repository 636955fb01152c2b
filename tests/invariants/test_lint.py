"""The lint rules on dbt's compiled SQL: each finds its bad model, and none finds anything in this project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlfluff_plugin_versioned_collapsing.compiled import Finding, lint_manifest, main
from tests.support.collapsing_project import CollapsingProject

ORDERS = "{{ ref('orders') }}"
BAD_MODELS = {
    "VC01": f"select status, count(*) as orders from {ORDERS} group by status",
    "VC02": f"select max(amount) as largest from {ORDERS}",
    "VC03": "{{ config(materialized='versioned_collapsing_view', order_by='status') }} "
    f"select status, {{{{ versioned_collapsing.signed_sum('amount', 'state') }}}} as amount from {ORDERS} group by status",
    "VC04": "select status from {{ ref('sums') }} final",
    "VC05": f"select {{{{ versioned_collapsing.signed_sum('bytes', 'state') }}}} as bytes from {ORDERS}",
    "VC06": "{{ config(materialized='versioned_collapsing', unique_key='id', sign='state', "
    "ttl='made_at + interval 1 year', partition_by='toYYYYMM(made_at)') }} select * from changes",
}
# For rows that other models pass on: the rule that finds each.
PASSED_ON = {
    "of_view": ("VC01", "select count(*) as n from {{ ref('orders_view') }}"),
    "of_view_of_view": ("VC01", "select sum(b) as b from {{ ref('view_of_view') }}"),
    "of_ephemeral": ("VC01", "select count(*) as n from {{ ref('ephemeral') }}"),
    "of_copy": ("VC02", "select max(bytes) as largest from {{ ref('copy') }}"),
    "signed_twice": ("VC01", "select sum(signed * state) as total from {{ ref('signed_before') }}"),
    "by_name": ("VC01", "select count(*) as n from lint.orders"),
    "in_a_join": (
        "VC01",
        f"select {{{{ versioned_collapsing.signed_sum('o.bytes_of_old', 'o.state') }}}} as n from {ORDERS} as o "
        f"inner join {ORDERS} as p on p.id = o.id",
    ),
    "in_a_macro": ("VC01", f"select {{{{ bare_count() }}}} as n from {ORDERS}"),
}
GOOD_MODELS = {
    "orders": "{{ config(materialized='versioned_collapsing', unique_key='id', sign='state', "
    "ttl='toStartOfMonth(made_at) + interval 13 month', partition_by='toYYYYMM(made_at)') }} select * from changes",
    "sums": "{{ config(materialized='versioned_collapsing_view', order_by='status') }} "
    f"{{{{ versioned_collapsing.signed_sums({ORDERS[3:-3]}, 'status', 'amount', sign='state') }}}}",
    "orders_view": f"{{{{ config(materialized='view') }}}} select * from {ORDERS}",
    "view_of_view": "{{ config(materialized='view') }} select id, bytes as b, state as s from {{ ref('orders_view') }}",
    "ephemeral": f"{{{{ config(materialized='ephemeral') }}}} select id, bytes, state from {ORDERS}",
    "copy": f"{{{{ config(materialized='table') }}}} select * from {ORDERS}",
    "live": f"{{{{ config(materialized='view') }}}} select id, bytes from {ORDERS} final where state = 1",
    "signed_before": f"{{{{ config(materialized='ephemeral') }}}} select id * state as signed, state from {ORDERS}",
    "reads_live": "select count(*) as n, max(id) as last from {{ ref('live') }}",
    "reads_view": "select sum(state) as n from {{ ref('orders_view') }}",
    "reads_signed": "select sum(signed) as total, sum(state) as n from {{ ref('signed_before') }}",
    "in_a_right_join": "select {{ versioned_collapsing.signed_sum('o.amount', ['o.state', 'p.state']) }} as n, "
    f"{{{{ versioned_collapsing.signed_count(['o.state', 'p.state']) }}}} as m from {ORDERS} as o "
    f"inner join {ORDERS} as p on p.id = o.id",
    "amounts": "{{ config(materialized='versioned_collapsing_view', order_by=['status', 'amount']) }} "
    f"{{{{ versioned_collapsing.signed_sums({ORDERS[3:-3]}, ['status', 'amount'], [], sign='state') }}}}",
    "lowest": "select status, {{ versioned_collapsing.multiset_min('amount') }} as lowest, "
    "{{ versioned_collapsing.multiset_median('amount') }} as middle from "
    "{{ versioned_collapsing.multiset(ref('amounts'), ['status', 'amount']) }} group by status",
    "highest": "select {{ versioned_collapsing.multiset_max('amount', 'state') }} as highest, "
    "{{ versioned_collapsing.multiset_top_k('amount', 3, 'state') }} as frequent from "
    f"{{{{ versioned_collapsing.multiset({ORDERS[3:-3]}, 'amount', 'state') }}}}",
    "largest": f"select max(amount) as largest from {{{{ versioned_collapsing.live_rows({ORDERS[3:-3]}, 'state') }}}}",
}


@pytest.fixture(scope="module")
def manifest(make_project: Callable[[str], CollapsingProject]) -> Path:
    project = make_project("lint")
    models = project.folder / "models"
    (project.folder / "macros").mkdir(exist_ok=True)
    (project.folder / "macros" / "bare.sql").write_text("{% macro bare_count() %}count(*){% endmacro %}\n")
    passed_on = {name: sql for name, (_, sql) in PASSED_ON.items()}
    for name, sql in {**GOOD_MODELS, **BAD_MODELS, **passed_on}.items():
        (models / f"{name.lower()}.sql").write_text(f"{sql}\n")
    columns = [{"name": "bytes", "data_type": "UInt64"}]
    properties = {"models": [{"name": "orders", "columns": columns}]}
    (models / "models.yml").write_text(json.dumps(properties))
    project.dbt("compile")
    return project.folder / "target" / "manifest.json"


def of(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.node.rpartition(".")[2].upper(), finding.code.rpartition("_")[2]) for finding in findings}


def test_each_rule_finds_its_model_and_nothing_else(manifest: Path) -> None:
    expected = {(code, code) for code in BAD_MODELS}
    expected |= {(name.upper(), code) for name, (code, _) in PASSED_ON.items()}
    assert of(lint_manifest(manifest)) == expected


def test_the_command_prints_the_findings(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--manifest", str(manifest)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(BAD_MODELS) + len(PASSED_ON)
    assert (
        "model.versioned_collapsing.vc01:1: VersionedCollapsing_VC01 count over signed rows, without the sign." in lines
    )


def test_without_a_manifest_the_command_says_how_to_get_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--manifest", str(tmp_path / "manifest.json")])
    assert "`dbt parse` writes the manifest" in capsys.readouterr().err


def test_a_ttl_of_a_table_that_is_no_model_is_seen(manifest: Path, tmp_path: Path) -> None:
    engine = "VersionedCollapsingMergeTree(s, v) ORDER BY k TTL d + toIntervalYear(1) SETTINGS index_granularity = 8192"
    engines = tmp_path / "engines.jsonl"
    engines.write_text(json.dumps({"database": "a", "name": "b", "engine_full": engine}))
    found = [finding for finding in lint_manifest(manifest, engines) if finding.node == "a.b"]
    assert [finding.code for finding in found] == ["VersionedCollapsing_VC06"]
    assert "d is not in the partition key" in found[0].description


def test_what_is_not_compiled_is_a_finding(manifest: Path, tmp_path: Path) -> None:
    loaded = json.loads(manifest.read_text())
    for node in loaded["nodes"].values():
        node.pop("compiled_code", None)
    parsed = tmp_path / "manifest.json"
    parsed.write_text(json.dumps(loaded))
    assert {code for _, code in of(lint_manifest(parsed))} == {"VC00"}
