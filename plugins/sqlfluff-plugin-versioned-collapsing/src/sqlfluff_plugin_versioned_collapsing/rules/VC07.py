"""Rule VC07."""

from __future__ import annotations

from collections.abc import Iterator

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.aggregates import aggregate_of
from sqlfluff_plugin_versioned_collapsing.analysis import NESTED, SOURCE
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, selects_of
from sqlfluff_plugin_versioned_collapsing.segments import crawl, name_of, parts_of
from sqlfluff_plugin_versioned_collapsing.selects import Select, Source


class Rule_VersionedCollapsing_VC07(CollapsingRule, BaseRule):
    """Rows that are dead are taken for live ones.

    A cancelled row is still stored, twice. Without ``FINAL``, states that were cancelled later pass
    ``where _sign = 1``; ``distinct``, ``limit by``, ``in``, ``exists`` and a semi join see them too; and once the sign
    is left out, nothing distinguishes them from live rows. ``prewhere`` on the sign, or on a column outside the sorting
    key, filters before ``FINAL`` has matched the pairs.

    **Anti-pattern**

    .. code-block:: sql

        select distinct customer_id
        from shop.orders
        where _sign = 1

    **Best practice**

    Read the live rows, or group by the columns you need, and keep the groups that have live rows.

    .. code-block:: sql

        select customer_id
        from shop.orders
        group by customer_id
        having sum(_sign) > 0
    """

    name = "versioned_collapsing.dead_rows"
    aliases = ("VC07",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=anchor,
                description=f"Dead rows are taken for live ones: {reason}. "
                "Read the live rows: FINAL, where the sign is 1.",
            )
            for select in selects_of(context)
            for anchor, reason in _reasons(select)
        ]


def _reasons(select: Select) -> Iterator[tuple[BaseSegment, str]]:
    for source in select.sources:
        if source.picks and source.rows.signs:
            yield source.segment, f"a join by {source.picks} looks at cancelled rows too"
        if source.is_live and (column := _filtered_early(source, select)):
            yield column, f"prewhere filters by {column.raw} before FINAL has matched the pairs"
    if not select.signs or select.is_of_stored_rows:
        return
    anchor = select.segment.get_child("select_clause") or select.segment
    if any(aggregate_of(name_of(function)) for function in select.functions()):
        return  # VC01 and VC02 report those
    if reason := _why_dead(select):
        yield anchor, reason


def _why_dead(select: Select) -> str:
    if select.segment.get_child("groupby_clause"):
        return "a group of which nothing is left is still a group"
    values = [value for _, value in select.columns]
    if values and all(value.is_stored for value in values) and not select.wildcards:
        return ""
    if select.keeps_states:
        return "states that were cancelled later have the sign 1 too"
    if select.loss:
        return f"{select.loss} looks at cancelled rows too"
    if select.role == NESTED:
        return "the subquery looks at cancelled rows too"
    if select.role != SOURCE and not select.needed <= select.rows.passes_on():
        return "the sign is left out, and nothing tells them apart"
    return ""


def _filtered_early(source: Source, select: Select) -> BaseSegment | None:
    """A column in `prewhere` that can differ between the rows of a pair."""
    prewhere, relation = select.segment.get_child("prewhere_clause"), source.relation
    if prewhere is None or relation is None or relation.sign is None:
        return None
    safe = relation.keys | {relation.version} if relation.keys else None
    for reference in crawl(prewhere, "column_reference"):
        *qualifiers, name = parts_of(reference)
        if qualifiers and source.name not in qualifiers:
            continue
        if name == relation.sign or (safe is not None and name not in safe):
            return reference
    return None
