"""dbt-tests-adapter on ClickHouse: what is adapted to its SQL, and what is left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.basic import expected_catalog, test_docs_generate
from dbt.tests.adapter.caching import test_caching
from dbt.tests.adapter.catalog import relation_types
from dbt.tests.adapter.constraints import test_constraints
from dbt.tests.adapter.dbt_clone import fixtures as clone_fixtures
from dbt.tests.adapter.dbt_clone import test_dbt_clone
from dbt.tests.adapter.dbt_show import test_dbt_show
from dbt.tests.adapter.ephemeral import test_ephemeral
from dbt.tests.adapter.hooks import test_model_hooks, test_run_hooks
from dbt.tests.adapter.incremental import test_incremental_on_schema_change, test_incremental_unique_id
from dbt.tests.adapter.materialized_view import basic as materialized_view
from dbt.tests.adapter.simple_copy import test_copy_uppercase
from dbt.tests.adapter.simple_seed import test_seed, test_seed_type_override
from dbt.tests.adapter.simple_snapshot import test_snapshot
from dbt.tests.adapter.store_test_failures_tests import basic as store_test_failures
from dbt.tests.adapter.store_test_failures_tests import test_store_test_failures
from dbt.tests.adapter.unit_testing import test_types
from dbt.tests.adapter.utils import (
    fixture_replace,
    test_array_append,
    test_array_concat,
    test_date_spine,
    test_dateadd,
    test_datediff,
    test_get_intervals_between,
    test_last_day,
    test_replace,
    test_split_part,
    test_timestamps,
)
from dbt.tests.adapter.utils.data_types import test_type_bigint
from dbt.tests.fixtures.project import TestProjInfo
from dbt.tests.util import AnyInteger, AnyString, check_relations_equal, run_dbt

from tests.conformance.suite import Caching, Hooks, OwnTarget, ViewsStay, adapted, classes_to_run, fixed

ENGINE = "clickhouse"

# What dbt-clickhouse fails too, by reason: classes and "class::test", in which `*` stands for any text.
LEFT_OUT: dict[str, str] = {
    "dbt-clickhouse has no get_catalog_for_single_relation": "basic.test_get_catalog_for_single_relation.BaseGetCatalogForSingleRelation",
    "dbt-clickhouse looks at the strategy when the table is there, not at first": "basic.test_incremental.BaseIncrementalBadStrategy",
    "a base of other classes, without models of its own": """
        caching.test_caching.BaseCachingTest constraints.test_constraints.BaseConstraintsColumnsEqual
        constraints.test_constraints.BaseContractSqlHeader utils.base_array_utils.BaseArrayUtils::test_expected_actual
        utils.data_types.base_data_type_macro.BaseDataTypeMacro""",
    "ClickHouse takes one statement at a time, so a statement cannot be a `sql_header`": """
        constraints.test_constraints.BaseIncrementalContractSqlHeader
        constraints.test_constraints.BaseTableContractSqlHeader""",
    "dbt 1.11 has no `seed --empty`": """
        empty.test_empty.BaseTestEmptySeedFlag::test_build_empty_with_seed
        empty.test_empty.BaseTestEmptySeedFlag::test_seed_empty_*""",
    "dbt-clickhouse alters the type of what `--empty` has made a subquery": "empty.test_empty.MetadataWithEmptyFlag::test_run[alter_column_type]",
    "dbt-clickhouse has no functions": "functions.*",
    "chDB, unlike a server, has no storage for users, so there is nobody to grant anything to": "grants.*",
    "dbt-clickhouse has no `merge`": "incremental.test_incremental_merge_exclude_columns.BaseMergeExcludeColumns",
    "dbt-clickhouse does not log that it replaces a materialized view": "materialized_view.basic.MaterializedViewBasic::test_materialized_view_full_refresh",
    "ClickHouse updates a materialized view with each insert": "materialized_view.basic.MaterializedViewBasic::test_materialized_view_only_updates_after_refresh",
    "dbt-clickhouse leaves a materialized view that fills the table that replaces it": "materialized_view.basic.MaterializedViewBasic::test_table_replaces_materialized_view",
    "dbt-clickhouse has no `on_configuration_change`": "materialized_view.changes.*",
    "dbt-clickhouse does not warn of documented columns that are not there": """
        persist_docs.test_persist_docs.BasePersistDocsAllColumnsMissing
        persist_docs.test_persist_docs.BasePersistDocsColumnMissing::test_missing_column_warning
        persist_docs.test_persist_docs.BasePersistDocsQuoted*""",
    "dbt-clickhouse has no Python models": "python_model.*",
    "dbt-clickhouse makes the schema again when it connects, as the test does to see it gone": "relations.test_dropping_schema_named.BaseDropSchemaNamed",
    "the snapshots of dbt-clickhouse have no `hard_deletes: new_record`": """
        simple_snapshot.new_record_check_mode.BaseSnapshotNewRecordCheckMode
        simple_snapshot.new_record_dbt_valid_to_current.BaseSnapshotNewRecordDbtValidToCurrent
        simple_snapshot.new_record_timestamp_mode.BaseSnapshotNewRecordTimestampMode
        simple_snapshot.test_ephemeral_snapshot_hard_deletes.BaseSnapshotNewColumnWithDeletes""",
    "the snapshots of dbt-clickhouse have one key, dbt's own columns and null for what is current": """
        simple_snapshot.test_various_configs.BaseSnapshotColumnNames*
        simple_snapshot.test_various_configs.BaseSnapshotDbtValidToCurrent
        simple_snapshot.test_various_configs.BaseSnapshotMultiUniqueKey""",
    "the timestamps of dbt-clickhouse have no zone": "utils.test_current_timestamp.BaseCurrentTimestampAware::test_current_timestamp_type",
    "dbt-clickhouse has no `date` but dbt's, whose to_date is not there": "utils.test_date.BaseDate",
}

# PostgreSQL's SQL in the statements of the tests themselves.
POSTGRES_SQL = {
    r"\{database\}\.": "",
    r"(?i)\btimestamp without time zone\b": "DateTime",
    r"\bnull::timestamp\b": "null::Nullable(DateTime)",
    r"\bTEST_VALID_TO\s+TIMESTAMP\b": "test_valid_to Nullable(DateTime)",
    r"\bTEST_VALID_TO\b": "test_valid_to",
    r"\bvarchar\(\d+\) default null\b": "Nullable(String)",
    r"\bmd5\((.*)\)": r"lower(hex(MD5(\1)))",
    r"\bdrop schema if exists (\S+) cascade": r"truncate database \1",
    r"(?m)^\s*update (\S+)\s+set\s+([^;]*)": r"alter table \1 update \2 settings mutations_sync = 1",
}

# PostgreSQL's SQL in their projects: a database, and upper-case names that it folds.
POSTGRES_NAMES = {"{{target.database}}.": "", "TEST_VALID_TO": "test_valid_to"}


def nullable_seeds(**columns: str) -> Any:
    """Configure seeds with nullable columns, which dbt-clickhouse does not create by default."""
    types = {column: f"Nullable({data_type})" for column, data_type in columns.items()}
    return fixed({"seeds": {"+column_types": types}})


@pytest.fixture(scope="class")
def project(project: TestProjInfo) -> TestProjInfo:
    """Run the tests' own statements in ClickHouse's SQL, one at a time."""
    run_sql = project.run_sql

    def run_in_clickhouse_sql(sql: str, fetch: str | None = None) -> Any:
        sql = sql.replace(f" {project.database}.{project.test_schema}.", f" {project.test_schema}.")
        for pattern, replacement in POSTGRES_SQL.items():
            sql = re.sub(pattern, replacement, sql)
        results = [run_sql(statement, fetch) for statement in sql.split(";") if statement.strip()]
        return results[-1] if results else None

    project.run_sql = run_in_clickhouse_sql
    return project


OF_A_VIEW = expected_catalog.no_stats()
OF_A_TABLE = {"has_stats": OF_A_VIEW["has_stats"] | {"value": True}} | {
    name: {"id": name, "label": AnyString(), "value": AnyInteger(), "description": AnyString(), "include": True}
    for name in ("rows", "bytes")
}

CATALOG = {
    "role": None,
    "id_type": "Int32",
    "text_type": "String",
    "time_type": "DateTime",
    "view_type": "view",
    "table_type": "table",
    "seed_stats": OF_A_TABLE,
}


class TestDocsGenerate(test_docs_generate.BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: TestProjInfo) -> Any:
        return expected_catalog.base_expected_catalog(project, model_stats=OF_A_VIEW, **CATALOG)


class TestDocsGenReferences(test_docs_generate.BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: TestProjInfo) -> Any:
        return expected_catalog.expected_references_catalog(
            project, bigint_type="UInt64", model_stats=OF_A_TABLE, view_summary_stats=OF_A_VIEW, **CATALOG
        )


class TestCatalogRelationTypes(relation_types.CatalogRelationTypes):
    @pytest.mark.parametrize(
        ("node_name", "relation_type"),
        [
            ("seed.test.my_seed", "table"),
            ("model.test.my_table", "table"),
            ("model.test.my_view", "view"),
            ("model.test.my_materialized_view", "table"),  # filled by a view next to it
        ],
    )
    def test_relation_types_populate_correctly(self, docs: Any, node_name: str, relation_type: str) -> None:
        super().test_relation_types_populate_correctly(docs, node_name, relation_type)


class TestShowDoesNotHandleDoubleLimit(test_dbt_show.BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "SYNTAX_ERROR"


class TestCloneSameSourceAndTarget(test_dbt_clone.BaseCloneSameSourceAndTarget):
    models = fixed(
        {
            "source_based_model.sql": clone_fixtures.source_based_model_sql,
            "source_schema.yml": clone_fixtures.source_schema_yml,
        }
    )
    snapshots = fixed({})  # The test clones without having made a snapshot.


class HooksInClickHouse(Hooks):
    """dbt sends `commit` before hooks outside a transaction, and ClickHouse rejects it."""

    target = ("clickhouse", "", "default")
    in_its_sql = fixed({"vacuum": "optimize table", "transaction: false": "transaction: true"})


globals().update(
    adapted(
        HooksInClickHouse,
        test_model_hooks.BasePrePostModelHooks,
        test_model_hooks.TestPrePostModelHooksUnderscores,
        test_model_hooks.BaseHookRefs,
        test_model_hooks.BasePrePostModelHooksInConfig,
        test_model_hooks.BasePrePostModelHooksInConfigWithCount,
        test_model_hooks.BasePrePostModelHooksInConfigKwargs,
        test_run_hooks.BasePrePostRunHooks,
    )
)


class SeedHooks:
    in_its_sql = fixed(
        {
            "update {{ this }} set": "alter table {{ this }} update",
            "new_col = 1": "new_col = 1 where true settings mutations_sync = 1",
            "null::{{ dbt.type_int() }}": "null::Nullable({{ dbt.type_int() }})",
        }
    )


globals().update(
    adapted(
        SeedHooks,
        test_model_hooks.BasePrePostModelHooksOnSeeds,
        test_model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixed,
        test_model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
        test_model_hooks.BasePrePostModelHooksOnSnapshots,
        test_model_hooks.BasePrePostSnapshotHooksInConfigKwargs,
    )
)


globals().update(adapted(OwnTarget, test_copy_uppercase.BaseSimpleCopyUppercase))


globals().update(adapted(ViewsStay, test_seed.BaseBasicSeedTests, test_seed.BaseSeedConfigFullRefreshOn))


class TestSimpleSeedColumnOverride(test_seed_type_override.BaseSimpleSeedColumnOverride):
    in_its_sql = fixed(
        {
            "type: text": "type: String",
            "type: date": "type: DateTime",
            "birthday: date": "birthday: DateTime",
            "type: integer": "type: Int32",
            "type: boolean": "type: Bool",
            "type: timestamp without time zone": "type: DateTime",
        }
    )


class TestSimpleSnapshot(test_snapshot.BaseSimpleSnapshot):
    """With a nullable key: dbt-clickhouse finds rows without a match by null in an outer join."""

    project_config_update = nullable_seeds(id="Int32")


globals().update(
    adapted(
        Caching,
        test_caching.BaseCachingLowercaseModel,
        test_caching.BaseCachingUppercaseModel,
        test_caching.BaseCachingSelectedSchemaOnly,
        test_caching.BaseNoPopulateCache,
    )
)


class TestUnitTestingTypes(test_types.BaseUnitTestingTypes):
    data_types = fixed(
        [
            ["1", "1"],
            ["'1'", "1"],
            ["true", "true"],
            ["1.25", "1.25"],
            ["toDate('2020-01-02')", "2020-01-02"],
            ["toDateTime('2013-11-03 00:00:00')", "2013-11-03 00:00:00"],
            ["toDecimal64(1.25, 2)", "1.25"],
            ["null::Nullable(Int32)", "null"],
            ["['a', 'b']", """ "['a', 'b']" """],
        ]
    )


class TestTypeBigInt(test_type_bigint.BaseTypeBigInt):
    in_its_sql = fixed({"select 9223372036854775800": "select toInt64(9223372036854775800)"})


class TestArrayAppend(test_array_append.BaseArrayAppend):
    in_its_sql = fixed({"array_construct([4])": "array_construct(['toInt32(4)'])"})


class TestArrayConcat(test_array_concat.BaseArrayConcat):
    in_its_sql = fixed({"id, {{ array_construct([2])": "id, {{ array_construct(['toInt32(2)'])"})


class TestCurrentTimestamps(test_timestamps.BaseCurrentTimestamps):
    expected_schema = fixed(
        {
            "current_timestamp": "DateTime",
            "current_timestamp_in_utc_backcompat": "DateTime",
            "current_timestamp_backcompat": "DateTime",
        }
    )
    expected_sql = fixed(
        """
        select now() as current_timestamp,
               current_timestamp::timestamp as current_timestamp_in_utc_backcompat,
               current_timestamp::timestamp as current_timestamp_backcompat
        """
    )


class TestDateSpine(test_date_spine.BaseDateSpine):
    in_its_sql = fixed({"'2023-09-": "date '2023-09-"})


class TestGetIntervalsBetween(test_get_intervals_between.BaseGetIntervalsBetween):
    in_its_sql = fixed({"'09/01/2023'": "date '2023-09-01'", "'09/12/2023'": "date '2023-09-12'"})


class TestDateAdd(test_dateadd.BaseDateAdd):
    in_its_sql = fixed(
        {": timestamp": ": Nullable(DateTime)", "{{ api.Column.translate_type('timestamp') }}": "Nullable(DateTime)"}
    )


class TestDateDiff(test_datediff.BaseDateDiff):
    project_config_update = nullable_seeds(first_date="DateTime", second_date="DateTime", result="Int64")
    in_its_sql = fixed(
        {
            "\"'1999-12-31 23:59:59.999999'\"": "\"toDateTime64('1999-12-31 23:59:59.999999', 6)\"",
            "00.000000'\"": "00', 6)\"",
            "\"'2000": "\"toDateTime64('2000",
        }
    )


class TestLastDay(test_last_day.BaseLastDay):
    project_config_update = nullable_seeds(date_day="Date", result="Date")


class TestReplace(test_replace.BaseReplace):
    """With texts to look for, because dbt-clickhouse accepts no columns."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        replaced = """
            select {{{{ replace('string_text', '{old}', '{new}') }}}} as actual, result as expected
            from {{{{ ref('data_replace') }}}} where search_chars = '{old}'
        """
        cases = (("a", "b"), ("http://", ""))
        return {
            "test_replace.yml": fixture_replace.models__test_replace_yml,
            "test_replace.sql": "union all".join(replaced.format(old=a, new=b) for a, b in cases),
        }


class TestSplitPart(test_split_part.BaseSplitPart):
    """With the same delimiter for all rows, as ClickHouse requires."""

    in_its_sql = fixed({"'split_on'": "\"'|'\""})


CONTRACT = {"data_type: integer": "data_type: Int32", "data_type: text": "data_type: String", "1 as": "toInt32(1) as"}


class Contract:
    """A contract in ClickHouse's types, which dbt-clickhouse compares by name."""

    in_its_sql = fixed(CONTRACT)


class ContractOfTypes(Contract):
    string_type = fixed("String")
    int_type = fixed("Int32")
    data_types = fixed(
        [
            ["toInt32(1)", "Int32", "Int32"],
            ["'1'", "String", "String"],
            ["true", "Bool", "Bool"],
            ["toDateTime('2013-11-03 00:00:00')", "DateTime", "DateTime"],
            ["['a', 'b']", "Array(String)", "Array(String)"],
            ["map('a', 1)", "Map(String, UInt8)", "Map(String, UInt8)"],
            ["toDecimal64(1.25, 2)", "Decimal(18, 2)", "Decimal(18, 2)"],
            ["null::Nullable(String)", "Nullable(String)", "Nullable(String)"],
        ]
    )


globals().update(
    adapted(
        ContractOfTypes,
        test_constraints.BaseTableConstraintsColumnsEqual,
        test_constraints.BaseViewConstraintsColumnsEqual,
        test_constraints.BaseIncrementalConstraintsColumnsEqual,
    )
)


globals().update(adapted(Contract, test_constraints.BaseIncrementalForeignKeyConstraint))


class BrokenCheck:
    """A row that violates a check; dbt-clickhouse ignores the constraints of columns."""

    in_its_sql = fixed(
        CONTRACT
        | {"enforced: true": "enforced: true\n    constraints: [{type: check, name: positive, expression: id > 0}]"}
    )
    expected_error_messages = fixed(["Constraint `positive`", "is violated at row 1"])


class TestConstraintsRollback(BrokenCheck, test_constraints.BaseConstraintsRollback):
    null_model_sql = fixed(
        """
        {{ config(materialized='table') }}
        select toInt32(0) as id, 'red' as color, '2019-01-01' as date_day
        """
    )


class TestIncrementalConstraintsRollback(BrokenCheck, test_constraints.BaseIncrementalConstraintsRollback):
    null_model_sql = fixed(
        """
        {{ config(materialized='incremental', on_schema_change='append_new_columns') }}
        select toInt32(0) as id, 'red' as color, '2019-01-01' as date_day
        """
    )


INSERT_IN_ORDER = fixed(
    """
    insert into <model_identifier> ("id", "color", "date_day")
    -- use a subquery to get columns in the right order
    select "id", "color", "date_day"
    from (
        -- depends_on: <foreign_key_model_identifier>
        select 'blue' as color, toInt32(1) as id, '2019-01-01' as date_day
    )
    """
)


class TestConstraintsRuntimeDdlEnforcement(Contract, test_constraints.BaseConstraintsRuntimeDdlEnforcement):
    expected_sql = INSERT_IN_ORDER


class TestIncrementalConstraintsRuntimeDdlEnforcement(
    Contract, test_constraints.BaseIncrementalConstraintsRuntimeDdlEnforcement
):
    expected_sql = INSERT_IN_ORDER


class TestModelConstraintsRuntimeEnforcement(test_constraints.BaseModelConstraintsRuntimeEnforcement):
    """With names for the checks, as dbt-clickhouse requires."""

    in_its_sql = fixed(
        CONTRACT
        | {
            "expression: (id > 0)": "name: positive\n        expression: (id > 0)",
            "expression: id >= 1": "name: at_least_one\n        expression: id >= 1",
        }
    )
    expected_sql = INSERT_IN_ORDER

    def test__model_constraints_ddl(self, project: TestProjInfo, expected_sql: str) -> None:
        super().test__model_constraints_ddl(project, expected_sql)
        ddl = project.run_sql("show create table {schema}.my_model", fetch="one")[0]
        assert "CONSTRAINT positive CHECK (id > 0)" in ddl
        assert "CONSTRAINT at_least_one CHECK (id >= 1)" in ddl


class TestConstraintQuotedColumn(test_constraints.BaseConstraintQuotedColumn):
    in_its_sql = fixed(CONTRACT | {"expression: (": "name: blue\n        expression: ("})
    expected_sql = fixed(
        """
        insert into <model_identifier> ("id", "from", "date_day")
        -- use a subquery to get columns in the right order
        select "id", "from", "date_day"
        from (
            select 'blue' as "from", toInt32(1) as id, '2019-01-01' as date_day
        )
        """
    )


class TestEphemeralMulti(test_ephemeral.BaseEphemeralMulti):
    """With the compiled model, where dbt-tests-adapter reads the text of PostgreSQL's view."""

    def test_ephemeral_multi(self, project: TestProjInfo) -> None:
        run_dbt(["seed"])
        assert len(run_dbt(["run"])) == 3
        for model in ("dependent", "double_dependent", "super_dependent"):
            check_relations_equal(project.adapter, ["seed", model])
        compiled = Path("target/compiled/test/models/double_dependent.sql").read_text()
        assert re.findall(r"(\w+) as \(", compiled) == ["__dbt__cte__base", "__dbt__cte__base_copy"]


class TestEphemeralNested(test_ephemeral.BaseEphemeralNested):
    """With the compiled model, where dbt-tests-adapter reads the text of PostgreSQL's view."""

    def test_ephemeral_nested(self, project: TestProjInfo) -> None:
        assert len(run_dbt(["run"])) == 2
        assert project.run_sql("select count() from {schema}.root_view", fetch="one")[0] == 2
        compiled = Path("target/compiled/test/models/root_view.sql").read_text()
        assert re.findall(r"(\w+) as \(", compiled) == ["__dbt__cte__ephemeral_level_two", "__dbt__cte__ephemeral"]


class TestIncrementalOnSchemaChange(test_incremental_on_schema_change.BaseIncrementalOnSchemaChange):
    """With `delete+insert`, because dbt-clickhouse's own strategy creates a table with only the new columns."""

    project_config_update = fixed({"models": {"+incremental_strategy": "delete+insert"}})
    in_its_sql = fixed({" as field3,": "::String as field3,", "NULL ELSE": "'' ELSE", "null else": "'' else"})

    def test_run_incremental_append_new_columns(self, project: TestProjInfo) -> None:
        """Without a model that loses a column, which dbt-clickhouse rejects here."""
        self.run_incremental_append_new_columns(project)

    def test_run_incremental_fail_on_schema_change(self, project: TestProjInfo) -> None:
        select = ["run", "--select", "model_a", "incremental_fail"]
        run_dbt([*select, "--full-refresh"])
        assert "are out of sync" in run_dbt(select, expect_pass=False)[1].message


class TestIncrementalUniqueKey(test_incremental_unique_id.BaseIncrementalUniqueKey):
    in_its_sql = fixed({"','20": "',date '20", "null,'20": "'',date '20"})


class TestMaterializedView(materialized_view.MaterializedViewBasic):
    """A table with the model's name, and a view that fills it."""

    @staticmethod
    def query_relation_type(project: TestProjInfo, relation: Any) -> Any:
        sql = f"""
            select multiIf(engine = 'MaterializedView', 'materialized_view', engine = 'View', 'view', 'table')
            from system.tables
            where database = '{relation.schema}' and name in ('{relation.identifier}', '{relation.identifier}_mv')
            order by name desc
        """
        return project.run_sql(sql, fetch="one")[0]


class TestStoreTestFailuresAsGeneric(store_test_failures.StoreTestFailuresAsGeneric):
    project_config_update = nullable_seeds(shirt="String")


class TestStoreTestFailures(test_store_test_failures.BaseStoreTestFailures):
    """In ClickHouse, the `id` of a filter would mean the null next to it."""

    in_its_sql = fixed({"{{ ref('people') }}\nwhere id in (3,4)": "{{ ref('people') }} p where p.id in (3, 4)"})

    def column_type_overrides(self) -> dict[str, Any]:
        counts = {"+column_types": {"n_records": "UInt64"}}
        keys = {"+column_types": {"id": "Nullable(Int32)"}}
        return {
            "expected_accepted_values": counts,
            "expected_unique_problematic_model_id": counts,
            "expected_not_null_problematic_model_id": keys,
        }


globals().update(classes_to_run(globals()))
