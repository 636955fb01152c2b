"""A short history under the settings that statements pin, and under those that are rejected.

Each model has its own settings instead of a profile's; one dbt run builds many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dbt_common.events.contextvars import get_node_info
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, intercepted

Settings = Mapping[str, str]
# The ledger row that ends an apply.
APPLIED = re.compile(r"insert into \S*versioned_collapsing_ledger.*'applied',\s+greatest\(now64\(", re.DOTALL)

STRUCTURE = "id Int64, part Nullable(UInt8), region String, top Nullable(Int64), _version UInt64, _is_deleted Bool"
# fmt: off
FIRST: list[Row] = [(key, key % 3, "EU", key, 10, False) for key in range(1, 9)]
SECOND: list[Row] = [
    (1, 1, "US", 100, 20, False),       # another partition
    (2, 2, "EU", None, 20, False),      # a null
    (2, 2, "EU", None, 20, False),      # a duplicate
    (3, 0, "EU", 3, 11, True),          # deleted
    (4, 1, "EU", 4, 12, True),          # deleted, and there again
    (4, 1, "US", 5, 13, False),
    (5, 2, "EU", 55, 9, False),         # late
    (6, 0, "EU", 6, 10, False),         # as it is stored
    (20, 2, "AP", 20, 20, False),       # new
    (21, 0, "AP", 21, 20, True),        # deleted, never there
]
THIRD: list[Row] = [
    (3, 0, "EU", 33, 10, False),        # late: deleted since
    (21, 0, "AP", 1, 19, False),        # late: deleted since
    (1, 1, "EU", 7, 30, False),         # back into its partition
    (7, 1, "EU", 7, 31, True),
    (22, 1, "AP", None, 1, False),
]
LIVE = [(1, 1, "EU", 100, 30), (2, 2, "EU", 2, 20), (4, 1, "US", 5, 13), (5, 2, "EU", 5, 10), (6, 0, "EU", 6, 10),
        (8, 2, "EU", 8, 10), (20, 2, "AP", 20, 20), (22, 1, "AP", None, 1)]
CONFIG: dict[str, Any] = {"unique_key": "id", "partition_by": "region", "chunks": 2, "combine": {"top": "greatest"}}
# fmt: on


@contextmanager
def profiles(settings: Mapping[str, Settings], *, dying: bool = False) -> Iterator[None]:
    """Give each model's statements the settings of a profile of its own, by model name.

    With ``dying``, each model dies when its rows are written but the ledger does not say so yet.

    Raises:
        AssertionError: a model that should have died did not.
    """
    dead = set()

    def run(send: Send, sql: str) -> Any:
        name = str(get_node_info().get("node_name", ""))
        if dying and name in settings and APPLIED.search(sql):
            dead.add(name)
            raise DbtDatabaseError(f"{name} died here")
        return send(sql, settings=dict(settings.get(name, {})))

    with intercepted(run):
        yield
    assert dead or not dying


def findings(project: CollapsingProject, cases: Mapping[str, Settings]) -> dict[str, str]:
    """The outcome of the history in each case: 'right', the text of an error, or the wrong rows."""
    for name in cases:
        project.add_model(name, CONFIG, "select * from changes")
    errors: dict[str, str] = {}
    for number, rows in enumerate((FIRST, SECOND, THIRD)):
        project.replace_rows("changes", STRUCTURE, rows)
        with profiles(cases, dying=number == 1):
            for name, outcome in project.run().items():
                if outcome.status != "success" and "died here" not in outcome.message:
                    errors[name] = outcome.message
    return {name: errors.get(name) or verdict(project, name) for name in cases}


def verdict(project: CollapsingProject, table: str) -> str:
    columns = "id, part, region, top, _version"
    final = project.query(f"select {columns} from {table} final where _sign = 1 order by id")
    net = project.query(f"select {columns} from {table} group by all having sum(_sign) <> 0 order by id")
    return "right" if LIVE == final == net else f"wrong: {final} by FINAL, {net} by signs"


PINNED = """
    aggregate_functions_null_for_empty=1 any_join_distinct_right_table_keys=1 apply_deleted_mask=0
    asterisk_include_alias_columns=1 asterisk_include_materialized_columns=1 cast_keep_nullable=1
    cast_string_to_date_time_mode=basic data_type_default_nullable=1 date_time_input_format=basic
    date_time_output_format=iso date_time_overflow_behavior=throw decimal_check_overflow=0 deduplicate_insert=enable
    deduplicate_insert_select=force_enable describe_compact_output=1 describe_include_subcolumns=1
    describe_include_virtual_columns=1 do_not_merge_across_partitions_select_final=1
    empty_result_for_aggregation_by_empty_set=1 enable_global_with_statement=0 enable_positional_arguments=0 final=1
    group_by_use_nulls=1 join_use_nulls=1 materialized_views_ignore_errors=1
    optimize_injective_functions_inside_uniq=1 prefer_column_name_to_alias=1
    show_create_query_identifier_quoting_rule=always show_create_query_identifier_quoting_style=DoubleQuotes
    skip_unavailable_shards=1 transform_null_in=1
"""
CUTTING = {
    "asterisk_include_virtual_columns": "1",
    "join_default_strictness": "ANY",
    "limit": "2",
    "offset": "1",
    "additional_result_filter": "0",
    "additional_table_filters": "{'cutting.changes': 'id > 5'}",
    "use_query_cache": "1",
    **{
        f"{what}_overflow_mode": "any" if what == "group_by" else "break"
        for what in ("distinct", "group_by", "join", "read", "result", "set", "sort", "timeout", "transfer")
    },
    "read_overflow_mode_leaf": "break",
    "timeout_overflow_mode_leaf": "break",
    "filter": "0",
    "select": "1",
}


def test_settings_that_every_statement_names(make_project: MakeProject) -> None:
    project = make_project("settings")
    project.set_variables(versioned_collapsing_lock_seconds=0)
    each = dict(pair.split("=") for pair in PINNED.split())
    assert findings(project, {"none": {}, "each": each}) == {"none": "right", "each": "right"}


def test_settings_that_leave_rows_out_stop_the_model(make_project: MakeProject) -> None:
    project = make_project("cutting")
    for name in CUTTING:
        project.add_model(f"m_{name}", CONFIG, "select * from changes")
    project.replace_rows("changes", STRUCTURE, FIRST)
    with profiles({f"m_{name}": {name: value} for name, value in CUTTING.items()}):
        outcomes = project.run()
    # A setting that cuts even the query for settings is still in the list of possible ones. 26.7 lacks some settings.
    unnamed = {
        name: outcomes[f"m_{name}"].message
        for name in CUTTING
        if not re.search(
            f"- {name} is '|setting of the profile hides rows of system.settings.*{name}|QUERY_CACHE_USED|Unknown setting '{name}'",
            outcomes[f"m_{name}"].message,
        )
    }
    assert unnamed == {}
    assert project.query("select name from system.tables where database = 'cutting' and name like 'm\\_%'") == []
