"""A text of 50 MB and a key of 1 MB, from a landed line to a row in ClickHouse."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tests.support.change_set_project import ChangeSetProject, Situation

MB = 1_000_000
LONG = Situation(
    "long",
    "parse_upserts(SOURCE, key=['id'], columns={'id': 'string', 'v': 'string'}, version='_batch')",
    "one_change_per_key(EVENTS, key=['id'])",
    {"id": "String", "v": "String"},
    {"unique_key": "id"},
)
OUTPUT = {
    "type": "spark_clickhouse",
    "schema": "shop",
    "spark": {"method": "session", "server_side_parameters": {"spark.driver.memory": "{{ env_var('MEMORY') }}"}},
}


def digest(text: str) -> tuple[int, str]:
    raw = text.encode()
    return len(raw), hashlib.sha256(raw).hexdigest()


def test_long_values_arrive_or_memory_is_asked_for(tmp_path: Path) -> None:
    project = ChangeSetProject(tmp_path, [LONG], output=OUTPUT, parsed_once={"long"})
    rows = {"a": "x" * 50 * MB, "k" * MB: "short", "b": 'é"\\' * (MB // 4)}
    for batch in (1, 2):  # The second batch replaces the values by others of the same length.
        rows = {key: value[1:] + str(batch) for key, value in rows.items()}
        lines = [json.dumps({"id": key, "v": value}, ensure_ascii=False) for key, value in rows.items()]
        project.land("long", batch, lines)
    (short,) = project.dbt(["run"], MEMORY="512m")
    assert "spark.driver.memory: 8g" in short.failures()["long_changes"]
    first, second = project.run(1, 2, MEMORY="4g")
    assert first.success, first.why()
    assert second.success, second.why()
    found = project.queries(
        rows="select length(id), lower(hex(SHA256(id))), length(v), lower(hex(SHA256(v))) from shop.long final "
        "where _sign = 1"
    )["rows"]
    assert sorted(found) == sorted((*digest(key), *digest(value)) for key, value in rows.items())
    assert project.quarantined() == []
