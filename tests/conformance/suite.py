"""The classes of dbt-tests-adapter, and how they become tests of an engine."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import dbt.tests.adapter
import pytest
from dbt.tests.fixtures.project import TestProjInfo
from dbt.tests.util import run_dbt


@cache
def shipped_classes() -> dict[str, type]:
    """Every test class that dbt-tests-adapter ships, by its name below the package.

    Most exist twice, as ``BaseX`` to derive from and as an empty ``TestX(BaseX)``. The empty ones are left out.
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
    """The name of the shipped class that ``test_class`` is, or derives from."""
    names = {member: name for name, member in shipped_classes().items()}
    return next((names[base] for base in test_class.__mro__ if base in names), None)


def shipped_folder(test_class: type) -> Path:
    """The folder of the files of the shipped class that ``test_class`` derives from."""
    shipped = next(base for base in test_class.__mro__ if base in shipped_classes().values())
    return Path(inspect.getfile(shipped)).parent


def classes_to_run(adapted: dict[str, Any]) -> dict[str, type]:
    """A test class for each shipped class for which ``adapted``, the names of a module, has none."""
    own = [member for member in adapted.values() if inspect.isclass(member)]
    replaced = {shipped_name(member) for member in own if member.__name__.startswith("Test")}
    return {
        f"Test_{name.replace('.', '_')}": type(name, (member,), {})
        for name, member in shipped_classes().items()
        if name not in replaced
    }


def adapted(mixin: type, *shipped: type) -> dict[str, type]:
    """A test class for each of these shipped classes, with ``mixin`` overriding parts of it."""
    names = [f"Test{base.__name__.removeprefix('Base').removeprefix('Test')}" for base in shipped]
    return {name: type(name, (mixin, base), {}) for name, base in zip(names, shipped, strict=True)}


def fixed(value: Any) -> Any:
    """A class fixture with a constant value."""
    return pytest.fixture(scope="class")(lambda self: value)


class Caching:
    """A cache whose keys have no database."""

    def run_and_inspect_cache(self, project: TestProjInfo, run_args: Any = None) -> None:
        run_dbt(run_args)
        (created,) = project.adapter.cache.relations
        run_dbt(run_args)
        (found,) = project.adapter.cache.relations
        assert created.schema == found.schema == project.test_schema
        assert created.identifier == found.identifier


class ViewsStay:
    """When a table is dropped, the engine keeps the views that read it."""

    def _check_relation_end_state(self, *args: Any, **state: Any) -> None:
        super()._check_relation_end_state(*args, **{**state, "exists": True})  # type: ignore[misc]


class OwnTarget:
    """Uses the profile of all classes instead of PostgreSQL's."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        return dbt_profile_target


class Hooks:
    """Hooks that record what they see of the target, which is not PostgreSQL."""

    target: tuple[str, str, str]  # its type, database and user

    def check_hooks(self, state: str, project: TestProjInfo, host: str, **count: int) -> None:
        super().check_hooks(state, project, host or "localhost", **count)  # type: ignore[misc]

    def get_ctx_vars(self, *args: Any, **kwargs: Any) -> Any:
        found = super().get_ctx_vars(*args, **kwargs)  # type: ignore[misc]
        return [self._postgres(row) for row in found] if type(found) is list else self._postgres(found)

    def _postgres(self, context: dict[str, Any]) -> dict[str, Any]:
        """What a hook on PostgreSQL would have recorded."""
        assert self.target == tuple(context[f"target_{name}"] for name in ("type", "dbname", "user"))
        return {**context, "target_type": "postgres", "target_dbname": "dbt", "target_user": "root"}


def reason_to_leave_out(left_out: Mapping[str, str], test_class: type, test: str) -> str:
    """The reason in ``left_out`` for the class, or for the test with or without its parameter; else empty."""
    name = shipped_name(test_class)
    names = (f"{name}", f"{name}::{test.partition('[')[0]}", f"{name}::{test}")
    return next((reason for reason, patterns in left_out.items() if _fit(patterns, names)), "")


def unknown_names(left_out: Mapping[str, str], tests: dict[str, Any]) -> list[str]:
    """The patterns of ``left_out`` that match no class in ``tests``, the names of a module, and no test of one."""
    classes = [member for name, member in tests.items() if name.startswith("Test")]
    known = {
        known_name
        for member in classes
        if (name := shipped_name(member))
        for known_name in (name, *(f"{name}::{attribute}" for attribute in dir(member)))
    }
    patterns = " ".join(left_out.values()).split()
    return sorted(each for each in patterns if not _fit(each.partition("[")[0], known))


def _fit(patterns: str, names: Iterable[str]) -> bool:
    """Whether one of the names matches one of the patterns, in which `*` stands for any text."""
    wanted = re.compile("|".join(re.escape(each).replace(r"\*", ".*") for each in patterns.split()))
    return any(wanted.fullmatch(name) for name in names)


def _modules() -> Iterator[ModuleType]:
    package = dbt.tests.adapter
    root = Path(package.__path__[0])  # Some of its folders are packages, others are not.
    for path in sorted(root.rglob("*.py")):
        below = path.relative_to(root).with_suffix("").parts
        yield importlib.import_module(".".join((package.__name__, *below)))
