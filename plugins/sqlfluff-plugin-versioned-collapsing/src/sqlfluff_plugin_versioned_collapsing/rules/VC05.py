"""Rule VC05."""

from __future__ import annotations

import re

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext
from sqlfluff.core.rules.crawlers import RootOnlyCrawler

from sqlfluff_plugin_versioned_collapsing.rules.base import GROUPS, KEYWORDS, selects_of
from sqlfluff_plugin_versioned_collapsing.selects import Select, column_of, factors_of, name_of

_UNSIGNED = re.compile(r"(LowCardinality\(|Nullable\()*UInt64\)*$")


class Rule_VersionedCollapsing_VC05(BaseRule):
    """An unsigned 64-bit measure times the sign.

    ``UInt64 * Int8`` is an Int64 in ClickHouse. What is above 9223372036854775807 wraps, without an
    error: 18446744073709551615 times 1 is -1.

    **Anti-pattern**

    .. code-block:: sql

        select sum(bytes * _sign) as bytes
        from shop.downloads

    **Best practice**

    Store measures as Int64 or Decimal, or widen them before they meet the sign. This is not fixed:
    the column of a view would get another type.

    .. code-block:: sql

        select sum(toInt128(bytes) * _sign) as bytes
        from shop.downloads
    """

    name = "versioned_collapsing.unsigned_measure"
    aliases = ("VC05",)
    groups = GROUPS
    config_keywords = KEYWORDS
    crawl_behaviour = RootOnlyCrawler()

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=factor,
                description=f"{factor.raw} is UInt64: times the sign it wraps above "
                "9223372036854775807. Widen it, by toInt128, or store an Int64.",
            )
            for select in selects_of(context)
            for factor in factors_of(select.segment, select.signs)
            if _is_unsigned(factor, select)
        ]


def _is_unsigned(factor: BaseSegment, select: Select) -> bool:
    if factor.is_type("function"):
        return name_of(factor).startswith("toUInt64")
    return factor.is_type("column_reference") and any(
        _UNSIGNED.match(source.relation.types.get(column_of(factor), ""))
        for source in select.signed
        if source.relation
    )
