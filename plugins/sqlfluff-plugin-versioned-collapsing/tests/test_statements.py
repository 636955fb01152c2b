"""What the rules find in tables, mutations and hooks. ClickHouse runs each of these."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlfluff.core import FluffConfig, Linter

from sqlfluff_plugin_versioned_collapsing.compiled import Finding, lint_manifest

FOLDER = Path(__file__).parent
CASES: dict[str, list[dict[str, str]]] = yaml.safe_load((FOLDER / "corpus" / "statements.yml").read_text())
COLUMNS = (
    "id UInt64, region String, price Decimal(12, 2), version UInt64, created_at Date, updated_at DateTime, "
    "is_deleted UInt8, inserted_at DateTime default now()"
)
VERSIONS = (
    "(1, 'EU', 10, 1, '2025-01-01', '2025-01-01 10:00:00', 0), (2, 'US', 5, 1, '2025-01-01', '2025-01-01 11:00:00', 0)",
    "(1, 'EU', 12, 2, '2025-01-01', '2025-02-01 10:00:00', 0), (2, 'US', 6, 2, '2025-01-01', '2025-02-01 11:00:00', 0)",
)
SIGNED = """
drop database if exists signed;
create database signed;
create table signed.orders (id UInt64, region String, amount Int64, _version UInt64, _sign Int8)
engine = VersionedCollapsingMergeTree(_sign, _version) order by id
settings enable_block_number_column = 1, enable_block_offset_column = 1;
create table signed.plain (id UInt64, note String, amount Int64) engine = MergeTree order by id;
create materialized view signed.sums engine = SummingMergeTree order by region as
select region, sum(amount * _sign) as total, sum(_sign) as n from signed.orders group by region;
insert into signed.orders values (1, 'EU', 10, 1, 1), (2, 'EU', 5, 1, 1), (3, 'US', 7, 1, 1);
insert into signed.orders values (1, 'EU', 10, 1, -1), (1, 'EU', 12, 2, 1)
"""
MERGED = f"""
drop database if exists merged;
create database merged;
create table merged.prices ({COLUMNS}) engine = ReplacingMergeTree(version) partition by region order by id;
insert into merged.prices (* except inserted_at) values {VERSIONS[0]};
optimize table merged.prices final;
insert into merged.prices (* except inserted_at) values (1, 'EU', 12, 2, '2025-01-01', '2025-02-01 10:00:00', 0)
"""


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[str], str]]:
    import chdb

    connection = chdb.connect(":memory:")

    def run(sql: str) -> str:
        result = ""
        for statement in sql.split(";\n"):
            if re.sub(r"--.*", "", statement).strip():
                result = str(connection.query(statement, "TSV"))
        return result

    run("system start merges; set mutations_sync = 2".replace("; ", ";\n"))
    yield run
    connection.close()


@pytest.fixture(scope="module")
def linter(tmp_path_factory: pytest.TempPathFactory) -> Linter:
    engines = tmp_path_factory.mktemp("engines") / "engines.jsonl"
    tables = {"orders": "VersionedCollapsingMergeTree(_sign, _version)", "plain": "MergeTree"}
    lines = [
        json.dumps({"database": "signed", "name": name, "engine_full": f"{engine} ORDER BY id"})
        for name, engine in tables.items()
    ]
    engines.write_text("\n".join(lines))
    return Linter(
        FluffConfig(
            configs={"rules": {"collapsing_engines": str(engines)}},
            overrides={"dialect": "clickhouse", "templater": "raw", "rules": "versioned_collapsing"},
        )
    )


def _codes(linter: Linter, sql: str) -> list[str]:
    found = linter.lint_string(f"{sql}\n").get_violations(filter_ignore=False)
    return [v.rule_code()[-4:] for v in found if v.rule_code() != "PRS"]


def _ids(cases: list[dict[str, str]]) -> list[str]:
    return [case["sql"][:80] for case in cases]


@pytest.mark.parametrize("case", CASES["tables"], ids=_ids(CASES["tables"]))
def test_a_version_in_the_sorting_key(case: dict[str, str], run: Callable[[str], str], linter: Linter) -> None:
    sql = case["sql"].format(columns=COLUMNS)
    name = sql.split()[2]
    run("drop database if exists made;\ncreate database made")
    run(sql)
    for rows in (*VERSIONS, VERSIONS[1]):
        run(f"insert into {name} (* except inserted_at) values {rows}")
    final = " final" if "Replacing" in sql else ""
    found = run(f"select groupArray((id, version)) from (select * from {name}{final} order by all)")
    if "keeps" in case:
        assert run(f"select uniqExact(id, updated_at) from {name}").strip() == "4"
    else:
        assert (found.strip() == "[(1,2),(2,2)]") is ("rule" not in case), found
    assert _codes(linter, sql) == ([case["rule"]] if "rule" in case else [])


@pytest.mark.parametrize("case", CASES["mutations"], ids=_ids(CASES["mutations"]))
def test_a_mutation_of_a_signed_table(case: dict[str, str], run: Callable[[str], str], linter: Linter) -> None:
    run(SIGNED)
    run(case["sql"])
    table = run(
        "select region, sum(amount * _sign), sum(_sign) as n from signed.orders group by region having n <> 0 order by 1"
    )
    view = run("select region, sum(total), sum(n) as live from signed.sums group by region having live <> 0 order by 1")
    assert (table == view) is ("rule" not in case), (table, view)
    assert _codes(linter, case["sql"]) == ([case["rule"]] if "rule" in case else [])


def _manifest(folder: Path, nodes: dict[str, Any]) -> Path:
    path = folder / "manifest.json"
    path.write_text(json.dumps({"nodes": nodes, "sources": {}}))
    return path


def _model(name: str, sql: str = "select 1 as id", **config: Any) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "schema": "merged",
        "name": name,
        "columns": {},
        "config": config,
        "original_file_path": f"models/{name}.sql",
        "compiled_code": sql,
    }


def _post_hooks(*sqls: str) -> list[dict[str, Any]]:
    return [{"sql": sql, "transaction": True, "index": None} for sql in sqls]


def _found(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(f.node.rpartition(".")[2], f.code[-4:]) for f in findings}


@pytest.mark.parametrize("case", CASES["hooks"], ids=_ids(CASES["hooks"]))
def test_optimize_in_a_hook(case: dict[str, str], run: Callable[[str], str], tmp_path: Path) -> None:
    run(MERGED)
    of_us = "select name from system.parts where database = 'merged' and active and partition = 'US'"
    before = run(of_us)
    run(re.sub(r"\{\{ var.*?\}\}", "EU", re.sub(r"\{\{ [trs].*?\}\}(\.prices)?", "merged.prices", case["sql"])))
    assert (run(of_us) == before) is ("rule" not in case)

    options: dict[str, Any] = {"materialized": "incremental", "engine": "ReplacingMergeTree(version)", "order_by": "id"}
    model = _model("prices", **{**options, "post-hook": _post_hooks(case["sql"])})
    manifest = _manifest(tmp_path, {"model.shop.prices": model})
    expected = {("prices", case["rule"])} if "rule" in case else set()
    assert _found(lint_manifest(manifest)) == expected
    assert _found_by_sqlfluff(tmp_path, manifest, "prices") == expected


def _found_by_sqlfluff(folder: Path, manifest: Path, name: str) -> set[tuple[str, str]]:
    """What sqlfluff finds in the file of a model."""
    (folder / ".sqlfluff").write_text(
        "[sqlfluff]\ndialect = clickhouse\ntemplater = raw\nrules = versioned_collapsing\n"
        f"[sqlfluff:rules]\ncollapsing_manifest = {manifest}\n"
    )
    path = folder / "models" / f"{name}.sql"
    path.parent.mkdir(exist_ok=True)
    path.write_text("select 1 as id\n")
    linted = Linter(FluffConfig.from_path(str(folder))).lint_path(str(path))
    return {(name, violation.rule_code()[-4:]) for violation in linted.get_violations()}


MODELS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "in_key": ("VC09", {"engine": "ReplacingMergeTree(v)", "order_by": ["id", "v"], "unique_key": "id"}),
    "by_unique_key": ("VC09", {"engine": "ReplacingMergeTree", "order_by": "(id, updated_at)", "unique_key": "id"}),
    "prices_history": (None, {"engine": "ReplacingMergeTree", "order_by": "(id, updated_at)"}),
    "by_both": (None, {"engine": "ReplacingMergeTree(v)", "order_by": ["id", "v"], "unique_key": ["id", "v"]}),
    "by_id": (None, {"engine": "ReplacingMergeTree(v)", "order_by": "id"}),
    "rebuilt": (
        None,
        {
            "engine": "ReplacingMergeTree(v)",
            "order_by": "id",
            "materialized": "table",
            "post-hook": _post_hooks("optimize table {{ this }} final"),
        },
    ),
    "optimized": (
        "VC11",
        {
            "materialized": "versioned_collapsing",
            "unique_key": "id",
            "pre-hook": _post_hooks("optimize table {{ this }} final"),
        },
    ),
    "deleted": (
        "VC12",
        {
            "materialized": "versioned_collapsing",
            "unique_key": "id",
            "post-hook": _post_hooks("delete from {{ this }} where status = 'it''s void'"),
        },
    ),
    "deletes_elsewhere": (
        "VC12",
        {"post-hook": _post_hooks("alter table {{ ref('by_sign') }} delete where id in (1, 2)")},
    ),
    "by_sign": (None, {"materialized": "versioned_collapsing", "unique_key": "id"}),
    "delete_insert": (
        "VC12",
        {
            "materialized": "incremental",
            "incremental_strategy": "delete+insert",
            "engine": "CollapsingMergeTree(state)",
            "unique_key": "id",
        },
    ),
    "appended": (
        None,
        {"materialized": "incremental", "incremental_strategy": "append", "engine": "CollapsingMergeTree(state)"},
    ),
    "plain": (
        None,
        {
            "materialized": "incremental",
            "incremental_strategy": "delete_insert",
            "post-hook": _post_hooks("delete from {{ this }} where id = 1", "optimize table {{ this }} final"),
        },
    ),
}


def test_models_with_their_config(tmp_path: Path) -> None:
    nodes: dict[str, Any] = {
        f"model.shop.{name}": _model(name, **{"materialized": "incremental", **config})
        for name, (_, config) in MODELS.items()
    }
    nodes["model.shop.sums"] = _model("sums", "select sum(price) as n from merged.by_id")
    nodes["model.shop.final_sums"] = _model(
        "final_sums", "select sum(price) as n from merged.by_id", query_settings={"final": 1}
    )
    for name, sql in {
        "end-0": "delete from {{ ref('by_sign') }} where id = 1",
        "end-1": "optimize table {{ target.schema }}.by_id final",
        "end-2": "optimize table {{ target.schema }}.rebuilt final",
    }.items():
        nodes[f"operation.shop.{name}"] = {**_model(name), "resource_type": "operation", "raw_code": sql}
    manifest = _manifest(tmp_path, nodes)
    expected = {(name, code) for name, (code, _) in MODELS.items() if code}
    of_runs = {("end-0", "VC12"), ("end-1", "VC11"), ("sums", "VC10")}
    assert _found(lint_manifest(manifest)) == expected | of_runs
    for name, (code, _) in MODELS.items():
        found = _found_by_sqlfluff(tmp_path, manifest, name)
        assert found == ({(name, code)} if code else set())


def test_each_message_says_what_to_do(tmp_path: Path) -> None:
    nodes = {
        f"model.shop.{name}": _model(name, **{"materialized": "incremental", **config})
        for name, (_, config) in MODELS.items()
    }
    nodes["model.shop.sums"] = _model("sums", "select sum(price) as n from merged.by_id")
    said = {f.node.rpartition(".")[2]: f.description for f in lint_manifest(_manifest(tmp_path, nodes))}
    advice = {
        "in_key": "ReplacingMergeTree(v) order by (id).",
        "by_unique_key": "ReplacingMergeTree(updated_at) order by (id).",
        "sums": "Write `from by_id final`, or take argMax by the version, grouped by the key, first.",
        "optimized": "Read with sums by the sign, or FINAL, and let ClickHouse merge.",
        "deleted": "Write a change instead, a newer version or one that is deleted",
        "delete_insert": "Use materialized='versioned_collapsing', or append cancel rows and state rows.",
    }
    assert {name: text in said[name] for name, text in advice.items()} == dict.fromkeys(advice, True)


def test_a_sorting_key_of_a_table_that_is_no_model_is_seen(tmp_path: Path) -> None:
    engine = (
        "ReplicatedReplacingMergeTree('/tables/{uuid}/{shard}', '{replica}', ver) ORDER BY (id, ver) SETTINGS a = 1"
    )
    engines = tmp_path / "engines.jsonl"
    engines.write_text(json.dumps({"database": "a", "name": "b", "engine_full": engine}))
    (found,) = lint_manifest(_manifest(tmp_path, {}), engines)
    assert (found.node, found.code[-4:]) == ("a.b", "VC09")
    assert "ReplacingMergeTree(ver) order by (id)" in found.description
