"""Which methods of the stock adapters go to one engine, which to both, and which are our own.

Each public method of the adapters of dbt-spark and dbt-clickhouse is in one of the three tables. If an upgrade adds a
method that is in none, a test fails, and a call of the method is an error until it is classified.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.clickhouse.impl import ClickHouseAdapter
from dbt.adapters.spark.impl import SparkAdapter

from dbt.adapters.spark_clickhouse.private_api import PrivateApiError, new_method

STOCK_ADAPTERS: tuple[type[BaseAdapter], ...] = (SparkAdapter, ClickHouseAdapter)


class _Router(Protocol):
    def call_engine(self, name: str, *args: Any, **kwargs: Any) -> Any: ...

    def call_both(self, name: str, *args: Any, **kwargs: Any) -> list[Any]: ...


class _Delegate:
    """A method that the router passes on through ``how``, together with its name."""

    def __init__(self, how: Callable[[_Router], Callable[..., Any]]) -> None:
        self._how = how

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, router: _Router | None, owner: type | None = None) -> Any:
        return self if router is None else partial(self._how(router), self._name)


# Any, because they stand for methods of all signatures
def _one() -> Any:
    return _Delegate(lambda router: router.call_engine)


def _both() -> Any:
    return _Delegate(lambda router: router.call_both)


class ToOneEngine:
    """Methods of one engine: that of a relation among the arguments, or else the engine at work."""

    # Relations
    already_exists = _one()
    cache_dropped = _one()
    cache_renamed = _one()
    drop_relation = _one()
    list_relations_without_caching = _one()
    rename_relation = _one()
    truncate_relation = _one()

    # Schemas
    create_schema = _one()
    drop_schema = _one()

    # Columns
    alter_column_type = _one()
    expand_column_types = _one()
    expand_target_column_types = _one()
    get_column_schema_from_query = _one()
    get_columns_in_table = _one()
    get_missing_columns = _one()
    parse_columns_from_information = _one()
    parse_describe_extended = _one()
    find_table_information_separator = _one()

    # Types
    convert_agate_type = _one()
    convert_boolean_type = _one()
    convert_date_type = _one()
    convert_datetime_type = _one()
    convert_integer_type = _one()
    convert_number_type = _one()
    convert_text_type = _one()
    convert_time_type = _one()
    convert_type = _one()

    # SQL
    date_function = _one()
    get_rows_different_sql = _one()
    quote = _one()
    quote_as_configured = _one()
    quote_seed_column = _one()
    string_add_sql = _one()
    timestamp_add_sql = _one()
    update_column_sql = _one()

    # Statements
    add_query = _one()
    execute = _one()
    execute_macro = _one()
    is_cancelable = _one()
    run_sql_for_tests = _one()
    validate_sql = _one()

    # Constraints
    process_parsed_constraint = _one()
    render_column_constraint = _one()
    render_model_constraint = _one()
    render_raw_columns_constraints = _one()
    render_raw_model_constraint = _one()
    render_raw_model_constraints = _one()

    # Incremental models and snapshots
    assert_valid_snapshot_target_given_strategy = _one()
    builtin_incremental_strategies = _one()
    calculate_incremental_strategy = _one()
    check_incremental_schema_changes = _one()
    get_hard_deletes_behavior = _one()
    get_incremental_strategy_macro = _one()
    get_partitions_metadata = _one()
    valid_incremental_strategies = _one()
    valid_snapshot_target = _one()
    validate_incremental_strategy = _one()

    # Freshness
    calculate_freshness = _one()
    calculate_freshness_from_custom_sql = _one()
    calculate_freshness_from_metadata = _one()
    calculate_freshness_from_metadata_batch = _one()

    # Catalogs
    bridge_v2_catalog = _one()
    build_catalog_relation = _one()
    get_catalog = _one()
    get_catalog_by_relations = _one()
    get_catalog_for_single_relation = _one()
    get_catalog_integration = _one()
    row_matches_relation = _one()

    # What the engine can do, and how it runs nodes
    capabilities = _one()
    generate_python_submission_response = _one()
    get_adapter_run_info = _one()
    post_model_hook = _one()
    standardize_grants_dict = _one()
    submit_python_job = _one()
    supports = _one()

    # Of ClickHouse only
    can_exchange = _one()
    clickhouse_db_engine_clause = _one()
    filter_settings_by_engine = _one()
    format_columns = _one()
    get_ch_database = _one()
    get_clickhouse_cluster_name = _one()
    get_clickhouse_local_db_prefix = _one()
    get_clickhouse_local_suffix = _one()
    get_credentials = _one()
    get_csv_data = _one()
    get_model_query_settings = _one()
    get_model_settings = _one()
    is_at_or_after_version = _one()
    is_before_version = _one()
    s3source_clause = _one()
    should_on_cluster = _one()
    supports_atomic_exchange = _one()


class ToBothEngines:
    """Methods of both engines, whose result nobody needs."""

    clear_macro_resolver = _both()
    debug_query = _both()
    release_connection = _both()
    set_macro_resolver = _both()


# What the router answers itself, with the help of one or both engines.
OWN = frozenset(
    {
        "CONSTRAINT_SUPPORT",
        "acquire_connection",
        "add_catalog_integration",
        "behavior",
        "cache_added",
        "cancel_open_connections",
        "check_schema_exists",
        "cleanup_connections",
        "clear_transaction",
        "commit_if_has_connection",
        "connection_named",
        "default_python_submission_method",
        "get_columns_in_relation",
        "get_filtered_catalog",
        "get_macro_resolver",
        "get_relation",
        "list_relations",
        "list_schemas",
        "nice_connection_name",
        "pre_model_hook",
        "python_submission_helpers",
        "set_macro_context_generator",
        "set_relations_cache",
        "type",
    }
)


def tabled(table: type) -> frozenset[str]:
    """The methods in ``table``."""
    return frozenset(name for name, value in vars(table).items() if isinstance(value, _Delegate))


def unclassified(adapter: type[BaseAdapter]) -> set[str]:
    """The public methods of a stock adapter that are in none of the tables."""
    public = {name for name in dir(adapter) if not name.startswith("_")}
    methods = {name for name in public if _is_method(inspect.getattr_static(adapter, name))}
    return methods - tabled(ToOneEngine) - tabled(ToBothEngines) - OWN


def _is_method(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, classmethod | staticmethod | property)


def refuse_unclassified(router: _Router) -> None:
    """Make each method that is in no table an error, but only when dbt calls it."""
    for adapter in STOCK_ADAPTERS:
        for name in unclassified(adapter):
            setattr(router, name, partial(_refuse, new_method(adapter, name)))


def _refuse(error: PrivateApiError, *_: Any, **__: Any) -> None:
    raise error
