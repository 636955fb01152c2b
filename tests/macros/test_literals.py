"""Every text that macros put into SQL is quoted by the helper for literals, which escapes it."""

from __future__ import annotations

import re

import pytest
from jinja2 import nodes

from tests.support.macro_sources import environment, parsed, sources
from tests.support.shop import REPOSITORY

# ClickHouse's SQL; change sets use Spark's.
FOLDERS = (
    "macros/clickhouse",
    "macros/dbt",
    "macros/sql",
    "macros/invariants",
    "macros/materializations/versioned_collapsing*",
    "macros/operations",
)
# Calls whose text is meant for people.
PROSE = {
    "raise_compiler_error",
    "raise_database_error",
    "raise_problems",
    "stop_run",
    "warn",
    "log",
    "print",
    "quote_literal",
}


def unquoted(template: nodes.Template) -> list[str]:
    """Expressions between single quotes that no helper has escaped, each as `line 3: 'text`."""
    found = []
    for output in template.find_all(nodes.Output):
        found += _between_quotes(list(output.nodes))
    for concat in _outside_of_prose(template):
        found += _between_quotes(list(concat.nodes))
    return sorted(set(found))


def _outside_of_prose(node: nodes.Node) -> list[nodes.Concat]:
    found = [node] if isinstance(node, nodes.Concat) else []
    for child in node.iter_child_nodes():
        if not _is_prose(child):
            found += _outside_of_prose(child)
    return found


def _is_prose(node: nodes.Node) -> bool:
    match node:
        case nodes.Call(node=nodes.Getattr(node=nodes.Name(name="problems" | "lines"))):
            return True
        case nodes.Call(node=nodes.Getattr(attr=name) | nodes.Name(name=name)):
            return name in PROSE
        case nodes.Assign(target=nodes.Name(name=name)):
            return name in ("message", "advice", "command", "differs")
    return False


def _between_quotes(parts: list[nodes.Node]) -> list[str]:
    """Parts inside a string literal of SQL that has begun and not ended."""
    found = []
    is_open = False
    for part in parts:
        match part:
            case nodes.TemplateData(data=text) | nodes.Const(value=str() as text):
                is_open ^= re.sub(r"\\.|''", "", text).count("'") % 2 == 1
            case nodes.Call(node=nodes.Getattr(attr="escape_literal")):
                pass
            case _ if is_open:
                found.append(f"line {part.lineno}")
    return found


def test_every_text_is_quoted_by_the_helper() -> None:
    found = {str(path.relative_to(REPOSITORY)): unquoted(parsed(path)) for path in sources(*FOLDERS)}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "{% macro m(a) %}select '{{ a }}'{% endmacro %}",
        "{% macro m(a) %}select 'x {{ a }} y'{% endmacro %}",
        '{% macro m(a) %}{% do return("x = \'" ~ a ~ "\'") %}{% endmacro %}',
        '{% macro m(a) %}{% do run_query("x = \'" ~ a.b ~ "\' and") %}{% endmacro %}',
    ],
)
def test_a_text_without_the_helper_is_found(source: str) -> None:
    assert unquoted(environment.parse(source)) == ["line 1"]
