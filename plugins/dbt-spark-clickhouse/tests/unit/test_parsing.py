"""While the project is parsed, the macros of one engine do not affect the nodes of the other."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner

FILES = {
    "profiles.yml": """
        shop:
          target: servers
          outputs:
            servers:
              type: spark_clickhouse
              spark: {method: thrift, host: localhost}
              clickhouse: {host: localhost}
    """,
    "dbt_project.yml": """
        name: shop
        profile: shop
        flags: {send_anonymous_usage_stats: false}
    """,
}


@pytest.mark.parametrize(
    "call",
    [
        "alter_relation_add_remove_columns(this, none, [api.Column('gone', 'Int32')])",
        "dbt.dateadd('nanosecond', 1, 'at')",
        "dbt.datediff('at', 'until', 'nanosecond')",
        "dbt.listagg('name', \"','\", 'order by name')",
    ],
)
def test_clickhouse_models_can_do_what_spark_cannot(tmp_path: Path, call: str) -> None:
    parsed = _parse(tmp_path, {"models/shop.sql": f"select 1 as id {{{{ {call} }}}}"})
    assert parsed.success, parsed.exception


def test_catalogs_that_neither_stock_adapter_has_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    catalogs = """
        catalogs:
          - name: lake
            active_write_integration: writer
            write_integrations:
              - {name: writer, catalog_type: iceberg_rest, external_volume: volume}
    """
    parsed = _parse(tmp_path, {"catalogs.yml": catalogs})
    assert "catalogs.yml has the catalog 'lake' of the type 'iceberg_rest'" in str(parsed.exception)
    assert "Remove catalogs.yml. The catalog of Spark is set in" in str(parsed.exception)


# In a process of its own: other tests have dbt keep what it has parsed.
_PARSE_AGAIN = """
import json, sys
from dbt.cli.main import dbtRunner

for variables in map(json.loads, sys.argv[2:]):
    names = []
    runner = dbtRunner(callbacks=[lambda event: names.append(event.info.name)])
    folders = ["--project-dir", sys.argv[1], "--profiles-dir", sys.argv[1]]
    parsed = runner.invoke(["--quiet", "parse", *folders, "--vars", json.dumps(variables)])
    (model,) = parsed.result.nodes.values()
    print(json.dumps(["UnableToPartialParse" in names, model.alias]))
"""


def test_variables_of_a_run_do_not_make_dbt_parse_anew(tmp_path: Path) -> None:
    _write(tmp_path, {"models/shop.sql": "{{ config(alias='shop_' ~ var('other', 0)) }} select 1 as id"})
    given = [{"other": 1}, {"other": 1, "through_batch": 2}, {"other": 1, "reprocess_batches": [3]}, {"other": 2}]
    texts = map(json.dumps, given)
    process = subprocess.run(
        [sys.executable, "-c", _PARSE_AGAIN, str(tmp_path), *texts],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert answers == [[True, "shop_1"], [False, "shop_1"], [False, "shop_1"], [True, "shop_2"]]


_COUNT_WRITES = """
import json, sys
from pathlib import Path
from dbt.cli.main import dbtRunner
from dbt.contracts.graph.manifest import Manifest

root, writes, stock = sys.argv[1], [], Manifest.write

def write(manifest, path):
    writes.append(path)
    stock(manifest, path)

Manifest.write = write
for command in map(json.loads, sys.argv[2:]):
    writes.clear()
    if command == "remove":
        Path(root, "target", "manifest.json").unlink()
    else:
        ran = dbtRunner().invoke(["--quiet", *command, "--project-dir", root, "--profiles-dir", root])
        print(json.dumps([ran.success, len(writes)]))
"""


def test_runs_write_the_manifest_once_while_the_project_stays_as_it_is(tmp_path: Path) -> None:
    _write(tmp_path, {"models/shop.sql": "{{ config(alias='shop_' ~ var('other', 0)) }} select 1 as id"})
    run, other = ["run", "--select", "nothing"], ["run", "--select", "nothing", "--vars", "other: 1"]
    commands = [json.dumps(command) for command in (["parse"], run, other, other, ["parse"], "remove", run, run)]
    process = subprocess.run(
        [sys.executable, "-c", _COUNT_WRITES, str(tmp_path), *commands],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    answers = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("[")]
    assert answers == [[True, count] for count in (1, 1, 2, 1, 1, 2, 1)], process.stderr


def _parse(folder: Path, files: Mapping[str, str]) -> Any:
    _write(folder, files)
    folders = ("--project-dir", str(folder), "--profiles-dir", str(folder))
    return dbtRunner().invoke(["--warn-error", "parse", *folders])


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in {**FILES, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
