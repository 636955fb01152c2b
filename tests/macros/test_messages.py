"""Errors that no other test triggers, each from the macro that raises it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from tests.macros.harness import Project, parsed_project

CHANGE_SET = "{{ config(materialized='change_set') }} select 1 as id"
VIEW = (
    "{{{{ config(materialized='versioned_collapsing_view', meta={{'order_by': '{}'}}) }}}} "
    "select {}, sum(_sign) as n from {{{{ ref('refunds') }}}} group by 1"
)
COLUMNS = {"models": [{"name": "refunds", "columns": [{"name": "region", "data_type": "String"}]}]}
MODELS = {
    "orders_changes": CHANGE_SET,
    "refunds_changes": CHANGE_SET,
    "payments": "{{ config(materialized='versioned_collapsing') }} select * from {{ ref('refunds_changes') }}",
    "misspelt_changes": "{{ config(materialized='change_set', meta={'on_changed_batches': 'error'}) }} select 1 as id",
    "refunds": "{{ config(materialized='versioned_collapsing', unique_key='id') }} select * from {{ ref('refunds_changes') }}",
    "by_country": VIEW.format("country", "country"),
    "by_code": VIEW.format("country", "ifNull(country, '') as country"),
    "by_id": VIEW.format("id", "id"),
    "by_alias": VIEW.format("country", "upper(country) country"),
    "by_macro": "{{ config(materialized='versioned_collapsing_view', meta={'order_by': 'country'}) }} "
    "{{ versioned_collapsing.signed_sums(ref('refunds'), {'country': 'upper(country)'}, {}, count='n') }}",
    "by_declared": VIEW.format("region", "region"),
    "no_order": "{{ config(materialized='versioned_collapsing_view') }} select 1 from {{ ref('refunds') }}",
    "orders": "select * from {{ ref('orders_changes') }} union all select * from {{ ref('refunds_changes') }}",
}
MODEL = {"unique_id": "model.shop.orders", "name": "orders"}
OPTIONS = {
    "unique_key": ["id"],
    "version": "_version",
    "sign": "_sign",
    "is_deleted": "_is_deleted",
    "old_state": "lookup",
    "combine": {},
    "order_by": ["id"],
    "primary_key": ["id"],
    "partition_by": [],
}
MESSAGES: list[tuple[str, dict[str, Any], str]] = [
    (
        "_validate_is_on_spark",
        {"model": MODEL, "engine": "clickhouse"},
        "model.shop.orders: a change set can be built only on Spark, and this model is built on clickhouse. Build it on Spark.",
    ),
    (
        "_validate_locations",
        {"model": MODEL, "locations": []},
        "model.shop.orders is a change_set, but none of its sources has a location. Set `external: {location: ..., file_format: text}` on the source. The location must have a folder batch=N for each batch.",
    ),
    (
        "validate_stored_extracts",
        {
            "model": MODEL,
            "stored": [
                {"batch": 3, "hash": "b", "target": "model.shop.a"},
                {"batch": None, "hash": None, "target": "model.shop.b"},
            ],
            "landed": {},
            "pending": [2],
        },
        "extract 2 is new to some targets, but others already have extract 3. Remove through_batch to take that extract too, or build both again from extract 2: ",
    ),
    (
        "validate_whole_inputs",
        {
            "model": {"unique_id": "model.shop.orders", "name": "orders"},
            "problems": ["stg_orders has no rows of batch 3"],
        },
        "model.shop.orders would lack rows of the batches that it takes:\n    - stg_orders has no rows of batch 3\n  Build these with it: dbt run --select +orders+",
    ),
    (
        "validate_lock_is_acquired",
        {"locked_relation": "shop.orders", "holder": {"run_id": "a"}, "apply": {"run_id": "b"}, "seconds": 60},
        "Other runs have held the lock on shop.orders for 60 s. Run again when they have ended.",
    ),
    (
        "validate_settings",
        {"unique_id": "model.shop.orders", "profile": {"limit": "1"}},
        "limit is '1' in dbt's custom_settings or in the server's user profile. It can leave out rows or add columns without an error. Remove it there.",
    ),
    (
        "validate_cluster",
        {
            "this": SimpleNamespace(schema="shop"),
            "server": {"database_engine": "Replicated", "shards": 0, "replication": ""},
            "options": OPTIONS,
            "model": MODEL,
        },
        "The database shop has the engine Replicated, but the profile does not say so. The table would have its rows on one replica only. Set database_engine: Replicated in the profile.",
    ),
    (
        "validate_version_columns",
        {"history": {"relation": "shop.orders", "plain_names": ["_begin", "_end"]}, "added": ["_begin", "_end"]},
        "versions: shop.orders has _begin, _end, and `versions` adds columns of these names. Rename them in the model of the table.",
    ),
    (
        "validate_validity",
        {
            "unique_id": "model.shop.orders_history",
            "options": {**OPTIONS, "unique_key": ["id"], "version": "lsn", "combine": {"x": "first"}},
            "columns": {"key": ["id"], "given": {"valid_to": "UInt8"}, "version_type": "String"},
        },
        "model.shop.orders_history cannot be built as validity:\n"
        "    - unique_key is id. Set it to the key of the source and valid_from.\n"
        "    - the changes have no column id, lsn. They have valid_to.\n"
        "    - the changes have valid_to, and `validity` adds columns of this name. Rename them.\n"
        "    - combine cannot be set: a state is what one change has. Remove it.",
    ),
    (
        "validate_validity",
        {
            "unique_id": "model.shop.orders_history",
            "options": {**OPTIONS, "unique_key": ["id", "valid_from"], "version": "lsn"},
            "columns": {"key": ["id"], "given": {"id": "UInt8", "lsn": "String"}, "version_type": "String"},
        },
        "lsn is String. Declare the data_type of valid_from: an integer, a date or a time.",
    ),
    (
        "validate_one_aggregate",
        {"aggregate": None, "projection": None},
        "aggregate_agrees: set either `aggregate`, a relation, or `projection`, the name of a projection.",
    ),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with parsed_project(tmp_path_factory.mktemp("messages"), MODELS, properties=COLUMNS) as found:
        yield found


@pytest.mark.parametrize(("macro", "arguments", "message"), MESSAGES, ids=[macro for macro, _, _ in MESSAGES])
def test_message(shop: Project, macro: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilationError, match=re.escape(message)):
        shop.rendered(macro, **arguments)


def test_a_model_of_two_change_sets(shop: Project) -> None:
    node = shop.manifest.nodes["model.versioned_collapsing.orders"]
    message = (
        "change set: the model selects from orders_changes and refunds_changes, but it can apply only one change set. "
    )
    with pytest.raises(CompilationError, match=re.escape(message)):
        shop.rendered("validate_change_sets", model=node.to_dict())


def test_columns_that_differ_from_the_contract(shop: Project) -> None:
    problems = shop.rendered(
        "get_column_problems",
        options=OPTIONS,
        given=["id", "amount", "_version"],
        declared=["id", "status", "_version"],
        is_contract_enforced=True,
    )
    assert (
        "contract: the select returns amount, but the properties file declares no data_type for it. Declare the data_type, or change the select."
        in problems
    )
    assert (
        "contract: the properties file declares status, but the select does not return it. Change the select or the declaration."
        in problems
    )


def test_a_column_name_with_a_line_break(shop: Project) -> None:
    node: dict[str, Any] = {"kind": "QUERY", "columns": [], "children": {"PROJECTION": [1]}, "rest": "", "parent": None}
    problems = shop.rendered("_get_unread_problems", tree=[node])
    assert "A column has a name that is not understood, in the select." in problems


# Lines that no parser reads, with the reason of the parser, and what the message says of them.
ADVICE = [
    (
        "[",
        "malformed JSON",
        "It looks like JSON over several lines. Land one JSON object a line, as `jq -c` writes it.",
    ),
    ("Struct{id=1}", "malformed JSON", "It looks like the text of a Java object. Let the sink use the JsonConverter."),
    ("PAR1\x15", "malformed JSON", "It looks like a binary format. Land JSON, or Parquet with file_format: parquet"),
    ("1,2,3", "malformed JSON", "It looks like no JSON. Land one JSON object a line."),
    (
        '{"a":1}{"a":2}',
        "malformed JSON",
        "It looks like several JSON objects on one line. Land one a line, as `jq -c .`",
    ),
    ('{"specversion":"1.0"}', "op is missing", "It looks like CloudEvents. Let the sink write plain JSON"),
    (
        '{"_id":{"_data":"82"},"operationType":"insert","documentKey":{"_id":1},"fullDocument":{"_id":1}}',
        "op is missing",
        "It looks like MongoDB's own change stream. Land it by Debezium's connector for MongoDB.",
    ),
    ('{"op":"u"}', "a is an object of value and set", "Replace each object by its value before the lines land."),
    ('{"op_type":"I"}', "op is missing", "It looks like GoldenGate, for parse_upserts."),
    ('{"isDdl":false}', "op is missing", "It looks like Canal or TiCDC, for parse_upserts."),
    ('{"database":"d","type":"insert","data":{}}', "op is missing", "It looks like Maxwell, for parse_upserts."),
    ('{"Op":"I","id":1}', "op is missing", "It looks like AWS DMS, for parse_upserts."),
    ('{"_airbyte_data":{}}', "op is missing", "It looks like a table of Airbyte or Fivetran, for parse_upserts."),
    (
        '{"_airbyte_ab_id":"a","_airbyte_emitted_at":1,"_airbyte_data":"{\\"id\\":1}"}',
        "op is missing",
        "It looks like a table of Airbyte or Fivetran, for parse_upserts.",
    ),
    (
        '{"__op":"u"}',
        "__deleted is missing, without which",
        "Set delete.tombstone.handling.mode: rewrite in the transform",
    ),
    ('{"op":"u"}', "the update has no document", "Set capture.mode: change_streams_update_full in the connector"),
    ('{"op":"u"}', "a does not fit decimal(9,2)", "Debezium writes decimals as bytes by default. Name the column in"),
    ('{"op":"u"}', "a does not fit date", "Debezium writes dates and times as numbers. Name the column in encodings"),
    ('{"op":"u"}', "key id is null", "It looks like an event of Debezium. The reason says what it lacks"),
    ('{"id":1}', "op is missing", "It looks like a row, and not like an event of Debezium. parse_upserts reads rows."),
    ('{"id":1}', "updated_at is missing", "Compare it with key, columns and version of the staging model."),
]


@pytest.mark.parametrize(("line", "reason", "advice"), ADVICE)
def test_advice_on_a_line(shop: Project, line: str, reason: str, advice: str) -> None:
    assert shop.rendered("_get_line_advice", line=line, reason=reason).startswith(advice)


def test_advice_on_values_that_are_outside(shop: Project) -> None:
    reasons = "2 lines: seen is outside 1900-01-01 to 2299-12-31; 1 line: key id is null; 1 line: n is outside 0 to 9"
    assert shop.rendered("_get_range_advice", reasons=reasons) == (
        " To replace values outside by the nearest bound: ranges={'seen': 'clamp', 'n': 'clamp'} in the staging model."
    )
    assert shop.rendered("_get_range_advice", reasons="1 line: malformed JSON") == ""


# Models, whether a run that builds them is stopped before Spark starts, and why.
SELECTED = {
    "payments": "unique_key is missing. Name the column or columns that identify an entity.",
    "misspelt_changes": "meta.on_changed_batches: there is no such option. Did you mean on_changed_batch?",
    "no_order": "order_by is missing. Name the columns by which the sums are grouped.",
    "by_country": "country comes from Spark as Nullable, but a key of a table cannot be null. Replace nulls",
    "by_code": "",
    "by_id": "",
    "by_macro": "",
    "by_alias": "",
    "by_declared": "",
    "refunds_changes": "",
}


@pytest.mark.parametrize(("model", "message"), SELECTED.items())
def test_what_is_wrong_with_a_model_is_said_before_spark_starts(
    shop: Project, monkeypatch: pytest.MonkeyPatch, model: str, message: str
) -> None:
    """Only models that the run builds."""
    monkeypatch.setattr(
        "dbt.selected_resources.SELECTED_RESOURCES", [f"model.{shop.config.project_name}.{name}" for name in [model]]
    )
    if message:
        with pytest.raises(CompilationError, match=re.escape(message)):
            shop.rendered("validate_selected_models")
    else:
        shop.rendered("validate_selected_models")
