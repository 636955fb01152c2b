"""Names that the SQL of macros introduces: aliases of columns and tables, CTEs, arguments of lambdas.

If a column is called `alias`, ClickHouse reads `alias."x"` as a part of it; and it reads an alias in place of a column
of the same name. So none of these names may be one that a user's column can have: `unreserved` lists those that are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from jinja2 import nodes

from tests.support.macro_sources import parsed
from tests.support.shop import REPOSITORY

RESERVED = "_dbt_"  # No user column begins with it: the materialization rejects that.

_NAME = r"[`\"]?([a-z_]\w*)[`\"]?"
_PATTERNS = (
    # `x as name`, but neither `x as (` nor a call: types are in upper case, or have arguments.
    re.compile(rf"\bas\s+{_NAME}(?!\s*\()(?=[\s,();]|$)"),
    # `with name as (`, `, name as (`
    re.compile(rf"(?:\bwith\s+|,\s*|^\s*){_NAME}\s+as\s*\(", re.MULTILINE),
)
_LAMBDA = re.compile(r"(?:\(([\w`\",\s]*)\)|\b(\w+))\s*->")
_COMMENT = re.compile(r"--.*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_NO_ALIASES = frozenset({"select", "with", "materialized", "array", "date", "string", "view"})
# Calls whose text is meant for people.
_PROSE = frozenset({"log", "raise_compiler_error", "raise_database_error", "raise_problems", "stop_run", "warn"})


def aliases_of(paths: Iterable[Path]) -> dict[str, list[str]]:
    """The names that the SQL in these Jinja sources introduces, each with its files, as paths in the repository.

    A name with a rendered end (`as _dbt_key_{{ loop.index }}`) is listed without that end.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        for name in sorted(aliases_in(parsed(path))):
            found.setdefault(name, []).append(str(path.relative_to(REPOSITORY)))
    return found


def unreserved(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that a user's column could have."""
    return sorted(name for name in names if not name.startswith(RESERVED))


def as_columns(names: Iterable[str]) -> list[str]:
    """Column names for a test that would collide with ``names``: as they are, and without the reserved prefix."""
    return sorted({name.removeprefix(RESERVED).strip("_") or name for name in names} | set(unreserved(names)))


def aliases_in(template: nodes.Template) -> set[str]:
    """The names that the SQL of one source introduces."""
    return {name for text in _sql_in(template) for name in _names_in(text)}


def _sql_in(node: nodes.Node) -> Iterator[str]:
    """The text below ``node``: outside tags, and strings within tags that are not meant for people."""
    match node:
        case nodes.TemplateData(data=text) | nodes.Const(value=str() as text):
            yield _COMMENT.sub("", text)
        case nodes.Call(node=nodes.Name(name=name) | nodes.Getattr(attr=name)) if name in _PROSE:
            return
        case _:
            for child in node.iter_child_nodes():
                yield from _sql_in(child)


def _names_in(sql: str) -> Iterator[str]:
    for pattern in _PATTERNS:
        yield from (name for name in pattern.findall(sql) if name not in _NO_ALIASES)
    for several, one in _LAMBDA.findall(sql):
        yield from re.findall(r"\w+", several or one)
