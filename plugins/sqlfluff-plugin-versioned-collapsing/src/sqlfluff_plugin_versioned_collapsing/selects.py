"""Which rows a select reads, and whether they are signed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlfluff.core.dialects import Dialect
from sqlfluff.core.parser import BaseSegment
from sqlfluff.utils.analysis.query import SELECTABLE_TYPES, Query, Selectable

from sqlfluff_plugin_versioned_collapsing.relations import Relation, Relations

AnyQuery = Query[Any]

_COMBINATORS = r"(If|Array|Map|State|SimpleState|Distinct|OrNull|OrDefault|ForEach|Resample)*$"
ADDITIVE = re.compile(rf"(count|sum(WithOverflow|Kahan)?|avg){_COMBINATORS}", re.IGNORECASE)
UNDERIVABLE = re.compile(
    r"(min|max|argMin|argMax|any|anyLast|anyHeavy|any_value|first_value|last_value|uniq\w*"
    r"|quantiles?\w*|median\w*|groupArray\w*|groupUniqArray\w*|topK\w*|stddev\w*|var(Pop|Samp)\w*"
    rf"|covar\w*|corr\w*|skew\w*|kurt\w*|entropy){_COMBINATORS}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Source:
    """What stands after `from` or `join`.

    Args:
        segment: its part of the query.
        relation: the table, if it is one that is known.
        is_signed: whether its rows are state and cancel rows, with pairs that cancel each other.
        sign: the column with the sign, if there is one to be seen.
        final: the keyword, if it is read with FINAL.
    """

    segment: BaseSegment
    relation: Relation | None
    is_signed: bool
    sign: str | None
    final: BaseSegment | None


@dataclass(frozen=True)
class Select:
    """A select with its sources."""

    segment: BaseSegment
    sources: tuple[Source, ...]

    @property
    def signed(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if source.is_signed)

    @property
    def signs(self) -> frozenset[str]:
        """Names of the sign columns that are to be seen."""
        return frozenset(source.sign for source in self.signed if source.sign)

    def functions(self, *clauses: str) -> Iterator[BaseSegment]:
        """The function calls of some clauses, those in nested selects apart."""
        for clause in self.segment.get_children(*clauses):
            yield from clause.recursive_crawl(
                "function", no_recursive_seg_type=["select_statement"]
            )

    def is_grouped_by_sign(self) -> bool:
        clause = self.segment.get_child("groupby_clause")
        return clause is not None and mentions(clause, self.signs)


def name_of(function: BaseSegment) -> str:
    """The name of a function that is called."""
    name = function.get_child("function_name")
    return name.raw if name else ""


def column_of(reference: BaseSegment) -> str:
    """The column of a reference, without the table."""
    return _parts(reference)[-1]


def mentions(segment: BaseSegment, columns: frozenset[str]) -> bool:
    """Whether a segment refers to one of some columns."""
    references = segment.recursive_crawl(
        "column_reference", no_recursive_seg_type=["select_statement"]
    )
    return any(column_of(reference) in columns for reference in references)


def arguments_of(function: BaseSegment) -> list[BaseSegment]:
    """The arguments of a call, without commas and blanks; keywords and `*` are among them."""
    contents = function.get_child("function_contents")
    brackets = contents.get_child("bracketed") if contents else None
    if brackets is None:
        return []
    return [
        segment
        for segment in brackets.segments
        if segment.is_code and not segment.is_type("start_bracket", "end_bracket", "comma")
    ]


def factors_of(segment: BaseSegment, signs: frozenset[str]) -> Iterator[BaseSegment]:
    """What is multiplied by a sign, on either side of it."""
    for expression in segment.recursive_crawl(
        "expression", no_recursive_seg_type=["select_statement"]
    ):
        terms = [term for term in expression.segments if term.is_code]
        for left, operator, right in zip(terms, terms[1:], terms[2:], strict=False):
            if operator.raw == "*":
                for factor, other in ((left, right), (right, left)):
                    if other.is_type("column_reference") and column_of(other) in signs:
                        yield factor


def selects_in(root: BaseSegment, dialect: Dialect, relations: Relations) -> Iterator[Select]:
    """Every select of a file, nested ones too."""
    for segment in root.recursive_crawl(*SELECTABLE_TYPES, recurse_into=False):
        query: AnyQuery = Query.from_segment(segment, dialect)
        yield from _selects_of(query, relations)


def _selects_of(query: AnyQuery, relations: Relations) -> Iterator[Select]:
    for selectable in query.selectables:
        yield _select(selectable, query, relations)
    for child in query.children:
        yield from _selects_of(child, relations)


def _select(selectable: Selectable, query: AnyQuery, relations: Relations) -> Select:
    clauses = selectable.selectable.get_children("from_clause")
    return Select(
        selectable.selectable,
        tuple(
            _source(element, query, relations)
            for clause in clauses
            for element in clause.recursive_crawl(
                "from_expression_element", no_recursive_seg_type=["select_statement"]
            )
        ),
    )


def _source(element: BaseSegment, query: AnyQuery, relations: Relations) -> Source:
    final = next((k for k in element.get_children("keyword") if k.raw_upper == "FINAL"), None)
    reference = next(
        element.recursive_crawl("table_reference", no_recursive_seg_type=[*SELECTABLE_TYPES]), None
    )
    if reference is not None:
        parts = _parts(reference)
        named = query.lookup_cte(parts[0], pop=False) if len(parts) == 1 else None
        if named is not None:
            return _source_of_query(element, named, relations)
        relation = relations.find(parts)
        sign = relation.sign if relation else None
        return Source(element, relation, sign is not None and final is None, sign, final)
    nested = next(element.recursive_crawl(*SELECTABLE_TYPES), None)
    if nested is None:
        return Source(element, None, False, None, final)
    inner: AnyQuery = Query.from_segment(nested, query.dialect, parent=query)
    return _source_of_query(element, inner, relations)


def _source_of_query(element: BaseSegment, query: AnyQuery, relations: Relations) -> Source:
    """Rows of a subquery are signed if one of its selects passes signed rows on, one by one."""
    for selectable in query.selectables:
        select = _select(selectable, query, relations)
        if select.signed and not _aggregates(select):
            return Source(element, None, True, _sign_passed_on(select), None)
    return Source(element, None, False, None, None)


def _aggregates(select: Select) -> bool:
    if select.segment.get_child("groupby_clause"):
        return True
    names = [name_of(function) for function in select.functions("select_clause")]
    return any(ADDITIVE.match(name) or UNDERIVABLE.match(name) for name in names)


def _sign_passed_on(select: Select) -> str | None:
    """The name under which a select passes the sign on, if it does."""
    for element in select.segment.recursive_crawl(
        "select_clause_element", no_recursive_seg_type=["select_statement"]
    ):
        wildcard = element.get_child("wildcard_expression")
        if wildcard is not None and not mentions(wildcard, select.signs):
            return next(iter(select.signs), None)
        reference = element.get_child("column_reference")
        if reference is not None and column_of(reference) in select.signs:
            alias = element.get_child("alias_expression")
            name = alias.get_child("naked_identifier", "quoted_identifier") if alias else None
            return name.raw_normalized(False) if name else column_of(reference)
    return None


def _parts(reference: BaseSegment) -> list[str]:
    return [
        part.raw.strip('`"')
        for part in reference.segments
        if part.is_type("naked_identifier", "quoted_identifier")
    ] or [reference.raw]
