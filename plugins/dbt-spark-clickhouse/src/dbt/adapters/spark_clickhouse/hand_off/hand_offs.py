"""Which Spark tables ClickHouse nodes read, and when they are checked.

The checks themselves are in ``receipt``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.project import Project
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.core.types import without_collations
from dbt.adapters.spark_clickhouse.hand_off.files import Files, LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.places import SparkFiles, obstacle, require_readable
from dbt.adapters.spark_clickhouse.hand_off.reading import reading_sql, stored_types
from dbt.adapters.spark_clickhouse.hand_off.receipt import (
    Receipt,
    counts_sql,
    nested_columns,
    require_no_nested_nulls,
    require_same_files,
    require_same_rows,
)
from dbt.adapters.spark_clickhouse.hand_off.relation import HandOffRelation, engine_of_relation

logger = AdapterLogger("spark_clickhouse")


class HandOffs:
    """The hand-offs of one project."""

    def __init__(self, project: Project, spark_files: SparkFiles) -> None:
        self._project = project
        self._files = spark_files
        self._verified: dict[str, Receipt] = {}
        # By location: the text by which to recognise statements that read it, and the check.
        self._read: dict[str, tuple[str, Callable[[], object]]] = {}
        self._referenced: set[tuple[str, str]] = set()
        self._refreshing = threading.Lock()
        self._delivering = threading.Lock()

    def relation(self, node: Any, own: BaseRelation, **kwargs: Any) -> HandOffRelation:
        """The Spark relation ``own`` of ``node``, as ClickHouse reads it.

        Raises:
            DbtRuntimeError: ClickHouse cannot read it; the message says what to change.
        """
        require_readable(node, own)
        files = self._files.of(own, node)
        self._referenced.add((node.schema, node.identifier))
        is_connected = self._project.connections.get_if_exists() is not None
        if node.resource_type == "source" and is_connected and files.exist():
            self._refresh_receipt(own, files)
        receipt = Receipt.load(files) if is_connected or isinstance(files, LocalFiles) else None
        if receipt and is_connected and private_api.may_introspect(self._project.config):
            self._deliver(files, receipt)  # the node may read it while it compiles
        return HandOffRelation(
            path=own.path, reading=reading_sql(files, receipt), **private_api.reference_options(kwargs)
        )

    def by_location(self, relation: BaseRelation, node: Any = None) -> HandOffRelation:
        """A Spark relation, possibly without a known node, as ClickHouse reads it.

        Raises:
            DbtRuntimeError: there is nothing to read.
        """
        files = self._files.of(relation, node)
        receipt = Receipt.load(files)
        if not files.sizes():
            require_same_files(str(relation), _model(relation, node), files, receipt)
        if receipt:
            self._deliver(files, receipt)
        return HandOffRelation(path=relation.path, reading=reading_sql(files, receipt))

    def record(self, relation: BaseRelation) -> None:
        """If ClickHouse nodes read the node at work, write a receipt next to the files of the Spark table that it has
        built."""
        node = self._project.context.node
        if engine_of_relation(relation) == SPARK and self._is_handed_off(node):
            self._write_receipt(relation, self._files.of(relation, node))

    def verify_parents(self, node: Any) -> None:
        """Check the Spark tables that the ClickHouse node ``node`` reads.

        Raises:
                DbtRuntimeError: a table is not what Spark wrote, or ClickHouse reads it differently.
        """
        for parent in map(self._as_referenced, self._project.spark_parents(node)):
            own = self._project.Relation.create_from(self._project.config, parent)
            files = self._files.of(own, parent)
            if parent.resource_type == "source":
                self._refresh_receipt(own, files)
            else:
                spark: Any = self._project.engines[SPARK]
                spark.hold_schema(parent.schema)
            self._verify(own, files, parent)

    def verified(self, own: BaseRelation, file_format: str | None) -> HandOffRelation:
        """A Spark relation, possibly without a known node, checked, as ClickHouse reads it."""
        node = self._project.spark_node(own)
        files = self._files.of(own, node, file_format)
        receipt = self._verify(own, files, node)
        return HandOffRelation(path=own.path, reading=reading_sql(files, receipt))

    def received(self, own: BaseRelation) -> HandOffRelation:
        """A Spark table without a node, in Parquet, that was just made, as ClickHouse reads it."""
        self._write_receipt(own, self._files.of(own))
        return self.verified(own, None)

    def replace_rows(self, own: BaseRelation, columns: dict[str, str], rows: list[dict[str, Any]]) -> bool:
        """Replace the rows of a Spark table without a node, if it has one file, and a receipt with the same columns.
        Return whether it is done."""
        files = self._files.of(own)
        receipt = Receipt.load(files) if isinstance(files, LocalFiles) else None
        # The receipt of a lake table lists its log too.
        if receipt is None or (receipt.columns, receipt.files) != (columns, files.sizes()):
            return False
        self._read.pop(files.location, None)
        try:
            is_replaced = files.replace_rows(columns, rows)
        finally:  # Spark would look for the file that was there
            name = own.quote(schema=True, identifier=True)
            self._project.call_named_engine(SPARK, "execute", f"refresh table {name}")
        if is_replaced:
            Receipt(len(rows), columns, {}, files.sizes()).save(files)
        return is_replaced

    def empty(self, own: BaseRelation) -> bool:
        """Delete the files of a Spark table below the home, possibly without a known node. Its receipt stays, and no
        longer matches. Return whether it is done."""
        files = self._files.of(own, self._project.spark_node(own))
        # Elsewhere, a run that dies while it fills the table leaves a part of the rows.
        if not isinstance(files, LocalFiles) or not files.folder.resolve().is_relative_to(self._project.home.resolve()):
            return False
        self._read.pop(files.location, None)
        return files.empty()

    def is_emptied(self, own: BaseRelation) -> bool:
        """Whether a Spark table, possibly without a known node, was emptied and not filled since."""
        files = self._files.of(own, self._project.spark_node(own))
        return isinstance(files, LocalFiles) and files.are_emptied()

    def rows(self, own: BaseRelation) -> int | None:
        """The number of rows of a Spark table, possibly without a known node; None if it takes a query."""
        return self._files.of(own, self._project.spark_node(own)).rows()

    def discard(self, own: BaseRelation) -> None:
        """Drop the copy of a Spark table that ClickHouse was sent, if there is one."""
        files = self._files.of(own, self._project.spark_node(own))
        self._read.pop(files.location, None)
        self._verified.pop(files.location, None)
        files.discard()

    def is_whole(self, own: BaseRelation, file_format: str | None) -> bool:
        """Whether a Spark relation, possibly without a known node, has exactly the files of its receipt."""
        files = self._files.of(own, self._project.spark_node(own), file_format)
        receipt = Receipt.load(files)
        return receipt is not None and receipt.files == files.sizes()

    def require_unchanged(self, sql: str) -> None:
        """After a statement on ClickHouse, check that the Spark tables it read are still those that were checked before
        it: another run may have rebuilt them meanwhile.

        Raises:
            DbtRuntimeError: a table has changed.
        """
        for reading, check in list(self._read.values()):
            if reading in sql:
                check()

    def _verify(self, own: BaseRelation, files: Files, node: Any) -> Receipt:
        name, model = str(own), _model(own, node)
        receipt = require_same_files(name, model, files, Receipt.load(files))
        require_no_nested_nulls(name, receipt)
        if self._verified.get(files.location) != receipt:
            self._read.pop(files.location, None)  # of the table that was there before
            self._deliver(files, receipt)
            (read,) = self._row(CLICKHOUSE, f"select count() from {reading_sql(files, receipt)}")
            require_same_rows(name, model, receipt.rows, read)
            self._verified[files.location] = receipt
            if files.are_read_in_place:
                check = partial(require_same_files, name, model, files, receipt)
                self._read[files.location] = reading_sql(files, receipt), check
        return receipt

    def _deliver(self, files: Files, receipt: Receipt) -> None:
        with self._delivering:
            files.deliver(stored_types(receipt), receipt.files)

    def _as_referenced(self, node: Any) -> Any:
        """``node``, or the table of another environment that `ref` put in its place (`--defer`)."""
        deferred = getattr(node, "defer_relation", None)
        is_read = deferred and (deferred.schema, deferred.identifier) in self._referenced
        return deferred if is_read else node

    def _is_handed_off(self, node: Any) -> bool:
        """Whether ClickHouse nodes read ``node``, and are able to."""
        return (
            node is not None
            and obstacle(node) is None
            and any(
                parent.unique_id == node.unique_id
                for child in self._project.nodes.values()
                if child.resource_type != "source"
                if not getattr(child, "is_ephemeral_model", False)
                if self._project.engine_of(child) == CLICKHOUSE
                for parent in self._project.spark_parents(child)
            )
        )

    def _refresh_receipt(self, own: BaseRelation, files: Files) -> None:
        """Write a receipt next to the files of a source, which others write, if they have changed."""
        with self._refreshing:
            receipt = Receipt.load(files)
            if receipt is None or receipt.files != files.sizes() or files.are_newer_than_receipt():
                self._write_receipt(own, files)

    def _write_receipt(self, relation: BaseRelation, files: Files) -> None:
        if not files.exist():
            raise DbtRuntimeError(
                f"ClickHouse cannot read {relation}, which Spark owns: there is no folder "
                f"{files}. If it is a table, set `warehouse` in the profile's `spark` block to "
                "the folder of Spark's managed tables (spark.sql.warehouse.dir); if it is a source "
                "of files, correct its `location`."
            )
        self._read.pop(files.location, None)
        source = relation.render()  # the whole table, even if dbt wants a sample
        spark: Any = self._project.engines[SPARK]
        types = self._project.call_named_engine(SPARK, "types_of_columns", source)
        columns = {name: without_collations(spark_type) for name, spark_type in types.items()}
        nested = nested_columns(columns)
        rows = files.rows() if spark.is_embedded and not nested else None
        nulls: list[int] = []
        if rows is None:
            rows, *nulls = self._row(SPARK, counts_sql(columns, source))
        nested_nulls = {name: count for name, count in zip(nested, nulls, strict=True) if count}
        Receipt(rows, columns, nested_nulls, files.sizes()).save(files)

    def _row(self, engine: Engine, sql: str) -> list[int]:
        """The numbers in the only row of a query's result."""
        _, table = self._project.call_named_engine(engine, "execute", sql, fetch=True)
        return [int(number) for number in table.rows[0].values()]


def _model(own: BaseRelation, node: Any) -> str | None:
    """The name of the model that builds a table; None for a source."""
    is_source = getattr(node, "resource_type", None) == "source"
    return None if is_source else getattr(node, "name", own.identifier)
