"""Which Spark tables ClickHouse nodes read, where their files are, and when they are checked.

How they are checked, see ``receipt``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import upstream
from dbt.adapters.spark_clickhouse.files import (
    FORMATS,
    PARQUET,
    Files,
    LocalFiles,
    S3Files,
    is_s3,
)
from dbt.adapters.spark_clickhouse.receipt import (
    Receipt,
    figures_sql,
    receipt_of,
    require_no_nested_nulls,
    require_same_figures,
    require_same_files,
    table_function,
)
from dbt.adapters.spark_clickhouse.relation import HandOffRelation, engine_of_relation
from dbt.adapters.spark_clickhouse.routing import CLICKHOUSE, SPARK, Engine

if TYPE_CHECKING:
    from dbt.adapters.spark_clickhouse.router import Router

logger = AdapterLogger("spark_clickhouse")

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class HandOffs:
    """Hand-offs of one project.

    ``warehouse`` is Spark's warehouse, a folder or a URL; ``s3_endpoint`` the URL of an S3 store
    other than Amazon's.
    """

    def __init__(self, router: Router, warehouse: str, s3_endpoint: str) -> None:
        self._router = router
        self._warehouse = warehouse
        self._s3_endpoint = s3_endpoint
        self._verified: dict[str, Receipt] = {}
        self._referenced: dict[int, Any] = {}
        self._refreshing = threading.Lock()

    def relation(self, node: Any, own: BaseRelation, **kwargs: Any) -> HandOffRelation:
        """The Spark relation ``own`` of ``node``, as ClickHouse reads it.

        Raises:
            DbtRuntimeError: ClickHouse cannot read it, and what to change.
        """
        _require_readable(node, own)
        files = self._files(own, node)
        self._referenced[id(node)] = node
        is_connected = self._router.connections.get_if_exists() is not None
        if node.resource_type == "source" and is_connected and files.exist():
            self._refresh_receipt(own, files)
        receipt = Receipt.load(files) if is_connected or isinstance(files, LocalFiles) else None
        return HandOffRelation(
            path=own.path,
            table_function=table_function(files, receipt),
            **upstream.reference_options(kwargs),
        )

    def by_location(self, relation: BaseRelation, node: Any = None) -> HandOffRelation:
        """A Spark relation, of which the node may not be known, as ClickHouse reads it.

        Raises:
            DbtRuntimeError: there is nothing to read.
        """
        files = self._files(relation, node)
        receipt = Receipt.load(files)
        if not files.sizes():
            require_same_files(str(relation), _model(relation, node), files, receipt)
        return HandOffRelation(path=relation.path, table_function=table_function(files, receipt))

    def record(self, relation: BaseRelation) -> None:
        """Lay a receipt beside the files of a Spark table that the node at work has built, if
        ClickHouse nodes read the node."""
        node = self._router.at_work.node
        if engine_of_relation(relation) == SPARK and self._is_handed_off(node):
            self._write_receipt(relation, self._files(relation, node))

    def verify_parents(self, node: Any) -> None:
        """Check the Spark tables that the ClickHouse node ``node`` reads.

        Raises:
            DbtRuntimeError: a table is not what Spark wrote, or not as ClickHouse reads it.
        """
        for parent in map(self._as_referenced, self._spark_parents(node)):
            own = self._router.Relation.create_from(self._router.config, parent)
            files = self._files(own, parent)
            if parent.resource_type == "source":
                self._refresh_receipt(own, files)
            self._verify(own, files, parent)

    def verified(self, own: BaseRelation, file_format: str | None) -> HandOffRelation:
        """A Spark relation, of which no node may be known, checked, as ClickHouse reads it."""
        node = self._router.spark_node(own)
        files = self._files(own, node, file_format)
        receipt = self._verify(own, files, node)
        return HandOffRelation(path=own.path, table_function=table_function(files, receipt))

    def _verify(self, own: BaseRelation, files: Files, node: Any) -> Receipt:
        name, model = str(own), _model(own, node)
        receipt = require_same_files(name, model, files, Receipt.load(files))
        require_no_nested_nulls(name, receipt)
        if self._verified.get(files.location) != receipt:
            columns = [(column.name, column.spark_type) for column in receipt.columns]
            read = self._figures(CLICKHOUSE, columns, table_function(files, receipt))
            require_same_figures(name, model, receipt, receipt_of(columns, read, receipt.files))
            self._verified[files.location] = receipt
        return receipt

    def forget_lost(self, node: Any) -> None:
        """Drop the table of a Spark node whose files are gone, so that it is built anew.

        Spark reads it as one without rows: what is built on that would lack them in silence.

        Raises:
            DbtRuntimeError: the node is incremental, and compiled to add to what there was.
        """
        own = self._router.Relation.create_from(self._router.config, node)
        if lost := self._lost(own, node):
            logger.warning(f"The files of {own} are gone: it is built anew")
            self._router.call_named_engine(SPARK, "drop_relation", lost)
            if node.config.materialized == "incremental":
                raise DbtRuntimeError(
                    f"The files of the Spark table {own} were gone, and the table has been "
                    f"dropped. Build it from its first row on: dbt build --select {node.name}"
                )

    def require_parents(self, node: Any) -> None:
        """Check that the tables are there that a Spark node reads, through views too.

        Raises:
            DbtRuntimeError: the metastore knows a table, and its files are gone.
        """
        for parent in self._spark_parents(node):
            if parent.resource_type == "source":
                continue
            own = self._router.Relation.create_from(self._router.config, parent)
            if parent.config.materialized == "view":
                self.require_parents(parent)
            elif self._lost(own, parent):
                raise DbtRuntimeError(
                    f"The files of the Spark table {own} are gone; Spark would read no rows. "
                    f"Build it again: dbt build --select {parent.name}"
                )

    def _lost(self, own: BaseRelation, node: Any) -> BaseRelation | None:
        """The table of a Spark node if the metastore knows it, its place is in the embedded
        stores, and it has no folder."""
        if getattr(node, "is_ephemeral_model", False) or _location_root(node):
            return None
        files = self._files(own, node)
        if (
            not isinstance(files, LocalFiles)
            or files.exist()
            or not files.folder.is_relative_to(self._router.home)
        ):
            return None
        found = self._router.get_relation(SPARK, own.schema, own.identifier)
        return found if found is not None and found.is_table else None

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

    def _files(
        self, relation: BaseRelation, node: Any = None, file_format: str | None = None
    ) -> Files:
        location, file_format = self._location(relation, node), file_format or _file_format(node)
        if is_s3(location):
            return S3Files(location, file_format, self._s3_endpoint, self._query)
        return LocalFiles(location, file_format)

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of ``sql`` on ClickHouse."""
        _, table = self._router.call_named_engine(CLICKHOUSE, "execute", sql, fetch=True)
        return [tuple(row.values()) for row in table.rows]

    def _location(self, relation: BaseRelation, node: Any = None) -> str:
        schema, table = str(relation.schema).lower(), str(relation.identifier)
        external = getattr(node, "external", None)
        if external and external.location:
            return _below(str(self._router.project_root), str(external.location))
        # Spark keeps the schema `default` in the warehouse itself.
        folder = self._warehouse if schema == "default" else f"{self._warehouse}/{schema}.db"
        if root := _location_root(node):
            return f"{_below(folder, root)}/{table}"
        return f"{folder}/{table.lower()}"

    def _refresh_receipt(self, own: BaseRelation, files: Files) -> None:
        """Lay a receipt beside the files of a source, which others write, if they have changed."""
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
                "of files, mend its `location`."
            )
        source = relation.render()  # whole, also when dbt wants a sample
        # A column's type by a connection's own name for it is not always Spark's: BIGINT_TYPE.
        sql = f"describe query select * from {source}"
        _, described = self._router.call_named_engine(SPARK, "execute", sql, fetch=True)
        columns = [(row["col_name"], row["data_type"]) for row in described.rows]
        figures = self._figures(SPARK, columns, source)
        receipt_of(columns, figures, files.sizes()).save(files)

    def _figures(
        self, engine: Engine, columns: list[tuple[str, str]], source: str
    ) -> list[list[Any]]:
        figures = []
        for sql in figures_sql(columns, source, engine):
            _, table = self._router.call_named_engine(engine, "execute", sql, fetch=True)
            figures.append(list(table.rows[0].values()))
        return figures


def _model(own: BaseRelation, node: Any) -> str | None:
    """What builds a table; None for a source."""
    is_source = getattr(node, "resource_type", None) == "source"
    return None if is_source else getattr(node, "name", own.identifier)


def _location_root(node: Any) -> str:
    """Where the node's config has Spark put its table; empty for the warehouse, and for sources."""
    return "" if node is None else str(node.config.get("location_root") or "")


def _below(folder: str, location: str) -> str:
    """``location``, below ``folder`` when it is relative."""
    return location if _URI.match(location) else str(Path(folder, location))


def _file_format(node: Any) -> str:
    """The format of the node's files; Parquet where nothing says it."""
    external = getattr(node, "external", None)
    configured = getattr(node, "config", None)
    named = external.file_format if external else configured and configured.get("file_format")
    return str(named or PARQUET).lower()


def _obstacle(node: Any) -> str | None:
    """Why ClickHouse cannot read the Spark node, and what to do; None when it can."""
    external = getattr(node, "external", None)
    location = external.location if external else _location_root(node)
    file_format = _file_format(node)
    if location and _URI.match(location) and not is_s3(location):
        return f"it is at {location}, and only folders of this machine and s3:// can be"
    if node.resource_type == "source" and file_format not in FORMATS:
        return (
            f"it is a folder of {file_format} files: read it in a Spark model, and that model on "
            "ClickHouse"
        )
    if node.resource_type != "source" and node.config.materialized == "view":
        return "it is a view of Spark's, which has no files: materialize it as a table"
    if file_format not in FORMATS:
        return f"its file format is {file_format}: set `file_format` to {' or '.join(FORMATS)}"
    return None


def _require_readable(node: Any, own: BaseRelation) -> None:
    if obstacle := _obstacle(node):
        raise DbtRuntimeError(f"ClickHouse cannot read {own}, which Spark owns: {obstacle}.")
