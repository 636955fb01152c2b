"""The catalog of both engines, for the docs site, and the catalogs of catalogs.yml."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.catalogs import DbtCatalogIntegrationNotSupportedError
from dbt.adapters.contracts.relation import RelationConfig
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.spark_clickhouse.core.routing import ENGINES, Engine
from dbt.adapters.spark_clickhouse.hand_off.relation import engine_of_relation, without_engine
from dbt.adapters.spark_clickhouse.router.router import Router

if TYPE_CHECKING:
    import agate


class Catalog(Router):
    """Reads what the engines know about their tables."""

    def get_filtered_catalog(
        self,
        relation_configs: Iterable[RelationConfig],
        used_schemas: frozenset[tuple[str, str]],
        relations: set[BaseRelation] | None = None,
    ) -> tuple[agate.Table, list[Exception]]:
        """One catalog of both engines; the engine takes the place of the database."""
        from dbt_common.clients.agate_helper import merge_tables

        configs = list(relation_configs)
        tables, errors = [], []
        for engine in ENGINES:
            mine = [without_engine(config) for config in configs if self.engine_of(config) == engine]
            wanted = relations and {r for r in relations if engine_of_relation(r) == engine}
            if not mine or (relations is not None and not wanted):
                continue
            schemas = frozenset(("", schema) for database, schema in used_schemas)
            catalog, failed = self.call_named_engine(engine, "get_filtered_catalog", mine, schemas, wanted)
            tables.append(_with_database(catalog, engine))
            errors += failed
        return merge_tables(tables), errors

    def add_catalog_integration(self, catalog: Any) -> Any:
        """Register a catalog of catalogs.yml.

        Raises:
            DbtConfigError: the stock adapter has no catalogs of this type.
        """
        try:
            return self.call_engine("add_catalog_integration", catalog)
        except DbtCatalogIntegrationNotSupportedError as error:
            raise DbtConfigError(
                f"catalogs.yml has the catalog '{catalog.name}' of the type "
                f"'{catalog.catalog_type}', and neither dbt-spark nor dbt-clickhouse supports it. "
                "Remove catalogs.yml. The catalog of Spark is set in the profile "
                "(`server_side_parameters`), the format of a model's table by its `file_format`."
            ) from error


def _with_database(catalog: agate.Table, engine: Engine) -> agate.Table:
    import agate

    if "table_database" not in catalog.column_names:
        return catalog
    named = catalog.compute([("engine", agate.Formula(agate.Text(), lambda row: engine))])
    kept = named.exclude(["table_database"]).rename({"engine": "table_database"})
    return kept.select(catalog.column_names)
