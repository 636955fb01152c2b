"""One dbt adapter in front of two stock adapters."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any, cast

from dbt.adapters.base.meta import available_property
from dbt.adapters.clickhouse.impl import ClickHouseConfig
from dbt.adapters.contracts.connection import AdapterRequiredConfig
from dbt.adapters.spark.impl import SparkConfig

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.clickhouse.engine import RoutedClickHouseAdapter
from dbt.adapters.spark_clickhouse.core import routing
from dbt.adapters.spark_clickhouse.core.compiled_macros import use_compiled_macros
from dbt.adapters.spark_clickhouse.core.context import Context
from dbt.adapters.spark_clickhouse.core.credentials import ADAPTER_TYPE, SparkClickHouseCredentials
from dbt.adapters.spark_clickhouse.core.garbage import collect_less_often
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, ENGINES, SPARK
from dbt.adapters.spark_clickhouse.hand_off.hand_offs import HandOffs
from dbt.adapters.spark_clickhouse.hand_off.lost_tables import LostTables
from dbt.adapters.spark_clickhouse.hand_off.places import SparkFiles
from dbt.adapters.spark_clickhouse.hand_off.relation import RoutedRelation
from dbt.adapters.spark_clickhouse.router.catalog import Catalog
from dbt.adapters.spark_clickhouse.router.connections import ConnectionsOfBoth, RoutedConnections
from dbt.adapters.spark_clickhouse.router.delegation import STOCK_ADAPTERS, refuse_unclassified
from dbt.adapters.spark_clickhouse.router.macro_api import MacroMethods
from dbt.adapters.spark_clickhouse.router.relations import Relations
from dbt.adapters.spark_clickhouse.router.selected_models import SelectedModels
from dbt.adapters.spark_clickhouse.spark import session as spark_session
from dbt.adapters.spark_clickhouse.spark.engine import RoutedSparkAdapter, RoutedSparkConnectionManager

# Variables of the package versioned_collapsing that only running models read. dbt need not parse the project anew when
# one of them is given: that takes as long as a small run.
VARIABLES_OF_RUNS = frozenset(
    {
        "accept_unusable_lines",
        "applied_batches",
        "forget_deletes",
        "max_deletes",
        "max_lower_positions",
        "rebuild_from_batch",
        "reprocess_batches",
        "through_batch",
    }
)
# The commands of dbt that write manifest.json when they end.
_THAT_WRITE_MANIFEST = frozenset({"build", "compile", "run", "seed", "snapshot", "test"})


@dataclass
class SparkClickHouseConfig(SparkConfig, ClickHouseConfig):
    """Node configs of both engines."""


class _Type:
    """The method ``type``. On an adapter it returns the engine at work, or the adapter's own type while the project
    is parsed; on the class, always the adapter's own type."""

    def __get__(self, adapter: SparkClickHouseAdapter | None, owner: type) -> Any:
        return lambda: (adapter and adapter.context.engine) or ADAPTER_TYPE


@private_api.offering(*STOCK_ADAPTERS)
class SparkClickHouseAdapter(Relations, Catalog, ConnectionsOfBoth, MacroMethods, SelectedModels):
    """Sends everything that dbt asks to stock dbt-spark or to stock dbt-clickhouse."""

    Relation = RoutedRelation
    AdapterSpecificConfigs = SparkClickHouseConfig
    type: Any = _Type()  # dbt calls it as a method, on adapters and on the class

    def __init__(self, config: AdapterRequiredConfig, mp_context: SpawnContext) -> None:
        collect_less_often()
        private_api.log_only_what_is_read()
        profile = cast(SparkClickHouseCredentials, config.credentials)
        self.config = config
        self.project_root = Path(getattr(config, "project_root", Path.cwd())).resolve()
        self.target_folder = self.project_root / getattr(config, "project_target_path", "target")
        credentials = profile.engine_credentials(self.project_root)
        self.home = Path(credentials[0].home)
        self.default_engine = routing.validate_engine(profile.database, "The profile")
        self.context = Context(self.owner_of)
        self.engine_configs = {
            engine: _with_credentials(config, block) for engine, block in zip(ENGINES, credentials, strict=True)
        }
        clickhouse = RoutedClickHouseAdapter(self.engine_configs[CLICKHOUSE], mp_context, self.context)
        self.engines = {
            SPARK: RoutedSparkAdapter(self.engine_configs[SPARK], mp_context, self.context),
            CLICKHOUSE: clickhouse,
        }
        self.connections = RoutedConnections(self)
        self.Relation = RoutedRelation.bound_to(self)
        warehouse = credentials[0].warehouse_location
        self.landed = {}
        self._validating, self._is_validated = threading.RLock(), False
        self.spark_files = SparkFiles(self, warehouse, profile)
        self.hand_offs = HandOffs(self, self.spark_files)
        clickhouse.have_read = self.hand_offs.require_unchanged
        self.lost_tables = LostTables(self, self.spark_files)
        spark_session.expect(self.is_data_little)
        RoutedSparkConnectionManager.before_opening = self.validate_selected_models
        private_api.keep_parsed_despite(VARIABLES_OF_RUNS)
        private_api.keep_written_manifest(_THAT_WRITE_MANIFEST)
        use_compiled_macros(self.target_folder)
        refuse_unclassified(self)
        # dbt finds the adapter by the type of its credentials, which is the engine at work.
        private_api.register_adapter(self, ADAPTER_TYPE, *ENGINES)

    def pre_model_hook(self, config: Any) -> Any:
        """Before a node runs, check the Spark tables that it reads."""
        context = self.call_engine("pre_model_hook", config)
        node = config.model
        is_compiled = getattr(node, "compiled", False)  # seeds are not compiled, nor are the nodes that dbt clones
        if self.engine == SPARK and node.resource_type in ("model", "seed", "snapshot"):
            self.lost_tables.drop(node)
        if is_compiled and node.resource_type != "unit_test":
            if self.engine == SPARK:
                self.lost_tables.require_parents(node)
            else:
                self.hand_offs.verify_parents(node)
        return context

    # What depends on the engine at work

    @available_property
    def Column(self) -> Any:
        """The column class of the engine at work."""
        return self.engines[self.engine].Column

    @available_property
    def behavior(self) -> Any:
        """The behaviour flags of the engine at work."""
        return self.engines[self.engine].behavior

    @property
    def CONSTRAINT_SUPPORT(self) -> Any:  # type: ignore[override]  # a constant in stock adapters
        """Which constraints the engine at work supports."""
        return self.engines[self.engine].CONSTRAINT_SUPPORT

    @property
    def python_submission_helpers(self) -> Any:
        """How the engine at work runs Python models."""
        return self.engines[self.engine].python_submission_helpers

    @property
    def default_python_submission_method(self) -> str:
        """How the engine at work runs Python models that name no method."""
        return self.engines[self.engine].default_python_submission_method


def _with_credentials(config: Any, credentials: Any) -> Any:
    own = copy.copy(config)
    own.credentials = credentials
    return own
