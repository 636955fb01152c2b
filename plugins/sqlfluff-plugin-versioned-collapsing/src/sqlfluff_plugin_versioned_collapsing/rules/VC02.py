"""Rule VC02."""

from __future__ import annotations

from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.findings import findings_of
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, selects_of


class Rule_VersionedCollapsing_VC02(CollapsingRule, BaseRule):
    """``min``, ``max``, ``uniq`` or a quantile over signed rows.

    They cannot forget the value of a cancelled row, and ``maxIf(x, _sign = 1)`` still sees the states that have been
    cancelled.

    **Anti-pattern**

    .. code-block:: sql

        select
            max(amount) as largest,
            uniq(customer_id) as customers
        from shop.orders

    **Best practice**

    Read the live rows. Use ``where``, not ``prewhere``, which would filter before pairs are matched. Or group by the
    value first, and keep the groups that have live rows.

    .. code-block:: sql

        select
            max(amount) as largest,
            uniq(customer_id) as customers
        from shop.orders final
        where _sign = 1;

        select max(amount) as largest
        from (
            select amount
            from shop.orders
            group by amount
            having sum(_sign) > 0
        )
    """

    name = "versioned_collapsing.underivable_aggregate"
    aliases = ("VC02",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=finding.anchor,
                description=f"{finding.name} over signed rows: the sign cannot undo "
                "the effect of a cancelled row. Read the live rows: FINAL, where the sign is 1. Or "
                "group by the value first, and keep those of which live rows are left.",
            )
            for select in selects_of(context)
            for finding in findings_of(select)
            if not finding.is_derivable
        ]
