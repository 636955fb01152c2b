"""What the rules share: the known relations, and the selects of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlfluff.core.parser import BaseSegment
from sqlfluff.core.rules import BaseRule, RuleContext
from sqlfluff.core.rules.crawlers import RootOnlyCrawler

from sqlfluff_plugin_versioned_collapsing.analysis import Analysis
from sqlfluff_plugin_versioned_collapsing.loading import load_relations
from sqlfluff_plugin_versioned_collapsing.relations import Relations
from sqlfluff_plugin_versioned_collapsing.selects import Select

GROUPS = ("all", "versioned_collapsing")
KEYWORDS = ["collapsing_manifest", "collapsing_engines"]

_last: list[tuple[BaseSegment, Relations, list[Select]]] = []


# At run time a subclass of sqlfluff's base class would have to be a rule itself.
if TYPE_CHECKING:
    _Base = BaseRule
else:
    _Base = object


class CollapsingRule(_Base):
    """The common base of the rules. They also check what macros generate in a file."""

    groups = GROUPS
    config_keywords = KEYWORDS
    crawl_behaviour = RootOnlyCrawler()
    # SQL from a macro is just as wrong, but by default sqlfluff ignores findings in templated places.
    targets_templated = True

    def __init__(self, code: str, description: str, **kwargs: Any) -> None:
        super().__init__(code, description, **kwargs)
        # An error here ends sqlfluff with its text; in `_eval` it would print a stack trace for each file.
        load_relations(*(_path(kwargs.get(keyword)) for keyword in KEYWORDS))


def _path(option: Any) -> str | None:
    return None if option is None else str(option)


def relations_of(context: RuleContext) -> Relations:
    """The relations given by the options of the rules."""
    return load_relations(*(_path(context.config.get(keyword, section="rules")) for keyword in KEYWORDS))


def selects_of(context: RuleContext) -> list[Select]:
    """The selects of the file, shared between the rules."""
    relations = relations_of(context)
    if _last and _last[0][0] is context.segment and _last[0][1] is relations:
        return _last[0][2]
    selects: list[Select] = []
    if relations.names_suspect(context.segment.raw):
        selects = Analysis(context.segment, relations).selects
    _last[:] = [(context.segment, relations, selects)]
    return selects


def following(context: RuleContext) -> Callable[[Select], bool]:
    """Returns a function: whether a materialized view computes a select, for each block of inserts."""
    model = relations_of(context).model_in(context.path)
    if model and model.is_following:
        return lambda select: True
    followed = {
        segment.uuid
        for view in context.segment.recursive_crawl("create_materialized_view_statement")
        for segment in view.recursive_crawl("select_statement")
    }
    return lambda select: select.segment.uuid in followed
