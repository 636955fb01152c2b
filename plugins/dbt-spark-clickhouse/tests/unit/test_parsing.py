"""While the project is parsed, no engine's macros stand in the way of the other's nodes."""

from __future__ import annotations

import textwrap
from pathlib import Path

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
    for name, text in {**FILES, "models/shop.sql": f"select 1 as id {{{{ {call} }}}}"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    folder = str(tmp_path)
    parsed = dbtRunner().invoke(
        ["--warn-error", "parse", "--project-dir", folder, "--profiles-dir", folder]
    )
    assert parsed.success, parsed.exception
