"""dbt-tests-adapter on spark: what is adapted to its SQL, and what is left out."""

from __future__ import annotations

import copy
import getpass
import re
from collections.abc import Iterator
from pathlib import Path
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
from dbt.tests.adapter.incremental import (
    test_incremental_microbatch,
    test_incremental_on_schema_change,
)
from dbt.tests.adapter.simple_copy import test_copy_uppercase
from dbt.tests.adapter.simple_seed import seeds, test_seed, test_seed_type_override
from dbt.tests.adapter.unit_testing import test_quoted_reserved_word_column_names, test_types
from dbt.tests.adapter.utils import (
    test_datediff,
    test_get_intervals_between,
    test_listagg,
    test_timestamps,
)
from dbt.tests.adapter.utils.data_types import test_type_float, test_type_int
from dbt.tests.fixtures.project import TestProjInfo
from dbt.tests.util import AnyInteger, check_relations_equal, run_dbt
from pyspark.sql import SparkSession

from tests.conformance.suite import classes_to_run

ENGINE = "spark"

NO_SNAPSHOTS = "dbt-spark has no snapshots of Parquet tables."
NO_CLONES = "dbt-spark clones Delta tables alone."
NO_MERGE = "dbt-spark updates and deletes rows by merge alone, which Parquet tables do not have."
NO_CONSTRAINTS = "dbt-spark gives constraints to Delta tables alone."
NO_DROPPED_COLUMNS = "dbt-spark drops no columns."
NO_FUNCTIONS = "dbt-spark has no functions."
NO_GRANTS = "Spark's own catalog has no users and no grants."
NO_MATERIALIZED_VIEWS = "Spark has materialized views in its pipelines only."
NO_COMMENTS = "dbt-spark's catalog has no comments."
NO_KOALAS = "Koalas has no release for this Spark."
NO_STATEMENTS_IN_HEADER = "Spark runs one statement at a time, without a header of others."
NO_SUBQUERIES = "dbt-spark describes and alters tables, and `--empty` makes subqueries of them."
NO_DATABASES = "dbt-spark has no databases above its schemas."
OTHER_WORDS = "dbt-spark says it in other words."
OTHER_ERROR = "dbt-spark raises another error class."
OTHER_TYPES = (
    "dbt-spark's columns do not know the names of Spark's types, `string` and `int` among them."
)
TO_DERIVE_FROM = "It is there to be derived from, and has no project of its own."
NOT_IN_DBT = "dbt 1.11 has no `dbt seed --empty`."

# What dbt-spark does not pass either, by class or "class::test", with the reason.
LEFT_OUT: dict[str, str] = {
    "aliases.test_aliases.BaseSameAliasDifferentDatabases": NO_DATABASES,
    "basic.test_get_catalog_for_single_relation.BaseGetCatalogForSingleRelation": (
        "dbt-spark has no catalog of a single relation."
    ),
    "basic.test_incremental.BaseIncrementalBadStrategy": OTHER_WORDS,
    "basic.test_snapshot_check_cols.BaseSnapshotCheckCols": NO_SNAPSHOTS,
    "basic.test_snapshot_timestamp.BaseSnapshotTimestamp": NO_SNAPSHOTS,
    "caching.test_caching.BaseCachingTest": TO_DERIVE_FROM,
    "column_types.test_column_types.BasePostgresColumnTypes": OTHER_TYPES,
    "constraints.test_constraints.BaseConstraintsColumnsEqual": TO_DERIVE_FROM,
    "constraints.test_constraints.BaseConstraintsRollback": NO_CONSTRAINTS,
    "constraints.test_constraints.BaseConstraintsRuntimeDdlEnforcement": NO_CONSTRAINTS,
    "constraints.test_constraints.BaseContractSqlHeader": TO_DERIVE_FROM,
    "constraints.test_constraints.BaseIncrementalConstraintsRollback": NO_CONSTRAINTS,
    "constraints.test_constraints.BaseIncrementalConstraintsRuntimeDdlEnforcement": NO_CONSTRAINTS,
    "constraints.test_constraints.BaseIncrementalContractSqlHeader": NO_STATEMENTS_IN_HEADER,
    "constraints.test_constraints.BaseModelConstraintsRuntimeEnforcement": NO_CONSTRAINTS,
    "constraints.test_constraints.BaseTableContractSqlHeader": NO_STATEMENTS_IN_HEADER,
    "dbt_clone.test_dbt_clone.BaseCloneNotPossible": NO_CLONES,
    "dbt_clone.test_dbt_clone.BaseClonePossible": NO_CLONES,
    "dbt_clone.test_dbt_clone.BaseCloneSameSourceAndTarget": NO_CLONES,
    "dbt_clone.test_dbt_clone.TestPostgresCloneNotPossible": NO_CLONES,
    "empty.test_empty.BaseTestEmptySeedFlag::test_build_empty_with_seed": NOT_IN_DBT,
    "empty.test_empty.BaseTestEmptySeedFlag::test_seed_empty_creates_table_with_zero_rows": (
        NOT_IN_DBT
    ),
    "empty.test_empty.BaseTestEmptySeedFlag::test_seed_empty_preserves_column_types": NOT_IN_DBT,
    "empty.test_empty.MetadataWithEmptyFlag::test_run[alter_column_type]": NO_SUBQUERIES,
    "empty.test_empty.MetadataWithEmptyFlag::test_run[get_columns_in_relation]": NO_SUBQUERIES,
    "functions.test_js_udfs.BasicJSAggregateUDF": TO_DERIVE_FROM,
    "functions.test_js_udfs.BasicJSUDF": TO_DERIVE_FROM,
    "functions.test_js_udfs.JSAggregateUDFVolatilityIgnored": TO_DERIVE_FROM,
    "functions.test_js_udfs.JSUDFDefaultArgSupport": TO_DERIVE_FROM,
    "functions.test_js_udfs.JSUDFDeterministicVolatility": TO_DERIVE_FROM,
    "functions.test_js_udfs.JSUDFMultiLineBody": TO_DERIVE_FROM,
    "functions.test_js_udfs.JSUDFNonDeterministicVolatility": TO_DERIVE_FROM,
    "functions.test_js_udfs.JSUDFStableVolatilityWarns": TO_DERIVE_FROM,
    "functions.test_udafs.BasicPythonUDAF": NO_FUNCTIONS,
    "functions.test_udafs.BasicSQLUDAF": NO_FUNCTIONS,
    "functions.test_udafs.PythonUDAFDefaultArgSupport": NO_FUNCTIONS,
    "functions.test_udafs.UDAFBase": TO_DERIVE_FROM,
    "functions.test_udfs.CanFindScalarFunctionRelation": NO_FUNCTIONS,
    "functions.test_udfs.DeterministicUDF": NO_FUNCTIONS,
    "functions.test_udfs.NonDeterministicUDF": NO_FUNCTIONS,
    "functions.test_udfs.PythonUDFDefaultArgSupport": NO_FUNCTIONS,
    "functions.test_udfs.PythonUDFSupported": NO_FUNCTIONS,
    "functions.test_udfs.PythonUDFVolatilitySupport": NO_FUNCTIONS,
    "functions.test_udfs.PythonUDFWithPackagesSupported": NO_FUNCTIONS,
    "functions.test_udfs.SqlUDFDefaultArgSupport": NO_FUNCTIONS,
    "functions.test_udfs.StableUDF": NO_FUNCTIONS,
    "functions.test_udfs.UDFsBasic": NO_FUNCTIONS,
    "grants.test_incremental_grants.BaseIncrementalGrants": NO_GRANTS,
    "grants.test_invalid_grants.BaseInvalidGrants": NO_GRANTS,
    "grants.test_model_grants.BaseModelGrants": NO_GRANTS,
    "grants.test_seed_grants.BaseSeedGrants": NO_GRANTS,
    "grants.test_snapshot_grants.BaseSnapshotGrants": NO_GRANTS,
    "hooks.test_model_hooks.BasePrePostModelHooksOnSnapshots": NO_SNAPSHOTS,
    "hooks.test_model_hooks.BasePrePostSnapshotHooksInConfigKwargs": NO_SNAPSHOTS,
    "hooks.test_run_hooks.BaseAfterRunHooks": OTHER_ERROR,
    "incremental.test_incremental_merge_exclude_columns.BaseMergeExcludeColumns": NO_MERGE,
    "incremental.test_incremental_on_schema_change.BaseIncrementalOnSchemaChange::"
    "test_run_incremental_sync_all_columns": NO_DROPPED_COLUMNS,
    "incremental.test_incremental_predicates.BaseIncrementalPredicates": NO_MERGE,
    "incremental.test_incremental_predicates.TestPredicatesDeleteInsert": NO_MERGE,
    **{
        f"incremental.test_incremental_unique_id.BaseIncrementalUniqueKey::{test}": NO_MERGE
        for test in (
            "test__bad_unique_key",
            "test__bad_unique_key_list",
            "test__duplicated_unary_unique_key_list",
            "test__one_unique_key",
            "test__trinary_unique_key_list",
            "test__unary_unique_key_list",
        )
    },
    "materialized_view.basic.MaterializedViewBasic": NO_MATERIALIZED_VIEWS,
    "materialized_view.changes.MaterializedViewChanges": NO_MATERIALIZED_VIEWS,
    "materialized_view.changes.MaterializedViewChangesApplyMixin": TO_DERIVE_FROM,
    "materialized_view.changes.MaterializedViewChangesContinueMixin": TO_DERIVE_FROM,
    "materialized_view.changes.MaterializedViewChangesFailMixin": TO_DERIVE_FROM,
    "persist_docs.test_persist_docs.BasePersistDocs": NO_COMMENTS,
    "persist_docs.test_persist_docs.BasePersistDocsColumnMissing::test_missing_column": NO_COMMENTS,
    "persist_docs.test_persist_docs.BasePersistDocsCommentOnQuotedColumn": NO_COMMENTS,
    "python_model.test_python_model.BasePythonIncrementalTests": NO_MERGE,
    "python_model.test_spark.BasePySparkTests": NO_KOALAS,
    "simple_copy.test_simple_copy.SimpleCopyBase::test_simple_copy_with_materialized_views": (
        NO_MATERIALIZED_VIEWS
    ),
    "simple_snapshot.new_record_check_mode.BaseSnapshotNewRecordCheckMode": NO_SNAPSHOTS,
    "simple_snapshot.new_record_dbt_valid_to_current.BaseSnapshotNewRecordDbtValidToCurrent": (
        NO_SNAPSHOTS
    ),
    "simple_snapshot.new_record_timestamp_mode.BaseSnapshotNewRecordTimestampMode": NO_SNAPSHOTS,
    **{
        f"simple_snapshot.test_ephemeral_snapshot_hard_deletes.{test_class}": NO_SNAPSHOTS
        for test_class in (
            "BaseSnapshotEphemeralHardDeletes",
            "BaseSnapshotNewColumnSpecificCheckCols",
            "BaseSnapshotNewColumnTimestampStrategy",
            "BaseSnapshotNewColumnWithDeletes",
        )
    },
    "simple_snapshot.test_snapshot.BaseSimpleSnapshot": NO_SNAPSHOTS,
    "simple_snapshot.test_snapshot.BaseSnapshotCheck": NO_SNAPSHOTS,
    "simple_snapshot.test_various_configs.BaseSnapshotColumnNames": NO_SNAPSHOTS,
    "simple_snapshot.test_various_configs.BaseSnapshotColumnNamesFromDbtProject": NO_SNAPSHOTS,
    "simple_snapshot.test_various_configs.BaseSnapshotDbtValidToCurrent": NO_SNAPSHOTS,
    "simple_snapshot.test_various_configs.BaseSnapshotInvalidColumnNames": NO_SNAPSHOTS,
    "simple_snapshot.test_various_configs.BaseSnapshotMultiUniqueKey": NO_SNAPSHOTS,
    "utils.base_array_utils.BaseArrayUtils::test_expected_actual": TO_DERIVE_FROM,
    "utils.data_types.base_data_type_macro.BaseDataTypeMacro": TO_DERIVE_FROM,
    "utils.test_current_timestamp.BaseCurrentTimestampAware::test_current_timestamp_type": (
        "Spark's timestamps come without a zone: BaseCurrentTimestampNaive is the one for it."
    ),
}

# What the statements of the tests themselves have of PostgreSQL's SQL.
POSTGRES_SQL = {
    r"\bTEXT\b": "STRING",
    r"\bTIMESTAMP WITHOUT TIME ZONE\b": "TIMESTAMP",
    r'"(\w+)"': r"`\1`",
    r"'\d{4}-\d\d-\d\d'": r"date \g<0>",
    r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d'": r"timestamp \g<0>",
}


def fixed(value: Any) -> Any:
    """A fixture of a class that is always ``value``."""
    return pytest.fixture(scope="class")(lambda self: value)


@pytest.fixture(scope="class")
def project(project: Any) -> Any:
    """Runs the tests' own statements in Spark's SQL, and one at a time."""
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


@pytest.fixture(scope="class")
def in_spark() -> dict[str, str]:
    """What a class finds in the files of its project, and what it needs in Spark's SQL."""
    return {}


@pytest.fixture(scope="class")
def project_files(project_files: None, project_root: Path, in_spark: dict[str, str]) -> None:
    for path in Path(project_root).rglob("*.*"):
        text = path.read_text()
        for found, replacement in in_spark.items():
            text = text.replace(found, replacement)
        path.write_text(text)


@pytest.fixture(scope="class", autouse=True)
def no_temporary_views() -> Iterator[None]:
    """One Spark session serves all tests, and dbt-spark leaves its temporary views there."""
    yield
    if session := SparkSession.getActiveSession():
        for table in session.catalog.listTables("default"):
            if table.isTemporary:
                session.catalog.dropTempView(table.name)


ALIASES = fixed({"'{{ s }}'::text": "cast('{{ s }}' as string)"})


class TestAliases(test_aliases.BaseAliases):
    in_spark = ALIASES


class TestSameAliasDifferentSchemas(test_aliases.BaseSameAliasDifferentSchemas):
    in_spark = ALIASES


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
        catalog = expected_catalog.expected_references_catalog(
            project, bigint_type="long", **CATALOG
        )
        for node in (*catalog["nodes"].values(), *catalog["sources"].values()):
            del node["stats"]  # Of a table, Spark says how many bytes it has.
            for column in node["columns"].values():
                column["index"] = AnyInteger()  # dbt-spark counts from 0.
        return catalog


class TestCatalogRelationTypes(relation_types.CatalogRelationTypes):
    in_spark = fixed({"materialized_view": "view"})

    @pytest.mark.parametrize(
        ("node_name", "relation_type"),
        [
            ("seed.test.my_seed", "table"),
            ("model.test.my_table", "table"),
            ("model.test.my_view", "view"),
        ],
    )
    def test_relation_types_populate_correctly(
        self, docs: Any, node_name: str, relation_type: str
    ) -> None:
        super().test_relation_types_populate_correctly(docs, node_name, relation_type)


class Caching:
    """The cache of dbt-spark, whose keys have no database."""

    def run_and_inspect_cache(self, project: TestProjInfo, run_args: Any = None) -> None:
        run_dbt(run_args)
        (created,) = project.adapter.cache.relations
        run_dbt(run_args)
        (found,) = project.adapter.cache.relations
        assert created.schema == found.schema == project.test_schema
        assert created.identifier == found.identifier


class TestCachingLowercaseModel(Caching, test_caching.BaseCachingLowercaseModel):
    pass


class TestCachingUppercaseModel(Caching, test_caching.BaseCachingUppercaseModel):
    pass


class TestCachingSelectedSchemaOnly(Caching, test_caching.BaseCachingSelectedSchemaOnly):
    pass


class TestNoPopulateCache(Caching, test_caching.BaseNoPopulateCache):
    pass


class Contract:
    """Without `file_format: parquet`, dbt-spark takes tables with a contract for Delta's."""

    in_spark = fixed({"data_type: text": "data_type: string", '"from"': "`from`"})
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


class TestTableConstraintsColumnsEqual(Contract, test_constraints.BaseTableConstraintsColumnsEqual):
    pass


class TestViewConstraintsColumnsEqual(Contract, test_constraints.BaseViewConstraintsColumnsEqual):
    pass


class TestIncrementalConstraintsColumnsEqual(
    Contract, test_constraints.BaseIncrementalConstraintsColumnsEqual
):
    pass


class TestConstraintQuotedColumn(Contract, test_constraints.BaseConstraintQuotedColumn):
    expected_sql = fixed(
        """
        create table <model_identifier> using parquet as
        select id, `from`, date_day
        from (select 'blue' as `from`, 1 as id, '2019-01-01' as date_day) as model_subq
        """
    )


class TestIncrementalForeignKeyConstraint(
    Contract, test_constraints.BaseIncrementalForeignKeyConstraint
):
    pass


class TestShowDoesNotHandleDoubleLimit(test_dbt_show.BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "Syntax error at or near 'limit'"


class TestMetadataWithEmptyFlag(test_empty.MetadataWithEmptyFlag):
    """A column is added, and not dropped again, which dbt-spark cannot."""

    in_spark = fixed(
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


class Hooks:
    """Hooks that write down what they see of the target, which is Spark's."""

    in_spark = fixed({"vacuum": "refresh table"})

    def check_hooks(self, *args: Any, **count: Any) -> None:
        state, project, _ = args
        super().check_hooks(state, project, "localhost", **count)  # type: ignore[misc]

    def get_ctx_vars(self, *args: Any, **kwargs: Any) -> Any:
        found = super().get_ctx_vars(*args, **kwargs)  # type: ignore[misc]
        return [_on_postgres(row) for row in found] if type(found) is list else _on_postgres(found)


def _on_postgres(context: dict[str, Any]) -> dict[str, Any]:
    """What a hook on PostgreSQL would have written down."""
    seen = (context["target_type"], context["target_dbname"], context["target_user"])
    assert seen == ("spark", "", "")
    return {
        **context,
        "target_type": "postgres",
        "target_dbname": "dbt",
        "target_user": "root",
    }


class TestPrePostModelHooks(Hooks, test_model_hooks.BasePrePostModelHooks):
    pass


class TestPrePostModelHooksUnderscores(Hooks, test_model_hooks.TestPrePostModelHooksUnderscores):
    pass


class TestHookRefs(Hooks, test_model_hooks.BaseHookRefs):
    pass


class TestPrePostModelHooksInConfig(Hooks, test_model_hooks.BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(
    Hooks, test_model_hooks.BasePrePostModelHooksInConfigWithCount
):
    pass


class TestPrePostModelHooksInConfigKwargs(
    Hooks, test_model_hooks.BasePrePostModelHooksInConfigKwargs
):
    pass


class TestPrePostRunHooks(Hooks, test_run_hooks.BasePrePostRunHooks):
    in_spark = fixed({"schema text": "schema string", "db text": "db string"})

    def assert_used_schemas(self, project: Any) -> None:
        seen = copy.copy(project)
        seen.database = str(project.database)  # The hook writes it down as a text.
        super().assert_used_schemas(seen)


SEED_HOOKS = fixed(
    {
        "update {{ this }} set new_col = 1": "insert overwrite {{ this }} values (1, 2, 3, 1)",
        "select null::{{ dbt.type_int() }}": "select cast(null as {{ dbt.type_int() }})",
    }
)


class TestPrePostModelHooksOnSeeds(test_model_hooks.BasePrePostModelHooksOnSeeds):
    in_spark = SEED_HOOKS


class TestPrePostModelHooksOnSeedsPlusPrefixed(
    test_model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixed
):
    in_spark = SEED_HOOKS


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(
    test_model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace
):
    in_spark = SEED_HOOKS


class TestMicrobatch(test_incremental_microbatch.BaseMicrobatch):
    """A batch overwrites its partitions."""

    in_spark = fixed(
        {
            "unique_key='id'": "file_format='parquet', partition_by='day'",
            "select * from {{ ref('input_model') }}": (
                "select *, cast(event_time as date) as day from {{ ref('input_model') }}"
            ),
        }
    )


class TestIncrementalOnSchemaChange(
    test_incremental_on_schema_change.BaseIncrementalOnSchemaChange
):
    def test_run_incremental_append_new_columns(self, project: Any) -> None:
        self.run_incremental_append_new_columns(project)


class TestSimpleCopyUppercase(test_copy_uppercase.BaseSimpleCopyUppercase):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        return dbt_profile_target


class ViewsStay:
    """When a table is dropped, Spark leaves the views that read it."""

    def _check_relation_end_state(self, *args: Any, **kwargs: Any) -> None:
        kwargs["exists"] = True
        super()._check_relation_end_state(*args, **kwargs)  # type: ignore[misc]


class TestBasicSeedTests(ViewsStay, test_seed.BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(ViewsStay, test_seed.BaseSeedConfigFullRefreshOn):
    pass


class TestSeedSpecificFormats(test_seed.BaseSeedSpecificFormats):
    """Without dots in a name, which Spark's catalog refuses. The big seed is of texts: for each
    number, dbt-spark looks at all numbers of the column."""

    seeds = fixed(
        {
            "big_seed.csv": "\n".join(["seed_id", *(f"number {n}" for n in range(20_000))]),
            "seed_without_dots.csv": seeds.seed__with_dots_csv,
            "seed_unicode.csv": seeds.seed__unicode_csv,
        }
    )


class TestSimpleSeedColumnOverride(test_seed_type_override.BaseSimpleSeedColumnOverride):
    in_spark = fixed(
        {
            ": text": ": string",
            "type: integer": "type: bigint",
            "timestamp without time zone": "timestamp",
        }
    )


class TestUnitTestQuotedReservedWordColumnNames(
    test_quoted_reserved_word_column_names.BaseUnitTestQuotedReservedWordColumnNames
):
    in_spark = fixed({'"GROUP"': "`GROUP`"})


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
    """The seed's values would make a double."""

    project_config_update = fixed({"seeds": {"+column_types": {"float_col": "float"}}})


class TestTypeInt(test_type_int.BaseTypeInt):
    """The seed's values would make a bigint."""

    project_config_update = fixed({"seeds": {"+column_types": {"int_col": "int"}}})


class TestDateDiff(test_datediff.BaseDateDiff):
    """A table: the metastore has no room for a view that is so long."""

    project_config_update = fixed({"models": {"+materialized": "table"}})


class TestGetIntervalsBetween(test_get_intervals_between.BaseGetIntervalsBetween):
    in_spark = fixed({"09/01/2023": "2023-09-01", "09/12/2023": "2023-09-12"})


class TestListagg(test_listagg.BaseListagg):
    """Without an order, which dbt-spark refuses: only where it does not matter."""

    in_spark = fixed(
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
