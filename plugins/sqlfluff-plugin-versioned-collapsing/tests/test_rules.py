"""Every rule on SQL that passes and SQL that fails, and what its fix does to the latter."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sqlfluff.core import FluffConfig, Linter
from sqlfluff.core.types import ConfigMappingType
from sqlfluff.utils.testing.rules import RuleTestCase, load_test_cases, rules__test_helper

FOLDER = Path(__file__).parent
CONFIG: ConfigMappingType = {
    "core": {"dialect": "clickhouse"},
    "rules": {"collapsing_engines": str(FOLDER / "engines.jsonl")},
}

ids, cases = load_test_cases(str(FOLDER / "test_cases" / "*.yml"))


@pytest.mark.parametrize("case", cases, ids=ids)
def test_case(case: RuleTestCase) -> None:
    rules__test_helper(case._replace(configs=CONFIG))


@pytest.mark.parametrize("sql", yaml.safe_load((FOLDER / "test_cases" / "unfixed.yaml").read_text()).values())
def test_what_a_sign_alone_does_not_mend_is_left_as_it_is(sql: str) -> None:
    config = FluffConfig(configs=CONFIG, overrides={"rules": "versioned_collapsing"})
    linted = Linter(config).lint_string(f"{sql}\n", fix=True)
    assert linted.fix_string()[0] == f"{sql}\n"
    assert [v.rule_code() for v in linted.get_violations()] != []
