"""Rule VC01."""

from __future__ import annotations

import re

from sqlfluff.core.parser import BaseSegment, SymbolSegment, WhitespaceSegment, WordSegment
from sqlfluff.core.rules import BaseRule, LintFix, LintResult, RuleContext
from sqlfluff.core.rules.crawlers import RootOnlyCrawler

from sqlfluff_plugin_versioned_collapsing.rules.base import GROUPS, KEYWORDS, selects_of
from sqlfluff_plugin_versioned_collapsing.selects import (
    ADDITIVE,
    Select,
    arguments_of,
    mentions,
    name_of,
)

_COLUMN = re.compile(r"[A-Za-z_`][\w.`]*")


class Rule_VersionedCollapsing_VC01(BaseRule):
    """``count``, ``sum`` or ``avg`` over signed rows, without the sign.

    A table of state and cancel rows has every old row twice, until a merge takes the pair away.
    ``count(*)`` and ``sum(x)`` count both, and change whenever parts are merged.

    **Anti-pattern**

    .. code-block:: sql

        select
            status,
            count(*) as orders,
            avg(amount) as mean_amount
        from shop.orders
        group by status

    **Best practice**

    Sum the sign, and multiply by it. It is right merged or not, and in materialized views.
    ``count`` and ``sum`` of a column of the only table are fixed so.

    .. code-block:: sql

        select
            status,
            sum(_sign) as orders,
            sum(amount * _sign) / nullIf(sum(_sign), 0) as mean_amount
        from shop.orders
        group by status
        having orders <> 0
    """

    name = "versioned_collapsing.bare_aggregate"
    aliases = ("VC01",)
    groups = GROUPS
    config_keywords = KEYWORDS
    crawl_behaviour = RootOnlyCrawler()
    is_fix_compatible = True

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=function,
                description=f"{name_of(function)} over signed rows, without the sign.",
                fixes=_fixes(function, select),
            )
            for select in selects_of(context)
            if select.signed and not select.is_grouped_by_sign()
            for function in select.functions("select_clause", "having_clause", "orderby_clause")
            if ADDITIVE.match(name_of(function))
            and not mentions(function, select.signs)
            and not _is_distinct(function)
        ]


def _is_distinct(function: BaseSegment) -> bool:
    return any(argument.raw_upper == "DISTINCT" for argument in arguments_of(function))


def _fixes(function: BaseSegment, select: Select) -> list[LintFix]:
    """Safe where the rows come from one table, and the argument is one column or none."""
    if len(select.sources) != 1 or not select.signs:
        return []
    (sign,) = select.signs
    name = next(function.recursive_crawl("function_name_identifier"))
    to_sum = LintFix.replace(name, [WordSegment("sum")])
    arguments = arguments_of(function)
    match name.raw.lower(), arguments:
        case "count", []:
            bracket = next(function.recursive_crawl("start_bracket"))
            return [to_sum, LintFix.create_after(bracket, [WordSegment(sign)])]
        case "count", [argument] if argument.raw == "*":
            return [to_sum, LintFix.replace(argument, [WordSegment(sign)])]
        case "sum", [argument] if _COLUMN.fullmatch(argument.raw):
            factor = [
                WhitespaceSegment(),
                SymbolSegment("*"),
                WhitespaceSegment(),
                WordSegment(sign),
            ]
            return [LintFix.create_after(argument, factor)]
    return []
