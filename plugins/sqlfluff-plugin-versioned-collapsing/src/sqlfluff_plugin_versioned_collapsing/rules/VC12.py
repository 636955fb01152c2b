"""Rule VC12."""

from __future__ import annotations

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, relations_of
from sqlfluff_plugin_versioned_collapsing.statements import why_mutation_is_wrong, why_strategy_is_wrong


class Rule_VersionedCollapsing_VC12(CollapsingRule, BaseRule):
    """``update``, ``delete`` or a mutation of a signed table.

    Views and projections of sums are updated by inserts only. They never see that stored rows were changed or deleted,
    and silently keep the old sums. The same goes for a change feed, and for a model with
    ``incremental_strategy='delete_insert'``.

    **Anti-pattern**

    .. code-block:: sql

        delete from shop.orders
        where customer_id = 7

    **Best practice**

    Insert a cancel row for each row to remove. The model does that for a change with ``_is_deleted``.

    .. code-block:: sql

        insert into shop.orders
        select * replace (-1 as _sign)
        from shop.orders final
        where customer_id = 7 and _sign = 1
    """

    name = "versioned_collapsing.mutated_signed_table"
    aliases = ("VC12",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        relations = relations_of(context)
        model = relations.model_in(context.path)
        first = context.segment.raw_segments[0]
        results = [
            LintResult(anchor=first, description=f"A hook: {reason}.")
            for hook in (model.hooks if model else ())
            for _, reason in why_mutation_is_wrong(hook, relations, model)
        ]
        if model and (reason := why_strategy_is_wrong(model)):
            results.append(LintResult(anchor=first, description=f"{reason}."))
        return results + [
            LintResult(anchor=_segment_at(context.segment, found.start), description=f"{reason}.")
            for found, reason in why_mutation_is_wrong(context.segment.raw, relations, model)
        ]


def _segment_at(root: BaseSegment, position: int) -> BaseSegment:
    """The part of a file in which a statement begins."""
    for segment in root.raw_segments:
        if position < len(segment.raw):
            return segment
        position -= len(segment.raw)
    return root.raw_segments[-1]
