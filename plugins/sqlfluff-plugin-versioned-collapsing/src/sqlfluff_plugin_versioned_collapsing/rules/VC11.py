"""Rule VC11."""

from __future__ import annotations

from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, relations_of
from sqlfluff_plugin_versioned_collapsing.statements import why_optimize_is_wrong


class Rule_VersionedCollapsing_VC11(CollapsingRule, BaseRule):
    """``optimize table … final`` in a hook.

    It rewrites every part of the table at each run, even if few rows are new. And it guarantees nothing: rows that are
    inserted later are not merged, so that readers still need ``FINAL`` or sums with the sign.

    **Anti-pattern**

    .. code-block:: sql

        {{ config(
            materialized='incremental',
            engine='ReplacingMergeTree(updated_at)',
            order_by='id',
            post_hook='optimize table {{ this }} final'
        ) }}

    **Best practice**

    Read with ``FINAL``, or sum with the sign, and let ClickHouse merge. If pairs wait for merges in some partitions of
    a ``versioned_collapsing`` table, ``dbt run-operation compact`` merges those.

    .. code-block:: sql

        select sum(price) as total
        from shop.prices final
    """

    name = "versioned_collapsing.optimize_in_hook"
    aliases = ("VC11",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        relations = relations_of(context)
        model = relations.model_in(context.path)
        return [
            LintResult(anchor=context.segment.raw_segments[0], description=f"A hook: {reason}.")
            for hook in (model.hooks if model else ())
            for _, reason in why_optimize_is_wrong(hook, relations, model)
        ]
