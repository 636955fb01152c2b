"""What the rules find in a corpus of correct and wrong SQL, and what their fixes do to it.

ClickHouse checks the labels: a correct query returns the same for rows that have not collapsed as for the live rows
alone, and a wrong one does not. Queries for which the rows show no difference say why.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlfluff.core import FluffConfig, Linter
from sqlfluff.core.errors import SQLBaseError, SQLLintError

FOLDER = Path(__file__).parent
README = FOLDER.parent / "README.md"
STORED, LIVE = "shop", "live"
COLLAPSED = {
    "orders": f"* from {LIVE}.orders final where _sign = 1",
    "items": f"* from {LIVE}.items final where _sign = 1",
    "visits": f"* from {LIVE}.visits final where state = 1",
    "prices": f"* from {LIVE}.prices final",
    "stock": f"* from {LIVE}.stock final",
    "revenue_live": f"region, sum(revenue), sum(orders) as n from {LIVE}.revenue_live group by region having n <> 0",
}
_CREATED = re.compile(r"(create\b.*?\bas|insert into \S+(?: \([^)]*\))?)\s+(?=select\b|with\b)", re.DOTALL)

Case = dict[str, str]


def _cases(name: str) -> list[Case]:
    cases: list[Case] = yaml.safe_load((FOLDER / "corpus" / f"{name}.yml").read_text())
    return cases


WRONG, RIGHT = _cases("wrong"), _cases("right")


@pytest.fixture(scope="module")
def engine() -> Iterator[Callable[..., str]]:
    """Runs SQL. One database has rows that have not collapsed, the other only the live ones."""
    import chdb

    connection = chdb.connect(":memory:")

    def run(sql: str, output: str = "TSV") -> str:
        return str(connection.query(sql, output))

    def run_file(name: str, database: str) -> None:
        for statement in (FOLDER / "corpus" / name).read_text().split(";\n"):
            if statement.strip():
                run(statement.replace("{database}", database))

    for database in (STORED, LIVE):
        run_file("tables.sql", database)
        run_file("rows.sql", database)
    for table, collapsed in COLLAPSED.items():
        run(f"create table {LIVE}.of_{table} as {LIVE}.{table}")
        run(f"insert into {LIVE}.of_{table} select {collapsed}")
        run(f"exchange tables {LIVE}.of_{table} and {LIVE}.{table}")
        run(f"drop table {LIVE}.of_{table}")
    yield run
    connection.close()


@pytest.fixture(scope="module")
def linter(engine: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Linter:
    """A linter that knows the tables from the query in the README."""
    (query,) = re.findall(r"```sql\n(select\n.*?)into outfile.*?```", README.read_text(), re.DOTALL)
    engines = tmp_path_factory.mktemp("engines") / "engines.jsonl"
    engines.write_text(engine(query, "JSONEachRow"))
    config = FluffConfig(
        configs={"rules": {"collapsing_engines": str(engines)}},
        overrides={"dialect": "clickhouse", "templater": "raw", "rules": "versioned_collapsing"},
    )
    return Linter(config)


@pytest.fixture(scope="module")
def findings(linter: Linter) -> dict[str, list[SQLBaseError]]:
    """The findings in each query, by its text."""
    return {case["sql"]: _lint(linter, case["sql"]) for case in (*WRONG, *RIGHT)}


@pytest.fixture(autouse=True)
def _no_critical_records(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """sqlfluff logs an exception of a rule and goes on, so the log is checked."""
    logging.getLogger("sqlfluff").propagate = True
    yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    assert [r.getMessage() for r in records if r.levelno >= logging.CRITICAL] == []


def _lint(linter: Linter, sql: str) -> list[SQLBaseError]:
    return linter.lint_string(f"{sql}\n").get_violations(filter_ignore=False)


def _returned(engine: Callable[..., str], sql: str, database: str) -> Any:
    query = _CREATED.sub("", sql, count=1)
    return sorted(engine(re.sub(rf"\b{STORED}\b", database, query)).splitlines())


def test_there_are_as_many_right_ones_as_wrong_ones() -> None:
    assert len(WRONG) + len(RIGHT) >= 150
    assert 0.45 < len(WRONG) / (len(WRONG) + len(RIGHT)) < 0.55
    assert all(case["why"] for case in (*WRONG, *RIGHT))
    assert len({case["sql"] for case in (*WRONG, *RIGHT)}) == len(WRONG) + len(RIGHT)


def test_what_is_wrong_is_found(findings: dict[str, list[SQLBaseError]]) -> None:
    missed = [case["sql"] for case in WRONG if not findings[case["sql"]]]
    assert len(missed) <= 0.1 * len(WRONG), missed
    of_rule = {case["sql"]: case["rule"] for case in WRONG if "rule" in case}
    assert {sql: [f.rule_code()[-4:] for f in findings[sql]][:1] for sql in of_rule} == {
        sql: [rule] for sql, rule in of_rule.items()
    }


def test_what_is_right_is_not_flagged(findings: dict[str, list[SQLBaseError]]) -> None:
    flagged = {case["sql"]: found for case in RIGHT if (found := findings[case["sql"]])}
    assert len(flagged) <= 0.05 * len(RIGHT), flagged
    of_other_engines = ("VC09", "VC10", "VC11", "VC12")
    assert [s for s, found in flagged.items() for f in found if f.rule_code()[-4:] in of_other_engines] == []


def test_the_labels_are_those_of_the_engine(engine: Callable[..., str]) -> None:
    def is_same(case: Case) -> bool:
        return bool(_returned(engine, case["sql"], STORED) == _returned(engine, case["sql"], LIVE))

    assert [c["sql"] for c in WRONG if is_same(c) is not ("unseen" in c)] == []
    assert [c["sql"] for c in RIGHT if is_same(c) is ("of_stored_rows" in c)] == []


def test_a_fix_returns_what_the_live_rows_have(
    engine: Callable[..., str], linter: Linter, findings: dict[str, list[SQLBaseError]]
) -> None:
    fixed = {}
    for sql, found in findings.items():
        if any(isinstance(finding, SQLLintError) and finding.fixes for finding in found):
            fixed[sql] = linter.lint_string(f"{sql}\n", fix=True).fix_string()[0].strip()
    assert len(fixed) >= 12, fixed
    for sql, text in fixed.items():
        if not _lint(linter, text):  # What the fix leaves is reported again.
            assert _returned(engine, text, STORED) == _returned(engine, sql, LIVE), text
