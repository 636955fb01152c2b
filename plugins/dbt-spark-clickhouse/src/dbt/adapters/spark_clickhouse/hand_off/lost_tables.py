"""Tables of the embedded Spark that are in its metastore but whose files are gone, or that were emptied by a run that
did not fill them again.

Spark reads such a table as empty: whatever is built on it would silently lack its rows.
"""

from __future__ import annotations

from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.project import Project
from dbt.adapters.spark_clickhouse.core.routing import SPARK
from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.places import SparkFiles, location_root
from dbt.adapters.spark_clickhouse.spark.undo import Undo

logger = AdapterLogger("spark_clickhouse")

_READERS_OF_LINES = (".quarantined_lines", ".test_no_unknown_fields")


class LostTables:
    """The lost tables of one project."""

    def __init__(self, project: Project, spark_files: SparkFiles) -> None:
        self._project = project
        self._files = spark_files

    def drop(self, node: Any) -> None:
        """Drop the table of a Spark node if its files are gone, so that it is rebuilt.

        Raises:
            DbtRuntimeError: the node is incremental, and was compiled to add to the lost rows.
        """
        own = self._project.Relation.create_from(self._project.config, node)
        if lost := self._lost(own, node):
            logger.warning(f"The files of {own} no longer exist. The table is built again")
            self._project.call_named_engine(SPARK, "drop_relation", lost)
            if node.config.materialized == "incremental":
                raise DbtRuntimeError(
                    f"The files of the Spark table {own} no longer existed, and the table was "
                    f"dropped. Build it from the first row: dbt build --select {node.name}"
                )

    def require_parents(self, node: Any) -> None:
        """Check that the tables that a Spark node reads, directly or through views, still have their rows.

        Raises:
            DbtRuntimeError: a table is in the metastore, but its files are gone, or a run has emptied it and did not
                fill it again.
        """
        if self._project.engines[SPARK].is_embedded and Undo(self._project.home).has_kept():
            self._project.call_named_engine(SPARK, "connect")  # puts back what a killed run was replacing
        for parent in self._project.spark_parents(node):
            if parent.resource_type == "source":
                continue
            own = self._project.Relation.create_from(self._project.config, parent)
            if parent.config.materialized == "view":
                self.require_parents(parent)
                continue
            if self._lost(own, parent):
                problem = f"The files of the Spark table {own} no longer exist."
            elif self._is_emptied(own, parent) and not _looks_itself(node):
                problem = f"A run has emptied the Spark table {own} and did not fill it again."
            else:
                continue
            raise DbtRuntimeError(
                f"{problem} Spark would read no rows. Build it again: dbt build --select {parent.name}"
            )

    def _is_emptied(self, own: BaseRelation, node: Any) -> bool:
        if getattr(node, "is_ephemeral_model", False) or not self._project.engines[SPARK].is_embedded:
            return False
        files = self._files.of(own, node)
        return isinstance(files, LocalFiles) and files.are_emptied()

    def _lost(self, own: BaseRelation, node: Any) -> BaseRelation | None:
        """The table of a Spark node, if it is in the metastore, its place is in the embedded stores, and its folder is
        missing."""
        if getattr(node, "is_ephemeral_model", False) or location_root(node):
            return None
        files = self._files.of(own, node)
        if not isinstance(files, LocalFiles) or files.exist() or not files.folder.is_relative_to(self._project.home):
            return None
        found = self._project.get_relation(SPARK, own.schema, own.identifier)
        return found if found is not None and found.is_table else None


def _looks_itself(node: Any) -> bool:
    """Whether a node reads the lines that a change set has parsed, or else parses them itself."""
    used = getattr(getattr(node, "depends_on", None), "macros", [])
    return any(macro.endswith(_READERS_OF_LINES) for macro in used)
