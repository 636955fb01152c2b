"""Rule VC03."""

from __future__ import annotations

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext
from sqlfluff.core.rules.crawlers import RootOnlyCrawler

from sqlfluff_plugin_versioned_collapsing.rules.base import (
    GROUPS,
    KEYWORDS,
    relations_of,
    selects_of,
)
from sqlfluff_plugin_versioned_collapsing.selects import (
    Select,
    arguments_of,
    column_of,
    factors_of,
    name_of,
)


class Rule_VersionedCollapsing_VC03(BaseRule):
    """A view of signed sums without ``sum(sign)``.

    Groups of which nothing is left stay there, with sums of 0, and cannot be told from groups whose
    amounts are 0. A SummingMergeTree does not tell them apart either: it drops both.

    **Anti-pattern**

    .. code-block:: sql

        create materialized view shop.revenue_mv to shop.revenue as
        select
            region,
            sum(amount * _sign) as revenue
        from shop.orders
        group by region

    **Best practice**

    Count the live rows beside every sum. A view that is computed when it is read may leave the
    groups out instead: ``having sum(_sign) <> 0``.

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
    groups = GROUPS
    config_keywords = KEYWORDS
    crawl_behaviour = RootOnlyCrawler()

    def _eval(self, context: RuleContext) -> list[LintResult]:
        model = relations_of(context).model_in(context.path)
        followed = {
            segment.uuid
            for view in context.segment.recursive_crawl("create_materialized_view_statement")
            for segment in view.recursive_crawl("select_statement")
        }
        results = []
        for select in selects_of(context):
            is_following = select.segment.uuid in followed or bool(model and model.is_following)
            if _lacks_count(select, is_following):
                results.append(
                    LintResult(
                        anchor=select.segment.get_child("select_clause"),
                        description="Signed sums by group without the sum of the sign: groups "
                        "without live rows stay, or groups whose sums are 0 vanish.",
                    )
                )
        return results


def _lacks_count(select: Select, is_following: bool) -> bool:
    if not select.signs or not select.segment.get_child("groupby_clause"):
        return False
    sums = [
        function
        for function in select.functions("select_clause")
        if name_of(function).lower().startswith("sum") and any(factors_of(function, select.signs))
    ]
    clauses = ["select_clause"] if is_following else ["select_clause", "having_clause"]
    counts = [function for function in select.functions(*clauses) if _counts(function, select)]
    return bool(sums) and not counts


def _counts(function: BaseSegment, select: Select) -> bool:
    arguments = arguments_of(function)
    if name_of(function).lower() not in ("sum", "sumstate") or len(arguments) != 1:
        return False
    references = list(arguments[0].recursive_crawl("column_reference"))
    return (
        len(references) == 1
        and references[0].raw == arguments[0].raw
        and column_of(references[0]) in select.signs
    )
