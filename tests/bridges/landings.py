"""The landing tables of tools, with models on them, in one project."""

from __future__ import annotations

from typing import Any

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.commands import Node

PEERDB = (
    "_peerdb_synced_at DateTime64(9) default now64(), _peerdb_is_deleted UInt8, _peerdb_version UInt64) "
    "engine = ReplacingMergeTree(_peerdb_version)"
)
RAW = (
    "(_peerdb_uid UUID default generateUUIDv4(), _peerdb_timestamp Int64, _peerdb_destination_table_name String, "
    "_peerdb_data String, _peerdb_record_type Int, _peerdb_match_data String, _peerdb_batch_id Int64, "
    "_peerdb_unchanged_toast_columns String) engine = MergeTree order by tuple()"
)
ENVELOPES = (
    "(before String, after String, op Nullable(String), source String, _inserted_at DateTime64(6, 'UTC') default "
    "now64(6)) engine = MergeTree order by tuple()"
)
DAY = "2026-01-01"


class Landings:
    """Landing tables and the models on them, in one project."""

    def __init__(self, project: CollapsingProject) -> None:
        self.project = project
        self._sources: dict[str, dict[str, Any]] = {}

    def create(self, name: str, structure: str, *rows: str, **config: Any) -> None:
        """Create a landing table, and land rows in it."""
        self.project.command(f"create or replace table {name} {structure}")
        if name not in self._sources:
            self._sources[name] = {"name": name, "config": config}
            tables = list(self._sources.values())
            source = {"name": "shop", "schema": self.project.schema, "tables": tables}
            self.project.add_properties("sources", {"sources": [source]})
        self.land(name, *rows)

    def land(self, name: str, *rows: str, columns: str = "") -> None:
        """Land rows."""
        if rows:
            self.project.command(f"insert into {name} {columns} values {', '.join(rows)}")

    def model(self, name: str, body: str, **config: Any) -> None:
        """Add a model, whose key is `id` unless the config says otherwise."""
        self.project.add_model(name, {"unique_key": "id", **config}, body)

    def run(self, *names: str, arguments: tuple[str, ...] = ()) -> dict[str, Node]:
        """Run models, all of which must succeed."""
        outcomes = self.try_to_run(*names, arguments=arguments)
        failed = {name: node.message for name, node in outcomes.items() if node.status != "success"}
        assert not failed
        return outcomes

    def try_to_run(self, *names: str, arguments: tuple[str, ...] = ()) -> dict[str, Node]:
        """Run models, which may fail."""
        return self.project.run("--select", *names, *arguments)

    def live(self, name: str) -> list[Row]:
        """The live rows of a model."""
        return self.project.query(f"select * except (_sign, _version) from {name} final where _sign = 1 order by all")

    def watermarks(self, name: str) -> list[Any]:
        """The ledger's watermarks for the applies of a model: the landing table, and how far it was read."""
        rows = self.project.query(
            "select arrayMap(w -> (w.landing, w.watermark), watermarks) from versioned_collapsing_ledger "
            f"where model = '{name}' and status = 'applied' order by at"
        )
        return [list(row[0]) for row in rows]
