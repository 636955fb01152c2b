"""Changes of a large table, applied in every way that a user would otherwise choose, on one engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.engine import SCHEMA, Engine
from benchmarks.measure import Arm, Figures, interleaved

PARTITIONS = 20
PAYLOAD = {"department": "LowCardinality(String)", "metric1": "UInt32", "metric2": "Float32"}
DEPARTMENTS = "['HR', 'Finance', 'Engineering', 'Sales', 'Marketing']"


@dataclass(frozen=True)
class Shape:
    """A table and the changes to it: key columns, sorting key, which keys change."""

    name: str
    key: dict[str, str]  # column: type
    key_sql: str  # the key columns from `number`
    order_by: tuple[str, ...]
    changed: str = "spread"  # one key in so many; or "scattered" over all partitions; or "recent"
    more_columns: int = 0

    @property
    def payload(self) -> dict[str, str]:
        """The columns outside the key, with their types."""
        return PAYLOAD | {f"c{number}": "UInt32" for number in range(self.more_columns)}

    def payload_sql(self, seed: int) -> str:
        """Values of the payload, computed from `number`: pseudorandom, and the same in every table.

        The department does not depend on the seed: it is a sorting column, and ReplacingMergeTree could not replace the
        row.
        """
        values = [
            f"{DEPARTMENTS}[cityHash64(number) % 5 + 1]",
            f"cityHash64(number, {seed + 1}) % 1000",
            f"cityHash64(number, {seed + 2}) % 10000 / 100",
        ]
        values += [f"cityHash64(number, {seed}) % {97 + column}" for column in range(self.more_columns)]
        return ", ".join(values)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("spread", {"id": "Int32"}, "toInt32(number) as id", ("id",)),
        Shape("scattered", {"id": "Int32"}, "toInt32(number) as id", ("id",), "scattered"),
        Shape("recent", {"id": "Int32"}, "toInt32(number) as id", ("id",), "recent"),
        Shape(
            "composite",
            {"tenant": "UInt32", "code": "String"},
            "toUInt32(intDiv(number, 100)) as tenant, concat('c', toString(number % 100)) as code",
            ("tenant", "code"),
            "scattered",
        ),
        Shape("not_a_prefix", {"id": "Int32"}, "toInt32(number) as id", ("department", "id"), "scattered"),
        Shape("wide", {"id": "Int32"}, "toInt32(number) as id", ("id",), "scattered", 45),
    )
}
# No merges during measurements. SYSTEM STOP MERGES would also stop mutations.
SETTINGS = {"index_granularity": 4096, "max_bytes_to_merge_at_max_space_in_pool": 1}
BASES = {  # a table for each engine that a way writes into: engine, sign column, its value
    "collapsing": ("VersionedCollapsingMergeTree(_sign, _version)", "_sign Int8", ", 1"),
    "replacing": ("ReplacingMergeTree(_version)", None, ""),
    "merge": ("MergeTree", None, ""),
}


class Upsert:
    """A table of ``rows`` rows for each of ``bases``, and a Parquet file of ``changes`` changes to it."""

    def __init__(
        self, engine: Engine, shape: Shape, rows: int, changes: int, bases: Collection[str] = tuple(BASES)
    ) -> None:
        self.engine, self.shape, self.rows = engine, shape, rows
        self.key = ", ".join(shape.key)
        self.columns = ", ".join([*shape.key, *shape.payload, "_version"])
        self.partition = f"{next(iter(shape.key))} % {PARTITIONS}"
        engine.empty()
        for name in bases:
            self._make_table(name)
        self.change(shape, changes)

    def _structure(self, *more: str) -> str:
        columns = {**self.shape.key, **self.shape.payload, "_version": "UInt64"}
        return ", ".join([*(f"{name} {kind}" for name, kind in columns.items()), *more])

    def _make_table(self, name: str) -> None:
        """One part per partition, as after merges."""
        engine, sign, one = BASES[name]
        table = f"base_{name}"
        structure = self._structure(*([sign] if sign else []))
        settings = ", ".join(f"{setting} = {value}" for setting, value in SETTINGS.items())
        self.engine.command(
            f"create table {table} ({structure}) engine = {engine} partition by {self.partition} "
            f"order by ({', '.join(self.shape.order_by)}) settings {settings}"
        )
        for part in range(PARTITIONS):
            self.engine.command(
                f"insert into {table} "
                f"select {self.shape.key_sql}, {self.shape.payload_sql(0)}, 1{one} "
                f"from numbers({self.rows}) where {self.partition} = {part}"
            )
        self.engine.command(f"optimize table {table} final")

    def change(self, shape: Shape, changes: int, apply: int = 1) -> None:
        """Switch to other changes, of a shape with the same table.

        Applies are numbered from 1. Each changes other scattered rows, to other values, at a version above the last.
        """
        self.shape, self.changes = shape, changes
        self.file = self.engine.folder / f"{shape.name}_{self.rows}_{changes}_{apply}.parquet"
        step = self.rows // changes
        number = {
            "spread": f"number * {step}",
            "scattered": f"number * {step} + cityHash64(number + {(apply - 1) * changes}) % {step}",
            "recent": f"number + {self.rows - changes}",
        }[shape.changed]
        self.engine.command(
            f"insert into function file('{self.file}', 'Parquet', '{self._structure()}') "
            f"select {shape.key_sql}, {shape.payload_sql(10 * apply)}, {apply + 1} "
            f"from (select {number} as number from numbers({changes})) "
            "settings engine_file_truncate_on_insert = 1"
        )
        self._add_models()

    @property
    def source(self) -> str:
        return f"file('{self.file}', 'Parquet', '{self._structure()}')"

    @property
    def _layout(self) -> dict[str, Any]:
        return {
            "unique_key": list(self.shape.key),
            "order_by": list(self.shape.order_by),
            "partition_by": self.partition,
            "settings": SETTINGS,
        }

    def _add_models(self) -> None:
        self.add_model("atomic", "versioned_collapsing")
        self.add_model("journal", "versioned_collapsing", publish="journal")
        keys = list(self.shape.key)
        incremental = {"engine": "MergeTree()", "unique_key": keys if len(keys) > 1 else keys[0]}
        self.add_model("default", "incremental", **incremental)
        incremental["incremental_strategy"] = "delete_insert"
        self.add_model("delete_insert", "incremental", **incremental)

    def add_model(self, name: str, materialized: str, **config: Any) -> None:
        """Add a model of the changes to the project."""
        sql = f"select {self.columns} from {self.source}"
        self.add_model_of(sql, name, {"materialized": materialized, **config})

    def add_model_of(self, sql: str, name: str, config: Mapping[str, Any]) -> None:
        """Add a model of the changes that a query selects."""
        self.engine.add_model(name, {**self._layout, **config}, sql)

    def plain(self) -> float:
        """The floor: the new states, only inserted."""
        self.engine.clone("base_collapsing", "plain")
        return self.engine.seconds(
            f"insert into plain ({self.columns}, _sign) select {self.columns}, 1 from {self.source}"
        )

    def published(self) -> float:
        """The published technique: a Null table, and a materialized view that looks up old rows with FINAL."""
        self.engine.clone("base_collapsing", "published")
        names = [*self.shape.key, *self.shape.payload, "_version"]
        choice = ", ".join(f"if(row_sign = -1, old.{name}, new.{name}) as {name}" for name in names)
        self.engine.command("drop view if exists published_mv")
        self.engine.command(f"create or replace table published_null ({self._structure()}) engine = Null")
        self.engine.command(
            f"create materialized view published_mv to published as "
            f"with new as (select * from published_null order by {self.key}, _version desc limit 1 by {self.key}), "
            f"old as (select * from published final prewhere ({self.key}) in (select {self.key} from new) where _sign = 1) "
            f"select {choice}, row_sign as _sign from new left join old using ({self.key}) "
            "array join [toInt8(-1), toInt8(1)] as row_sign "
            "where if(row_sign = -1, old._sign = 1 and new._version > old._version, "
            "old._sign = 0 or new._version > old._version) settings join_use_nulls = 0"
        )
        seconds = self.engine.seconds(
            f"insert into published_null select {self.columns} from {self.source} "
            f"settings min_insert_block_size_rows = {self.changes}, min_insert_block_size_bytes = 0"
        )
        self.engine.command("drop view published_mv")
        return seconds

    def adopt(self, model: str, base: str = "base_collapsing") -> None:
        """Make the table of a collapsing model a clone of the base, or of another table."""
        self.engine.clone(base, model)
        self.engine.dbt("run-operation", "adopt_table", "--args", f"{{model: {model}}}")

    def collapsing(self, model: str) -> float:
        """The materialization: every ClickHouse statement of `dbt run`."""
        self.adopt(model)
        return self.engine.dbt("run", "--select", model)

    def peak_memory(self, model: str) -> float:
        """The peak memory of `dbt run` in MiB, beyond that of the idle process."""
        self.adopt(model)
        return self.engine.peak_memory("run", "--select", model)

    def incremental(self, model: str) -> float:
        """A strategy of dbt-clickhouse: every ClickHouse statement of `dbt run`."""
        self.engine.clone("base_merge", model)
        return self.engine.dbt("run", "--select", model)

    def replacing(self) -> float:
        """ReplacingMergeTree: the new states are only inserted; readers pay, with FINAL."""
        self.engine.clone("base_replacing", "replacing")
        return self.engine.seconds(f"insert into replacing select {self.columns} from {self.source}")

    def measure(self, trials: int, slow_trials: int) -> dict[str, Figures]:
        """All ways, interleaved; the slow ones have only ``slow_trials`` trials."""
        arms = [
            Arm("plain insert", self.plain),
            Arm("published technique", self.published),
            Arm("versioned_collapsing, atomic", lambda: self.collapsing("atomic")),
            Arm("versioned_collapsing, journal", lambda: self.collapsing("journal")),
            Arm("ReplacingMergeTree insert", self.replacing),
            Arm("dbt-clickhouse delete_insert", lambda: self.incremental("delete_insert"), slow_trials),
            Arm("dbt-clickhouse default", lambda: self.incremental("default"), slow_trials),
        ]
        figures = interleaved(arms, trials)
        self._check()
        return figures

    def _check(self) -> None:
        """All ways ended with the same rows."""
        total = "sum(metric1 * {}), sum({})"
        signed, plain = total.format("_sign", "_sign"), total.format("1", "1")
        found = {
            "published": self.engine.query(f"select {signed} from published"),
            "atomic": self.engine.query(f"select {signed} from atomic"),
            "journal": self.engine.query(f"select {signed} from journal"),
            "replacing": self.engine.query(f"select {plain} from replacing final"),
            "delete_insert": self.engine.query(f"select {plain} from delete_insert"),
            "default": self.engine.query(f"select {plain} from {SCHEMA}.default"),
        }
        if len({str(rows) for rows in found.values()}) != 1:
            raise RuntimeError(f"the ways differ: {found}")
