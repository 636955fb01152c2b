"""docs/moving.md, followed literally."""

from __future__ import annotations

import shlex

import yaml

from sqlfluff_plugin_versioned_collapsing.compiled import lint_manifest
from tests.support.collapsing_projects import MakeProject
from tests.support.page import assert_answers, blocks


def test_the_page(make_project: MakeProject) -> None:
    project = make_project("shop")
    project.client.database = "shop"
    commands = 0
    for block in blocks("docs/moving.md"):
        if block.path:
            (project.folder / block.path).write_text(block.text)
        elif block.language == "sql":
            assert_answers(project.client, block.text)
        else:
            for line in block.text.splitlines():
                dbt, *arguments = shlex.split(line)
                assert dbt == "dbt"
                if arguments[0] == "run-operation":
                    macro, option, values = arguments[1:]
                    assert option == "--args"
                    project.operation(macro, **yaml.safe_load(values))
                else:
                    outcomes = project.dbt(*arguments)
                    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
                commands += 1
    assert commands == 15
    project.dbt("compile")
    assert lint_manifest(project.folder / "target" / "manifest.json") == []
