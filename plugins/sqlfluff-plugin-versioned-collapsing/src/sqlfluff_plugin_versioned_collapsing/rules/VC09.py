"""Rule VC09."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.relations import Relation
from sqlfluff_plugin_versioned_collapsing.replacing import why_never_replaced
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, relations_of
from sqlfluff_plugin_versioned_collapsing.segments import parts_of

_ORDER_BY = re.compile(r"\border\s+by\s+(.*)", re.IGNORECASE | re.DOTALL)


class Rule_VersionedCollapsing_VC09(CollapsingRule, BaseRule):
    """A version in the sorting key of a ReplacingMergeTree.

    A ReplacingMergeTree replaces rows that have the same sorting key. With the version or ``updated_at`` in the key,
    every version of a row has a different one: nothing is ever replaced, and ``FINAL`` returns all versions.

    **Anti-pattern**

    .. code-block:: sql

        create table shop.prices (id UInt64, price Decimal(12, 2), updated_at DateTime)
        engine = ReplacingMergeTree(updated_at)
        order by (id, updated_at)

    **Best practice**

    Order by the key alone. The engine compares the versions.

    .. code-block:: sql

        create table shop.prices (id UInt64, price Decimal(12, 2), updated_at DateTime)
        engine = ReplacingMergeTree(updated_at)
        order by id
    """

    name = "versioned_collapsing.version_in_sorting_key"
    aliases = ("VC09",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        model = relations_of(context).model_in(context.path)
        tables = [(context.segment, model)] if model else []
        return [
            LintResult(anchor=anchor.raw_segments[0], description=f"ReplacingMergeTree: {reason}.")
            for anchor, table in (*tables, *_created(context.segment))
            if (reason := why_never_replaced(table))
        ]


def _created(root: BaseSegment) -> Iterator[tuple[BaseSegment, Relation]]:
    """The tables that the file creates, each with its engine."""
    for statement in root.recursive_crawl("create_table_statement", "create_materialized_view_statement"):
        engine, name = statement.get_child("engine"), statement.get_child("table_reference")
        ordered = engine.get_child("merge_tree_order_by_clause") if engine else None
        found = _ORDER_BY.search(ordered.raw) if ordered else None
        function = engine.get_child("table_engine_function") if engine else None
        if engine is not None and function is not None and found:
            parts = parts_of(name) if name else [""]
            yield engine, Relation("", parts[-1], function.raw, sorting_key=found[1])
