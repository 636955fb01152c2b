"""What is wrong with the aggregates of a select."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlfluff.core.parser import BaseSegment

from sqlfluff_plugin_versioned_collapsing.aggregates import SUMS, SUMS_OF_MANY, Aggregate, aggregate_of
from sqlfluff_plugin_versioned_collapsing.expressions import ALL, CANCELS, NONE, STATES, parts_of_condition
from sqlfluff_plugin_versioned_collapsing.segments import (
    Terms,
    arguments_of,
    code_of,
    crawl,
    crawl_all,
    filter_of,
    is_distinct,
    name_of,
    text_of,
)
from sqlfluff_plugin_versioned_collapsing.selects import Select, content_of

WITHOUT_SIGN = "without the sign"


@dataclass(frozen=True)
class Finding:
    """A wrong aggregate.

    Args:
        anchor: the call, or the element of the select that applies one.
        name: the function.
        is_derivable: whether a sign could make it correct.
        reason: what is wrong.
    """

    anchor: BaseSegment
    name: str
    is_derivable: bool
    reason: str


def findings_of(select: Select) -> Iterator[Finding]:
    """The aggregates of a select that are wrong for its signed rows."""
    if not select.signs or select.is_of_stored_rows:
        return
    yield from _applied(select)
    balanced = _balanced(select)
    for function in select.functions():
        found = aggregate_of(name_of(function))
        if found is not None and not found.is_harmless and id(function) not in balanced:
            with select.within(function):
                finding = _finding(function, found, select)
            if finding:
                yield finding


def _finding(function: BaseSegment, found: Aggregate, select: Select) -> Finding | None:
    if _is_over_groups(function, select) or _is_of_stored_rows(function, select):
        return None
    if found.is_derivable and not is_distinct(function):
        reason = _why_wrong(function, found, select)
        return Finding(function, name_of(function), True, reason) if reason else None
    if _is_latest_of_key(function, found, select) or _is_of_key(function, select):
        return None
    return Finding(function, name_of(function), False, "")


def _is_over_groups(function: BaseSegment, select: Select) -> bool:
    """Whether a call works on groups: it is a window function, or its argument is already aggregated."""
    is_window = function.get_child("over_clause") is not None
    if is_window and select.segment.get_child("groupby_clause") is not None:
        return True
    arguments = arguments_of(function)
    return any(select.expressions.has_aggregate(argument) for argument in arguments)


def _is_of_stored_rows(function: BaseSegment, select: Select) -> bool:
    """Whether the call is about the stored versions or parts."""
    references = list(crawl_all([t for a in arguments_of(function) for t in a], "column_reference"))
    return bool(references) and all(select.expressions.value([r]).is_stored for r in references)


def _is_latest_of_key(function: BaseSegment, found: Aggregate, select: Select) -> bool:
    """`argMax(x, version)` grouped by the key of a table, if only live keys are kept."""
    arguments = arguments_of(function)
    having = select.segment.get_child("having_clause")
    if found.base not in ("argmax", "max_by") or found.combinators or len(arguments) != 2 or having is None:
        return False
    relations = [source.relation for source in select.sources]
    keys = relations[0].keys if len(relations) == 1 and relations[0] else frozenset()
    grouped = {text_of(key).strip('`"') for key in select.group_by}
    is_latest = select.expressions.value(arguments[1]).is_stored and bool(keys) and keys <= grouped
    return is_latest and select.counts_in([having]) and select.lost is None


def _is_of_key(function: BaseSegment, select: Select) -> bool:
    """Whether all rows of a group have the same value, because the group is by that value."""
    arguments = arguments_of(function)
    keys = {text_of(key) for key in select.group_by}
    found = aggregate_of(name_of(function))
    is_one = found is not None and found.base in ("any", "anylast", "any_value", "min", "max", "first_value")
    return is_one and len(arguments) == 1 and text_of(arguments[0]) in keys


def _why_wrong(function: BaseSegment, found: Aggregate, select: Select) -> str:
    """Why a call that a sign can make correct is wrong; empty if it is correct."""
    arguments = arguments_of(function)
    conditions = set(_conditions(function, found, select))
    if select.lost:
        return f"after {select.lost}"
    if found.base == "count":
        return _why_count_is_wrong(function, found, select, conditions)
    values = [select.expressions.value(argument) for argument in arguments]
    if found.base == "avg":
        has_sign = any(value.has_sign for value in values)
        return "which divides by the number of stored rows" if has_sign else _which_signs(select, frozenset())
    if found.base == "avgweighted":
        is_right = len(values) > 1 and select.has_signs(values[1]) and not values[0].has_sign
        return "" if is_right else _which_signs(select, frozenset())
    if found.base in SUMS_OF_MANY or found.combinators & {"map", "array", "foreach"}:
        return "" if any(select.expressions.mentions_sign(a) for a in arguments) else WITHOUT_SIGN
    if not values or found.base not in SUMS:
        return WITHOUT_SIGN
    if conditions & {CANCELS, NONE}:
        return ""
    if STATES in conditions:
        return "of state rows, and of those that have been cancelled too"
    value = values[0]
    if value.is_zero or select.has_signs(value):
        return ""
    if value.is_mixed:
        return "with the sign elsewhere than in a product"
    return _which_signs(select, value.signs)


def _which_signs(select: Select, signs: frozenset[int]) -> str:
    """The sources whose sign is missing, if there are several sources."""
    missing = [
        source.name or "a subquery"
        for source in select.sources
        if (source.rows.signs & select.needed - signs) and not source.picks
    ]
    if len(select.signs) == 1 or not missing:
        return WITHOUT_SIGN
    which = "the signs" if len(missing) > 1 else "the sign"
    return f"without {which} of {' and '.join(missing)}; a join needs the sign of each signed table"


def _why_count_is_wrong(function: BaseSegment, found: Aggregate, select: Select, conditions: set[str]) -> str:
    if found.is_conditional and conditions:
        if STATES not in conditions:
            return ""
        others = (f for f in select.functions() if f is not function)
        for other in others:
            aggregate = aggregate_of(name_of(other))
            if aggregate and aggregate.base == "count" and CANCELS in set(_conditions(other, aggregate, select)):
                return ""
        return "of state rows, and of those that have been cancelled too"
    if any(select.expressions.mentions_sign(argument) for argument in arguments_of(function)):
        return "which counts signs instead of adding them"
    return "" if _is_of_backlog(function, select) else _which_signs(select, frozenset())


def _conditions(function: BaseSegment, found: Aggregate, select: Select) -> Iterator[str]:
    if found.is_conditional and (arguments := arguments_of(function)):
        yield from (k for k in select.expressions.conditions(arguments[-1]) if k != ALL)
    if filtered := filter_of(function):
        yield from (k for k in select.expressions.conditions(filtered) if k != ALL)


def _is_of_backlog(function: BaseSegment, select: Select) -> bool:
    """Whether stored rows are compared with live ones: `count() - sum(_sign)`, or both as columns."""
    arguments = arguments_of(function)
    if name_of(function).lower() != "count" or (arguments and text_of(arguments[0]) != "*"):
        return False
    if function.get_child("over_clause") is not None or filter_of(function):
        return False
    for clause in select.segment.get_children("select_clause", "having_clause", "orderby_clause"):
        for part in clause.get_children("select_clause_element", "expression", "function") or [clause]:
            if any(f is function for f in crawl(part, "function")):
                contents = content_of(part) if part.is_type("select_clause_element") else [part]
                if contents == [function]:
                    return any(
                        len(c := content_of(element)) == 1 and c[0].is_type("function") and select.is_count(c[0])
                        for element in select.elements
                    )
                return _compares_counts(contents, select)
    return False


def _compares_counts(terms: Terms, select: Select) -> bool:
    calls = [f for f in crawl_all(terms, "function") if aggregate_of(name_of(f))]
    counts = [f for f in calls if select.is_count(f)]
    others = [f for f in calls if f not in counts]
    within = {id(r) for f in counts for r in crawl(f, "column_reference")}
    outside = [r for r in crawl_all(terms, "column_reference") if id(r) not in within]
    are_counts = all(name_of(f).lower() == "count" and text_of([f]) in ("count()", "count(*)") for f in others)
    named = all(select.counts_in([r]) for r in outside)
    return (bool(counts) or bool(outside)) and are_counts and named


def _balanced(select: Select) -> set[int]:
    """Calls that are correct together, as in `sumIf(x, _sign = 1) - sumIf(x, _sign = -1)`."""
    found: set[int] = set()
    for clause in select.segment.get_children("select_clause", "having_clause", "orderby_clause"):
        for part in crawl(clause, "expression"):
            terms = code_of(part)
            for left, symbol, right in zip(terms, terms[1:], terms[2:], strict=False):
                if symbol.raw == "-" and _are_opposite(left, right, select):
                    found |= {id(left), id(right)}
    return found


def _are_opposite(left: BaseSegment, right: BaseSegment, select: Select) -> bool:
    if not (left.is_type("function") and right.is_type("function")):
        return False
    names = {name_of(left).lower(), name_of(right).lower()}
    aggregates = [aggregate_of(name_of(f)) for f in (left, right)]
    first, second = aggregates
    if len(names) != 1 or first is None or second is None or not first.is_conditional:
        return False
    if first.base not in SUMS | {"count"} or not arguments_of(left) or not arguments_of(right):
        return False
    kinds = [list(_conditions(f, first, select)) for f in (left, right)]
    texts = [[text_of(a) for a in arguments_of(f)[:-1]] for f in (left, right)]
    rests = [_rest(f, select) for f in (left, right)]
    return texts[0] == texts[1] and kinds == [[STATES], [CANCELS]] and rests[0] == rests[1]


def _rest(function: BaseSegment, select: Select) -> list[str]:
    """The parts of a condition that do not test the sign."""
    return [
        text_of(part)
        for part in parts_of_condition(arguments_of(function)[-1])
        if not select.expressions.mentions_sign(part)
    ]


def _applied(select: Select) -> Iterator[Finding]:
    """`* apply(max)` and `columns('...') apply(sum)`."""
    for element in select.elements:
        names = [
            part.raw
            for clause in element.recursive_crawl("select_apply_clause")
            for part in clause.recursive_crawl("naked_identifier", "function_name_identifier")
        ]
        alias = element.get_child("alias_expression")
        words = [part.raw for part in alias.raw_segments if part.is_code] if alias else []
        if len(words) > 2 and words[0].lower() == "apply":
            names += words[2:3]
        for name in names:
            if found := aggregate_of(name):
                yield Finding(element, name, found.is_derivable, WITHOUT_SIGN)
