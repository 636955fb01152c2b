"""The hand-off: ClickHouse nodes read Spark tables from the files that Spark wrote.

See ``receipt`` for how it is checked.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.receipt import (
    Receipt,
    data_files,
    figures_sql,
    receipt_of,
    require_no_nested_nulls,
    require_same_figures,
    require_same_files,
    table_function,
)
from dbt.adapters.spark_clickhouse.relation import HandOffRelation, engine_of_relation
from dbt.adapters.spark_clickhouse.routing import CLICKHOUSE, SPARK, Engine, current_node

if TYPE_CHECKING:
    from dbt.adapters.spark_clickhouse.adapter import SparkClickHouseAdapter

logger = AdapterLogger("spark_clickhouse")

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class HandOffs:
    """Hand-offs of one project. ``warehouse`` is Spark's warehouse folder."""

    def __init__(self, router: SparkClickHouseAdapter, warehouse: Path) -> None:
        self._router = router
        self._warehouse = warehouse
        self._verified: dict[Path, Receipt] = {}
        self._referenced: dict[int, Any] = {}
        self._refreshing = threading.Lock()

    def relation(self, node: Any, own: BaseRelation, **kwargs: Any) -> HandOffRelation:
        """The Spark relation ``own`` of ``node``, as ClickHouse reads it.

        Raises:
            DbtRuntimeError: ClickHouse cannot read it, and what to change.
        """
        _require_parquet_table(node, own)
        location = self._location(own, node)
        self._referenced[id(node)] = node
        is_connected = self._router.connections.get_if_exists() is not None
        if node.resource_type == "source" and location.is_dir() and is_connected:
            self._refresh_receipt(own, location)
        references = {k: kwargs[k] for k in ("limit", "event_time_filter") if k in kwargs}
        return HandOffRelation(
            path=own.path,
            table_function=table_function(location, Receipt.load(location)),
            **references,
        )

    def by_location(self, relation: BaseRelation, node: Any = None) -> HandOffRelation:
        """A Spark relation, of which the node may not be known, as ClickHouse reads it.

        Raises:
            DbtRuntimeError: there is nothing to read.
        """
        location = self._location(relation, node)
        receipt = Receipt.load(location)
        if not data_files(location):
            model = getattr(node, "name", relation.identifier)
            require_same_files(str(relation), model, location, receipt)
        return HandOffRelation(path=relation.path, table_function=table_function(location, receipt))

    def record(self, relation: BaseRelation) -> None:
        """Lay a receipt beside the files of a Spark table that the node at work has built, if
        ClickHouse nodes read the node."""
        node = current_node()
        if engine_of_relation(relation) == SPARK and self._is_handed_off(node):
            self._write_receipt(relation, self._location(relation, node))

    def verify_parents(self, node: Any) -> None:
        """Check the Spark tables that the ClickHouse node ``node`` reads.

        Raises:
            DbtRuntimeError: a table is not what Spark wrote, or not as ClickHouse reads it.
        """
        for parent in map(self._as_referenced, self._spark_parents(node)):
            own = self._router.Relation.create_from(self._router.config, parent)
            location = self._location(own, parent)
            if parent.resource_type == "source":
                self._refresh_receipt(own, location)
            self._verify(own, location, parent)

    def verified(self, own: BaseRelation) -> HandOffRelation:
        """A Spark relation, of which no node may be known, checked, as ClickHouse reads it."""
        node = self._router.spark_node(own)
        self._verify(own, self._location(own, node), node)
        return self.by_location(own, node)

    def _verify(self, own: BaseRelation, location: Path, node: Any) -> None:
        name, model = str(own), getattr(node, "name", own.identifier)
        receipt = require_same_files(name, model, location, Receipt.load(location))
        require_no_nested_nulls(name, receipt)
        if self._verified.get(location) != receipt:
            columns = [(column.name, column.spark_type) for column in receipt.columns]
            read = self._figures(CLICKHOUSE, columns, table_function(location, receipt))
            require_same_figures(name, model, receipt, receipt_of(columns, read, receipt.files))
            self._verified[location] = receipt

    def clear_remains(self, node: Any) -> None:
        """Remove the folder that a killed run left for a table that Spark does not know.

        Spark refuses to create a managed table where a folder is.
        """
        if node.resource_type != "model" or _location_root(node):
            return
        own = self._router.Relation.create_from(self._router.config, node)
        location = self._location(own)
        if (
            location.is_dir()
            and location.is_relative_to(self._router.home)
            and self._router.get_relation(SPARK, own.schema, own.identifier) is None
        ):
            logger.warning(f"Removing what an unfinished run left of {own}")
            shutil.rmtree(location)

    def _spark_parents(self, node: Any) -> Iterable[Any]:
        nodes = self._router.nodes
        for parent_id in getattr(getattr(node, "depends_on", None), "nodes", []):
            parent = nodes.get(parent_id)
            if parent is None:
                continue
            if getattr(parent, "is_ephemeral_model", False):
                yield from self._spark_parents(parent)
            elif parent.resource_type != "function" and self._router.engine_of(parent) == SPARK:
                yield parent

    def _as_referenced(self, node: Any) -> Any:
        """``node``, or the table of another environment that `ref` gave for it (`--defer`)."""
        deferred = getattr(node, "defer_relation", None)
        return deferred if id(deferred) in self._referenced else node

    def _is_handed_off(self, node: Any) -> bool:
        """Whether ClickHouse nodes read ``node``, and can."""
        return (
            node is not None
            and _obstacle(node) is None
            and any(
                parent.unique_id == node.unique_id
                for child in self._router.nodes.values()
                if child.resource_type != "source"
                if not getattr(child, "is_ephemeral_model", False)
                if self._router.engine_of(child) == CLICKHOUSE
                for parent in self._spark_parents(child)
            )
        )

    def _location(self, relation: BaseRelation, node: Any = None) -> Path:
        schema, table = str(relation.schema).lower(), str(relation.identifier)
        external = getattr(node, "external", None)
        if external and external.location:
            return self._router.project_root / str(external.location)
        # Spark keeps the schema `default` in the warehouse itself.
        folder = self._warehouse if schema == "default" else self._warehouse / f"{schema}.db"
        if root := _location_root(node):
            return folder / root / table
        return folder / table.lower()

    def _refresh_receipt(self, own: BaseRelation, location: Path) -> None:
        """Lay a receipt beside the files of a source, which others write, if they have changed."""
        with self._refreshing:
            receipt = Receipt.load(location)
            if receipt is None or receipt.files != data_files(location):
                self._write_receipt(own, location)

    def _write_receipt(self, relation: BaseRelation, location: Path) -> None:
        if not location.is_dir():
            raise DbtRuntimeError(
                f"ClickHouse cannot read {relation}, which Spark owns: there is no folder "
                f"{location}. If it is a table, set `warehouse` in the profile's `spark` block to "
                "the folder of Spark's managed tables (spark.sql.warehouse.dir); if it is a source "
                "of files, mend its `location`."
            )
        source = relation.render()  # whole, also when dbt wants a sample
        columns = [
            (column.name, column.dtype)
            for column in self._router.call_named_engine(
                SPARK, "get_column_schema_from_query", f"select * from {source}"
            )
        ]
        figures = self._figures(SPARK, columns, source)
        receipt_of(columns, figures, data_files(location)).save(location)

    def _figures(self, engine: Engine, columns: list[tuple[str, str]], source: str) -> list[Any]:
        sql = figures_sql(columns, source, engine)
        _, table = self._router.call_named_engine(engine, "execute", sql, fetch=True)
        return list(table.rows[0].values())


def _location_root(node: Any) -> str:
    """Where the node's config has Spark put its table; empty for the warehouse, and for sources."""
    return "" if node is None else str(node.config.get("location_root") or "")


def _obstacle(node: Any) -> str | None:
    """Why ClickHouse cannot read the Spark node, and what to do; None when it can."""
    external = getattr(node, "external", None)
    location = external.location if external else _location_root(node)
    if location and _URI.match(location):
        return f"it is at {location}, and only folders of this machine, without a scheme, can be"
    if node.resource_type == "source":
        if external and external.location and external.file_format not in (None, "parquet"):
            return (
                f"it is a folder of {external.file_format} files: read it in a Spark model, and "
                "that model on ClickHouse"
            )
        return None
    config = node.config
    if config.materialized == "view":
        return "it is a view of Spark's, which has no files: materialize it as a table"
    if config.get("file_format") not in (None, "parquet"):
        return f"its file format is {config.get('file_format')}: set `file_format: parquet`"
    if config.get("partition_by"):
        return "it is partitioned, and partition columns are not in the files: drop `partition_by`"
    return None


def _require_parquet_table(node: Any, own: BaseRelation) -> None:
    if obstacle := _obstacle(node):
        raise DbtRuntimeError(f"ClickHouse cannot read {own}, which Spark owns: {obstacle}.")
