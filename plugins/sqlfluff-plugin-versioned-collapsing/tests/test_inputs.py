"""Where the rules look, and what they say about manifests and lists of engines that are malformed."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from sqlfluff.cli.commands import cli
from sqlfluff.core import FluffConfig, Linter

from sqlfluff_plugin_versioned_collapsing.compiled import main
from sqlfluff_plugin_versioned_collapsing.loading import load_relations

ENGINES = Path(__file__).parent / "engines.jsonl"
NODE = {
    "resource_type": "model",
    "schema": "shop",
    "name": "orders",
    "columns": {},
    "config": {"materialized": "versioned_collapsing"},
    "original_file_path": "models/orders.sql",
}
BAD_MANIFESTS = {
    "no JSON": ("{", "is not JSON"),
    "a list": ("[]", "is not a dbt manifest"),
    "without nodes": ('{"sources": {}}', "is not a dbt manifest"),
    "a list of nodes": ('{"nodes": [], "sources": {}}', "is not a dbt manifest"),
    "a node that is a number": ('{"nodes": {"a": 1}, "sources": {}}', "is not a dbt manifest"),
    "a node without a schema": (
        json.dumps({"nodes": {"a.b": {**NODE, "schema": None} | {"columns": []}}, "sources": {}}),
        "a.b lacks",
    ),
    "a node without columns": (
        json.dumps({"nodes": {"a.b": {k: v for k, v in NODE.items() if k != "columns"}}, "sources": {}}),
        "a.b lacks 'columns'",
    ),
    "no text": (b"\xff\xfe{", "is not UTF-8 text"),
}
BAD_ENGINES = {
    "no JSON": ("{", "line 1 is not a row of the query in the README"),
    "a list": ("[1]", "line 1 is not a row of the query in the README"),
    "a second line without a name": (
        '{"database": "a", "name": "b", "engine_full": ""}\n{"database": "a"}',
        "line 2 is not a row of the query in the README: it lacks 'engine_full'",
    ),
    "columns that are a list": (
        '{"database": "a", "name": "b", "engine_full": "", "columns": ["x"]}',
        "line 1 is not a row of the query in the README",
    ),
    "no text": (b"\xff\xfe{", "is not UTF-8 text"),
}


def _write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _sqlfluff(folder: Path, *arguments: str, **options: Path) -> tuple[int, str]:
    named = "".join(f"{name} = {path}\n" for name, path in options.items())
    (folder / ".sqlfluff").write_text(
        f"[sqlfluff]\ndialect = clickhouse\nrules = versioned_collapsing\n[sqlfluff:rules]\n{named}"
    )
    query = _write(folder / "query.sql", "select count(*) as n from shop.orders\n")
    config = str(folder / ".sqlfluff")
    result = CliRunner().invoke(cli, [*arguments, "--config", config, "--ignore-local-config", str(query)])
    return result.exit_code, result.output


@pytest.mark.parametrize(("content", "message"), BAD_MANIFESTS.values(), ids=BAD_MANIFESTS)
def test_a_bad_manifest_is_an_error_with_its_reason(
    content: str | bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = _write(tmp_path / "manifest.json", content)
    code, output = _sqlfluff(tmp_path, "lint", collapsing_manifest=manifest)
    assert (code, message in output, "Traceback" in output) == (2, True, False), output
    with pytest.raises(SystemExit) as ended:
        main(["--manifest", str(manifest)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("content", "message"), BAD_ENGINES.values(), ids=BAD_ENGINES)
def test_a_bad_list_of_engines_is_an_error_with_its_reason(
    content: str | bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = _write(tmp_path / "engines.jsonl", content)
    code, output = _sqlfluff(tmp_path, "lint", collapsing_engines=engines)
    assert (code, message in output, "Traceback" in output) == (2, True, False), output
    manifest = _write(tmp_path / "manifest.json", '{"nodes": {}, "sources": {}}')
    with pytest.raises(SystemExit) as ended:
        main(["--manifest", str(manifest), "--engines", str(engines)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    (other := tmp_path / "other").mkdir()
    code, output = _sqlfluff(other, "lint", collapsing_engines=tmp_path / "none.jsonl")
    missing = "does not exist, and without it no sign columns are known: see the README"
    assert (code, missing in output, "Traceback" in output) == (2, True, False), output
    (third := tmp_path / "third").mkdir()
    code, output = _sqlfluff(third, "lint", collapsing_manifest=tmp_path / "none.json")
    missing = "without it no sign columns are known: `dbt parse` writes the manifest"
    assert (code, missing in output, "Traceback" in output) == (2, True, False), output
    code, output = _sqlfluff(tmp_path, "lint", collapsing_manifest=tmp_path)
    assert (code, "cannot be read" in output, "Traceback" in output) == (2, True, False), output


def test_fix_prints_no_trace(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    code, output = _sqlfluff(tmp_path, "fix", collapsing_engines=ENGINES)
    assert (code, "Traceback" in output, "threw" in output) == (0, False, False), output
    assert (tmp_path / "query.sql").read_text() == "select sum(_sign) as n from shop.orders\n"


def test_the_sql_of_a_macro_is_seen_and_not_fixed() -> None:
    macro = "{% macro total(x) %}sum({{ x }}){% endmacro %}"
    sql = f"{macro}\nselect {{{{ total('amount') }}}} as n from shop.orders\n"
    config = FluffConfig(
        configs={"rules": {"collapsing_engines": str(ENGINES)}},
        overrides={"dialect": "clickhouse", "templater": "jinja", "rules": "versioned_collapsing"},
    )
    linted = Linter(config).lint_string(sql, fix=True)
    found = [(v.rule_code(), v.line_no) for v in linted.get_violations()]
    assert found == [("VersionedCollapsing_VC01", 2)]
    assert linted.fix_string()[0] == sql


@pytest.mark.parametrize("table", ["{{ ref('orders') }}", "{{ orders() }}"])
def test_a_table_that_jinja_names_does_not_prevent_a_fix(table: str) -> None:
    macros = "{% macro ref(name) %}shop.{{ name }}{% endmacro %}{% macro orders() %}shop.orders{% endmacro %}\n"
    sql = f"select order_id, count() as n\nfrom {table}\ngroup by order_id\n"
    config = FluffConfig(
        configs={"rules": {"collapsing_engines": str(ENGINES)}},
        overrides={"dialect": "clickhouse", "templater": "jinja", "rules": "versioned_collapsing"},
    )
    fixed, _ = Linter(config=config).lint_string(macros + sql, fix=True).fix_string()
    expected = f"select order_id, sum(_sign) as n\nfrom {table}\ngroup by order_id having sum(_sign) <> 0\n"
    assert fixed == macros + expected


def test_refs_and_sources_of_the_jinja_templater_are_known(tmp_path: Path) -> None:
    source: dict[str, Any] = {
        **NODE,
        "resource_type": "source",
        "source_name": "raw",
        "name": "signed",
        "identifier": "raw_orders",
        "config": {"meta": {"engine": "CollapsingMergeTree(sign)"}},
    }
    manifest = {
        "nodes": {"model.p.orders": {**NODE, "alias": "orders_of_today"}},
        "sources": {"source.p.raw.signed": source},
    }
    path = _write(tmp_path / "manifest.json", json.dumps(manifest))
    config = FluffConfig(
        configs={"rules": {"collapsing_manifest": str(path)}},
        overrides={"dialect": "clickhouse", "templater": "jinja", "rules": "versioned_collapsing"},
    )
    for relation in ("{{ ref('orders') }}", "{{ source('raw', 'signed') }}"):
        found = Linter(config).lint_string(f"select avg(x) as n from {relation}\n").get_violations()
        assert [v.rule_code() for v in found] == ["VersionedCollapsing_VC01"], relation


@pytest.mark.parametrize("place", ["config", "meta"])
def test_options_of_a_model_are_read_in_config_and_meta(tmp_path: Path, place: str) -> None:
    options = {"sign": "s", "version": "v", "unique_key": ["a", "b"], "partition_by": "toYYYYMM(c)"}
    given = {"meta": options} if place == "meta" else options
    node = {**NODE, "config": {"materialized": "versioned_collapsing", **given}}
    manifest = {"nodes": {"model.p.orders": node}, "sources": {}}
    path = _write(tmp_path / "manifest.json", json.dumps(manifest))
    (relation,) = load_relations(str(path), None)
    assert (relation.engine, relation.keys, relation.partition_by) == (
        "VersionedCollapsingMergeTree(s, v)",
        frozenset({"a", "b"}),
        "toYYYYMM(c)",
    )


def test_views_of_a_manifest_that_was_only_parsed_pass_signed_rows_on(tmp_path: Path) -> None:
    view = {
        **NODE,
        "name": "orders_view",
        "config": {"materialized": "view"},
        "raw_code": "{{ config(materialized='view') }} select * from {{ ref('orders') }}",
    }
    manifest = {"nodes": {"model.p.orders": NODE, "model.p.orders_view": view}, "sources": {}}
    path = _write(tmp_path / "manifest.json", json.dumps(manifest))
    config = FluffConfig(
        configs={"rules": {"collapsing_manifest": str(path)}},
        overrides={"dialect": "clickhouse", "templater": "raw", "rules": "versioned_collapsing"},
    )
    linted = Linter(config).lint_string("select count(*) as n from shop.orders_view\n")
    assert [v.rule_code() for v in linted.get_violations()] == ["VersionedCollapsing_VC01"]
    linted = Linter(config).lint_string("select sum(_sign) as n from shop.orders_view\n")
    assert linted.get_violations() == []


@pytest.mark.parametrize(
    "engine",
    [
        "Distributed('cluster', 'shop', 'orders', rand())",
        "Distributed(cluster, shop, orders)",
        "Merge('shop', '^orders$')",
        "Buffer('shop', 'orders', 1, 10, 100, 10000, 1000000, 10000000, 100000000)",
    ],
)
def test_tables_that_read_signed_tables_are_signed(engine: str, tmp_path: Path) -> None:
    line = json.dumps({"database": "shop", "name": "everywhere", "engine_full": engine})
    path = _write(tmp_path / "engines.jsonl", f"{ENGINES.read_text()}{line}\n")
    config = FluffConfig(
        configs={"rules": {"collapsing_engines": str(path)}},
        overrides={"dialect": "clickhouse", "templater": "raw", "rules": "versioned_collapsing"},
    )
    for relation in ("shop.everywhere", "remote('host', shop.orders)", "cluster('c', 'shop', 'orders')"):
        linted = Linter(config).lint_string(f"select count(*) as n from {relation}\n")
        assert [v.rule_code() for v in linted.get_violations()] == ["VersionedCollapsing_VC01"]


def test_no_query_makes_a_rule_fail() -> None:
    """The queries have words that are missing, doubled or from another query."""
    queries = [
        case["sql"]
        for name in ("wrong", "right")
        for case in yaml.safe_load((ENGINES.parent / "corpus" / f"{name}.yml").read_text())
    ]
    chance = random.Random(1)
    config = FluffConfig(
        configs={"rules": {"collapsing_engines": str(ENGINES)}},
        overrides={"dialect": "clickhouse", "templater": "raw", "rules": "versioned_collapsing"},
    )
    linter, failed = Linter(config), []
    for _ in range(100):
        words = re.findall(r"\w+|\s+|.", chance.choice(queries))
        for _ in range(2):
            position = chance.randrange(len(words))
            other = chance.choice(re.findall(r"\w+|.", chance.choice(queries)))
            words[position : position + chance.randrange(2)] = chance.choice(([], [other]))
        sql = "".join(words)
        found = linter.lint_string(f"{sql}\n").get_violations()
        failed += [sql for violation in found if "Unexpected exception" in violation.desc()]
    assert failed == []
