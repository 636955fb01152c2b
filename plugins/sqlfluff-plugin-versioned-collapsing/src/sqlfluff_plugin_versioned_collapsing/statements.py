"""Statements in hooks and scripts that change stored rows. sqlfluff cannot parse all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlfluff_plugin_versioned_collapsing.relations import Relation, Relations

_PART = r"(?:\{\{.*?\}\}|`[^`]+`|\"[^\"]+\"|\w+)"
_NAME = rf"(?P<name>{_PART}(?:\s*\.\s*{_PART})?)(?=[\s;]|$)"
_UNTIL_END = r"(?P<rest>[^;]*)"
_STATEMENTS = {
    "DELETE": rf"delete\s+from\s+{_NAME}",
    "UPDATE": rf"update\s+{_NAME}(?:\s+on\s+cluster\s+\S+)?\s+set\b",
    "ALTER TABLE": rf"alter\s+table\s+{_NAME}[^;]*?\b(?:delete|update)\b(?=[^;]*\bwhere\b)",
    "OPTIMIZE": rf"optimize\s+table\s+{_NAME}{_UNTIL_END}",
}
_PATTERNS = {
    kind: re.compile(rf"(?<![\w.]){pattern}", re.IGNORECASE | re.DOTALL) for kind, pattern in _STATEMENTS.items()
}
_NO_CODE = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}", re.DOTALL)
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_OF_JINJA = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_REF = re.compile(r"\b(ref|source)\s*\((.*?)\)", re.DOTALL)
_QUOTED = re.compile(r"['\"]([^'\"]+)['\"]")


@dataclass(frozen=True)
class Statement:
    """A statement that changes stored rows.

    Args:
        kind: `DELETE`, `UPDATE`, `ALTER TABLE` or `OPTIMIZE`.
        name: the table as written, Jinja included.
        rest: for `OPTIMIZE`, what follows the table.
        start: its position in the text.
    """

    kind: str
    name: str
    rest: str
    start: int


def statements_in(sql: str) -> Iterator[Statement]:
    """The statements of some SQL, with or without Jinja in it."""
    text = _NO_CODE.sub(_blank, sql)
    calls = [found.span() for found in _OF_JINJA.finditer(text)]
    text = _TEXT.sub(lambda found: found[0] if any(a <= found.start() < b for a, b in calls) else _blank(found), text)
    for kind, pattern in _PATTERNS.items():
        for found in pattern.finditer(text):
            rest = found.groupdict().get("rest") or ""
            yield Statement(kind, found["name"], rest, found.start())


def _blank(found: re.Match[str]) -> str:
    """The same number of blanks, so that positions after it stay the same."""
    return re.sub(r"[^\n]", " ", found[0])


def table_of(statement: Statement, relations: Relations, this: Relation | None = None) -> Relation | None:
    """The table that a statement changes; None if unknown.

    Args:
        statement: one of `statements_in`.
        relations: what is known about relations.
        this: the model of a hook.
    """
    *schema, name = re.findall(_PART, statement.name, re.DOTALL)
    if name.startswith("{{"):
        return _table_of_jinja(name, relations, this)
    parts = [part.strip('`"') for part in (*schema, name)]
    if schema and schema[0].startswith("{{"):  # `{{ target.schema }}.orders`
        parts = parts[-1:]
    return relations.find(parts)


def _table_of_jinja(name: str, relations: Relations, this: Relation | None) -> Relation | None:
    if re.fullmatch(r"\{\{-?\s*this\s*-?\}\}", name):
        return this
    call = _REF.search(name)
    names = _QUOTED.findall(call[2]) if call else []
    if call is None or not names:
        return None
    return relations.find(["_".join(names) if call[1] == "source" else names[-1]])


def why_mutation_is_wrong(
    sql: str, relations: Relations, this: Relation | None = None
) -> Iterator[tuple[Statement, str]]:
    """Statements that change or delete rows of a signed table, each with the reason."""
    for statement in statements_in(sql):
        table = table_of(statement, relations, this)
        if statement.kind != "OPTIMIZE" and table is not None and table.sign:
            yield statement, _why_mutated(statement.kind, table)


def _why_mutated(kind: str, table: Relation) -> str:
    return (
        f"{kind} of the signed table {table.name}: views that follow it never see it, and keep "
        "what the rows were. Write a change instead, a newer version or one that is deleted, so "
        "that a cancel row takes the old row out everywhere"
    )


def why_strategy_is_wrong(model: Relation) -> str | None:
    """The reason why an incremental model deletes rows of a signed table; None if it does not."""
    strategy = str(model.config.get("incremental_strategy") or "").replace("+", "_")
    is_incremental = model.config.get("materialized") == "incremental"
    if not (is_incremental and model.sign and strategy == "delete_insert"):
        return None
    return (
        f"delete_insert deletes rows of the signed table {model.name} by a lightweight DELETE: "
        "views that follow it never see that, and count the old rows beside the new ones. Use "
        "materialized='versioned_collapsing', or append cancel rows and state rows"
    )


def why_optimize_is_wrong(
    sql: str, relations: Relations, this: Relation | None = None
) -> Iterator[tuple[Statement, str]]:
    """`OPTIMIZE … FINAL` of a whole table that later runs add rows to, each with the reason."""
    for statement in statements_in(sql):
        rest = statement.rest.lower()
        if statement.kind != "OPTIMIZE" or not re.search(r"\bfinal\b", rest):
            continue
        if re.search(r"\bpartition\b|\boptimize_skip_merged_partitions\s*=\s*(1|true)\b", rest):
            continue
        table = table_of(statement, relations, this)
        if table is None or not (table.is_merging or table.sign):
            continue
        if table.config.get("materialized") == "table":  # nothing is added to it before it is rebuilt
            continue
        yield statement, _why_optimized(table)


def _why_optimized(table: Relation) -> str:
    reading = "sums by the sign, or FINAL," if table.sign else "FINAL"
    if table.is_aggregating:
        reading = "sums grouped by its key"
    return (
        f"OPTIMIZE FINAL of {table.name} rewrites every partition at each run, and rows that come "
        f"after it are not merged. Read with {reading} and let ClickHouse merge. To merge only "
        "partitions that have several parts: settings optimize_skip_merged_partitions = 1"
    )
