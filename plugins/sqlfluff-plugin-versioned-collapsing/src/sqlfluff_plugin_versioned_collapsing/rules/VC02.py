"""Rule VC02."""

from __future__ import annotations

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext
from sqlfluff.core.rules.crawlers import RootOnlyCrawler

from sqlfluff_plugin_versioned_collapsing.rules.base import GROUPS, KEYWORDS, selects_of
from sqlfluff_plugin_versioned_collapsing.selects import (
    ADDITIVE,
    UNDERIVABLE,
    arguments_of,
    name_of,
)


class Rule_VersionedCollapsing_VC02(BaseRule):
    """``min``, ``max``, ``uniq`` or a quantile over signed rows.

    Nothing takes the value of a cancelled row out of them again: they cannot be had from signed
    rows, and ``maxIf(x, _sign = 1)`` still sees the states that have been cancelled.

    **Anti-pattern**

    .. code-block:: sql

        select
            max(amount) as largest,
            uniq(customer_id) as customers
        from shop.orders

    **Best practice**

    Read the live rows. ``where``, not ``prewhere``: that would filter before pairs are matched.

    .. code-block:: sql

        select
            max(amount) as largest,
            uniq(customer_id) as customers
        from shop.orders final
        where _sign = 1
    """

    name = "versioned_collapsing.underivable_aggregate"
    aliases = ("VC02",)
    groups = GROUPS
    config_keywords = KEYWORDS
    crawl_behaviour = RootOnlyCrawler()

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=function,
                description=f"{name_of(function)} over signed rows: no sign takes back what "
                "a cancelled row has given. Read the live rows: FINAL, where the sign is 1.",
            )
            for select in selects_of(context)
            if select.signed and not select.is_grouped_by_sign()
            for function in select.functions("select_clause", "having_clause", "orderby_clause")
            if _is_underivable(function)
        ]


def _is_underivable(function: BaseSegment) -> bool:
    name = name_of(function)
    is_distinct = any(argument.raw_upper == "DISTINCT" for argument in arguments_of(function))
    return bool(UNDERIVABLE.match(name) or (is_distinct and ADDITIVE.match(name)))
