"""Finds mistakes in the models of a run before Spark starts, which takes long."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import jinja2
from dbt.flags import get_flags
from dbt_common.clients.jinja import get_environment
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from jinja2 import nodes

from dbt import selected_resources
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE
from dbt.adapters.spark_clickhouse.router.router import Router

# A package may have a macro of this name, without arguments, which raises an error.
CHECK = "validate_selected_models"
_COMMANDS = ("build", "run")
# The models of earlier commands of this process, with the time at which their project was parsed.
_validated: set[tuple[datetime, frozenset[str]]] = set()
# What Jinja itself defines within blocks.
_OF_JINJA = {"caller", "loop", "self", "super"}
# What may not run, by the node that decides: a project may name a macro that is not there behind a condition.
_MAY_NOT_RUN: dict[type[nodes.Node], tuple[str, ...]] = {
    nodes.If: ("body", "elif_", "else_"),
    nodes.CondExpr: ("expr1", "expr2"),
    nodes.And: ("right",),
    nodes.Or: ("right",),
    nodes.For: ("body", "else_"),
    nodes.CallBlock: ("body",),
    nodes.Macro: ("body",),
}


class MistakeError(CompilationError):
    """A mistake in a model. The macro that was asking Spark for something has no part in it."""

    def process_stack(self) -> list[str]:
        """Leave that macro out of the message."""
        return []


class SelectedModels(Router):
    """Checks the models of a run, once."""

    _validating: threading.RLock
    _is_validated: bool

    def validate_selected_models(self) -> None:
        """Check the models that the command builds, unless that is done.

        Raises:
            MistakeError: one of them calls a macro that does not exist, or a package finds a mistake.
        """
        with self._validating:
            manifest: Any = self.get_macro_resolver()
            is_run = getattr(get_flags(), "WHICH", "") in _COMMANDS and hasattr(manifest, "nodes")
            if self._is_validated or not is_run:
                return
            self._is_validated = True  # the check itself opens connections
            models = manifest.metadata.generated_at, frozenset(selected_resources.SELECTED_RESOURCES)
            if models in _validated:
                return
            try:
                self._validate(manifest)
            except DbtRuntimeError as error:
                self._is_validated = False
                raise MistakeError(error.msg) from error
            _validated.add(models)

    def _validate(self, manifest: Any) -> None:
        nodes_of_run = (manifest.nodes.get(name) for name in sorted(selected_resources.SELECTED_RESOURCES))
        models = [node for node in nodes_of_run if node and node.resource_type == "model"]
        packages = {name for name, macros in manifest.get_macros_by_package().items() if CHECK in macros}
        some_macro = next(iter(manifest.macros.values()))
        contexts = {
            package: self.macro_context(some_macro, None, manifest, package)
            for package in {model.package_name for model in models}
        }
        problems = [problem for model in models for problem in unknown_calls(model, contexts[model.package_name])]
        if problems:
            raise MistakeError("\n".join(problems))
        for package in packages:
            self.call_named_engine(CLICKHOUSE, "execute_macro", CHECK, project=package)


def unknown_calls(model: Any, context: Mapping[str, Any]) -> Iterator[str]:
    """The calls of macros that do not exist, each as a sentence. Calls that may not run are not looked at.

    Args:
        model: a node of the manifest.
        context: what dbt defines for the macros of the model's package, with the macros of each package by its name.
    """
    environment = get_environment(None)
    try:
        template = environment.parse(model.raw_code if model.language == "sql" else "")
    except jinja2.TemplateSyntaxError:  # dbt has a message for it
        return
    own = {name.name for name in template.find_all(nodes.Name) if name.ctx != "load"}
    own |= {macro.name for macro in template.find_all(nodes.Macro)} | environment.globals.keys() | _OF_JINJA
    packages = {name: value for name, value in context.items() if isinstance(value, Mapping)}
    for call in _certain_calls(template):
        called: Any = call.node
        name = called.attr if isinstance(called, nodes.Getattr) else ""
        package = getattr(called.node, "name", "") if name else ""
        if package in packages and package not in own and not hasattr(packages[package], name):
            if name not in packages[package]:
                near = difflib.get_close_matches(name, packages[package], 1)
                advice = f" Did you mean {near[0]}?" if near else ""
                yield f"{model.unique_id} calls {package}.{name}, but {package} has no such macro.{advice}"
        elif isinstance(called, nodes.Name) and called.name not in own and called.name not in context:
            holder = next((package for package in packages if called.name in packages[package]), "")
            near = difflib.get_close_matches(called.name, context, 1)
            advice = f"Write {holder}.{called.name}." if holder else f"Did you mean {near[0]}?" if near else ""
            yield f"{model.unique_id} calls {called.name}, but there is no such macro. {advice}".rstrip()


def _certain_calls(node: nodes.Node) -> Iterator[nodes.Call]:
    """The calls of a template that run whenever it does."""
    if isinstance(node, nodes.Call):
        yield node
    for child in node.iter_child_nodes(exclude=_MAY_NOT_RUN.get(type(node), ())):
        yield from _certain_calls(child)
