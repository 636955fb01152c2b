"""What macros can call on this adapter and on neither stock adapter: access to the other engine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.base.relation import BaseRelation

from dbt.adapters.spark_clickhouse.core.response import ResponseWithFacts
from dbt.adapters.spark_clickhouse.core.routing import SPARK, Engine
from dbt.adapters.spark_clickhouse.hand_off.relation import RELATION_CLASSES
from dbt.adapters.spark_clickhouse.landing.batches import batches, local_files, local_folder
from dbt.adapters.spark_clickhouse.landing.blanking import blank_in_folders
from dbt.adapters.spark_clickhouse.landing.watched import LandingZones
from dbt.adapters.spark_clickhouse.router.router import Router
from dbt.adapters.spark_clickhouse.spark.engine import ALL_ROWS, record_for

if TYPE_CHECKING:
    import agate

_listing = threading.Lock()


# Bytes: with more, what Spark saves by generating no code is less than what it loses.
LITTLE_DATA = 8_000_000
_READ_WHAT_IS_NEW = ("change_set", "ephemeral", "seed", "test", "view")


def _reads_what_is_new(node: Any) -> bool:
    """Whether ``node``, on Spark, reads no more than what has landed since the last run."""
    if node.resource_type == "source":
        return bool(node.external and node.external.location)
    return node.resource_type not in ("model", "snapshot") or node.config.materialized in _READ_WHAT_IS_NEW


class MacroMethods(Router):
    """Queries and tables of an engine other than the one at work."""

    @available.parse(lambda *a, **k: None)
    def query_on(self, engine: Engine, sql: str) -> agate.Table:
        """The rows of ``sql`` on ``engine``, whichever engine is at work."""
        _, table = self.call_named_engine(engine, "execute", sql, fetch=True)
        return table

    @available.parse(lambda *a, **k: None)
    def query_if_there(self, sql: str) -> agate.Table | None:
        """The rows of ``sql``, which reads files, on Spark; None if their folder does not exist."""
        try:
            return self.query_on(SPARK, sql)
        except Exception as error:
            if "[PATH_NOT_FOUND]" in str(error):
                return None
            raise

    @available.parse(lambda *a, **k: None)
    def response_with(self, message: str, rows_affected: int | None, facts: dict[str, Any]) -> ResponseWithFacts:
        """A response for ``store_result`` that adds ``facts`` to run_results.json: numbers, texts, and lists of
        them."""
        return ResponseWithFacts(message, "OK", rows_affected, facts=facts)

    @available.parse(lambda *a, **k: None)
    def list_batches(self, location: str, name: str, again: bool = False) -> list[dict[str, Any]] | None:
        """The batches of the landing zone called ``name``, see ``landing.batches``. They are listed once per run,
        unless ``again`` is true. None if only Spark can list the folder, or if it does not exist: Spark may be
        configured to look for it elsewhere."""
        folder = local_folder(location) if self._has_local_files() else None
        if folder is None or not (self.project_root / folder).is_dir():
            return None
        with _listing:
            if again:
                return batches(local_files(self.project_root / folder), name)
            if location not in self.landed:
                self.landed[location] = batches(local_files(self.project_root / folder), name)
            return self.landed[location]

    def is_data_little(self, begin: int) -> bool:
        """Whether all that Spark has to read is less than ``LITTLE_DATA`` bytes that have landed since a time, in
        nanoseconds since 1970. Models that read more than what is new are not asked how much."""
        manifest = self.get_macro_resolver()
        if not hasattr(manifest, "sources"):  # only the macros are known
            return False
        zones = LandingZones.of(manifest, self.project_root)
        return (
            self._has_local_files()
            and not zones.others
            and all(_reads_what_is_new(node) for node in self.nodes.values() if self.engine_of(node) == SPARK)
            and zones.bytes_since(begin) < LITTLE_DATA
        )

    def _has_local_files(self) -> bool:
        """Whether a path without a scheme means the same to Spark as to this process."""
        settings = self.engine_configs[SPARK].credentials.server_side_parameters
        return self.engines[SPARK].is_embedded and "spark.hadoop.fs.defaultFS" not in settings

    @available.parse(lambda *a, **k: "")
    def view_statement(self, schema: str, identifier: str) -> str:
        """The statement that made a view of the embedded Spark; empty if unknown."""
        record = record_for(self.engine_configs[SPARK].credentials)
        return record.view_statement(schema, identifier) if record else ""

    @available.parse(lambda *a, **k: False)
    def has_receipt(self, schema: str, identifier: str, file_format: str | None = None) -> bool:
        """Whether a Spark table that is not a node exists, exactly as Spark wrote it for ClickHouse."""
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        return self.hand_offs.is_whole(own, file_format)

    @available.parse(lambda *a, **k: None)
    def hand_off(self, schema: str, identifier: str, file_format: str | None = None) -> BaseRelation:
        """A Spark table that is not a node, as ClickHouse reads it. It is checked like any other.

        ``file_format`` is what `create table … using` names; None means Parquet.

        Raises:
            DbtRuntimeError: the table is not what Spark wrote, or ClickHouse reads it differently.
        """
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        return self.hand_offs.verified(own, file_format)

    @available.parse(lambda *a, **k: None)
    def received(self, schema: str, identifier: str) -> BaseRelation:
        """A Spark table that a macro has made (Parquet), as ClickHouse reads it."""
        return self.hand_offs.received(RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier))

    @available.parse(lambda *a, **k: False)
    def replace_rows(self, schema: str, identifier: str, columns: dict[str, str], rows: list[dict[str, Any]]) -> bool:
        """Replace the rows of a small Spark table (Parquet) that is not a node, without a job on Spark. False if that
        is not possible, and then nothing has changed.

        Args:
            schema: of the table.
            identifier: its name.
            columns: Spark's types by name: `bigint`, `string` or `boolean`.
            rows: the values by name.
        """
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        return self.engines[SPARK].is_embedded and self.hand_offs.replace_rows(own, columns, rows)

    @available.parse(lambda *a, **k: False)
    def empty_table(self, schema: str, identifier: str) -> bool:
        """Delete the rows of a table of the embedded Spark (Parquet, below its home, without partitions), without a
        statement. The table must be filled again before anything reads it. False if that is not possible, and then
        nothing has changed."""
        if not self.engines[SPARK].is_embedded:
            return False
        self.call_named_engine(SPARK, "connect")  # a Spark that does not start leaves the table as it is
        return self.hand_offs.empty(RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier))

    @available.parse(lambda *a, **k: False)
    def is_emptied(self, schema: str, identifier: str) -> bool:
        """Whether a table of the embedded Spark was emptied and not filled since."""
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        return self.engines[SPARK].is_embedded and self.hand_offs.is_emptied(own)

    @available.parse(lambda *a, **k: None)
    def refill(self, schema: str, identifier: str, sql: str, counts: dict[str, str]) -> dict[str, Any] | None:
        """Fill a table that was emptied with the rows of a query, and count them in the same job.

        Args:
            schema: of the table.
            identifier: its name.
            sql: the query.
            counts: aggregates over the query's columns, by name.

        Returns:
            The aggregates by name; an empty dict if they are not certain. None if the columns are not those of the
            table; then nothing was done.
        """
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        found: dict[str, Any] | None = self.call_named_engine(SPARK, "refill", own, sql, counts)
        # Tasks that ran twice may have counted twice.
        return found if not found or found.pop(ALL_ROWS) == self.hand_offs.rows(own) else {}

    @available.parse(lambda *a, **k: None)
    def purge(self, schema: str, identifier: str) -> None:
        """Drop a Spark table with its files, and the copy of it that ClickHouse was sent."""
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        spark: Any = self.engines[SPARK]
        spark.hold_schema(schema)
        self.query_on(SPARK, f"drop table if exists {own} purge")
        self.hand_offs.discard(own)

    @available.parse(lambda *a, **k: {})
    def blank_lines(self, locations: list[str], lines: list[tuple[str, int, str]]) -> dict[str, list[int]]:
        """Overwrite lines in the files of landing zones with blanks. ``lines`` has the file, as the landing zone's
        models name it, the number, and the MD5 hash of each line. Return the lines that are left, by file."""
        folders = [local_folder(location) for location in locations] if self._has_local_files() else []
        return blank_in_folders([self.project_root / folder for folder in folders if folder], lines)
