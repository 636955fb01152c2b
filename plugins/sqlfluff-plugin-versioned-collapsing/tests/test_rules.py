"""Every rule on SQL that it passes and that it fails, with what it makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlfluff.utils.testing.rules import RuleTestCase, load_test_cases, rules__test_helper

FOLDER = Path(__file__).parent
CONFIG = {
    "core": {"dialect": "clickhouse"},
    "rules": {"collapsing_engines": str(FOLDER / "engines.jsonl")},
}

ids, cases = load_test_cases(str(FOLDER / "test_cases" / "*.yml"))


@pytest.mark.parametrize("case", cases, ids=ids)
def test_case(case: RuleTestCase) -> None:
    rules__test_helper(case._replace(configs=CONFIG))
