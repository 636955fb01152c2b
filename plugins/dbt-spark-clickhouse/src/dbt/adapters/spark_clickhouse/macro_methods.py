"""What macros can call on this adapter and on neither stock adapter: the other engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.base import available
from dbt.adapters.base.relation import BaseRelation

from dbt.adapters.spark_clickhouse.relation import RELATION_CLASSES
from dbt.adapters.spark_clickhouse.router import Router
from dbt.adapters.spark_clickhouse.routing import SPARK, Engine

if TYPE_CHECKING:
    import agate


class MacroMethods(Router):
    """Queries and tables of an engine that is not at work."""

    @available.parse(lambda *a, **k: None)
    def query_on(self, engine: Engine, sql: str) -> agate.Table:
        """The rows of ``sql``, run on ``engine`` whatever engine is at work."""
        _, table = self.call_named_engine(engine, "execute", sql, fetch=True)
        return table

    @available.parse(lambda *a, **k: None)
    def query_if_there(self, sql: str) -> agate.Table | None:
        """The rows of ``sql``, which reads files, on Spark; None when their folder is not there."""
        try:
            return self.query_on(SPARK, sql)
        except Exception as error:
            if "[PATH_NOT_FOUND]" in str(error):
                return None
            raise

    @available.parse(lambda *a, **k: None)
    def hand_off(
        self, schema: str, identifier: str, file_format: str | None = None
    ) -> BaseRelation:
        """A Spark table that is not a node, as ClickHouse reads it; checked like any other.

        ``file_format`` is what `create table … using` names; Parquet if it is None.

        Raises:
            DbtRuntimeError: the table is not what Spark wrote, or not as ClickHouse reads it.
        """
        own = RELATION_CLASSES[SPARK].create(schema=schema, identifier=identifier)
        return self.hand_offs.verified(own, file_format)
