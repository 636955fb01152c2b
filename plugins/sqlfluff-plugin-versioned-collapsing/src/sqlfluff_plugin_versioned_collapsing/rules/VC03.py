"""Rule VC03."""

from __future__ import annotations

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.aggregates import SUMS, aggregate_of
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, following, selects_of
from sqlfluff_plugin_versioned_collapsing.segments import Terms, arguments_of, crawl_all, name_of
from sqlfluff_plugin_versioned_collapsing.selects import Select, content_of


class Rule_VersionedCollapsing_VC03(CollapsingRule, BaseRule):
    """A view of signed sums without ``sum(sign)``.

    Groups without live rows stay, with sums of 0, and look like groups whose amounts are 0. A SummingMergeTree cannot
    tell them apart either: it drops both.

    **Anti-pattern**

    .. code-block:: sql

        create materialized view shop.revenue_mv to shop.revenue as
        select
            region,
            sum(amount * _sign) as revenue
        from shop.orders
        group by region

    **Best practice**

    Count the live rows next to every sum. A view that is computed when it is read may leave empty groups out instead:
    ``having sum(_sign) <> 0``.

    .. code-block:: sql

        create materialized view shop.revenue_mv to shop.revenue as
        select
            region,
            sum(amount * _sign) as revenue,
            sum(_sign) as orders
        from shop.orders
        group by region
    """

    name = "versioned_collapsing.view_without_count"
    aliases = ("VC03",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        followed = following(context)
        return [
            LintResult(
                anchor=select.segment.get_child("select_clause"),
                description="Signed sums by group without the sum of the sign: groups "
                "without live rows stay, or groups whose sums are 0 vanish.",
            )
            for select in selects_of(context)
            if _lacks_count(select, is_following=followed(select))
        ]


def _lacks_count(select: Select, *, is_following: bool) -> bool:
    if not select.signs or not select.group_by or select.of_stored_rows:
        return False
    if select.readers and all(reader.only_sums for reader in select.readers):
        return False
    if not any(_is_signed_sum(function, select) for function in select.functions("select_clause")):
        return False
    having = select.segment.get_child("having_clause")
    if having is not None and not is_following and select.counts_in([having]):
        return False
    return not any(_shows_count(content_of(element), select) for element in select.elements)


def _is_signed_sum(function: BaseSegment, select: Select) -> bool:
    found, arguments = aggregate_of(name_of(function)), arguments_of(function)
    if found is None or found.base not in SUMS or not arguments or select.is_count(function):
        return False
    with select.within(function):
        value = select.expressions.value(arguments[0])
    return select.has_signs(value) and not value.is_bare


def _shows_count(terms: Terms, select: Select) -> bool:
    """Whether the number of live rows is visible: a divisor is not."""
    divides = any(raw.raw == "/" for term in terms for raw in term.raw_segments)
    is_hidden = any(name_of(f).lower() in ("nullif", "divide") for f in crawl_all(terms, "function"))
    return select.counts_in(terms) and not divides and not is_hidden
