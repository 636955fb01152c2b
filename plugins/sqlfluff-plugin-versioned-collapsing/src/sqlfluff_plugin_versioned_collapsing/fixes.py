"""How to fix an aggregate, where the fix is correct whatever the rows are."""

from __future__ import annotations

import re

from sqlfluff.core.parser import BaseSegment, IdentifierSegment, SymbolSegment, WhitespaceSegment, WordSegment
from sqlfluff.core.rules import LintFix
from sqlfluff.dialects.dialect_ansi import ColumnReferenceSegment

from sqlfluff_plugin_versioned_collapsing.findings import WITHOUT_SIGN, Finding
from sqlfluff_plugin_versioned_collapsing.parsing import parsed_part
from sqlfluff_plugin_versioned_collapsing.segments import arguments_of, crawl, filter_of, name_of, parts_of, text_of
from sqlfluff_plugin_versioned_collapsing.selects import Select

# Exact types that do not wrap when multiplied by a sign. A sum of floats does not return to its old value, and a sum of
# only nulls is null.
_EXACT = re.compile(r"U?Int(8|16|32)$|Int(64|128|256)$|Decimal", re.IGNORECASE)
_UNSAFE = ("prewhere_clause", "sample_clause", "qualify_clause")
_PLAIN = re.compile(r"[A-Za-z_]\w*$")


def fixes_of(finding: Finding, select: Select, *, is_following: bool) -> list[LintFix]:
    """The edits that make a call correct; empty if that is not certain."""
    function = finding.anchor
    if is_following and select.group_by:  # one block of inserts does not show whether a group is empty
        return []
    if finding.reason != WITHOUT_SIGN or not function.is_type("function") or not _is_simple(select):
        return []
    (source,) = select.sources
    sign = source.relation.sign if source.relation else None
    if sign is None or function.get_child("over_clause") or filter_of(function):
        return []
    arguments = arguments_of(function)
    names = list(function.recursive_crawl("function_name_identifier"))
    match name_of(function).lower(), [text_of(argument) for argument in arguments]:
        case "count", ([] | ["*"]):
            fixes = _sum_of_sign(function, names[0], arguments, sign)
        case "sum", [_] if _is_exact(arguments[0], select):
            fixes = [LintFix.create_after(arguments[0][-1], [*_times(), _reference(sign)])]
        case _:
            return []
    return fixes + _without_dead_groups(select, sign)


def _is_simple(select: Select) -> bool:
    """Whether the rows are those of one table, and every name means one of its columns."""
    if len(select.sources) != 1 or len(select.signs) != 1 or select.shared or select.lost or select.loss:
        return False
    (source,) = select.sources
    relation = source.relation
    if relation is None or relation.sign is None or source.rows.signs != select.signs:
        return False
    if select.segment.get_child(*_UNSAFE) or any(select.segment.recursive_crawl("array_join_clause")):
        return False
    if not _is_literal(select.segment):
        return False
    grouped = select.segment.get_child("groupby_clause")
    if relation.sign in select.aliased or (grouped and not select.is_plainly_grouped):
        return False
    conditions = select.segment.get_children("where_clause", "groupby_clause", "having_clause")
    return not any(select.expressions.mentions_sign([clause]) for clause in conditions)


def _is_literal(segment: BaseSegment) -> bool:
    """Whether all of it but the name of its table is written in the file, with no part from a macro."""
    name = {raw for table in segment.recursive_crawl("table_reference") for raw in table.raw_segments}
    return all(raw.pos_marker.is_literal() for raw in segment.raw_segments if raw.raw and raw not in name)


def _is_exact(argument: list[BaseSegment], select: Select) -> bool:
    """Whether it is a column of the table with a declared type in which signed sums are exact."""
    references = [
        r for part in argument for r in [part, *crawl(part, "column_reference")] if r.is_type("column_reference")
    ]
    if len(references) != 1 or text_of(argument) != references[0].raw.lower():
        return False
    (source,) = select.sources
    *qualifiers, name = parts_of(references[0])
    if source.relation is None or (qualifiers and qualifiers[-1] != source.name):
        return False
    # `sum(amount) as amount` hides the column from the rest of the select.
    return name not in select.aliased and bool(_EXACT.match(source.relation.types.get(name, "")))


def _sum_of_sign(
    function: BaseSegment, name: BaseSegment, arguments: list[list[BaseSegment]], sign: str
) -> list[LintFix]:
    to_sum = LintFix.replace(name, [WordSegment("sum", instance_types=("function_name_identifier",))])
    if arguments:
        return [to_sum, LintFix.replace(arguments[0][0], [_reference(sign)])]
    bracket = next(iter(function.recursive_crawl("start_bracket")))
    return [to_sum, LintFix.create_after(bracket, [_reference(sign)])]


def _without_dead_groups(select: Select, sign: str) -> list[LintFix]:
    """A condition that leaves out groups without live rows, as FINAL would."""
    grouped = select.segment.get_child("groupby_clause")
    if grouped is None:
        return []
    having = parsed_part(f"select 1 group by 1 having sum({_quoted(sign)}) <> 0", "having_clause")
    return [LintFix.create_after(grouped, [WhitespaceSegment(), having])]


def _times() -> list[BaseSegment]:
    return [WhitespaceSegment(), SymbolSegment("*", instance_types=("binary_operator",)), WhitespaceSegment()]


def _reference(name: str) -> BaseSegment:
    quoted = _quoted(name)
    kind = "naked_identifier" if quoted == name else "quoted_identifier"
    return ColumnReferenceSegment((IdentifierSegment(quoted, instance_types=(kind,)),))


def _quoted(name: str) -> str:
    return name if _PLAIN.match(name) else "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
