"""What tests need, how long they may take, and the tests' options."""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from dbt_common.tests import enable_test_caching
from xdist.scheduler import LoadFileScheduling

from tests.support.budget import Budget, read_record, tier_of

# Many small projects share the macros. With this cache, which dbt has for its own tests, each macro is parsed only
# once.
enable_test_caching()
# Most objects that dbt creates live until its command ends. Scanning them every 700 objects takes a sixth of the time.
gc.set_threshold(50_000, 10, 10)
# The tests often start Spark, with little data: optimizing its code takes longer than it saves. Java would then reserve
# only 48 MB for compiled code, which Spark fills, instead of its usual 240.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m")

# What the tests of a folder or file need; the first match counts.
NEEDS = {
    "tests/macros/": "fast",
    "tests/model/": "fast",
    "tests/docs/test_documents.py": "fast",
    "tests/docs/test_errors.py": "fast",
    "tests/docs/test_readme.py": "engine",
    "tests/docs/test_guides.py": "engine",
    "tests/docs/test_traps.py": "engine",
    "plugins/dbt-spark-clickhouse/tests/unit/": "fast",
    "plugins/sqlfluff-plugin-versioned-collapsing/tests/test_corpus.py": "engine",
    "plugins/sqlfluff-plugin-versioned-collapsing/tests/test_statements.py": "engine",
    "plugins/sqlfluff-plugin-versioned-collapsing/tests/": "fast",
    "plugins/sink-conformance/tests/": "fast",
    "tests/support/test_budget.py": "fast",
    "tests/support/": "engine",
    "tests/materialization/": "engine",
    "tests/faults/": "engine",
    "tests/release/": "engine",
    "tests/bridges/": "engine",
    "tests/conformance/test_on_clickhouse.py": "engine",
    "tests/invariants/test_across_engines.py": "spark",
    "tests/invariants/": "engine",
    "tests/change_sets/": "spark",
    "tests/browser/": "spark",
    "tests/cluster/": "spark",
    "tests/conformance/": "spark",
    "tests/docs/": "spark",
    "tests/end_to_end/": "spark",
    "tests/formats/": "spark",
    "tests/portability/": "fast",
    "tests/shop_stream/": "fast",
    "plugins/dbt-spark-clickhouse/tests/functional/": "spark",
}
# What `make test` leaves to `make test-all`, and which part of it `make test` runs, by folder, file, test or case. The
# tests in LONG are for `make soak`.
ALL = {
    "plugins/dbt-spark-clickhouse/tests/functional/test_builds.py": (
        "the shop on both engines; one engine's nodes, in `make conformance`"
    ),
    "plugins/dbt-spark-clickhouse/tests/functional/test_commands.py": (
        "dbt's commands on each engine, in `make conformance`"
    ),
    "plugins/dbt-spark-clickhouse/tests/functional/test_elsewhere.py": (
        "dbt's tests of retry, clone, defer, sample and empty, in `make conformance`"
    ),
    "plugins/dbt-spark-clickhouse/tests/functional/test_ends.py": (
        "what ends the work of each engine, in unit/test_cancelling.py; what stays locked, in unit/test_store.py"
    ),
    "plugins/dbt-spark-clickhouse/tests/functional/test_hand_off.py": (
        "the same errors, in unit/test_hand_off.py and unit/test_receipt.py"
    ),
    "plugins/dbt-spark-clickhouse/tests/functional/test_progress.py": (
        "the line that a terminal shows, in unit/test_progress.py"
    ),
    "plugins/dbt-spark-clickhouse/tests/functional/test_python_models.py": "a Python model, in the shop",
    "plugins/dbt-spark-clickhouse/tests/functional/test_types.py": "edge values of every type, in test_values.py",
    "plugins/dbt-spark-clickhouse/tests/functional/test_table_folders.py": (
        "the files of a table are those of its receipt, in unit/test_receipt.py"
    ),
    "plugins/sqlfluff-plugin-versioned-collapsing/tests/test_corpus.py": "each rule, in test_rules.py",
    "tests/bridges/test_cases.py::test_a_landing_table_that_was": "a raw table that forgets is noticed",
    "tests/bridges/test_shop.py": "each tool's rows, in test_cases.py and test_events.py",
    "tests/change_sets/test_extracts.py": "an extract, in test_change_sets.py",
    "tests/change_sets/test_lakes.py": "what is missing, in test_what_is_missing.py of the adapter",
    "tests/change_sets/test_positions.py::test_a_new_slot": "`two_slots`, in test_change_sets.py",
    "tests/change_sets/test_positions.py::test_a_transaction_is_open": "`open_transaction`, in test_change_sets.py",
    "tests/change_sets/test_positions.py::test_no_position[parse_": "what has no position, with `parse`",
    "tests/change_sets/test_positions.py::test_races_that_debezium_has_recorded[0]": "the same races to their end",
    "tests/change_sets/test_positions.py::test_streams_that_debezium_has_recorded[postgresql_incremental": (
        "the same stream's truncates"
    ),
    "tests/change_sets/test_unchanged.py": "a run without new batches starts no Spark, in test_shop.py",
    "tests/change_sets/test_values.py": (
        "edge values of every type, in test_values.py of the adapter; broken ones, in test_change_sets.py"
    ),
    "tests/docs/test_guides.py::test_guide[docs/deletes": "each option of the page, in tests/materialization",
    "tests/docs/test_guides.py::test_guide[docs/history.md]": "what the page shows, in test_history.py",
    "tests/docs/test_guides.py::test_guide[docs/how_a_run_works.md]": "runs that died, in tests/materialization",
    "tests/docs/test_guides.py::test_guide[docs/operating.md]": (
        "each operation, in test_operations.py and test_reconcile.py"
    ),
    "tests/docs/test_guides.py::test_guide[docs/scaling.md]": "each option of the page, in tests/materialization",
    "tests/docs/test_other_tools.py": "each tool's shape, in test_dialects.py",
    "tests/docs/test_your_project.py": "other pages that are run, in test_guides.py",
    "tests/end_to_end/test_changing_files.py": "files that change between runs, in test_batches.py",
    "tests/end_to_end/test_cluster.py": "ClickHouse behind HTTP that is sent Spark's rows, in test_push.py",
    "tests/end_to_end/test_deaths_on_spark.py": (
        "deaths at a statement, in test_deaths.py; what ends each engine, in unit/test_cancelling.py of the adapter"
    ),
    "tests/end_to_end/test_follow.py": "its steps, in test_follow.py and test_watched.py of the adapter",
    "tests/end_to_end/test_forget.py": (
        "ClickHouse, in tests/materialization/test_forget.py; lines of files, in unit/test_blanking.py of the adapter"
    ),
    "tests/end_to_end/test_hostile.py": "hostile names and values, in tests/materialization/test_hostile.py",
    "tests/end_to_end/test_package.py": "the macros in a project without this one's models, in tests/materialization",
    "tests/end_to_end/test_responses.py": "the ledger's figures, in test_shop.py and test_balance.py",
    "tests/end_to_end/test_shop.py::test_one_batch_at_a_time": "the shop on the stream of the repository, in two runs",
    "tests/end_to_end/test_spark_connect.py": "its errors and its profile, in test_spark_connect.py of the adapter",
    "tests/end_to_end/test_start.py": "what the starter writes, in tests/materialization/test_start.py",
    "tests/faults/": "deaths at a statement, and the same histories without faults, in tests/materialization",
    "tests/invariants/test_across_engines.py": "the rows of PostgreSQL, in the shop",
    **dict.fromkeys(
        (f"tests/invariants/test_column_names.py::test_{name}" for name in ("generic", "operations", "sign_aware")),
        "names beside columns are reserved; hostile names, in tests/materialization/test_hostile.py",
    ),
    "tests/invariants/test_multisets.py": "the medians of the shop",
    "tests/invariants/test_semantic_models.py::test_the_metrics": "each wrong measure is found",
    "tests/materialization/test_balance.py::test_a_change_set_that_does_not_tell": (
        "change sets that tell, and what the ledger lacks"
    ),
    "tests/materialization/test_chunks.py": "chunks, in test_deaths.py and test_history.py",
    "tests/materialization/test_clock.py::test_the_lock": "locks of dead runs, in test_lock.py",
    "tests/materialization/test_combine.py::test_a_fold_equals": "each way to combine, for one key and for a fold",
    "tests/materialization/test_commands.py::test_clone": "a table that was made by hand, in test_atomic.py",
    "tests/materialization/test_errors.py::test_messages_of_a_rebuild": (
        "the messages, in tests/macros/test_messages.py"
    ),
    "tests/materialization/test_feed.py::test_a_dead_rebuild": "what a dead run left is not taken for the next apply",
    "tests/materialization/test_feed.py::test_a_ledger_from_a_backup": (
        "a view that lacks rows of its feed is filled again"
    ),
    "tests/materialization/test_feed.py::test_a_renamed_model": "the feed's numbers, in the next apply",
    "tests/materialization/test_feed.py::test_what_a_dead_run_left_is_not_taken_for_a_rebuild": (
        "the same in the next apply"
    ),
    "tests/materialization/test_histories.py::test_random_histories[chunked": (
        "chunks, in test_deaths.py and test_history.py"
    ),
    "tests/materialization/test_history.py::test_a_history_of_runs_that_died": (
        "a history, and deaths in test_deaths.py"
    ),
    "tests/materialization/test_history.py::test_a_history_with_gaps": (
        "a history, and a view that sees that a feed was off"
    ),
    "tests/materialization/test_history.py::test_how_the_macros_are_used": "what they return, in a random history",
    "tests/materialization/test_history.py::test_rows_of_others": "rows of another writer, in test_feed.py",
    "tests/materialization/test_hostile.py::TestNames::test_operations": "operations, in test_operations.py",
    "tests/materialization/test_hostile.py::test_messages_show": (
        "messages with a key, in tests/macros/test_messages.py"
    ),
    "tests/materialization/test_journal.py::test_a_part_that_is_noted": "deaths with a journal, in test_deaths.py",
    "tests/materialization/test_journal.py::test_a_view_on": "a view that is new stops the completion",
    "tests/materialization/test_journal.py::test_a_view_that_is_altered": "a view that is new stops the completion",
    "tests/materialization/test_life.py": "random histories with deaths, in test_histories.py",
    "tests/materialization/test_lock.py::test_a_second_run_leaves": "of runs that start at once, each applies or stops",
    "tests/materialization/test_lock.py::test_of_two_runs": "a lock that another run has made meanwhile goes back",
    "tests/materialization/test_lock.py::test_views_of_one_table": "runs of one table leave it to each other",
    "tests/materialization/test_lookup.py::test_every_state_that_changes_is_cancelled[many]": (
        "random histories, in test_histories.py"
    ),
    "tests/materialization/test_moving.py": "tables that were made by hand, in test_atomic.py",
    "tests/materialization/test_nested_columns.py": "the types of columns, in test_types.py and test_values.py",
    "tests/materialization/test_operations.py::TestRebalance::test_two_states": "the rows that a repair puts right",
    "tests/materialization/test_operations.py::TestWidenVersion": (
        "versions and types, in test_types.py; an error where a type does not fit"
    ),
    "tests/materialization/test_operations.py::test_a_name_that_two": "models that are unknown",
    "tests/materialization/test_rebuild.py::test_a_first_run_that_failed": "a full refresh that dies anywhere",
    "tests/materialization/test_rebuild.py::test_a_key_is_the_same": "keys of every type, in test_types.py",
    "tests/materialization/test_reconcile.py::TestPosition": "a cycle finds planted faults",
    "tests/materialization/test_reconcile.py::test_a_run_goes_on": "a cycle finds planted faults",
    "tests/materialization/test_reconcile.py::test_keys_of_any": "a cycle finds planted faults",
    "tests/materialization/test_settings.py::test_settings_that_every": (
        "every statement names its settings, in tests/macros/test_statements.py"
    ),
    "tests/materialization/test_start.py::test_tables_that_tools_land": "a landing table with odd names",
    "tests/materialization/test_stream.py::TestManifest::test_a_batch_that_was_applied_fills": (
        "a batch that was applied is refused"
    ),
    "tests/materialization/test_stream.py::TestManifest::test_a_run_may_have_many_batches": (
        "a run that died is completed, in test_deaths.py"
    ),
    "tests/materialization/test_tombstones.py::test_the_option_can": "deletes that are remembered, and that are not",
    "tests/materialization/test_types.py::test_greatest": "greatest and least, in test_combine.py",
    "tests/materialization/test_views.py::test_a_contract": (
        "a contract is dbt's own check, which `make conformance` tests"
    ),
    "tests/materialization/test_views.py::test_a_feed_has_only": "a view is filled once and kept",
    "tests/materialization/test_views.py::test_a_run_that_died": "deaths with views on the table, in test_deaths.py",
    "tests/materialization/test_views.py::test_a_torn_table_is_completed_before_it_is_read[changes]": (
        "several views complete a torn table"
    ),
    "tests/materialization/test_views.py::test_columns_that_come_later": (
        "a view is filled once and kept, also one of two tables"
    ),
    "tests/materialization/test_wide.py": "a table with many columns is built as any other",
    "tests/release/": "the files of both plugins are those that every other test imports",
    "tests/shop_stream/": "the stream that is in the repository, in test_shop.py",
    "tests/support/test_chdb_http.py": "every test of the materialization sends its statements this way",
}
# The cases of such a test differ in one value, and each has a table of its own: `make test` takes so many of them, the
# first and the last among them.
SAMPLED = {
    "plugins/dbt-spark-clickhouse/tests/unit/test_chdb.py::test_any_other_empty": 1,
    "tests/materialization/test_atomic.py::test_a_column_that_is_dropped": 1,
    "tests/materialization/test_atomic.py::test_a_table_that_is_altered_after": 1,
    "tests/materialization/test_atomic.py::test_a_table_that_is_altered_between": 1,
    "tests/materialization/test_atomic.py::test_a_table_that_was_made_by_hand": 1,
    "tests/materialization/test_atomic.py::test_rows_that_were_not_decided_upon": 1,
    "tests/materialization/test_balance.py::test_a_doctored_ledger": 1,
    "tests/materialization/test_feed.py::test_a_rebuild_may_change_types": 1,
    "tests/materialization/test_feed.py::test_what_a_dead_run_left_is_not_taken_for_the": 1,
    "tests/materialization/test_journal.py::test_a_view_that_throws": 1,
    "tests/materialization/test_schema_change.py::test_what_cannot_be_brought": 1,
    "tests/materialization/test_truncate.py::test_rows_at_or_below": 1,
    "tests/materialization/test_atomic.py::test_remember_deletes": 1,
    "tests/materialization/test_journal.py::test_a_part_that_is_noted": 1,
}
# Seconds within which a test must end, including the fixtures that it is the first to use, on a busy machine.
SECONDS = {"fast": 120, "engine": 600, "spark": 1800}
SECONDS_AT_LENGTH = 4 * 3600  # with an option of `make soak`

# A group of pytest-xdist (`--dist loadfile`) is a file, except for these folders, whose tests share what they set up.
# Files that share nothing stay separate, so that both processes end at the same time.
SHARED = ("plugins/dbt-spark-clickhouse/tests/functional/", "tests/macros/")
APART = ("tests/end_to_end/test_shop.py",)

# Tests that alone take longer than all of `make test` may: `make soak` runs them, through their options.
LONG = {
    "--every-setting": "test_every_setting",
    "--batches": "test_many_batches",
    "--folders": "test_many_folders",
    "--long-values": "test_long_values",
}


# The options of tests that run longer in `make soak`, with their usual values.
USUAL: dict[str, Any] = {
    "--deltas": 200,
    "--histories": (300, 8, 40),
    **dict.fromkeys(("--lives", "--spark-deaths", "--exhaustive", *LONG), 0),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--deltas",
        type=int,
        default=USUAL["--deltas"],
        help="number of random histories of each view in tests/materialization/test_deltas.py",
    )
    parser.addoption(
        "--histories",
        nargs=3,
        type=int,
        default=USUAL["--histories"],
        metavar=("KEYS", "RUNS", "EVENTS"),
        help="size of the random histories: keys, runs, and events of a key at most",
    )
    parser.addoption(
        "--lives",
        type=int,
        default=0,
        metavar="COUNT",
        help="number of lives of a table that hypothesis draws; always the same two where it is 0",
    )
    parser.addoption(
        "--spark-deaths",
        type=int,
        default=0,
        metavar="COUNT",
        help="kill this many runs on Spark, spread over all that a run does; a few chosen ones where it is 0",
    )
    parser.addoption(
        "--batches",
        type=int,
        default=0,
        metavar="COUNT",
        help="land the shop's events in so many batches, which a resident run follows; it is killed in the first half",
    )
    parser.addoption(
        "--folders",
        type=int,
        default=0,
        metavar="COUNT",
        help="apply a landing zone with so many batches, each a folder, and then nothing new, and one batch",
    )
    parser.addoption(
        "--long-values", action="store_true", help="take values of 50 MB through Spark, also with too little memory"
    )
    parser.addoption(
        "--every-setting",
        action="store_true",
        help="try the settings of the server one by one, and those that are known to stop a run too",
    )
    parser.addoption(
        "--exhaustive",
        action="store_true",
        help="all of what the tests take a covering part of: every batch alone, every statement to die before, and so on",
    )
    parser.addoption(
        "--record-durations", action="store_true", help="write what the files of tests cost to tests/durations.json"
    )
    parser.addoption(
        "--record",
        action="store_true",
        help="ask a ClickHouse again what the tests of the macros take for its answers, and write what is expected anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Budget(config))


@pytest.fixture(scope="session")
def is_exhaustive(request: pytest.FixtureRequest) -> bool:
    """Whether to try everything, instead of a covering part of it."""
    return bool(request.config.getoption("--exhaustive"))


# First, so that `-m` sees the marks.
@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_leave_cases_to_test_all(items: list[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    for name, cases in tests.items():
        count = next((count for place, count in SAMPLED.items() if name.startswith(place)), len(cases))
        taken = {number * (len(cases) - 1) // max(count - 1, 1) for number in range(count)}
        for number, item in enumerate(cases):
            if number not in taken:
                item.add_marker("all")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for option, name in LONG.items():
        if not config.getoption(option):
            long = [item for item in items if name in item.nodeid]
            config.hook.pytest_deselected(items=long)
            items[:] = [item for item in items if item not in long]
    # A pytest-xdist process works on one group at a time: if a long group starts last, the others wait for it.
    costs: dict[str, float] = defaultdict(float)
    for path, cost in read_record(tier_of(config)).items():
        costs[_group(path)] += cost
    items.sort(key=lambda item: -costs[_group(_path(item))])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m fast`, do not even import the files of the other tests: that takes longer than many tests."""
    only = config.getoption("markexpr")
    if only not in SECONDS or not collection_path.name.startswith("test_"):
        return None
    path = _relative(collection_path)
    return _needs(path) not in (None, only) or None


# First, so that `-m` sees the marks.
@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    path = _path(item)
    needs = _needs(path)
    if needs is None:
        raise pytest.UsageError(f"{path}: conftest.py does not say what its tests need")
    item.add_marker(needs)
    if item.nodeid.startswith(tuple(ALL)):
        item.add_marker("all")
    if not item.get_closest_marker("timeout"):
        is_at_length = any(item.config.getoption(option) != usual for option, usual in USUAL.items())
        item.add_marker(pytest.mark.timeout(SECONDS_AT_LENGTH if is_at_length else SECONDS[needs]))


class Groups(LoadFileScheduling):
    """A pytest-xdist process takes one group at a time."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", maxsplit=1)[0]
        return "::".join(nodeid.split("::")[:2]) if path in APART else _group(path)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups | None:
    return Groups(config, log) if config.getoption("dist") == "loadfile" else None


def _group(path: str) -> str:
    """The folder in SHARED that contains the file, or the file itself."""
    return next((folder for folder in SHARED if path.startswith(folder)), path)


def _needs(path: str) -> str | None:
    return next((mark for place, mark in NEEDS.items() if path.startswith(place)), None)


def _path(item: pytest.Item) -> str:
    return _relative(item.path)


def _relative(path: Path) -> str:
    return path.relative_to(Path(__file__).parent).as_posix()
