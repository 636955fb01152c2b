"""What the Jinja sources alone can show: names are bound, calls complete, macros documented."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import nodes

from tests.support.macro_sources import (
    DBT_NAMES,
    PLUGINS,
    PROJECT_FOLDERS,
    Macro,
    differing_implementations,
    documentation_problems,
    environment,
    incomplete_calls,
    macros_in,
    macros_of,
    macros_of_dbt,
    parsed,
    sources,
    target_types,
    unbound_names,
    unqualified_calls,
)
from tests.support.shop import REPOSITORY

PROJECT = sources(*PROJECT_FOLDERS)
ADAPTER = sources(PLUGINS)


@pytest.fixture(scope="module", params=[PROJECT, ADAPTER], ids=["project", "adapter"])
def paths(request: pytest.FixtureRequest) -> list[Path]:
    """The sources of the project, which must not depend on the adapter's, or those of the adapter."""
    found: list[Path] = request.param
    assert found
    return found


def problems_by_path(paths: Iterable[Path], check: Callable[[nodes.Template], list[str]]) -> dict[str, list[str]]:
    """What ``check`` finds, by path, without files in which it finds nothing."""
    found = {str(path.relative_to(REPOSITORY)): check(parsed(path)) for path in paths}
    return {path: problems for path, problems in found.items() if problems}


def test_every_name_is_bound(paths: list[Path]) -> None:
    macros = {**macros_of_dbt(), **macros_in(paths)}
    known = DBT_NAMES | {name for name, macro in macros.items() if macro.can_be_called}
    assert problems_by_path(paths, lambda template: unbound_names(template, known)) == {}


def test_macros_of_the_package_are_called_by_its_name() -> None:
    paths = sources("macros", "tests/generic")
    macros = macros_in(paths)
    assert problems_by_path(paths, lambda template: unqualified_calls(template, macros)) == {}


def test_every_call_is_complete(paths: list[Path]) -> None:
    macros = macros_in(paths)
    assert problems_by_path(paths, lambda template: incomplete_calls(template, macros)) == {}


def test_every_argument_and_variable_is_read() -> None:
    assert problems_by_path(PROJECT, _unread_names) == {}


def _unread_names(template: nodes.Template) -> list[str]:
    """Arguments and variables that a macro never reads. Implementations of a dispatch must take what others read."""
    found = []
    for macro in template.find_all(nodes.Macro):
        name = macro.name.removeprefix("dbt_macro__")
        read = {each.name for each in macro.find_all(nodes.Name) if each.ctx == "load"}
        targets = [each.target for each in macro.find_all(nodes.Assign)]
        targets += [each.target for each in macro.find_all(nodes.AssignBlock)]
        stored = [*([] if "__" in name else macro.args), *nodes.Tuple(targets, "store").find_all(nodes.Name)]
        found += [f"{name}: {each.name}" for each in stored if each.name not in read | {"supported_languages"}]
    return found


def test_only_dispatch_asks_for_the_engine(paths: list[Path]) -> None:
    assert problems_by_path(paths, target_types) == {}


def test_no_macro_needs_what_dbt_2_lacks_of_regular_expressions(paths: list[Path]) -> None:
    """dbt 2's match objects have no methods. `fullmatch(…)[1]`, `findall`, `split` and `sub` work everywhere."""
    assert problems_by_path(paths, _methods_of_matches) == {}


def _methods_of_matches(template: nodes.Template) -> list[str]:
    lacking = {"group", "groups", "groupdict", "start", "end", "span", "finditer"}
    calls = (call.node for call in template.find_all(nodes.Call))
    called = (each for each in calls if isinstance(each, nodes.Getattr))
    return [f"line {each.lineno}: .{each.attr}()" for each in called if each.attr in lacking]


def test_every_macro_that_the_docs_name_is_documented(paths: list[Path]) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs").glob("*.md"))
    named = set(re.findall(r"\w+", pages))
    documented = {
        macro["name"]: macro
        for folder in {path.parent for path in paths}
        for path in folder.glob("*.yml")
        for macro in yaml.safe_load(path.read_text(encoding="utf-8")).get("macros", [])
    }
    macros = macros_in(paths)
    public = {name for name, macro in macros.items() if macro.can_be_called and name in named}
    assert documentation_problems(macros, documented, public) == []


def test_implementations_take_the_arguments_of_their_dispatch(paths: list[Path]) -> None:
    macros = macros_in(paths)
    assert differing_implementations(macros, {**macros_of_dbt(), **macros}) == []


# The checks themselves find violations; that they find nothing else, the macros show.


def test_names_that_are_not_read_are_found() -> None:
    source = "{% macro m(a, b) %}{% set c = a %}{% set d, e = a %}{{ e }}{% set f %}{% endset %}{% endmacro %}{% macro x__m(a) %}{% endmacro %}"
    assert _unread_names(environment.parse(source)) == ["m: b", "m: c", "m: d", "m: f"]


DESCRIBED = {"name": "a", "description": "What it is."}
NO_EXAMPLE = "m: no example of a call in the description, as another project writes it"


def template(source: str) -> nodes.Template:
    return environment.parse(source)


def macros_by_name(source: str) -> dict[str, Macro]:
    return {macro.name: macro for macro in macros_of(template(source))}


def test_a_method_of_a_match_is_found() -> None:
    source = "{% set m = modules.re.match('(a)', x) %}\n{{ m.group(1) }} {{ m[1] }} {{ modules.re.sub(a, b, c) }}"
    assert _methods_of_matches(template(source)) == ["line 2: .group()"]


@pytest.mark.parametrize(
    "source",
    [
        "{% macro m(given) %}{{ give }}{% endmacro %}",
        "{% macro m(given=give) %}{{ given }}{% endmacro %}",
        "{% macro m() %}{% for x in [1] %}{% set give = x %}{% endfor %}{{ give }}{% endmacro %}",
        "{% macro m(a) %}{% if a %}{% set give = 1 %}{% endif %}{{ give }}{% endmacro %}",
        "{% macro m() %}{{ give }}{% set give = 1 %}{% endmacro %}",
        "{% macro m() %}{% do give.append(1) %}{% endmacro %}",
        "{% macro m() %}{% set give.total = 1 %}{% endmacro %}",
        "{% macro m() %}{% for x in give if x %}{{ x }}{% endfor %}{% endmacro %}",
        "{% macro m() %}{% for x in [1] if give %}{{ x }}{% endfor %}{% endmacro %}",
        "{% macro m() %}{% call give() %}{% endcall %}{% endmacro %}",
        "{% macro m() %}{% call statement('s') %}{{ give }}{% endcall %}{% endmacro %}",
        "{% macro m() %}{{ 'a' if give else 'b' }}{% endmacro %}",
        "{% macro m() %}{{ adapter.quote(name=give) }}{% endmacro %}",
        "{% macro m(a) %}{{ a[give] | default('b') }}{% endmacro %}",
        "{% macro a() %}{% set give = 1 %}{% endmacro %}{% macro b() %}{{ give }}{% endmacro %}",
        "{% set give = 1 %}{% macro m() %}{{ give }}{% endmacro %}",
        "{% materialization m, adapter='clickhouse' %}{{ give }}{% endmaterialization %}",
        "{% test m(model) %}select {{ give }} from {{ model }}{% endtest %}",
        "select {{ give }}",
    ],
)
def test_an_unbound_name_is_found(source: str) -> None:
    assert unbound_names(template(source), {"adapter", "statement"}) == ["line 1: give"]


@pytest.mark.parametrize("call", ["m(1)", "m(a=1)", "m(1, 2, d=4)", "m(1, 2, 3, 4)"])
def test_an_incomplete_call_is_found(call: str) -> None:
    (macro,) = macros_of(template("{% macro m(a, b, c=none) %}{% endmacro %}"))
    assert len(incomplete_calls(template(f"{{{{ {call} }}}}"), {"m": macro})) == 1


@pytest.mark.parametrize(
    "source",
    [
        "{% macro m() %}{{ target.type }}{% endmacro %}",
        "{% macro m() %}{{ target['type'] }}{% endmacro %}",
        "{% macro spark__m() %}{% endmacro %}{{ target.type }}",
    ],
)
def test_a_target_type_is_found(source: str) -> None:
    assert target_types(template(source)) == ["line 1: target.type"]


@pytest.mark.parametrize(
    ("documented", "problem"),
    [
        ({}, "m: not in YAML"),
        ({"m": {"arguments": []}}, "m: () in YAML, ('a',) in the macro"),
        ({"m": {"description": "Does."}}, "m: () in YAML, ('a',) in the macro"),
        ({"m": {"arguments": [{**DESCRIBED, "type": "any"}]}}, "m: no description"),
        ({"m": {"description": "Does."}}, NO_EXAMPLE),
        ({"m": {"description": "Does.\nExample: `m(1)`"}}, NO_EXAMPLE),
        ({"m": {"description": "Does.\nExample: `versioned_collapsing.m()`"}}, NO_EXAMPLE),
        ({"m": {"description": "Does.\nExample: `versioned_collapsing.m(1, b=2)`"}}, NO_EXAMPLE),
        ({"m": {"description": "Does.\nExample: `dbt run-operation m --args '{b: 1}'`"}}, NO_EXAMPLE),
        ({"m": {"arguments": [DESCRIBED]}}, "m: a has no description or type"),
        ({"m": {"arguments": [{**DESCRIBED, "type": "thing"}]}}, "m: a has no description or type"),
        ({"gone": {"description": "Did."}}, "gone: in YAML only"),
    ],
)
def test_a_gap_in_the_documentation_is_found(documented: dict[str, Any], problem: str) -> None:
    macros = macros_by_name("{% macro m(a) %}{% endmacro %}{% macro not_public(a) %}{% endmacro %}")
    assert problem in documentation_problems(macros, documented, {"m"})


def test_a_differing_implementation_is_found() -> None:
    macros = macros_by_name("{% macro m(a) %}{% endmacro %}{% macro spark__m(b) %}{% endmacro %}")
    assert differing_implementations(macros, macros) == ["spark__m('b',), m('a',)"]
