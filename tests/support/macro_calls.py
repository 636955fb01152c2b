"""Which macro of the project calls which, and what else each calls, from the Jinja sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import nodes

from tests.support.macro_sources import parsed
from tests.support.shop import REPOSITORY

PACKAGE = "versioned_collapsing"
FOLDERS = ("macros", "tests/generic")


@dataclass(frozen=True)
class Source:
    """A macro, a generic test or a materialization: where it is and what it calls."""

    name: str
    path: Path
    """Relative to the repository."""
    macro: nodes.Macro
    calls: frozenset[str]
    """Names as written in calls: `read_ledger`, `run_query`, `adapter.get_relation`."""

    @property
    def folder(self) -> Path:
        return self.path.parent


def called_in(node: nodes.Node) -> Iterator[str]:
    """What is called below a node. What `adapter.dispatch` can choose from is given as `*__name`."""
    for call in node.find_all(nodes.Call):
        match call:
            case nodes.Call(
                node=nodes.Getattr(node=nodes.Name(name="adapter"), attr="dispatch"), args=[nodes.Const(value=name), *_]
            ):
                yield f"*__{name}"
            case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=owner), attr=name)):
                yield name if owner == PACKAGE else f"{owner}.{name}"
            case nodes.Call(node=nodes.Name(name=name)):
                yield name


def macros_in(path: Path, template: nodes.Template) -> Iterator[Source]:
    for macro in template.find_all(nodes.Macro):
        name = macro.name.removeprefix("dbt_macro__")
        calls = frozenset(called_in(nodes.Output([*macro.defaults, *macro.body])))
        yield Source(name, path, macro, calls)


def project_macros() -> dict[str, Source]:
    """All macros, materializations and generic tests of the project, by name."""
    paths = sorted(path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.sql"))
    found = (macros_in(path.relative_to(REPOSITORY), parsed(path)) for path in paths)
    return {source.name: source for sources in found for source in sources}


def call_graph(macros: Mapping[str, Source]) -> dict[str, set[str]]:
    """For each macro, those of ``macros`` that it calls, including the targets of dispatches."""
    implementations: dict[str, set[str]] = {}
    for name in macros:
        engine, separator, dispatched = name.partition("__")
        if separator and engine:
            implementations.setdefault(f"*__{dispatched}", set()).add(name)
    return {
        name: {called for called in source.calls if called in macros and called != name}.union(
            *(implementations.get(called, set()) for called in source.calls)
        )
        for name, source in macros.items()
    }


def reachable(graph: Mapping[str, Iterable[str]], start: str) -> dict[str, str]:
    """What can be reached from ``start``, each with the node from which it was first reached."""
    reached: dict[str, str] = {}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        for other in sorted(graph.get(one, ())):
            if other not in reached:
                reached[other] = one
                waiting.append(other)
    return reached


def cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other."""
    reached = {node: reachable(graph, node).keys() for node in graph}
    groups = {
        tuple(sorted(other for other in reached[node] if node in reached.get(other, ())))
        for node in graph
        if node in reached[node]
    }
    return [list(group) for group in sorted(groups)]
