"""Change sets on stock dbt-clickhouse, which has none: views stand in for them and for handed-off relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from dbt.adapters.clickhouse import ClickHouseAdapter

from tests.support.collapsing_project import CollapsingProject

LINES = ("lines", "blank", "quarantined", "ignored", "events")
MANIFEST = "batch UInt64, hash String, is_complete Bool, is_partial Bool, landed_at UInt64, taken_at UInt64, id String"
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


def write_manifest(
    project: CollapsingProject,
    change_set: str,
    batches: Sequence[int],
    counts: Sequence[Sequence[int | None]] = (),
    is_complete: bool = False,
) -> None:
    """The manifest of a change set with these batches, and with the counts of their lines."""
    counts = counts or [[None] * len(LINES)] * len(batches)
    project.replace_rows(
        f"{change_set}__manifest",
        ", ".join([MANIFEST, *(f"{name} Nullable(Int64)" for name in LINES)]),
        [
            (batch, f"h{batch}", is_complete or 1 in batches, False, 0, 0, "", *lines)
            for batch, lines in zip(batches, counts, strict=True)
        ],
    )
