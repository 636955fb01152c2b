"""How each dbt handles the project, and one that uses every option of it: `make portability`.

dbt 2 loads no Python adapters, and its own adapter for ClickHouse downloads a driver. Without a network it can parse,
list and run operations that query no engine. It cannot build anything here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.macros.test_options import EVERY_OPTION
from tests.support.chdb_http import running_server
from tests.support.shop import REPOSITORY

PLACES = Path(os.environ.get("PORTABILITY") or REPOSITORY / ".venv" / "portability")


@dataclass(frozen=True)
class Dbt:
    """A dbt: how to start it, and how to make it show deprecations."""

    version: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    strict: tuple[str, ...]

    def __call__(self, folder: Path, *arguments: str) -> str:
        """The output of a command, which must have no error, warning or deprecation."""
        ended = self.run(folder, *arguments)
        found = re.findall(r"(?i)^.*(?:\[(?:warning|error)\]|deprecat).*$", ended.stdout, re.MULTILINE)
        assert (ended.returncode, found) == (0, []), ended.stdout
        return ended.stdout

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "NO_COLOR": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        return subprocess.run(
            [*self.command, *arguments],
            cwd=folder,
            env={**environment, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )


_CORE = (sys.executable, "-c", "from dbt.cli.main import cli; cli()")
_PATHS = os.environ.get("PYTHONPATH", "")
DBTS = [
    Dbt("1.11", _CORE, {}, ("--show-all-deprecations",)),
    Dbt("1.12", _CORE, {"PYTHONPATH": f"{PLACES / 'dbt-core-1.12'}{os.pathsep}{_PATHS}"}, ("--show-all-deprecations",)),
    Dbt(
        "2.0",
        (str(PLACES / "dbt-2" / "bin" / "dbt"),),
        {"DBT_ALLOW_EXPERIMENTAL_ADAPTERS": "true"},
        ("--show-all-deprecations",),
    ),
]
PROFILE: dict[str, Any] = {
    name: {"target": "t", "outputs": {"t": {"type": "clickhouse", "schema": "s", "host": "nowhere", "port": 8123}}}
    for name in ("consumer", "versioned_collapsing")
}
LINES = "versioned_collapsing.{}(source('landing', 'orders'), key=['id'], columns={{'id': 'bigint', 'at': 'timestamp'}}"
MODELS = {
    "orders": "{{ config(materialized='versioned_collapsing', meta=" + repr(dict(EVERY_OPTION)) + ") }}\n"
    "select 1 as id",
    "sums": "{{ config(materialized='versioned_collapsing_view', meta={'order_by': 'id', 'engine': 'MergeTree', "
    "'partition_by': 'id', 'settings': {'index_granularity': 1024}}) }}\n"
    "{{ versioned_collapsing.signed_sums(ref('orders'), 'id', ['x']) }}",
    "live": "select * from {{ versioned_collapsing.live_rows(ref('orders')) }}",
    "stg_debezium": "{{ " + LINES.format("parse_debezium") + ") }}",
    "stg_images": "{{ " + LINES.format("parse_debezium_images") + ", version='at') }}",
    "stg_upserts": "{{ " + LINES.format("parse_upserts") + ", version='at') }}",
    "orders_changes": "{{ config(materialized='change_set', meta={'on_changed_batch': 'reprocess'}) }}\n"
    "{{ versioned_collapsing.one_change_per_key(ref('stg_debezium'), key=['id']) }}",
    "extracts": "{{ config(materialized='change_set') }}\n"
    "{{ versioned_collapsing.snapshot_changes(ref('stg_upserts'), key=['id']) }}",
    "signed": "{{ config(materialized='change_set') }}\n"
    "{{ versioned_collapsing.signed_rows(ref('stg_images'), key=['id']) }}",
    "lines": "{{ config(materialized='change_set') }}\n"
    "{{ versioned_collapsing.quarantined_lines(ref('stg_debezium'), 'orders') }}",
    "quarantine": "{{ config(materialized='versioned_collapsing', unique_key='id') }}\n"
    "{{ versioned_collapsing.replace_quarantined_batches(ref('lines')) }}",
}  # fmt: skip
PROPERTIES = {
    "sources": [{"name": "landing", "tables": [{"name": "orders"}]}],
    "models": [
        {
            "name": "orders",
            "columns": [{"name": "id", "data_type": "Int64"}],
            "data_tests": [
                {"versioned_collapsing.one_live_row_per_key": {"arguments": {"unique_key": "id"}}},
                "versioned_collapsing.sign_is_unit",
                "versioned_collapsing.cancel_rows_match_state_rows",
            ],
        }
    ],
}
OPERATIONS = """
{% macro show_options() %}
  {% set node = graph.nodes['model.consumer.orders'] %}
  {% set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) %}
  {% do log('options: ' ~ tojson(options), info=true) %}
{% endmacro %}


{% macro validate_options() %}
  {% set node = graph.nodes['model.consumer.orders'] %}
  {% set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) %}
  {% do versioned_collapsing.validate_versioned_collapsing_options(node, options) %}
{% endmacro %}

"""


@pytest.fixture(params=DBTS, ids=lambda dbt: dbt.version)
def dbt(request: pytest.FixtureRequest) -> Dbt:
    found: Dbt = request.param
    return found


@pytest.fixture
def consumer(tmp_path: Path) -> Path:
    """A project that installs the package."""
    files: dict[str, Any] = {
        "dbt_project.yml": {
            "name": "consumer",
            "version": "1.0",
            "profile": "consumer",
            "models": {"consumer": {"+materialized": "view"}},
        },
        "packages.yml": {"packages": [{"local": str(REPOSITORY)}]},
        "profiles.yml": PROFILE,
        "models/properties.yml": PROPERTIES,
    }
    for folder in ("models", "macros"):
        (tmp_path / folder).mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))  # JSON is YAML
    for name, sql in MODELS.items():
        (tmp_path / "models" / f"{name}.sql").write_text(sql)
    (tmp_path / "macros" / "operations.sql").write_text(OPERATIONS)
    return tmp_path


def _shown(printed: str) -> Any:
    (found,) = re.findall(r"options: (\{.*\})", printed)
    return json.loads(found)


def test_it_is_the_dbt_that_it_says(dbt: Dbt, tmp_path: Path) -> None:
    """Without packages of its own, one dbt would be that of another."""
    told = dbt.run(tmp_path, "--version").stdout
    assert re.search(rf"(?:installed:|dbt-fusion) +{re.escape(dbt.version)}\.", told), told


def test_a_project_with_every_option_parses(dbt: Dbt, consumer: Path) -> None:
    dbt.run(consumer, "deps")
    dbt(consumer, "parse", *dbt.strict)
    listed = dbt(consumer, "ls", "--resource-type", "model")
    assert {line.split(".")[-1] for line in listed.splitlines() if "consumer." in line} == set(MODELS)


def test_every_option_is_read(dbt: Dbt, consumer: Path) -> None:
    dbt.run(consumer, "deps")
    assert _shown(dbt(consumer, "run-operation", "show_options")) == EVERY_OPTION


SHOW_WHAT_IS_READ = """
{% macro show_what_is_read() %}
  {% set tuple = 'Tuple(a Int8, `b, c` Array(Decimal(9, 2)))' %}
  {% do log('options: ' ~ tojson({
      'interval': versioned_collapsing.get_interval_sql('30 days'),
      'no interval': versioned_collapsing.get_interval_sql('30 moons'),
      'time': versioned_collapsing.get_utc_type('DateTime64(3)'),
      'tuple': versioned_collapsing.get_tuple_elements(tuple),
      'commas': versioned_collapsing.split_top_level("a, f(b, ','), `c,`"),
      'parentheses': versioned_collapsing.strip_parentheses('(a, [b])'),
      'names': versioned_collapsing._names_in("a + f(`b c`) + 'd' + e.f"),
      'decimal': versioned_collapsing._get_number('Nullable(Decimal(9, 2))').whole,
      'integer': versioned_collapsing._get_number('UInt16').fit,
      'keys': versioned_collapsing._get_plain_entries(['(`a`, b)']),
      'type': versioned_collapsing.get_type_name('DEC (12, 2)'),
      'reference': versioned_collapsing.get_reference_text("postgresql('host')"),
      'ttl': versioned_collapsing._get_ttl_of_engine('MergeTree ORDER BY a TTL b + toIntervalDay(1) SETTINGS c = 1'),
      'engine': versioned_collapsing._get_engine_arguments("ReplicatedMergeTree('/a)', '{r}', s, `v w`) ORDER BY a"),
      'sign': versioned_collapsing._get_sign_and_version('VersionedCollapsingMergeTree(_sign, _version) ORDER BY a'),
  }), info=true) %}
{% endmacro %}
"""
# The output of macros that use regular expressions, which differ in dbt 2.
READ = {
    "interval": "toIntervalDay(30)",
    "no interval": None,
    "time": "DateTime64(3, 'UTC')",
    "tuple": [{"name": "a", "type": "Int8"}, {"name": "b, c", "type": "Array(Decimal(9, 2))"}],
    "commas": ["a", "f(b, ',')", "`c,`"],
    "parentheses": "a, [b]",
    "names": ["a", "a", "b c", "e.f", "e"],
    "decimal": 7,
    "integer": ["UInt", "Int"],
    "keys": ["a", "b"],
    "type": "decimal(12,2)",
    "reference": "postgresql(…)",
    "ttl": "b + toIntervalDay(1)",
    "engine": ["s", "v w"],
    "sign": "_sign, _version",
}


def test_what_regular_expressions_find_is_the_same(dbt: Dbt, tmp_path: Path) -> None:
    project = {"name": "versioned_collapsing", "version": "1.0", "profile": "consumer"}
    (tmp_path / "dbt_project.yml").write_text(json.dumps(project))
    (tmp_path / "profiles.yml").write_text(json.dumps(PROFILE))
    shutil.copytree(REPOSITORY / "macros", tmp_path / "macros")
    (tmp_path / "macros" / "operations.sql").write_text(SHOW_WHAT_IS_READ)
    assert _shown(dbt(tmp_path, "run-operation", "show_what_is_read")) == READ


def test_models_go_on_after_a_table_that_failed(consumer: Path, tmp_path: Path) -> None:
    """`on_error`, which dbt-core has since 1.12: the models read the table as it was."""
    dbt = DBTS[1]
    for model in (consumer / "models").iterdir():
        model.unlink()
    orders = (
        "{{{{ config(materialized='versioned_collapsing', meta={{'unique_key': 'id'}}, on_error='continue') }}}}\n"
        "select 1 as id, {} as _version"
    )
    read = "{{ config(materialized='table') }} select id, _version from {{ ref('orders') }}"
    (consumer / "models" / "read.sql").write_text(read)
    dbt.run(consumer, "deps")
    with running_server(tmp_path / "server") as (host, port):
        output = {**PROFILE["consumer"]["outputs"]["t"], "host": host, "port": port}
        profile = {"consumer": {"target": "t", "outputs": {"t": output}}}
        (consumer / "profiles.yml").write_text(json.dumps(profile))
        (consumer / "models" / "orders.sql").write_text(orders.format(1))
        dbt(consumer, "run")
        (consumer / "models" / "orders.sql").write_text(orders.format("throwIf(1, 'It fails.')"))
        ended = dbt.run(consumer, "run")
    assert ended.returncode != 0
    assert "It fails." in ended.stdout
    assert re.search(r"OK created sql table model `s`.`read`", ended.stdout), ended.stdout
    assert "PASS=1 WARN=0 ERROR=1 SKIP=0" in ended.stdout


def test_what_is_wrong_with_options_is_said(dbt: Dbt, consumer: Path) -> None:
    orders = (
        "{{ config(materialized='versioned_collapsing', unique_key='a', meta={'unique_key': 'id', "
        "'chunk': 2}) }}\nselect 1 as id"
    )
    (consumer / "models" / "orders.sql").write_text(orders)
    dbt.run(consumer, "deps")
    ended = dbt.run(consumer, "run-operation", "validate_options")
    assert ended.returncode != 0
    assert "unique_key is a in the config and id in `meta`. Give it in one place." in ended.stdout
    assert "meta.chunk: there is no such option. Did you mean chunks?" in ended.stdout


def test_the_project_itself_parses(dbt: Dbt, tmp_path: Path) -> None:
    """With the stock adapter's profile, because dbt 2 has no other adapter."""
    (tmp_path / "profiles.yml").write_text(json.dumps(PROFILE))
    places = [
        argument
        for name, place in (("project", REPOSITORY), ("profiles", tmp_path))
        for argument in (f"--{name}-dir", str(place))
    ]
    outputs = ["--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs")]
    if dbt.version != "2.0":
        places = places[:2]  # its own profile
    dbt(tmp_path, "parse", *places, *outputs, *dbt.strict)


def test_dbt_2_takes_options_in_the_config_for_errors(consumer: Path) -> None:
    """This is why the documents recommend `meta`."""
    dbt = DBTS[-1]
    (consumer / "models" / "orders.sql").write_text("{{ config(chunks=2) }} select 1 as id")
    dbt.run(consumer, "deps")
    ended = dbt.run(consumer, "parse")
    assert ended.returncode != 0
    assert 'Ignored unexpected key `"chunks"`' in ended.stdout
