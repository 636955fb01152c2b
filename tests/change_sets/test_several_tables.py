"""A template in a stream of several tables: whose shape it has, and when it learns another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.change_sets import test_templates
from tests.support.change_set_project import ChangeSetProject, Situation

UNIT_TEST = """
unit_tests:
  - name: lines_become_typed_rows
    model: stg_orders
    given:
      - input: source('landing', 'orders')
        format: sql
        rows: |
          select value, 7 as batch,
            named_struct('file_path', 'orders/batch=7/a.json', 'file_block_start', 0L) as _metadata
          from values
            ('{"op":"r","source":{"connector":"postgresql","schema":"sales","table":"orders","lsn":13},'
             '"before":null,"after":{"id":1,"note":"a"}}'),
            ('{"op":"r"')
            as lines (value)
    expect:
      rows:
        - {id: 1, note: a, _reason: null}
        - {id: null, note: null, _reason: malformed JSON}
"""


@pytest.mark.all
def test_a_template_follows_the_lines_of_its_own_table(tmp_path: Path) -> None:
    """Most lines are of another table, with the same name in another schema."""
    situation = Situation(
        "orders",
        "parse_debezium(SOURCE, key=['id'], columns={'id': 'bigint', 'note': 'string'}, table='sales.orders')",
        "one_change_per_key(EVENTS, key=['id'])",
        {"id": "Int64", "note": "Nullable(String)", "_version": "Int128"},
        {"unique_key": "id"},
        select="id, note, _version, _is_deleted",
    )
    models = {"staging/unit_tests.yml": UNIT_TEST}
    project = ChangeSetProject(tmp_path, [situation], parsed_once=["orders"], models=models)
    shapes = []
    for batch, row in enumerate(({"id": 1, "note": "a"}, {"note": "b", "id": 1}, {"note": "c", "id": 1}), start=1):
        lsn = batch * 1000
        lines = [
            _event("archive", {"id": 9, "note": "x", "more": batch}, lsn + number).decode() for number in range(25)
        ]
        lines.append(_event("sales", row, lsn + 100).decode())
        project.land("orders", batch, lines)
        [outcome] = project.dbt(["run"])
        assert outcome.success, outcome.why()
        seen = json.loads(project.spark_rows("orders_changes__manifest", ["seen"])[0][0])["stg_orders"]["template"]
        shapes.append(seen and seen["shape"]["row"])
        project.assert_manifest_adds_up("orders")
        live = project.queries(rows="select id, note from shop.orders final where _sign = 1")["rows"]
        assert live == [(1, row["note"])]
    assert shapes == [["id", "note"], {}, ["note", "id"]]
    [outcome] = project.dbt(["test", "--select", "stg_orders,test_type:unit"])
    assert [node[0] for node in outcome.nodes.values()] == ["pass"], outcome.why()


def _event(schema: str, row: dict[str, Any], lsn: int) -> bytes:
    source = {
        **test_templates.SOURCE,
        "schema": schema,
        "table": "orders",
        "sequence": f'["{lsn}","{lsn}"]',
        "lsn": lsn,
    }
    return test_templates.envelope(
        "u", b"null", json.dumps(row, separators=(",", ":")).encode(), source, test_templates.SPACES["compact"]
    )
