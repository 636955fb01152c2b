"""Change sets on stock dbt-clickhouse, which has none: views stand in for them and for handed-off relations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dbt.adapters.clickhouse import ClickHouseAdapter

from tests.support.collapsing_project import CollapsingProject

CHANGE_SET = """
{% materialization change_set, adapter='clickhouse' %}
  {% call statement('main') %}create or replace view {{ this }} as {{ sql }}{% endcall %}
  {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}
"""


@contextmanager
def stand_in_for_change_sets(project: CollapsingProject) -> Iterator[None]:
    """Within the block the project may have models with `materialized: change_set`. Tests write their manifests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClickHouseAdapter, "_available_", ClickHouseAdapter._available_ | {"hand_off"})
        hand_off = lambda _, schema, name, __: f"{schema}.{name}"  # noqa: E731
        patch.setattr(ClickHouseAdapter, "hand_off", hand_off, raising=False)
        macros = project.folder / "macros"
        macros.mkdir()
        (macros / "change_set.sql").write_text(CHANGE_SET)
        project.set_variables()
        yield
