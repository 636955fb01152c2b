"""Rule VC01."""

from __future__ import annotations

from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.findings import findings_of
from sqlfluff_plugin_versioned_collapsing.fixes import fixes_of
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, following, selects_of


class Rule_VersionedCollapsing_VC01(CollapsingRule, BaseRule):
    """``count``, ``sum`` or ``avg`` over signed rows, without the sign.

    A table of state and cancel rows holds every old row twice, until a merge removes the pair. ``count(*)`` and
    ``sum(x)`` count both, and change whenever parts are merged.

    **Anti-pattern**

    .. code-block:: sql

        select
            status,
            count(*) as orders,
            avg(amount) as mean_amount
        from shop.orders
        group by status

    **Best practice**

    Sum the sign, and multiply by it. The result is correct before and after merges, and in materialized views. With
    several signed tables, multiply by the sign of each. ``count`` and ``sum`` of an exact number of the only table are
    fixed, if nothing else in the select affects which rows there are.

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
    is_fix_compatible = True

    def _eval(self, context: RuleContext) -> list[LintResult]:
        followed = following(context)
        return [
            LintResult(
                anchor=finding.anchor,
                description=f"{finding.name} over signed rows, {finding.reason}.",
                fixes=fixes_of(finding, select, is_following=followed(select)),
            )
            for select in selects_of(context)
            for finding in findings_of(select)
            if finding.is_derivable
        ]
