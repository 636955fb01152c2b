"""The text of the most important statements, as last reviewed.

`pytest tests/macros --record` rewrites it; the difference is what to review. sqlfluff lints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlfluff.core import FluffConfig, Linter

from tests.macros.conftest import Sent
from tests.macros.harness import Project, in_short, parsed_project
from tests.macros.scenarios import SCENARIOS

GOLDEN = Path(__file__).parent / "golden"

# The scenario that sends it, its beginning in short form, and which of the statements with this beginning it is.
STATEMENTS = {
    "create_table": ("first_run", "create table orders", 0),
    "create_tombstones": ("first_run", "create table if not exists orders__tombstones", 0),
    "stage_changes": ("update", "insert into orders__dbt_input", 0),
    "stage_changes_to_fold": ("combine", "insert into orders__dbt_input", 0),
    "stage_changes_without_delete_version": ("ignored_delete_version", "insert into orders__dbt_input", 0),
    "stage_uncollapsed_rows": ("update", "insert into orders__dbt_uncollapsed", 0),
    "resolve_changes": ("combine", "insert into orders__dbt_folded", 0),
    "outcomes": ("update", 'with (select countIf("_sign" < 0)', 0),
    "outcomes_of_folded_changes": ("combine", 'with (select countIf("_sign" < 0)', 0),
    "create_attachable": ("first_run", "create table orders__dbt_signed", 0),
    "stage_rows_to_write": ("update", "insert into orders__dbt_signed", 0),
    "publish": ("update", "alter table attach partition orders,", 0),
    "publish_a_block": ("journal", "insert into orders,", 0),
    "rebalance": ("rebalance", "insert into orders__dbt_signed", 1),
    "stage_deletes": ("delete", "insert into orders__dbt_deletes", 0),
    "record_in_ledger": ("update", "insert into versioned_collapsing_ledger", 0),
    "feed": ("feed", "insert into orders__feed", 0),
    "refresh_view": ("view_refresh", "insert into orders_sums__dbt_build", 0),
    "fill_view": ("view_fill", "insert into orders_sums__dbt_build", 0),
}
MODELS = {
    "parse_debezium": (
        "{{ parse_debezium('landing.orders', key=['id'], columns={'id': 'bigint', 'amount': 'decimal(12,2)', "
        "'at': 'timestamp'}, required=['amount']) }}"
    ),
    "parse_upserts": (
        "{{ parse_upserts('landing.orders', key=['id'], columns={'id': 'bigint', 'at': 'timestamp'}, version='at') }}"
    ),
    "lake_latest_changes": (
        "{{ get_lake_latest_changes_sql('shop__orders_changes__feed', ['id'], ['amount', 'at']) }}"
    ),
    "lake_signed_rows": (
        "{{ get_lake_signed_rows_sql('shop__orders_changes__feed', ['id'], ['amount', 'at'], 'at') }}"
    ),
    "delta_feed": "{{ get_delta_feed_sql({'relation': 'shop.orders'}, {'id': 'bigint', 'at': 'timestamp'}, [4, 5]) }}",
    "iceberg_changelog": (
        "{{ get_create_changelog_sql({'relation': 'shop.orders', 'catalog': 'lake'}, 'shop__orders_changes__feed_log', "
        "{100: {'hash': '7', 'follows': '3'}, 200: {'hash': '9', 'follows': '7'}}, [100, 200]) }}"
    ),
    "iceberg_feed": (
        "{{ get_iceberg_feed_sql('shop__orders_changes__feed_log', {'id': 'bigint', 'at': 'timestamp'}, "
        "{100: {'hash': '7'}, 200: {'hash': '9'}}, [100, 200]) }}"
    ),
}


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with parsed_project(tmp_path_factory.mktemp("spark"), MODELS, engine="spark") as found:
        yield found


def compare(request: pytest.FixtureRequest, name: str, text: str) -> None:
    """Compare the text with that of the file, which `--record` writes."""
    path = GOLDEN / f"{name}.sql"
    tidy = "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip()) + "\n"
    if request.config.getoption("--record"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tidy, encoding="utf-8")
    assert tidy == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement(request: pytest.FixtureRequest, project: Project, sent: Sent, name: str) -> None:
    of_scenario, begin, number = STATEMENTS[name]
    (scenario,) = (scenario for scenario in SCENARIOS if scenario.name == of_scenario)
    found = [sql for sql in sent(scenario) if in_short(sql).startswith(begin)]
    assert len(found) > number, [in_short(sql) for sql in sent(scenario)]
    pinned = project.rendered("get_settings_sql").removeprefix("settings ")
    comments = re.compile(r"/\*.*?\*/", re.DOTALL)
    text = comments.sub("", found[number])
    # The settings that all statements share would only be noise here.
    text = text.replace(f"settings {pinned}, ", "settings ").replace(f"settings {pinned}", "")
    compare(request, name, text)


@pytest.mark.parametrize("name", MODELS)
def test_model_on_spark(request: pytest.FixtureRequest, on_spark: Project, name: str) -> None:
    compare(request, f"spark/{name}", on_spark.compiled(name))


def test_every_file_is_of_a_statement_or_model() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == STATEMENTS.keys()
    assert {path.stem for path in GOLDEN.glob("spark/*.sql")} == MODELS.keys()


# The style of statements that macros put together is not checked: layout, quotes, and names that only a macro needs.
NOT_OF_RENDERED_SQL = "layout,AL03,AL09,AL10,AM03,CP03,CP04,CP05,CV02,RF02,RF03,RF04,RF06,ST03,ST05,ST06"
NOT_READ = {"create_tombstones", "publish", "resolve_changes"}  # sqlfluff knows only part of ClickHouse's SQL
OF_CLICKHOUSE = {"create_attachable"}  # it repeats ClickHouse's own spelling of a table's engine


@pytest.mark.parametrize(("folder", "dialect"), [("", "clickhouse"), ("spark", "sparksql")])
def test_sqlfluff_finds_nothing(folder: str, dialect: str) -> None:
    overrides: dict[str, Any] = {
        "dialect": dialect,
        "templater": "raw",
        "exclude_rules": NOT_OF_RENDERED_SQL,
        # The macros for Spark write Java's regular expressions as raw literals, which the dialect does not know.
        "ignore": "lexing,parsing" if folder else None,
    }
    linter = Linter(config=FluffConfig(overrides=overrides, ignore_local_config=True))
    found = [
        (path.stem, violation.rule_code(), violation.line_no, violation.desc())
        for path in sorted((GOLDEN / folder).glob("*.sql"))
        for violation in linter.lint_string(path.read_text(encoding="utf-8")).get_violations()
    ]
    found = [each for each in found if each[0] not in OF_CLICKHOUSE]
    assert [each for each in found if each[:2] not in {(name, "PRS") for name in NOT_READ}] == []
    assert folder or {name for name, code, *_ in found if code == "PRS"} == NOT_READ
