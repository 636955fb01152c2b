"""The classes of dbt-tests-adapter, and how they become tests of an engine."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import dbt.tests.adapter


@cache
def shipped_classes() -> dict[str, type]:
    """Every class of tests that dbt-tests-adapter ships, by its name below the package.

    Most come twice there, as ``BaseX`` to derive from and as an empty ``TestX(BaseX)``: the empty
    ones are left out.
    """
    return {
        f"{module.__name__.removeprefix('dbt.tests.adapter.')}.{name}": member
        for module in _modules()
        for name, member in inspect.getmembers(module, inspect.isclass)
        if member.__module__ == module.__name__
        if any(attribute.startswith("test_") for attribute in dir(member))
        if len(member.__bases__) > 1 or any(not own.startswith("__") for own in vars(member))
    }


def shipped_name(test_class: type) -> str | None:
    """The name of the shipped class that ``test_class`` is, or derives from first."""
    names = {member: name for name, member in shipped_classes().items()}
    return next((names[base] for base in test_class.__mro__ if base in names), None)


def shipped_folder(test_class: type) -> Path:
    """Where the shipped class that ``test_class`` derives from has its files."""
    shipped = next(base for base in test_class.__mro__ if base in shipped_classes().values())
    return Path(inspect.getfile(shipped)).parent


def classes_to_run(adapted: dict[str, Any]) -> dict[str, type]:
    """A test class for each shipped one for which ``adapted``, a module's names, has none."""
    own = [member for member in adapted.values() if inspect.isclass(member)]
    replaced = {shipped_name(member) for member in own if member.__name__.startswith("Test")}
    return {
        f"Test_{name.replace('.', '_')}": type(name, (member,), {})
        for name, member in shipped_classes().items()
        if name not in replaced
    }


def reason_to_leave_out(left_out: dict[str, str], test_class: type, test: str) -> str:
    """Why ``left_out`` names the class, or the test with or without its parameter; or nothing."""
    name = shipped_name(test_class)
    names = (f"{name}", f"{name}::{test.partition('[')[0]}", f"{name}::{test}")
    return next((left_out[name] for name in names if name in left_out), "")


def unknown_names(left_out: Iterable[str], tests: dict[str, Any]) -> list[str]:
    """The names of ``left_out`` that no class in ``tests``, a module's names, or test of it has."""
    classes = [member for name, member in tests.items() if name.startswith("Test")]
    known = {
        known_name
        for member in classes
        if (name := shipped_name(member))
        for known_name in (name, *(f"{name}::{attribute}" for attribute in dir(member)))
    }
    return sorted(name for name in left_out if name.partition("[")[0] not in known)


def _modules() -> Iterator[ModuleType]:
    package = dbt.tests.adapter
    root = Path(package.__path__[0])  # Of its folders some are packages and some are not.
    for path in sorted(root.rglob("*.py")):
        below = path.relative_to(root).with_suffix("").parts
        yield importlib.import_module(".".join((package.__name__, *below)))
