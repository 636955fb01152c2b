"""While the project is parsed, the macros of one engine do not affect the nodes of the other."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(("variable", "is_parsed"), [("through_batch", False), ("other", True)])
def test_variables_of_a_run_do_not_make_dbt_parse_anew(tmp_path: Path, variable: str, is_parsed: bool) -> None:
    reasons: list[str] = []
    callbacks = [lambda event: reasons.append(event.info.name)]
    files = {"models/shop.sql": "{{ config(alias='shop_' ~ var('other', 0)) }} select 1 as id"}
    for value in (1, 2):
        reasons.clear()
        variables = json.dumps({variable: value, "reprocess_batches": [value]})
        parsed = _parse(tmp_path, files, "--vars", variables, callbacks=callbacks)
    assert ("UnableToPartialParse" in reasons) is is_parsed
    (model,) = parsed.result.nodes.values()
    assert model.alias == ("shop_2" if is_parsed else "shop_0")


def _parse(folder: Path, files: Mapping[str, str], *options: str, callbacks: Any = None) -> Any:
    for name, text in {**FILES, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    folders = ("--project-dir", str(folder), "--profiles-dir", str(folder))
    return dbtRunner(callbacks=callbacks).invoke(["--warn-error", "parse", *folders, *options])
