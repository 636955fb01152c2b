"""What the rules share: the relations that are known, and the selects of a file."""

from __future__ import annotations

from collections.abc import Iterator

from sqlfluff.core.rules import RuleContext

from sqlfluff_plugin_versioned_collapsing.relations import Relations, load_relations
from sqlfluff_plugin_versioned_collapsing.selects import Select, selects_in

GROUPS = ("all", "versioned_collapsing")
KEYWORDS = ["collapsing_manifest", "collapsing_engines"]


def relations_of(context: RuleContext) -> Relations:
    """The relations that the options of the rules name."""
    return load_relations(
        *(context.config.get(keyword, section="rules") for keyword in KEYWORDS),
    )


def selects_of(context: RuleContext) -> Iterator[Select]:
    """The selects of the file."""
    return selects_in(context.segment, context.dialect, relations_of(context))
