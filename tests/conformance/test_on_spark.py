"""dbt-tests-adapter on Spark: what is adapted to its SQL, and what is left out."""

from __future__ import annotations

import copy
import getpass
import re
from collections.abc import Iterator
from typing import Any

import pytest
from dbt.tests.adapter.aliases import test_aliases
from dbt.tests.adapter.basic import expected_catalog, test_docs_generate
from dbt.tests.adapter.caching import test_caching
from dbt.tests.adapter.catalog import relation_types
from dbt.tests.adapter.constraints import test_constraints
from dbt.tests.adapter.dbt_show import test_dbt_show
from dbt.tests.adapter.empty import test_empty
from dbt.tests.adapter.ephemeral import test_ephemeral
from dbt.tests.adapter.hooks import test_model_hooks, test_run_hooks
from dbt.tests.adapter.incremental import test_incremental_microbatch, test_incremental_on_schema_change
from dbt.tests.adapter.simple_copy import test_copy_uppercase
from dbt.tests.adapter.simple_seed import seeds, test_seed, test_seed_type_override
from dbt.tests.adapter.unit_testing import test_quoted_reserved_word_column_names, test_types
from dbt.tests.adapter.utils import test_datediff, test_get_intervals_between, test_listagg, test_timestamps
from dbt.tests.adapter.utils.data_types import test_type_float, test_type_int
from dbt.tests.fixtures.project import TestProjInfo
from dbt.tests.util import AnyInteger, check_relations_equal, run_dbt
from pyspark.sql import SparkSession

from tests.conformance.suite import Caching, Hooks, OwnTarget, ViewsStay, adapted, classes_to_run, fixed

ENGINE = "spark"

# What dbt-spark fails too, by reason: classes and "class::test", in which `*` stands for any text.
LEFT_OUT: dict[str, str] = {
    "dbt-spark has no databases above its schemas.": "aliases.test_aliases.BaseSameAliasDifferentDatabases",
    "dbt-spark has no catalog of a single relation.": "basic.test_get_catalog_for_single_relation.BaseGetCatalogForSingleRelation",
    "dbt-spark says it in other words.": "basic.test_incremental.BaseIncrementalBadStrategy",
    "dbt-spark has no snapshots of Parquet tables.": """
        basic.test_snapshot_check_cols.BaseSnapshotCheckCols basic.test_snapshot_timestamp.BaseSnapshotTimestamp
        hooks.test_model_hooks.BasePrePostModelHooksOnSnapshots
        hooks.test_model_hooks.BasePrePostSnapshotHooksInConfigKwargs simple_snapshot.*""",
    "It is there to be derived from, and has no project of its own.": """
        caching.test_caching.BaseCachingTest constraints.test_constraints.BaseConstraintsColumnsEqual
        constraints.test_constraints.BaseContractSqlHeader functions.test_js_udfs.* functions.test_udafs.UDAFBase
        materialized_view.changes.MaterializedViewChangesApplyMixin
        materialized_view.changes.MaterializedViewChangesContinueMixin
        materialized_view.changes.MaterializedViewChangesFailMixin
        utils.base_array_utils.BaseArrayUtils::test_expected_actual
        utils.data_types.base_data_type_macro.BaseDataTypeMacro""",
    "dbt-spark's columns do not know the names of Spark's types, `string` and `int` among them.": "column_types.test_column_types.BasePostgresColumnTypes",
    "dbt-spark gives constraints to Delta tables alone.": """
        constraints.test_constraints.BaseConstraintsRollback
        constraints.test_constraints.BaseConstraintsRuntimeDdlEnforcement
        constraints.test_constraints.BaseIncrementalConstraintsRollback
        constraints.test_constraints.BaseIncrementalConstraintsRuntimeDdlEnforcement
        constraints.test_constraints.BaseModelConstraintsRuntimeEnforcement""",
    "Spark runs one statement at a time, without a header of others.": """
        constraints.test_constraints.BaseIncrementalContractSqlHeader
        constraints.test_constraints.BaseTableContractSqlHeader""",
    "dbt-spark clones Delta tables alone.": """
        dbt_clone.test_dbt_clone.BaseCloneNotPossible dbt_clone.test_dbt_clone.BaseClonePossible
        dbt_clone.test_dbt_clone.BaseCloneSameSourceAndTarget dbt_clone.test_dbt_clone.TestPostgresCloneNotPossible""",
    "dbt 1.11 has no `dbt seed --empty`.": """
        empty.test_empty.BaseTestEmptySeedFlag::test_build_empty_with_seed
        empty.test_empty.BaseTestEmptySeedFlag::test_seed_empty_*""",
    "dbt-spark describes and alters tables, and `--empty` makes subqueries of them.": """
        empty.test_empty.MetadataWithEmptyFlag::test_run[alter_column_type]
        empty.test_empty.MetadataWithEmptyFlag::test_run[get_columns_in_relation]""",
    "dbt-spark has no functions.": """
        functions.test_udafs.BasicPythonUDAF functions.test_udafs.BasicSQLUDAF
        functions.test_udafs.PythonUDAFDefaultArgSupport functions.test_udfs.CanFindScalarFunctionRelation
        functions.test_udfs.DeterministicUDF functions.test_udfs.NonDeterministicUDF
        functions.test_udfs.PythonUDFDefaultArgSupport functions.test_udfs.PythonUDFSupported
        functions.test_udfs.PythonUDFVolatilitySupport functions.test_udfs.PythonUDFWithPackagesSupported
        functions.test_udfs.SqlUDFDefaultArgSupport functions.test_udfs.StableUDF functions.test_udfs.UDFsBasic""",
    "Spark's own catalog has no users and no grants.": "grants.*",
    "dbt-spark raises another error class.": "hooks.test_run_hooks.BaseAfterRunHooks",
    "dbt-spark updates and deletes rows by merge alone, which Parquet tables do not have.": """
        incremental.test_incremental_merge_exclude_columns.BaseMergeExcludeColumns
        incremental.test_incremental_predicates.*
        incremental.test_incremental_unique_id.BaseIncrementalUniqueKey::test__bad_*
        incremental.test_incremental_unique_id.BaseIncrementalUniqueKey::test__duplicated_unary_unique_key_list
        incremental.test_incremental_unique_id.BaseIncrementalUniqueKey::test__one_unique_key
        incremental.test_incremental_unique_id.BaseIncrementalUniqueKey::test__trinary_unique_key_list
        incremental.test_incremental_unique_id.BaseIncrementalUniqueKey::test__unary_unique_key_list
        python_model.test_python_model.BasePythonIncrementalTests""",
    "dbt-spark drops no columns.": "incremental.test_incremental_on_schema_change.BaseIncrementalOnSchemaChange::test_run_incremental_sync_all_columns",
    "Spark has materialized views in its pipelines only.": """
        materialized_view.basic.MaterializedViewBasic materialized_view.changes.MaterializedViewChanges
        simple_copy.test_simple_copy.SimpleCopyBase::test_simple_copy_with_materialized_views""",
    "dbt-spark's catalog has no comments.": """
        persist_docs.test_persist_docs.BasePersistDocs
        persist_docs.test_persist_docs.BasePersistDocsColumnMissing::test_missing_column
        persist_docs.test_persist_docs.BasePersistDocsCommentOnQuotedColumn""",
    "Koalas has no release for this Spark.": "python_model.test_spark.BasePySparkTests",
    "Spark's timestamps come without a zone: BaseCurrentTimestampNaive is the one for it.": "utils.test_current_timestamp.BaseCurrentTimestampAware::test_current_timestamp_type",
}

POSTGRES_NAMES: dict[str, str] = {}
# PostgreSQL's SQL in the statements of the tests themselves.
POSTGRES_SQL = {
    r"\bTEXT\b": "STRING",
    r"\bTIMESTAMP WITHOUT TIME ZONE\b": "TIMESTAMP",
    r'"(\w+)"': r"`\1`",
    r"'\d{4}-\d\d-\d\d'": r"date \g<0>",
    r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d'": r"timestamp \g<0>",
}


@pytest.fixture(scope="class")
def project(project: Any) -> Any:
    """Run the tests' own statements in Spark's SQL, one at a time."""
    run_sql = project.run_sql

    def run_in_spark_sql(sql: str, fetch: str | None = None) -> Any:
        sql = sql.replace(f"{project.database}.", "")
        for pattern, replacement in POSTGRES_SQL.items():
            sql = re.sub(pattern, replacement, sql)
        results = [run_sql(statement, fetch) for statement in sql.split(";")]
        return results[0]

    def get_tables_in_schema() -> dict[str, str]:
        with project.adapter.connection_named("__test"):
            relations = project.adapter.list_relations(project.database, project.test_schema)
            return {relation.identifier: relation.type for relation in relations}

    project.run_sql = run_in_spark_sql
    project.get_tables_in_schema = get_tables_in_schema
    return project


@pytest.fixture(scope="class", autouse=True)
def no_temporary_views() -> Iterator[None]:
    """Remove temporary views: one Spark session serves all tests, and dbt-spark leaves them there."""
    yield
    if session := SparkSession.getActiveSession():
        for table in session.catalog.listTables("default"):
            if table.isTemporary:
                session.catalog.dropTempView(table.name)


ALIASES = fixed({"'{{ s }}'::text": "cast('{{ s }}' as string)"})


class TestAliases(test_aliases.BaseAliases):
    in_its_sql = ALIASES


class TestSameAliasDifferentSchemas(test_aliases.BaseSameAliasDifferentSchemas):
    in_its_sql = ALIASES


CATALOG = {
    "role": getpass.getuser(),
    "id_type": "long",
    "text_type": "string",
    "time_type": "timestamp",
    "view_type": "view",
    "table_type": "table",
    "model_stats": expected_catalog.no_stats(),
}


class TestDocsGenerate(test_docs_generate.BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: TestProjInfo) -> Any:
        return expected_catalog.base_expected_catalog(project, **CATALOG)


class TestDocsGenReferences(test_docs_generate.BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: TestProjInfo) -> Any:
        catalog = expected_catalog.expected_references_catalog(project, bigint_type="long", **CATALOG)
        for node in (*catalog["nodes"].values(), *catalog["sources"].values()):
            del node["stats"]  # Spark reports the bytes of a table.
            for column in node["columns"].values():
                column["index"] = AnyInteger()  # dbt-spark counts from 0.
        return catalog


class TestCatalogRelationTypes(relation_types.CatalogRelationTypes):
    in_its_sql = fixed({"materialized_view": "view"})

    @pytest.mark.parametrize(
        ("node_name", "relation_type"),
        [("seed.test.my_seed", "table"), ("model.test.my_table", "table"), ("model.test.my_view", "view")],
    )
    def test_relation_types_populate_correctly(self, docs: Any, node_name: str, relation_type: str) -> None:
        super().test_relation_types_populate_correctly(docs, node_name, relation_type)


globals().update(
    adapted(
        Caching,
        test_caching.BaseCachingLowercaseModel,
        test_caching.BaseCachingUppercaseModel,
        test_caching.BaseCachingSelectedSchemaOnly,
        test_caching.BaseNoPopulateCache,
    )
)


class Contract:
    """With `file_format: parquet`: without it, dbt-spark assumes that tables with a contract are Delta's."""

    in_its_sql = fixed({"data_type: text": "data_type: string", '"from"': "`from`"})
    project_config_update = fixed({"models": {"+file_format": "parquet"}})
    string_type = fixed("string")
    int_type = fixed("int")
    data_types = fixed(
        [
            ["1", "int", "int"],
            ["'1'", "string", "string"],
            ["true", "boolean", "boolean"],
            ["date '2013-11-03'", "date", "date"],
            ["timestamp '2013-11-03 00:00:00'", "timestamp", "timestamp"],
            ["array('a', 'b')", "array<string>", "array<string>"],
            ["map('a', 1)", "map<string,int>", "map<string,int>"],
            ["1.25", "decimal(3,2)", "decimal(3,2)"],
        ]
    )


globals().update(
    adapted(
        Contract,
        test_constraints.BaseTableConstraintsColumnsEqual,
        test_constraints.BaseViewConstraintsColumnsEqual,
        test_constraints.BaseIncrementalConstraintsColumnsEqual,
    )
)


class TestConstraintQuotedColumn(Contract, test_constraints.BaseConstraintQuotedColumn):
    expected_sql = fixed(
        """
        create table <model_identifier> using parquet as
        select id, `from`, date_day
        from (select 'blue' as `from`, 1 as id, '2019-01-01' as date_day) as model_subq
        """
    )


globals().update(adapted(Contract, test_constraints.BaseIncrementalForeignKeyConstraint))


class TestShowDoesNotHandleDoubleLimit(test_dbt_show.BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "Syntax error at or near 'limit'"


class TestMetadataWithEmptyFlag(test_empty.MetadataWithEmptyFlag):
    """A column is added but not dropped again, which dbt-spark cannot do."""

    in_its_sql = fixed(
        {
            '"my_column", "varchar"': '"my_column", "string"',
            "{% do alter_relation_add_remove_columns(my_seed, none, [my_column]) %}": "",
        }
    )


class TestEphemeralMulti(test_ephemeral.BaseEphemeralMulti):
    def test_ephemeral_multi(self, project: TestProjInfo) -> None:
        run_dbt(["seed"])
        run_dbt(["run"])
        for model in ("dependent", "double_dependent", "super_dependent"):
            check_relations_equal(project.adapter, ["seed", model])


class TestEphemeralNested(test_ephemeral.BaseEphemeralNested):
    def test_ephemeral_nested(self, project: TestProjInfo) -> None:
        run_dbt(["run"])
        check_relations_equal(project.adapter, ["source_table", "root_view"])


class HooksInSpark(Hooks):
    target = ("spark", "", "")
    in_its_sql = fixed({"vacuum": "refresh table"})


globals().update(
    adapted(
        HooksInSpark,
        test_model_hooks.BasePrePostModelHooks,
        test_model_hooks.TestPrePostModelHooksUnderscores,
        test_model_hooks.BaseHookRefs,
        test_model_hooks.BasePrePostModelHooksInConfig,
        test_model_hooks.BasePrePostModelHooksInConfigWithCount,
        test_model_hooks.BasePrePostModelHooksInConfigKwargs,
    )
)


class TestPrePostRunHooks(HooksInSpark, test_run_hooks.BasePrePostRunHooks):
    in_its_sql = fixed({"schema text": "schema string", "db text": "db string"})

    def assert_used_schemas(self, project: Any) -> None:
        seen = copy.copy(project)
        seen.database = str(project.database)  # The hook records it as text.
        super().assert_used_schemas(seen)


class SeedHooks:
    in_its_sql = fixed(
        {
            "update {{ this }} set new_col = 1": "insert overwrite {{ this }} values (1, 2, 3, 1)",
            "select null::{{ dbt.type_int() }}": "select cast(null as {{ dbt.type_int() }})",
        }
    )


globals().update(
    adapted(
        SeedHooks,
        test_model_hooks.BasePrePostModelHooksOnSeeds,
        test_model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixed,
        test_model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    )
)


class TestMicrobatch(test_incremental_microbatch.BaseMicrobatch):
    """A batch overwrites its partitions."""

    in_its_sql = fixed(
        {
            "unique_key='id'": "file_format='parquet', partition_by='day'",
            "select * from {{ ref('input_model') }}": (
                "select *, cast(event_time as date) as day from {{ ref('input_model') }}"
            ),
        }
    )


class TestIncrementalOnSchemaChange(test_incremental_on_schema_change.BaseIncrementalOnSchemaChange):
    def test_run_incremental_append_new_columns(self, project: Any) -> None:
        self.run_incremental_append_new_columns(project)


globals().update(adapted(OwnTarget, test_copy_uppercase.BaseSimpleCopyUppercase))


globals().update(adapted(ViewsStay, test_seed.BaseBasicSeedTests, test_seed.BaseSeedConfigFullRefreshOn))


class TestSeedSpecificFormats(test_seed.BaseSeedSpecificFormats):
    """Without dots in a name, which Spark's catalog rejects. The big seed consists of texts, because for each number
    dbt-spark looks at all numbers of the column."""

    seeds = fixed(
        {
            "big_seed.csv": "\n".join(["seed_id", *(f"number {n}" for n in range(20_000))]),
            "seed_without_dots.csv": seeds.seed__with_dots_csv,
            "seed_unicode.csv": seeds.seed__unicode_csv,
        }
    )


class TestSimpleSeedColumnOverride(test_seed_type_override.BaseSimpleSeedColumnOverride):
    in_its_sql = fixed(
        {": text": ": string", "type: integer": "type: bigint", "timestamp without time zone": "timestamp"}
    )


class TestUnitTestQuotedReservedWordColumnNames(
    test_quoted_reserved_word_column_names.BaseUnitTestQuotedReservedWordColumnNames
):
    in_its_sql = fixed({'"GROUP"': "`GROUP`"})


class TestUnitTestingTypes(test_types.BaseUnitTestingTypes):
    data_types = fixed(
        [
            ["1", "1"],
            ["'1'", "1"],
            ["true", "true"],
            ["1.25", "1.25"],
            ["date '2020-01-02'", "2020-01-02"],
            ["timestamp '2013-11-03 00:00:00'", "2013-11-03 00:00:00"],
            ["array('a', 'b')", """ 'array("a", "b")' """],
            ["map('a', 1)", """ 'map("a", 1)' """],
            ["named_struct('a', 1)", """ 'named_struct("a", 1)' """],
        ]
    )


class TestTypeFloat(test_type_float.BaseTypeFloat):
    """The seed's values would give a double."""

    project_config_update = fixed({"seeds": {"+column_types": {"float_col": "float"}}})


class TestTypeInt(test_type_int.BaseTypeInt):
    """The seed's values would give a bigint."""

    project_config_update = fixed({"seeds": {"+column_types": {"int_col": "int"}}})


class TestDateDiff(test_datediff.BaseDateDiff):
    """A table, because the metastore cannot hold a view of this length."""

    project_config_update = fixed({"models": {"+materialized": "table"}})


class TestGetIntervalsBetween(test_get_intervals_between.BaseGetIntervalsBetween):
    in_its_sql = fixed({"09/01/2023": "2023-09-01", "09/12/2023": "2023-09-12"})


class TestListagg(test_listagg.BaseListagg):
    """Without an order, which dbt-spark rejects; tested only where the order does not matter."""

    in_its_sql = fixed(
        {
            ', "order by order_col"': ", none",
            "from data\n    group by": "from data\n    where group_col = 3\n    group by",
        }
    )


class TestCurrentTimestamps(test_timestamps.BaseCurrentTimestamps):
    expected_schema = fixed(
        {
            "current_timestamp": "timestamp",
            "current_timestamp_in_utc_backcompat": "timestamp",
            "current_timestamp_backcompat": "timestamp",
        }
    )
    expected_sql = fixed(
        """
        select current_timestamp() as current_timestamp,
               current_timestamp::timestamp as current_timestamp_in_utc_backcompat,
               current_timestamp::timestamp as current_timestamp_backcompat
        """
    )


globals().update(classes_to_run(globals()))
