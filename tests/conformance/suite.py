"""The classes of dbt-tests-adapter, and how they become tests of an engine."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
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


def classes_to_run(adapted: dict[str, Any]) -> dict[str, type]:
    """A test class for each shipped one for which ``adapted``, a module's names, has none."""
    own = [member for member in adapted.values() if inspect.isclass(member)]
    replaced = {shipped_name(member) for member in own if member.__name__.startswith("Test")}
    return {
        f"Test_{name.replace('.', '_')}": type(name, (member,), {})
        for name, member in shipped_classes().items()
        if name not in replaced
    }


def _modules() -> Iterator[ModuleType]:
    package = dbt.tests.adapter
    root = Path(package.__path__[0])  # Of its folders some are packages and some are not.
    for path in sorted(root.rglob("*.py")):
        below = path.relative_to(root).with_suffix("").parts
        yield importlib.import_module(".".join((package.__name__, *below)))
