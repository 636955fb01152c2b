"""Where the files of Spark's tables are, and which of them ClickHouse can read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.credentials import PUSH, SparkClickHouseCredentials
from dbt.adapters.spark_clickhouse.core.project import Project
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE
from dbt.adapters.spark_clickhouse.hand_off.files import FORMATS, PARQUET, Files, LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.push import PushedFiles
from dbt.adapters.spark_clickhouse.hand_off.s3 import S3Files, is_s3

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class SparkFiles:
    """Finds the files of one project's Spark tables.

    ``warehouse`` is Spark's warehouse, a folder or a URL; ``profile`` says how ClickHouse gets the files.
    """

    def __init__(self, project: Project, warehouse: str, profile: SparkClickHouseCredentials) -> None:
        self._project = project
        self._warehouse = warehouse
        self._profile = profile

    def of(self, relation: BaseRelation, node: Any = None, file_format: str | None = None) -> Files:
        """The files of ``relation``, possibly without a known node."""
        location, file_format = self._location(relation, node), file_format or file_format_of(node)
        if is_s3(location):
            return S3Files(location, file_format, self._profile.s3_endpoint, self._query)
        if self._profile.hand_off == PUSH:
            schema = self._profile.schema
            return PushedFiles(location, file_format, schema, self._query, self._insert)
        return LocalFiles(location, file_format)

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of ``sql`` on ClickHouse."""
        _, table = self._project.call_named_engine(CLICKHOUSE, "execute", sql, fetch=True)
        return [tuple(row.values()) for row in table.rows]

    def _insert(self, table: str, parquet: bytes) -> None:
        clickhouse: Any = self._project.engines[CLICKHOUSE]
        with self._project.context.on_engine(CLICKHOUSE):
            clickhouse.insert_parquet(table, parquet)

    def _location(self, relation: BaseRelation, node: Any = None) -> str:
        schema, table = str(relation.schema).lower(), str(relation.identifier)
        external = getattr(node, "external", None)
        if external and external.location:
            return below(str(self._project.project_root), str(external.location))
        # Spark keeps the schema `default` in the warehouse itself.
        folder = self._warehouse if schema == "default" else f"{self._warehouse}/{schema}.db"
        if root := location_root(node):
            return f"{below(folder, root)}/{table}"
        return f"{folder}/{table.lower()}"


def location_root(node: Any) -> str:
    """The location that the node's config gives its table; empty for the warehouse, and for sources."""
    return "" if node is None else str(node.config.get("location_root") or "")


def below(folder: str, location: str) -> str:
    """``location``, resolved against ``folder`` if it is relative."""
    return location if _URI.match(location) else str(Path(folder, location))


def file_format_of(node: Any) -> str:
    """The format of the node's files; Parquet if nothing names one."""
    external = getattr(node, "external", None)
    configured = getattr(node, "config", None)
    named = external.file_format if external else configured and configured.get("file_format")
    return str(named or PARQUET).lower()


def obstacle(node: Any) -> str | None:
    """Why ClickHouse cannot read the Spark node, and what to do; None if it can."""
    external = getattr(node, "external", None)
    location = external.location if external else location_root(node)
    file_format = file_format_of(node)
    if location and _URI.match(location) and not is_s3(location):
        return f"it is at {location}, but only folders of this machine and s3:// can be read"
    if node.resource_type == "source" and file_format not in FORMATS:
        return f"it is a folder of {file_format} files: read it in a Spark model, and that model on ClickHouse"
    if node.resource_type != "source" and node.config.materialized == "view":
        return "it is a view of Spark's, which has no files: materialize it as a table"
    if file_format not in FORMATS:
        return f"its file format is {file_format}: set `file_format` to {' or '.join(FORMATS)}"
    return None


def require_readable(node: Any, own: BaseRelation) -> None:
    """Reject a Spark node that ClickHouse cannot read.

    Raises:
        DbtRuntimeError: there is an obstacle; the message says what to do.
    """
    if found := obstacle(node):
        raise DbtRuntimeError(f"ClickHouse cannot read {own}, which Spark owns: {found}.")
