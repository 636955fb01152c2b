"""Rule VC05."""

from __future__ import annotations

from collections.abc import Iterator

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, LintResult, RuleContext

from sqlfluff_plugin_versioned_collapsing.rules.base import CollapsingRule, selects_of
from sqlfluff_plugin_versioned_collapsing.segments import arguments_of
from sqlfluff_plugin_versioned_collapsing.selects import Select, content_of


class Rule_VersionedCollapsing_VC05(CollapsingRule, BaseRule):
    """An unsigned 64-bit measure times the sign.

    ``UInt64 * Int8`` is an Int64 in ClickHouse. Values above 9223372036854775807 wrap without an error:
    18446744073709551615 times 1 is -1.

    **Anti-pattern**

    .. code-block:: sql

        select sum(bytes * _sign) as bytes
        from shop.downloads

    **Best practice**

    Store measures as Int64 or Decimal, or widen them before multiplying by the sign. There is no automatic fix: it
    would change the type of a view's column.

    .. code-block:: sql

        select sum(toInt128(bytes) * _sign) as bytes
        from shop.downloads
    """

    name = "versioned_collapsing.unsigned_measure"
    aliases = ("VC05",)

    def _eval(self, context: RuleContext) -> list[LintResult]:
        return [
            LintResult(
                anchor=factor,
                description=f"{factor.raw} is UInt64: multiplied by the sign, it overflows above "
                "9223372036854775807. Widen it with toInt128, or store an Int64.",
            )
            for select in selects_of(context)
            if select.signs
            for factor in _wrapping(select)
        ]


def _wrapping(select: Select) -> Iterator[BaseSegment]:
    """The UInt64 factors of a sign in a select."""
    for element in select.elements:
        select.expressions.value(content_of(element))
    for function in select.functions():
        with select.within(function):
            for argument in arguments_of(function):
                select.expressions.value(argument)
    yield from select.expressions.wrapping.values()
