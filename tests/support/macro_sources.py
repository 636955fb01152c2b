"""The Jinja sources of the project and of its adapter, and mistakes to find in them.

Jinja renders an unbound name, or an argument that a call omits, as nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from dbt.context.providers import ModelContext
from dbt.parser.schemas import is_valid_type
from dbt_common.clients.jinja import get_environment
from jinja2 import nodes

from dbt.include import clickhouse, global_project, spark
from tests.support.shop import REPOSITORY

PROJECT_FOLDERS = ("macros", "models", "tests", "analyses", "snapshots")
PLUGINS = "plugins/*/src"
PACKAGES = {"versioned_collapsing", "dbt", "dbt_spark", "dbt_clickhouse", "dbt_spark_clickhouse"}
ENGINES = ("default__", "spark__", "clickhouse__", "spark_clickhouse__")

environment = get_environment()

# Without `column`, dbt's class for columns: code that reads it has forgotten to bind it in a loop.
DBT_NAMES = frozenset(
    {*ModelContext._context_members_, *environment.globals, *PACKAGES, "context", "builtins"} - {"column"}
)


@dataclass(frozen=True)
class Macro:
    """A macro as written: ``name`` as callers use it, ``required`` arguments without a default."""

    name: str
    arguments: tuple[str, ...]
    required: tuple[str, ...]

    @property
    def can_be_called(self) -> bool:
        return not self.name.startswith(("test_", "materialization_"))


def macros_of(template: nodes.Template) -> Iterator[Macro]:
    for node in template.find_all(nodes.Macro):
        arguments = tuple(argument.name for argument in node.args)
        required = arguments[: len(arguments) - len(node.defaults)]
        yield Macro(_name_of(node), arguments, required)


def unbound_names(template: nodes.Template, known: Iterable[str]) -> list[str]:
    """Names that are read but not bound, each as `line 3: name`."""
    return [f"line {name.lineno}: {name.name}" for name in _unbound(template, set(known))]


def _unbound(node: nodes.Node, bound: set[str]) -> Iterator[nodes.Name]:
    """Unbound names below ``node``. What the node binds for its successors is added to ``bound``."""
    match node:
        case nodes.Template():
            # dbt takes each macro out of its file, so that it does not see names bound elsewhere in the file.
            known = set(bound)
            for part in node.body:
                yield from _unbound(part, known if isinstance(part, nodes.Macro) else bound)
        case nodes.Name(ctx="load"):
            if node.name not in bound:
                yield node
        case nodes.Name():
            bound.add(node.name)
        case nodes.NSRef():
            if node.name not in bound:
                yield nodes.Name(node.name, "load", lineno=node.lineno)
        case nodes.Macro() | nodes.CallBlock():
            yield from _unbound_in(node.iter_child_nodes(only=["call"]), bound)
            inner = {*bound, "caller", "varargs", "kwargs"}
            yield from _unbound_in([*node.args, *node.defaults, *node.body], inner)
        case nodes.For():
            yield from _unbound(node.iter, bound)
            inner = {*bound, "loop"}
            conditions = node.iter_child_nodes(only=["test"])
            yield from _unbound_in([node.target, *conditions, *node.body], inner)
            yield from _unbound_in(node.else_, set(bound))
        case nodes.If():
            yield from _unbound(node.test, bound)
            others = [[branch.test, *branch.body] for branch in node.elif_]
            branches: list[list[nodes.Node]] = [node.body, *others, node.else_]
            ends = [set(bound) for _ in branches]
            for branch, end in zip(branches, ends, strict=True):
                yield from _unbound_in(branch, end)
            bound |= set.intersection(*ends)
        case nodes.Assign():
            yield from _unbound_in([node.node, node.target], bound)
        case nodes.AssignBlock():
            yield from _unbound_in(node.body, set(bound))
            yield from _unbound(node.target, bound)
        case _:
            yield from _unbound_in(node.iter_child_nodes(), bound)


def _unbound_in(statements: Iterable[nodes.Node], bound: set[str]) -> Iterator[nodes.Name]:
    for statement in statements:
        yield from _unbound(statement, bound)


def incomplete_calls(template: nodes.Template, macros: Mapping[str, Macro]) -> list[str]:
    """Calls of ``macros`` that omit an argument, or pass one that the macro does not take."""
    problems = []
    for call in template.find_all(nodes.Call):
        macro = macros.get(_name_called(call))
        if macro is None or call.dyn_args is not None or call.dyn_kwargs is not None:
            continue
        by_name = {keyword.key for keyword in call.kwargs}
        given = {*macro.arguments[: len(call.args)], *by_name}
        wrong = sorted((set(macro.required) - given) | (by_name - set(macro.arguments)))
        if wrong or len(call.args) > len(macro.arguments):
            problems.append(f"line {call.lineno}: {macro.name}{macro.arguments} {wrong}")
    return problems


def _name_called(call: nodes.Call) -> str:
    match call.node:
        case nodes.Name(name=name):
            return str(name)
        case nodes.Getattr(node=nodes.Name(name="versioned_collapsing"), attr=name):
            return str(name)
    return ""


def unqualified_calls(template: nodes.Template, macros: Mapping[str, Macro]) -> list[str]:
    """Calls of ``macros`` without the package name: a project that installs the package would not find them."""
    return [
        f"line {call.lineno}: {call.node.name}"
        for call in template.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in macros
    ]


def target_types(template: nodes.Template) -> list[str]:
    """Reads of `target.type` outside the implementations that `adapter.dispatch` chooses from.

    Where a macro binds `target` itself, it is a relation, and its type is something else.
    """
    dispatched = {
        id(name)
        for macro in template.find_all(nodes.Macro)
        if _name_of(macro).startswith(ENGINES)
        for name in macro.find_all(nodes.Name)
    }
    of_dbt = {id(name) for name in _unbound(template, set())} - dispatched
    return [
        f"line {name.lineno}: target.type"
        for name in _names_read_for_type(template)
        if name.name == "target" and id(name) in of_dbt
    ]


def _names_read_for_type(template: nodes.Template) -> Iterator[nodes.Name]:
    for read in template.find_all((nodes.Getattr, nodes.Getitem)):
        match read:
            case nodes.Getattr(node=nodes.Name() as name, attr="type"):
                yield name
            case nodes.Getitem(node=nodes.Name() as name, arg=nodes.Const(value="type")):
                yield name


def documentation_problems(
    macros: Mapping[str, Macro], documented: Mapping[str, Any], public: Collection[str]
) -> list[str]:
    """What is wrong with the YAML of macros.

    Args:
        macros: the macros of the sources, by name.
        documented: their YAML, by name.
        public: names of the macros that users call; the others need no YAML.
    """
    problems = [f"{name}: in YAML only" for name in documented.keys() - macros.keys()]
    for name, macro in macros.items():
        described = documented.get(name)
        if described is None:
            if name in public:
                problems.append(f"{name}: not in YAML")
            continue
        arguments = described.get("arguments", [])
        given = tuple(argument["name"] for argument in arguments)
        if given != macro.arguments:
            problems.append(f"{name}: {given} in YAML, {macro.arguments} in the macro")
        if not described.get("description"):
            problems.append(f"{name}: no description")
        elif not _is_example_of(macro, described["description"]):
            problems.append(f"{name}: no example of a call in the description, as another project writes it")
        problems += [
            f"{name}: {argument['name']} has no description or type"
            for argument in arguments
            if not (argument.get("description") and is_valid_type(argument.get("type", "")))
        ]
    return problems


def _is_example_of(macro: Macro, description: str) -> bool:
    """Whether the description ends with a call of the macro, or of the operation, with arguments that it takes."""
    example = description.partition("Example: `")[2].rstrip("`\n")
    operation = f"dbt run-operation {macro.name} --args "
    if example.startswith(operation):
        given = {*yaml.safe_load(example.removeprefix(operation).strip("'"))}
    elif example.startswith(f"versioned_collapsing.{macro.name}("):
        call = next(iter(environment.parse(f"{{{{ {example} }}}}").find_all(nodes.Call)))
        given = {*macro.arguments[: len(call.args)], *(argument.key for argument in call.kwargs)}
    else:
        return False
    return {*macro.required} <= given <= {*macro.arguments}


def differing_implementations(macros: Mapping[str, Macro], dispatched: Mapping[str, Macro]) -> list[str]:
    """Those of ``macros`` whose arguments are not those of the macro that dispatches to them."""
    return [
        f"{macro.name}{macro.arguments}, {entry.name}{entry.arguments}"
        for macro in macros.values()
        for engine in ENGINES
        if macro.name.startswith(engine)
        if (entry := dispatched.get(macro.name.removeprefix(engine)))
        if entry.arguments != macro.arguments
    ]


def _name_of(macro: nodes.Macro) -> str:
    return macro.name.removeprefix("dbt_macro__")


@cache
def parsed(path: Path) -> nodes.Template:
    return environment.parse(path.read_text(encoding="utf-8"), filename=str(path))


def sources(*folders: str) -> list[Path]:
    """The SQL files below folders of the repository, which may be glob patterns."""
    found = (path for folder in folders for path in REPOSITORY.glob(folder))
    return sorted(path for folder in found for path in folder.rglob("*.sql"))


def macros_in(paths: Iterable[Path]) -> dict[str, Macro]:
    return {macro.name: macro for path in paths for macro in macros_of(parsed(path))}


@cache
def macros_of_dbt() -> dict[str, Macro]:
    """The macros of dbt and of both stock adapters: `spark_clickhouse` loads all of them."""
    packages = [Path(module.PACKAGE_PATH) for module in (global_project, spark, clickhouse)]
    return macros_in(path for package in packages for path in (package / "macros").rglob("*.sql"))
