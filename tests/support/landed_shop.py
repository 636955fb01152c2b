"""The shop's change stream in the tables in which other tools land it, filled by ClickHouse itself.

Each layout follows the tool's own source, which docs/bridges.md names. An event of the stream is a row of the table
`events`. `landed_at` is when its row lands, in the tool's own terms: the time of an insert, a sync or a load.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.shop import LANDING

TYPES: dict[str, dict[str, str]] = {
    "customers": {
        "customer_id": "Int64",
        "name": "String",
        "email": "Nullable(String)",
        "region": "String",
        "tier": "String",
        "credit_limit": "Decimal(12, 2)",
        "updated_at": "DateTime64(6, 'UTC')",
    },
    "orders": {
        "order_id": "Int64",
        "customer_id": "Int64",
        "region": "String",
        "status": "String",
        "amount": "Decimal(12, 2)",
        "items": "Int64",
        "note": "Nullable(String)",
        "created_at": "DateTime64(6, 'UTC')",
        "updated_at": "DateTime64(6, 'UTC')",
    },
}
# A log position as a time: versions of PeerDB and of Altinity's connector are times. The shop's batches are then a
# quarter of an hour apart.
NANOSECONDS = "1760000000000000000 + lsn * 1000000"


@dataclass(frozen=True)
class Bridge:
    """A landing table of a tool, and the model on it.

    Args:
        create: the columns and engine of the landing table; `{columns}` are the source's, `{key}` its key.
        select: the rows that land for events; `{columns}` are the source's, `{key}` its key.
        model: the body of the model.
        is_airbyte: whether the columns have Airbyte's types, which cut times to milliseconds.
        more: further tables by name, each with its `create` and its `select`.
    """

    create: str
    select: str
    model: str
    is_airbyte: bool = False
    more: Mapping[str, tuple[str, str]] = field(default_factory=dict)


# The row of a delete has only the key, as with PostgreSQL's default replica identity.
PEERDB_CREATE = (
    "({columns}, _peerdb_synced_at DateTime64(9) default now64(), _peerdb_is_deleted UInt8, _peerdb_version UInt64) "
    "engine = ReplacingMergeTree(_peerdb_version) primary key ({key}) order by ({key})"
)
PEERDB_SELECT = (
    "{columns}, landed_at as _peerdb_synced_at, op = 'd' as _peerdb_is_deleted, "
    f"if(op = 'r', 0, {NANOSECONDS}) as _peerdb_version"
)
PEERDB_RAW_CREATE = (
    "(_peerdb_uid UUID, _peerdb_timestamp Int64, _peerdb_destination_table_name String, _peerdb_data String, "
    "_peerdb_record_type Int, _peerdb_match_data String, _peerdb_batch_id Int64, "
    "_peerdb_unchanged_toast_columns String) engine = MergeTree "
    "order by (_peerdb_batch_id, _peerdb_destination_table_name)"
)
PEERDB_RAW_SELECT = (
    f"generateUUIDv4() as _peerdb_uid, {NANOSECONDS} as _peerdb_timestamp, "
    "'peerdb_with_raw' as _peerdb_destination_table_name, image as _peerdb_data, "
    "multiIf(op = 'c', 0, op = 'u', 1, 2) as _peerdb_record_type, if(op = 'c', '', image) as _peerdb_match_data, "
    "batch as _peerdb_batch_id, '' as _peerdb_unchanged_toast_columns"
)
AIRBYTE_COLUMNS = (
    "(_airbyte_raw_id String, _airbyte_extracted_at DateTime64(3), _airbyte_meta String, "
    "_airbyte_generation_id UInt32, {columns}, _ab_cdc_lsn Nullable(Decimal(38, 9)), "
    "_ab_cdc_updated_at Nullable(DateTime64(3)), _ab_cdc_deleted_at Nullable(DateTime64(3)))"
)
# Airbyte extracts in log order, and its ReplacingMergeTree uses the extraction time as version.
AIRBYTE_SELECT = (
    "toString(generateUUIDv4()) as _airbyte_raw_id, "
    "toDateTime64('2025-10-09 00:00:00', 3) + toIntervalMillisecond(lsn) as _airbyte_extracted_at, "
    "concat('{{\"sync_id\": ', toString(batch), ', \"changes\": []}}') as _airbyte_meta, "
    "0 as _airbyte_generation_id, {columns}, lsn as _ab_cdc_lsn, landed_at as _ab_cdc_updated_at, "
    "if(op = 'd', landed_at, null) as _ab_cdc_deleted_at"
)

BRIDGES: dict[str, Bridge] = {
    "peerdb": Bridge(PEERDB_CREATE, PEERDB_SELECT, "{{ peerdb_changes(source('shop', 'peerdb')) }}"),
    "peerdb_with_raw": Bridge(
        PEERDB_CREATE,
        PEERDB_SELECT,
        "{{ peerdb_changes(source('shop', 'peerdb_with_raw'), raw=source('shop', 'peerdb_raw')) }}",
        more={"peerdb_raw": (PEERDB_RAW_CREATE, f"{PEERDB_RAW_SELECT} from events where op <> 'r'")},
    ),
    "clickpipes": Bridge(PEERDB_CREATE, PEERDB_SELECT, "{{ clickpipes_changes(source('shop', 'clickpipes')) }}"),
    "airbyte_deduplicated": Bridge(
        AIRBYTE_COLUMNS + " engine = ReplacingMergeTree(_airbyte_extracted_at) order by ({key})",
        AIRBYTE_SELECT,
        "{{ airbyte_changes(source('shop', 'airbyte_deduplicated')) }}",
        is_airbyte=True,
    ),
    "airbyte_appended": Bridge(
        AIRBYTE_COLUMNS + " engine = MergeTree order by ({key})",
        AIRBYTE_SELECT,
        "{{ airbyte_changes(source('shop', 'airbyte_appended'), "
        "watermark=\"JSONExtractUInt(_airbyte_meta, 'sync_id')\", overlap=3) }}",
        is_airbyte=True,
    ),
    "altinity": Bridge(
        "({columns}, _version UInt64, is_deleted UInt8) engine = ReplacingMergeTree(_version, is_deleted) "
        "primary key ({key}) order by ({key})",
        f"{{columns}}, {NANOSECONDS} as _version, op = 'd' as is_deleted",
        "{{ altinity_changes(source('shop', 'altinity')) }}",
    ),
    "kafka_sink": Bridge(
        "({columns}, _version UInt64, is_deleted UInt8, _inserted_at DateTime64(6, 'UTC') default now64(6, 'UTC')) "
        "engine = ReplacingMergeTree(_version, is_deleted) order by ({key})",
        "{columns}, lsn as _version, op = 'd' as is_deleted, landed_at as _inserted_at",
        "{{ kafka_connect_changes(source('shop', 'kafka_sink'), version='_version') }}",
    ),
    "kafka_unwrapped": Bridge(
        "({columns}, __op String, __source_lsn UInt64, __source_sequence String, __deleted String, "
        "_inserted_at DateTime64(6, 'UTC')) engine = MergeTree order by ({key})",
        "{columns}, op as __op, lsn as __source_lsn, "
        "if(op = 'r', '[null]', concat('[\"', toString(lsn), '\"]')) as __source_sequence, "
        "if(op = 'd', 'true', 'false') as __deleted, "
        "landed_at as _inserted_at",
        "{{ kafka_connect_changes(source('shop', 'kafka_unwrapped')) }}",
    ),
    "kafka_envelopes": Bridge(
        "(before Nullable(String), after Nullable(String), op Nullable(String), source Nullable(String), "
        "_inserted_at DateTime64(6, 'UTC')) engine = MergeTree order by tuple()",
        "if(op = 'd', image, null) as before, if(op = 'd', null, image) as after, op, "
        'concat(\'{{"table": "shop", "lsn": \', toString(lsn), \', "sequence": \', '
        "if(op = 'r', 'null', concat('\"[', toString(lsn), ']\"')), '}}') as source, landed_at as _inserted_at",
        "{{ kafka_connect_changes(source('shop', 'kafka_envelopes'), columns={names}) }}",
    ),
    "dlt": Bridge(
        "({columns}, lsn Int64, deleted_ts Nullable(DateTime64(6, 'UTC')), _dlt_load_id String, _dlt_id String) "
        "engine = MergeTree order by tuple()",
        "{columns}, lsn, if(op = 'd', landed_at, null) as deleted_ts, "
        "concat('1760000', leftPad(toString(batch), 3, '0'), '.123') as _dlt_load_id, toString(n) as _dlt_id",
        "{{ dlt_changes(source('shop', 'dlt'), source('shop', 'dlt_loads'), version='lsn') }}",
        more={
            "dlt_loads": (
                "(load_id String, schema_name String, status Int64, inserted_at DateTime64(6, 'UTC'), "
                "schema_version_hash String) engine = MergeTree order by tuple()",
                "distinct concat('1760000', leftPad(toString(batch), 3, '0'), '.123') as load_id, 'shop' as schema_name, "
                "0 as status, landed_at as inserted_at, '' as schema_version_hash from events",
            )
        },
    ),
}


def key_of(table: str) -> str:
    """The key of a table of the shop."""
    return next(iter(TYPES[table]))


def read_events(table: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a table, each with its batch, in order of delivery."""
    for file in sorted((LANDING / table).rglob("*.json.gz")):
        batch = int(file.parent.name.removeprefix("batch="))
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                if event["source"]["table"] == table:
                    yield batch, event


class LandedShop:
    """One table of the shop in the landing tables of all tools, with a model on each."""

    def __init__(self, project: CollapsingProject, table: str, bridges: Sequence[str] = tuple(BRIDGES)) -> None:
        self.project = project
        self.types = TYPES[table]
        self.key = key_of(table)
        self.bridges = {name: BRIDGES[name] for name in bridges}
        sources = [name for bridge in self.bridges.values() for name in bridge.more]
        tables = [{"name": name} for name in [*self.bridges, *sources]]
        project.add_properties("sources", {"sources": [{"name": "shop", "schema": project.schema, "tables": tables}]})
        structure = ", ".join(f"{name} {kind}" for name, kind in self.types.items())
        project.command(
            f"create table stream (n UInt64, batch UInt32, op String, lsn UInt64, image String, {structure}) "
            "engine = MergeTree order by n"
        )
        project.command("create table events as stream engine = Memory")
        project.command("alter table events add column landed_at DateTime64(6, 'UTC')")
        for name, bridge in self.bridges.items():
            columns = self._airbyte_structure() if bridge.is_airbyte else structure
            for landing, create in [(name, bridge.create), *((n, c) for n, (c, _) in bridge.more.items())]:
                project.command(f"create table {landing} {create.format(columns=columns, key=self.key)}")
            # The landing table is named after the source; the model has `_current` appended.
            project.add_model(
                f"{name}_current", {"unique_key": self.key}, bridge.model.replace("{names}", repr(list(self.types)))
            )
            project.declare(f"{name}_current", self.types)

    def _airbyte_structure(self) -> str:
        airbyte = {"Decimal(12, 2)": "Decimal(38, 9)", "DateTime64(6, 'UTC')": "DateTime64(3)"}
        kinds = {name: airbyte.get(kind, kind) for name, kind in self.types.items()}
        return ", ".join(
            f"{name} {kind if name == self.key or 'Nullable' in kind else f'Nullable({kind})'}"
            for name, kind in kinds.items()
        )

    def deliver(self, rows: Sequence[Row]) -> None:
        """Add rows to the stream: batch, op, lsn, and the row as JSON."""
        columns = ["n", "batch", "op", "lsn", "image"]
        data = [[n, *row] for n, row in enumerate(rows)]
        self.project.command(
            "create or replace table delivered (n UInt64, batch UInt32, op String, lsn UInt64, image String) "
            "engine = Memory"
        )
        self.project.client.insert("delivered", data, columns, database=self.project.schema)
        values = ", ".join(
            f"JSONExtract(image, '{name}', '{kind}') as {name}"
            if not kind.startswith("DateTime")
            else f"parseDateTime64BestEffort(ifNull(nullIf(JSONExtractString(image, '{name}'), ''), '1970-01-01'), 6, 'UTC') "
            f"as {name}"
            for name, kind in self.types.items()
        )
        self.project.command(f"insert into stream select {', '.join(columns)}, {values} from delivered")

    def land(self, condition: str) -> None:
        """Land part of the stream in every tool's table, ten minutes apart per batch."""
        self.project.command("truncate table events")
        self.project.command(
            "insert into events select *, toDateTime64('2025-10-10 00:00:00', 6, 'UTC') + toIntervalMinute(10 * batch) "
            f"from stream where {condition} order by n"
        )
        columns = ", ".join(self.types)
        for name, bridge in self.bridges.items():
            select = bridge.select.format(columns=columns, key=self.key)
            self._insert(name, f"{select} from events")
            for landing, (_, more) in bridge.more.items():
                self._insert(landing, more)

    def _insert(self, landing: str, select: str) -> None:
        # By name, because the columns of a layout may be in another order than the table's.
        found = self.project.client.query(f"select {select} limit 0", settings={"database": self.project.schema})
        listed = ", ".join(found.column_names)
        self.project.command(f"insert into {landing} ({listed}) select {select}")

    def merge(self) -> None:
        """Merge the landing tables, so that replaced rows are gone."""
        for name in self.bridges:
            self.project.command(f"optimize table {name} final")

    def live_rows(self, name: str) -> list[Row]:
        """The live rows of a model; FINAL and signed sums must agree on them."""
        columns = ", ".join(self.types)
        final = self.project.query(f"select {columns} from {name}_current final where _sign = 1 order by all")
        net = self.project.query(
            f"select {columns} from {name}_current group by all having sum(_sign) <> 0 order by all"
        )
        assert final == net, name
        return final

    def expected_rows(self, condition: str, *, is_airbyte: bool = False) -> list[Row]:
        """The rows in PostgreSQL after part of the stream: the last state of each key."""
        columns = ", ".join(
            f"toDateTime64({name}, 3, 'UTC') as {name}" if is_airbyte and "DateTime" in kind else name
            for name, kind in self.types.items()
        )
        return self.project.query(
            f"select {columns} from (select * from stream where {condition} order by {self.key}, lsn desc, op = 'd' desc "
            f"limit 1 by {self.key}) where op <> 'd' order by all"
        )
