"""Rule VC04."""

from __future__ import annotations

from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, selects_of


class Rule_VersionedCollapsing_VC04(CollapsingRule, BaseRule):
    """``FINAL`` over a SummingMergeTree.

    It sums while it reads, with one core per range. It is correct only if every column is in the key or a sum, and
    nothing is filtered before: with ``prewhere`` on a sum it shows parts of groups.

    **Anti-pattern**

    .. code-block:: sql

        select
            region,
            revenue
        from shop.revenue_live final

    **Best practice**

    Sum once more, and leave out groups without live rows.

    .. code-block:: sql

        select
            region,
            sum(kept.revenue) as revenue
        from shop.revenue_live as kept
        group by region
        having sum(kept.orders) <> 0
    """

    name = "versioned_collapsing.final_over_sums"
    aliases = ("VC04",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=source.final,
                description=f"FINAL over the SummingMergeTree {source.relation.name}: sum its "
                "sums, grouped by its key.",
            )
            for select in selects_of(context)
            for source in select.sources
            if source.final is not None and source.relation is not None and source.relation.is_summing
        ]
