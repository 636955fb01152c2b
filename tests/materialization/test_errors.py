"""Every error of the materialization, by its text. None of them leaves anything written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node
from tests.support.statements import intercepted
from tests.support.table import Table

CONFIG: dict[str, Any] = {"unique_key": "id"}
SELECT = "select toInt64(1) as id, 'EU' as region, toInt64(5) as _version"
TYPED = "select 1 as id, {} as x, 1 as _version"
FITTING = "select toInt64(7) as id, {} as x, toInt64(5) as _version"


@dataclass(frozen=True)
class BadModel:
    name: str
    config: dict[str, Any]
    sql: str
    error: str
    declared: str = ""  # the type of the column x


# fmt: off
BAD_MODELS = [
    BadModel("no_key", {}, SELECT, "unique_key is missing. Name the column or columns that identify an entity."),
    BadModel("key_outside_order", {"unique_key": "id", "order_by": "region"}, SELECT, "order_by is region and lacks id of the unique_key."),
    BadModel("sign_in_order", {**CONFIG, "order_by": ["id", "_sign"]}, SELECT, "order_by contains the sign column _sign"),
    BadModel("unknown_on_conflict", {**CONFIG, "on_conflict": "ignore"}, SELECT, "on_conflict is 'ignore'; it takes 'warn' or 'error'."),
    BadModel("settings_no_mapping", {**CONFIG, "settings": "fast"}, SELECT, "settings is fast; it takes a mapping"),
    BadModel("one_column_twice", {**CONFIG, "version": "_sign"}, SELECT, "must be three different columns"),
    BadModel("version_no_name", {**CONFIG, "version": ["_version"]}, SELECT, "version is '['_version']'; it takes the name of a column."),
    BadModel("version_in_key", {"unique_key": ["id", "_version"]}, SELECT, "unique_key contains _version, but values of the key must be the same in all changes"),
    BadModel("taken_names", CONFIG, SELECT + ", 1 as _dbt_x, 2 as `a\"`", "the change set has _dbt_x, a\". Names that begin with _dbt_ are reserved"),
    BadModel("states", CONFIG, "select 1 as id, sumState(1) as x, 1 as _version", "x is AggregateFunction(sum, UInt8), and two values of this type cannot be compared. Keep aggregate states"),
    BadModel("nested", CONFIG, "select 1 as id, cast([(1, 2)], 'Nested(a Int8, b Int8)') as x, 1 as _version", "x is Nested(a Int8, b Int8), and two values of this type cannot be compared. Select each of its parts"),
    BadModel("empty_key", {"unique_key": ""}, SELECT, "unique_key is missing."),
    BadModel("key_of_a_text", {"unique_key": "id, region"}, SELECT, "has no column id, region (option unique_key). It has id, region, _version. Select the missing column, or change the option. To name several columns, write a list: unique_key=['a', 'b']."),
    BadModel("order_of_a_text", {**CONFIG, "order_by": "id, region"}, SELECT, "Add every unique_key column to order_by. To name several columns, write a list: order_by=['a', 'b']."),
    BadModel("delete_misspelled", {**CONFIG, "is_deleted": "is_deletd"}, SELECT + ", 0 as is_deleted", "the change set has no column is_deletd (option is_deleted). It has id, region, _version, is_deleted."),
    BadModel("chunks_in_quotes", {**CONFIG, "chunks": "4"}, SELECT, 'chunks is "4"; it takes the number of chunks, 1 or more, without quotes.'),
    BadModel("index_no_list", {**CONFIG, "indexes": {"name": "i"}}, SELECT, 'indexes is {"name": "i"}; it takes a list of mappings, each with name and definition.'),
    BadModel("projection_no_mapping", {**CONFIG, "projections": ["select id"]}, SELECT, 'projections is ["select id"]; it takes a list of mappings, each with name and query or index.'),
    BadModel("projection_no_name", {**CONFIG, "projections": [{"nam": "p", "query": "select id"}]}, SELECT, 'it takes a list of mappings, each with name and query or index.'),
    BadModel("index_no_definition", {**CONFIG, "indexes": [{"name": "i"}]}, SELECT, 'it takes a list of mappings, each with name and definition.'),
    BadModel("two_errors_at_once", {"on_conflict": "ignore"}, SELECT, "unique_key is missing"),
    BadModel("near_names", {"uniqe_key": "id", "orderby": "id", "partition-by": "region"}, SELECT, "uniqe_key: there is no such option. Did you mean unique_key?"),
    BadModel("unknown_name", {**CONFIG, "zzz": 1}, SELECT, "zzz: there is no such option. Remove it"),
    BadModel("strategy", {**CONFIG, "incremental_strategy": "append"}, SELECT, "incremental_strategy has no meaning for this materialization. Changes are always"),
    BadModel("engine", {**CONFIG, "engine": "ReplacingMergeTree()"}, SELECT, "engine has no meaning for this materialization. The table is a Versioned"),
    BadModel("query_settings", {**CONFIG, "query_settings": {"max_threads": 1}}, SELECT, "query_settings has no meaning for this materialization."),
    BadModel("x" * 180, CONFIG, SELECT, f"alias: {'x' * 180} is too long. Its longest helper table has a name of 223 characters"),
    BadModel("no_key_column", {"unique_key": "device_id", "order_by": "device_id"}, SELECT, "the change set has no column device_id (option unique_key). It has id, region, _version."),
    BadModel("no_version", {**CONFIG, "version": "lsn"}, SELECT, "columns: the change set has no column lsn (option version). It has id, region, _version."),
    BadModel("sign_in_change_set", CONFIG, SELECT + ", 1 as _sign", "the change set has the column _sign"),
    BadModel("float_version", CONFIG, "select 1 as id, 1.5 as _version", "version: _version is Float64, but a version must be"),
    BadModel("text_version", CONFIG, "select 1 as id, 'a' as _version", "version: _version is String, but a version must be"),
    BadModel("float_key", CONFIG, "select 1.5 as id, 1 as _version", "order_by: id is Float64, and floats do not pair reliably"),
    BadModel("constant_version", CONFIG, "select number % 2 as id, number as x, 1 as _version from numbers(8)", "`errors`.`constant_version`: 6 changes have the same version as a stored row or another change, but a different payload. Examples (id, _version): (0, 1), (1, 1). There are only 2 keys. Nothing was written. Either unique_key (id) does not identify a row, or version (_version) does not grow"),
    BadModel("null_key", CONFIG, "select toNullable(id) as id, 1 as _version from values('id Nullable(Int64)', 1, null, null)", "2 rows: id is null. Examples (id, _version): (NULL, 1), (NULL, 1)"),
    BadModel("null_version", CONFIG, "select 7 as id, cast(null as Nullable(Int64)) as _version", "1 row: _version is null. Examples (id, _version): (7, NULL)"),
    BadModel("float_in_a_key", {"unique_key": "x"}, TYPED.format("tuple(1.5)"), "x is Tuple(Float64), and floats do not pair"),
    BadModel("json_key", {"unique_key": "x"}, TYPED.format("cast('{}' as JSON)"), "x is JSON, and values of this type have no reliable order"),
    BadModel("variant_key", {"unique_key": "x"}, TYPED.format("cast('a' as Variant(String, Int8))"), "have no reliable order"),
    BadModel("nulls_in_a_key", {"unique_key": "x"}, TYPED.format("[1, null]"), "x is Array(Nullable(UInt8)), and values of this type have no reliable order"),
    BadModel("null", CONFIG, TYPED.format("null"), "x is null in every row, so its type is unknown. Declare its data_type"),
    BadModel("key_twice", {"unique_key": ["id", "id"]}, TYPED.format("1"), "unique_key is id, id, which names a column twice"),
    BadModel("greatest_tuple", {**CONFIG, "combine": {"x": "greatest"}}, TYPED.format("(1, toNullable(2))"), "combine: x has the policy 'greatest', but it is Tuple("),
    BadModel("least_floats", {**CONFIG, "combine": {"x": "least"}}, TYPED.format("[1.5]"), "is Array(Float64), and values of this type have no order"),
    BadModel("greatest_variant", {**CONFIG, "combine": {"x": "greatest"}}, TYPED.format("cast('a' as Variant(String, Int8))"), "combine: x has the policy 'greatest'"),
    BadModel("unknown_unset", CONFIG, TYPED.format("1") + ", ['X'] as _unset", "1 row: _unset names X, which is not a column"),
    BadModel("negative_count", CONFIG, TYPED.format("1") + ", -1 as _duplicates", "1 row: _duplicates is below zero"),
    BadModel("dbt_name", CONFIG, TYPED.format("1") + ", 1 as _dbt_given", "Names that begin with _dbt_ are reserved"),
    BadModel("null_in_partition", {**CONFIG, "partition_by": "region"}, "select 7 as id, cast(null as Nullable(String)) as region, 1 as _version", "1 row: region is null"),
    # test_values.py covers all types and values.
    BadModel("no_fit", CONFIG, FITTING.format("toInt64(-5)"), "1 row: x does not fit UInt64. Examples (id, _version): (7, 5)", "UInt64"),
    BadModel("null_in_plain_column", CONFIG, FITTING.format("cast(null as Nullable(Int64))"), "1 row: x is null. Examples (id, _version): (7, 5)", "Int64"),
]
# fmt: on


@pytest.fixture(scope="module")
def outcomes(make_project: MakeProject) -> dict[str, Node]:
    project = make_project("errors")
    for model in BAD_MODELS:
        project.add_model(model.name, model.config, model.sql)
        if model.declared:
            project.declare(model.name, {"x": model.declared})
    outcomes = project.run()
    written = project.query("select name from system.tables where database = 'errors' and total_rows > 0")
    assert written == [], written
    return outcomes


@pytest.mark.parametrize("model", BAD_MODELS, ids=lambda model: model.name)
def test_error(outcomes: dict[str, Node], model: BadModel) -> None:
    outcome = outcomes[model.name]
    assert outcome.status == "error"
    assert model.error in outcome.message


def test_near_names_are_suggested(outcomes: dict[str, Node]) -> None:
    message = outcomes["near_names"].message
    assert "orderby: there is no such option. Did you mean order_by?" in message
    assert "partition-by: there is no such option. Did you mean partition_by?" in message


def test_all_problems_come_in_one_error(outcomes: dict[str, Node]) -> None:
    message = outcomes["two_errors_at_once"].message
    assert "unique_key is missing" in message
    assert "on_conflict is 'ignore'" in message


# Types that ClickHouse does not know or does not take, and what it says.
BAD_TYPES = {
    "UInt46": "Unknown data type family: UInt46. Maybe you meant: ['UInt16','UInt32']",
    "Decimal(100, 2)": "Wrong precision",
    "Nullable(Array(Int8))": "cannot be inside Nullable type",
    "Enum8('a'": "Syntax error (data type)",
}


def test_a_declared_type_that_is_none(make_project: MakeProject) -> None:
    """The error is short, and says which column has which type."""
    project = make_project("bad_types")
    for place, kind in enumerate(BAD_TYPES):
        project.add_model(f"m{place}", CONFIG, f"select 1 as id, 2 as column_{place}, 3 as _version")
        project.declare(f"m{place}", {"id": "Int64", f"column_{place}": kind, "_version": "Int64", "_sign": "Int8"})
    outcomes = project.run()
    for place, (kind, said) in enumerate(BAD_TYPES.items()):
        message = outcomes[f"m{place}"].message
        assert said in message
        assert f"`data_type of column_{place}`" in message
        assert kind in message.replace("\\'", "'")
        assert len(message) < 600


WIDE = (
    "id Int64, x Nullable(Int64), _version Nullable(Int64), _is_deleted Bool, _unset Array(String), _is_truncate Bool"
)
# Changes that a rebuild of a table warns of or does not take, and what it says.
REBUILDS: dict[str, tuple[list[tuple[Any, ...]], str]] = {
    "conflict": ([(1, 1, 1), (1, 2, 1), (2, 1, 1)], "1 change has the same version as a stored row or another change"),
    "key_or_version": ([(1, x, 1) for x in range(5)], "There are only 1 key."),
    "unmerged": ([(1, 1, 1, False, ["x"])], "1 partial change could not be combined"),
    "no_fit": ([(1, 1000, 1)], "has rows that do not fit the table"),
    "no_version": ([(1, 1, None)], "_version is null"),
    "truncate": ([(1, 1, None, False, [], True)], "whose _version is null or does not fit"),
}


def test_messages_of_a_rebuild_name_the_table(make_project: MakeProject) -> None:
    """They do not name the one beside it that is to take its place. What is dropped is a warning of dbt."""
    project = make_project("rebuilds")
    project.replace_rows("changes", WIDE, [(7, 7, 1)])
    options = {**CONFIG, "chunks": 2, "combine": {"x": "latest"}}
    for name in REBUILDS:
        project.add_model(
            name, options, f"select * from changes{{% if should_full_refresh() %}}_of_{name}{{% endif %}}"
        )
        project.declare(name, {"id": "Int64", "x": "Nullable(Int8)", "_version": "Int64", "_sign": "Int8"})
    project.build()
    for name, (rows, _) in REBUILDS.items():
        project.replace_rows(f"changes_of_{name}", WIDE, rows)
    outcomes = project.run("--full-refresh")
    warnings = project.logged("JinjaLogWarning")
    for name, (_, said) in REBUILDS.items():
        message = outcomes[name].message if outcomes[name].status == "error" else warnings
        assert said in message, name
        assert name in message
    told = [event.info.msg for event in project.events if event.info.level != "debug"]
    assert [text for text in told if "__dbt_build" in text] == []


def test_an_old_server_is_refused(make_project: MakeProject) -> None:
    table = Table(make_project("old_server"))
    with intercepted(lambda send, sql: send(sql.replace("version() as", "'26.2.19.1' as"))):
        message = table.fail()
    assert "needs ClickHouse 26.7 or newer, but this is ClickHouse 26.2.19.1." in message
    assert table.query("show tables") == [("changes",)]


def test_a_deleted_row_may_have_any_payload(make_project: MakeProject) -> None:
    columns = "id Int64, x Nullable(Int64), _version Int64, _is_deleted Nullable(Bool)"
    table = Table(make_project("deleted_payload"), columns)
    table.project.declare("target", {"id": "Int64", "x": "Int64", "_version": "Int64", "_sign": "Int8"})
    table.apply([(1, 10, 1, None), (2, 20, 1, False)])
    table.apply([(1, None, 2, True)])
    table.check([(2, 20, 1)])


def test_conflicts_stop_the_run_when_told_to(make_project: MakeProject) -> None:
    table = Table(make_project("conflicts"), on_conflict="error")
    table.apply([(1, 10, 1)])
    message = table.fail([(1, 11, 1), (2, 20, 1)])
    assert "1 change has the same version as a stored row" in message
    assert ". Examples (id, _version): (1, 1)." in message
    assert "Nothing was written" in message
    assert table.query("select id, x, _sign from target") == [(1, 10, 1)]


ALL = "select * from changes"
# For a model that has built a table: its new options, and why they do not fit the table.
DIFFERENCES: dict[str, tuple[dict[str, Any], str, str]] = {
    "order": ({"order_by": ["id", "region"]}, ALL, "order_by is 'id, region', but `existing`.`order` has 'id'. Change the option back, or rebuild the table: "),
    "partition": ({"partition_by": "region"}, ALL, "partition_by is 'region', but `existing`.`partition` has ''"),
    "sign": ({"sign": "s"}, ALL, "sign and version are 's, _version'"),
    "added": ({}, "select *, 1 as extra from changes", "the model adds extra. Set"),
    "absent": ({}, "select id, _version from changes", "the model drops region. Set"),
    "type": ({}, "select id, 1 as region, _version from changes", "region is UInt8 in the model and String in `existing`.`type`. Undo the change, or rebuild the table: "),
}  # fmt: skip


def test_a_table_that_is_not_what_the_model_describes(make_project: MakeProject) -> None:
    project = make_project("existing")
    project.replace_rows("changes", "id Int64, region String, _version Int64", [(1, "EU", 1)])
    for name in DIFFERENCES:
        project.add_model(name, CONFIG, ALL)
    project.build()
    for name, (config, sql, _) in DIFFERENCES.items():
        project.add_model(name, {**CONFIG, **config}, sql)
    project.command("create table other (id Int64) engine = MergeTree order by id")
    project.add_model("other", CONFIG, ALL)
    outcomes = project.run()
    for name, (_, _, error) in DIFFERENCES.items():
        assert outcomes[name].status == "error"
        assert error in outcomes[name].message
        assert "--full-refresh" in outcomes[name].message
    assert "exists and is MergeTree, not VersionedCollapsingMergeTree" in outcomes["other"].message


def test_rows_that_the_ledger_does_not_know(make_project: MakeProject) -> None:
    table = Table(make_project("foreign_rows"))
    table.command(
        "create table target (id Int64, x Int64, _version Int64, _sign Int8) "
        "engine = VersionedCollapsingMergeTree(_sign, _version) order by id"
    )
    table.command("insert into target values (1, 0, 1, 1)")
    assert "has rows that are not in the ledger" in table.fail([(1, 0, 2)])
    table.operation("adopt_table", model="target")
    table.apply([(1, 0, 2)])
    table.check([(1, 0, 2)])
