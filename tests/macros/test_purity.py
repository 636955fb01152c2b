"""The name of a macro tells the reference: who reads, who writes and who raises. And an apply does not change.

`get_…` returns a value, and `is_…`, `has_…`, `can_…`, `should_…` answer yes or no, without running a statement,
directly or through other macros. `read_…` reads facts, which are then passed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from jinja2 import nodes

from tests.support.macro_calls import Source, call_graph, macros_in, project_macros, reachable
from tests.support.macro_sources import environment

PURE = ("get_", "is_", "has_", "can_", "should_")
RAISING = "validate_"
# The helpers through which checks raise.
ERRORS = Path("macros/dbt/errors.sql")
# Calls that send a statement to an engine, or may do so.
STATEMENTS = frozenset(
    {
        *("run_query", "run_query_or_fail", "statement", "noop_statement", "run_hooks"),
        *("load_relation", "load_cached_relation", "drop_relation", "drop_relation_if_exists"),
        *("get_columns_in_query", "get_assert_columns_equivalent", "get_column_schema_from_query"),
        *("add_index_and_projections", "apply_grants", "persist_docs", "create_schema"),
        *("truncate_relation", "rename_relation", "dbt_utils.get_column_values"),
        *("adapter.add_query", "adapter.execute", "adapter.query_on", "adapter.get_relation"),
        *("adapter.get_columns_in_relation", "adapter.get_column_schema_from_query"),
        *("adapter.get_missing_columns", "adapter.expand_target_column_types"),
        *("adapter.list_relations", "adapter.drop_relation", "adapter.rename_relation"),
        *("adapter.truncate_relation", "adapter.create_schema", "adapter.drop_schema"),
        *("adapter.check_schema_exists", "adapter.get_catalog", "adapter.commit_if_has_connection"),
    }
)
RAISES = frozenset({"exceptions.raise_compiler_error", "exceptions.raise_database_error"})
# Values that are made only once; a step that knows more makes a copy, such as `dict(progress, chunk=2)`.
FIXED = {"apply": "get_apply", "progress": "get_initial_progress"}


@pytest.fixture(scope="module")
def macros() -> dict[str, Source]:
    return project_macros()


def is_pure_by_name(name: str) -> bool:
    return name.rsplit("__", maxsplit=1)[-1].lstrip("_").startswith(PURE)


def statements_of(name: str, macros: Mapping[str, Source], graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The statements that a macro runs, each with the chain of macros that leads to it."""
    reached = reachable(graph, name)
    found = []
    for each in [name, *reached]:
        for statement in sorted(macros[each].calls & STATEMENTS):
            path = [each]
            while path[0] != name:
                path.insert(0, reached[path[0]])
            found.append(" > ".join([*path, statement]))
    return found


def raisers(macros: Mapping[str, Source]) -> list[str]:
    """Macros that raise but are not checks, as `path: name`."""
    helpers = {name for name, source in macros.items() if source.path == ERRORS}
    return [
        f"{source.path}: {name}"
        for name, source in macros.items()
        if source.calls & (RAISES | helpers)
        if name not in helpers and not name.lstrip("_").startswith(RAISING)
    ]


def changes_of_fixed(macro: nodes.Macro) -> Iterator[str]:
    """Changes to a value that is made only once: by a method of `dict`, or by assigning to a part of it."""
    for call in macro.find_all(nodes.Call):
        match call.node:
            case nodes.Getattr(node=nodes.Name(name=name), attr=method) if name in FIXED and method in (
                "update",
                "pop",
                "clear",
                "setdefault",
                "popitem",
            ):
                yield f"line {call.lineno}: {name}.{method}"
    for reference in macro.find_all(nodes.NSRef):
        if reference.name in FIXED:
            yield f"line {reference.lineno}: {reference.name}.{reference.attr}"


def keys_of(macro: nodes.Macro) -> set[str]:
    """The keys of the dict that a macro returns."""
    (returned,) = [
        call.args[0]
        for call in macro.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name == "return"
    ]
    assert isinstance(returned, nodes.Dict)
    keys = [pair.key for pair in returned.items]
    return {str(key.value) for key in keys if isinstance(key, nodes.Const)}


def keys_added(macro: nodes.Macro, name: str, maker: str) -> set[str]:
    """The keys of the dicts that are made from a value, or from the result of its maker."""
    found: set[str] = set()
    for call in macro.find_all(nodes.Call):
        match call:
            case nodes.Call(node=nodes.Name(name="dict"), args=[nodes.Name(name=source), *_]):
                is_made = source == name
            case nodes.Call(node=nodes.Name(name="dict"), args=[nodes.Call(node=nodes.Getattr(attr=source)), *_]):
                is_made = source == maker
            case _:
                continue
        if is_made:
            found |= {keyword.key for keyword in call.kwargs}
    return found


def keys_read(macro: nodes.Macro, name: str) -> set[str]:
    """The keys of a value that a macro reads."""
    reads = macro.find_all(nodes.Getattr)
    return {str(read.attr) for read in reads if isinstance(read.node, nodes.Name) and read.node.name == name}


def test_no_statement_runs_while_a_value_is_made(macros: dict[str, Source]) -> None:
    pure = [name for name in macros if is_pure_by_name(name)]
    assert len(pure) > 120
    graph = call_graph(macros)
    found = {name: statements_of(name, macros, graph) for name in pure}
    assert {name: statements for name, statements in found.items() if statements} == {}


def test_only_checks_raise(macros: dict[str, Source]) -> None:
    assert raisers(macros) == []


def test_an_apply_does_not_change(macros: dict[str, Source]) -> None:
    found = {name: list(changes_of_fixed(source.macro)) for name, source in macros.items()}
    assert {name: changes for name, changes in found.items() if changes} == {}


@pytest.mark.parametrize(("name", "maker"), FIXED.items())
def test_an_apply_has_one_set_of_keys(macros: dict[str, Source], name: str, maker: str) -> None:
    keys = keys_of(macros[maker].macro)
    assert len(keys) > 5
    added = {each: keys_added(source.macro, name, maker) - keys for each, source in macros.items()}
    assert {each: wrong for each, wrong in added.items() if wrong} == {}
    read = {each: keys_read(source.macro, name) - keys for each, source in macros.items()}
    assert {each: wrong for each, wrong in read.items() if wrong} == {}


# The checks themselves find violations; that they find nothing else, the macros show.


def sources_of(text: str, path: Path = Path("macros/a.sql")) -> dict[str, Source]:
    return {source.name: source for source in macros_in(path, environment.parse(text))}


OTHERS = """
    {% macro read_it() %}{% do return(run_query('select 1')) %}{% endmacro %}
    {% macro get_name() %}x{% endmacro %}
    {% macro spark__read_that() %}{% do adapter.get_relation('a') %}{% endmacro %}
"""


@pytest.mark.parametrize(
    "body",
    [
        "{{ versioned_collapsing.read_it() }}",
        "{% if versioned_collapsing.read_it() %}{% endif %}",
        "{% do adapter.get_relation('a') %}",
        "{% do adapter.dispatch('read_that')() %}",
        "{% do load_relation(this) %}",
        "{% call statement('s') %}select 1{% endcall %}",
        "{% for x in run_query('select 1').rows %}{% endfor %}",
    ],
)
def test_a_statement_is_found(body: str) -> None:
    found = sources_of(f"{OTHERS}{{% macro get_it_sql() %}}{body}{{% endmacro %}}")
    assert statements_of("get_it_sql", found, call_graph(found)) != []


@pytest.mark.parametrize("name", ["get_it_sql", "_get_it", "clickhouse__is_it"])
def test_names_that_promise_purity(name: str) -> None:
    assert is_pure_by_name(name)


@pytest.mark.parametrize(
    "body", ["{% do exceptions.raise_compiler_error('no') %}", "{% do versioned_collapsing.stop(1) %}"]
)
def test_what_raises_is_found(body: str) -> None:
    stop = "{% macro stop(x) %}{% do exceptions.raise_compiler_error(x) %}{% endmacro %}"
    assert raisers(sources_of(stop, ERRORS) | sources_of(f"{{% macro read_it() %}}{body}{{% endmacro %}}")) != []


@pytest.mark.parametrize(
    "body", ["{% do apply.update({'a': 1}) %}", "{% set progress.chunk = 2 %}", "{% do progress.pop('a') %}"]
)
def test_a_change_of_an_apply_is_found(body: str) -> None:
    (source,) = sources_of(f"{{% macro m(apply, progress) %}}{body}{{% endmacro %}}").values()
    assert list(changes_of_fixed(source.macro)) != []


def test_keys_are_found() -> None:
    (source,) = sources_of(
        """{% macro m(apply) %}{{ apply.lock }}{{ dict(apply, run_id=1) }}
        {{ dict(versioned_collapsing.get_apply(x), chunks=2) }}{% do return({'a': 1}) %}{% endmacro %}"""
    ).values()
    assert keys_of(source.macro) == {"a"}
    assert keys_added(source.macro, "apply", "get_apply") == {"run_id", "chunks"}
    assert keys_read(source.macro, "apply") == {"lock"}
