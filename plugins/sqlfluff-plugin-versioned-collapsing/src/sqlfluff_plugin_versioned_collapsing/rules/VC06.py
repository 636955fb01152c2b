"""Rule VC06."""

from __future__ import annotations

import re

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.relations import sign_of
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, relations_of
from sqlfluff_plugin_versioned_collapsing.ttl import why_unsafe

_PARTITION_BY = re.compile(r"partition\s+by\s+(.*?)\s*(?=\b(?:order|primary|sample)\b|$)", re.IGNORECASE | re.DOTALL)


class Rule_VersionedCollapsing_VC06(CollapsingRule, BaseRule):
    """A TTL that can remove a state row before its cancel row.

    The rows of a pair can be in two parts, which are cleaned at different times: hours apart, or with
    ``ttl_only_drop_parts`` for as long as one of the parts has a row that has not expired. Meanwhile the cancel row is
    alone, and every sum is too low.

    **Anti-pattern**

    .. code-block:: sql

        create table shop.orders (id UInt64, made_at DateTime, _version UInt64, _sign Int8)
        engine = VersionedCollapsingMergeTree(_sign, _version)
        partition by toYYYYMM(made_at)
        order by id
        ttl made_at + interval 1 year

    **Best practice**

    Let whole partitions expire, with all their rows at the same time.

    .. code-block:: sql

        create table shop.orders (id UInt64, made_at DateTime, _version UInt64, _sign Int8)
        engine = VersionedCollapsingMergeTree(_sign, _version)
        partition by toYYYYMM(made_at)
        order by id
        ttl toStartOfMonth(made_at) + interval 13 month
    """

    name = "versioned_collapsing.ttl_tears_pairs"
    aliases = ("VC06",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        results = []
        model = relations_of(context).model_in(context.path)
        if model and model.ttl and model.sign:
            results.append(self._result(context.segment, model.ttl, model.sign, model.partition_by))
        for table in context.segment.recursive_crawl("create_table_statement"):
            engine, ttl = table.get_child("engine"), table.get_child("table_ttl_segment")
            sign = sign_of(engine.raw) if engine else None
            if engine and ttl and sign:
                partition_by = _PARTITION_BY.search(engine.raw)
                results.append(self._result(ttl, ttl.raw, sign, partition_by[1] if partition_by else ""))
        return [result for result in results if result]

    def _result(self, anchor: BaseSegment, ttl: str, sign: str, partition_by: str) -> LintResult | None:
        reason = why_unsafe(ttl, sign, partition_by)
        if reason is None:
            return None
        return LintResult(
            anchor=anchor.raw_segments[0],
            description=f"The TTL can remove a state row before its cancel row: {reason}.",
        )
