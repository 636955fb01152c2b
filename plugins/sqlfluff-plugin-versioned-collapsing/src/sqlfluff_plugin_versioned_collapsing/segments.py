"""Parts of a parsed file, by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlfluff.core.parser import BaseSegment

QUERIES = ("select_statement", "set_expression", "with_compound_statement")
Terms = Sequence[BaseSegment]


def code_of(segment: BaseSegment) -> list[BaseSegment]:
    """The parts of a segment, without blanks and comments."""
    return [part for part in segment.segments if part.is_code]


def terms_of(segment: BaseSegment) -> list[BaseSegment]:
    """The terms and operators of an expression, without its brackets."""
    while True:
        if segment.is_type("bracketed"):
            inner = inside(segment)
        elif segment.is_type("expression", "select_clause_element"):
            inner = code_of(segment)
        else:
            return [segment]
        if len(inner) != 1:
            return inner if not segment.is_type("bracketed") else [segment]
        segment = inner[0]


def inside(bracketed: BaseSegment) -> list[BaseSegment]:
    """The parts between the brackets."""
    return [part for part in code_of(bracketed) if not part.is_type("start_bracket", "end_bracket")]


def split(terms: Terms, *separators: str) -> list[list[BaseSegment]]:
    """The terms between separators, which are given by type or spelling."""
    parts: list[list[BaseSegment]] = [[]]
    for term in terms:
        if term.raw.lower() in separators and not term.segments:
            parts.append([])
        else:
            parts[-1].append(term)
    return parts


def name_of(function: BaseSegment) -> str:
    """The name of the function in a call."""
    name = function.get_child("function_name")
    return name.raw if name else ""


def arguments_of(function: BaseSegment) -> list[list[BaseSegment]]:
    """The terms of each argument of a call, including keywords and `*`."""
    contents = function.get_child("function_contents")
    brackets = contents.get_children("bracketed") if contents else []
    if not brackets:
        return []
    arguments = split(inside(brackets[-1]), ",")
    if arguments[0] and arguments[0][0].raw.lower() == "distinct":
        arguments[0] = arguments[0][1:]
    return [argument for argument in arguments if argument]


def is_distinct(function: BaseSegment) -> bool:
    """Whether a call is `f(distinct x)`."""
    contents = function.get_child("function_contents")
    return any(
        inner.raw.lower() == "distinct"
        for bracketed in (contents.get_children("bracketed") if contents else [])
        for inner in inside(bracketed)[:1]
    )


def filter_of(function: BaseSegment) -> list[BaseSegment]:
    """The condition of `filter (where ...)`."""
    contents = function.get_child("function_contents")
    for part in (*code_of(function), *(code_of(contents) if contents else ())):
        if part.is_type("bracketed") and (inner := inside(part)) and inner[0].raw.lower() == "where":
            return inner[1:]
    return []


def parts_of(reference: BaseSegment) -> list[str]:
    """The names in a reference, without quotes."""
    return [
        identifier_of(part) for part in reference.segments if part.is_type("naked_identifier", "quoted_identifier")
    ] or [reference.raw]


def identifier_of(segment: BaseSegment) -> str:
    """A name without quotes."""
    raw = segment.raw
    return raw[1:-1].replace("\\" + raw[0], raw[0]) if raw[:1] in ('"', "`") else raw


def alias_of(element: BaseSegment) -> str | None:
    """The alias, or None."""
    alias = element.get_child("alias_expression")
    name = alias.get_child("naked_identifier", "quoted_identifier") if alias else None
    return identifier_of(name) if name else None


def crawl(segment: BaseSegment, *types: str) -> Iterator[BaseSegment]:
    """All parts of some types, except those in nested queries."""
    if not segment.is_type(*QUERIES):
        yield from segment.recursive_crawl(*types, no_recursive_seg_type=list(QUERIES))


def crawl_all(terms: Terms, *types: str) -> Iterator[BaseSegment]:
    """Like `crawl`, for several terms."""
    for term in terms:
        yield from crawl(term, *types)


def nested_queries(segment: BaseSegment) -> Iterator[BaseSegment]:
    """The outermost queries within a segment."""
    if segment.is_type(*QUERIES):
        yield segment
        return
    for part in segment.segments:
        yield from nested_queries(part)


def text_of(terms: Terms) -> str:
    """Terms without blanks and in lower case, for comparisons."""
    return "".join(raw.raw for term in terms for raw in term.raw_segments if raw.is_code).lower()
