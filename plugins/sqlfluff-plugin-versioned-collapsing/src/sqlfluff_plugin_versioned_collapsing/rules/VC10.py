"""Rule VC10."""

from __future__ import annotations

from collections.abc import Iterator

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.aggregates import SUMS, aggregate_of
from sqlfluff_plugin_versioned_collapsing.relations import Relation
from sqlfluff_plugin_versioned_collapsing.rows import is_virtual
from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, following, relations_of, selects_of
from sqlfluff_plugin_versioned_collapsing.segments import arguments_of, crawl, is_distinct, name_of, parts_of, text_of
from sqlfluff_plugin_versioned_collapsing.selects import Select


class Rule_VersionedCollapsing_VC10(CollapsingRule, BaseRule):
    """``count``, ``sum`` or ``avg`` over a ReplacingMergeTree without ``FINAL``.

    Replaced rows stay, and are counted, until parts are merged. A materialized view counts them for ever: it sees each
    insert by itself, whatever ``FINAL`` says.

    **Anti-pattern**

    .. code-block:: sql

        select sum(price) as total
        from shop.prices

    **Best practice**

    Read with ``FINAL``, or take the last row of each key first. For sums that a view keeps, use signed rows or a
    refreshable view.

    .. code-block:: sql

        select sum(price) as total
        from shop.prices final;

        select sum(price) as total
        from (
            select argMax(price, updated_at) as price
            from shop.prices
            group by id
        )
    """

    name = "versioned_collapsing.replaced_rows"
    aliases = ("VC10",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        followed = following(context)
        model = relations_of(context).model_in(context.path)
        settings = (model.config.get("query_settings") or {}) if model else {}
        if str(settings.get("final", "")).lower() in ("1", "true"):
            return []
        selects = selects_of(context)
        return [
            LintResult(anchor=function, description=description)
            for select in selects
            for function, description in _findings(select, selects, is_followed=followed(select))
        ]


def _findings(select: Select, selects: list[Select], *, is_followed: bool) -> Iterator[tuple[BaseSegment, str]]:
    first = select.sources[0].relation if select.sources else None
    if is_followed and first is not None and first.is_replacing:
        for function in _sums(select):
            yield (
                function,
                (
                    f"{name_of(function)} in a materialized view on the ReplacingMergeTree "
                    f"{first.name}: the view adds each insert, and never takes the replaced row "
                    "off, with FINAL neither. Keep signed rows for it, or refresh the view."
                ),
            )
    elif select.replacing is not None and not _is_of_stored_rows(select):
        for function in _sums(select):
            if not _counts_versions(function, select, select.replacing, selects):
                yield (
                    function,
                    (
                        f"{name_of(function)} over the ReplacingMergeTree {select.replacing.name} "
                        "without FINAL: rows that were replaced count until they are merged. Write "
                        f"`from {select.replacing.name} final`, or take argMax by the version, "
                        "grouped by the key, first."
                    ),
                )


def _sums(select: Select) -> Iterator[BaseSegment]:
    for function in select.functions():
        found = aggregate_of(name_of(function))
        is_sum = found is not None and found.is_derivable and found.base in SUMS | {"count", "avg"}
        is_plain = not is_distinct(function) and function.get_child("over_clause") is None
        with select.within(function):
            is_of_groups = select.expressions.has_aggregate(_terms(function))
        if is_sum and is_plain and not is_of_groups:
            yield function


def _terms(function: BaseSegment) -> list[BaseSegment]:
    return [term for argument in arguments_of(function) for term in argument]


def _is_of_stored_rows(select: Select) -> bool:
    """Whether it asks where rows are stored."""
    return any(is_virtual(parts_of(r)[-1]) for r in _crawled(select, "column_reference"))


def _crawled(select: Select, kind: str) -> Iterator[BaseSegment]:
    """The parts of a select, except those in nested selects."""
    for clause in select.segment.segments:
        yield from crawl(clause, kind)


def _counts_versions(function: BaseSegment, select: Select, table: Relation, selects: list[Select]) -> bool:
    """Whether a count asks how many rows are stored per key, or next to the live ones."""
    found = aggregate_of(name_of(function))
    if found is None or found.base != "count":
        return False
    grouped = {text_of(key).rpartition(".")[2].strip('`"') for key in select.group_by}
    if table.keys and table.keys <= grouped:
        return True
    if any(_is_of_distinct(other) for other in select.functions()):
        return True
    having = select.segment.get_child("having_clause")
    if having is not None and any(f is function for f in crawl(having, "function")):
        return True
    is_alone = len(select.elements) == 1 and not select.group_by
    return is_alone and any(
        source.is_live and source.relation is table for other in selects for source in other.sources
    )


def _is_of_distinct(function: BaseSegment) -> bool:
    found = aggregate_of(name_of(function))
    if found is None:
        return False
    return is_distinct(function) or "distinct" in found.combinators or found.base.startswith("uniq")
