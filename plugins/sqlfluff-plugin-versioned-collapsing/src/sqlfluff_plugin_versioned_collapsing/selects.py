"""The selects of a file: what they read, and what they do with the signs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlfluff.core.parser import BaseSegment

from sqlfluff_plugin_versioned_collapsing.aggregates import SUMS, aggregate_of
from sqlfluff_plugin_versioned_collapsing.expressions import CANCELS, NONE, STATES, Expressions
from sqlfluff_plugin_versioned_collapsing.relations import Relation
from sqlfluff_plugin_versioned_collapsing.rows import Columns, Rows, Value
from sqlfluff_plugin_versioned_collapsing.segments import (
    Terms,
    alias_of,
    arguments_of,
    code_of,
    crawl,
    crawl_all,
    identifier_of,
    inside,
    name_of,
    nested_queries,
    parts_of,
    split,
    terms_of,
    text_of,
)

_CLAUSES = ("select_clause", "having_clause", "orderby_clause", "qualify_clause")
_LAST = re.compile(r"\b(max|argmax|row_number|rank|limit)\b", re.IGNORECASE)
_UNGROUPED = re.compile(r"\b(totals|rollup|cube|sets)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """An item after `from` or `join`.

    Args:
        segment: its part of the query.
        name: the qualifier of its columns.
        relation: the table, if it is known.
        rows: the rows it returns.
        final: the keyword, if it is read with FINAL.
        is_live: whether FINAL or the setting matches its pairs.
        picks: the kind of its join if that keeps only one of several rows, such as `semi`, or None.
        query: the select of a subquery or a CTE.
    """

    segment: BaseSegment
    name: str
    relation: Relation | None
    rows: Rows
    final: BaseSegment | None = None
    is_live: bool = False
    picks: str = ""
    query: Select | None = None


@dataclass(eq=False)
class Select:
    """A select with its sources.

    Args:
        segment: the select.
        sources: what it reads.
        role: `result`, `source` of another query, or `nested` in an expression.
        shared: expressions of the with clause, by name.
        readers: the selects that read this one, directly or through its CTE.
    """

    segment: BaseSegment
    sources: tuple[Source, ...]
    role: str
    shared: dict[str, Terms] = field(default_factory=dict)
    readers: list[Select] = field(default_factory=list)
    _resolving: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.expressions = Expressions(self._value_of)

    # What is read.

    @cached_property
    def signs(self) -> frozenset[int]:
        """The signs that together count a row."""
        found: set[int] = set()
        for source in self.sources:
            if not source.picks:
                found |= source.rows.signs
        return frozenset(found)

    @cached_property
    def lost(self) -> str | None:
        """What has left rows out without their partners."""
        if self.keeps_states:
            return "a filter that leaves the cancel rows out"
        return next((s.rows.lost for s in self.sources if s.rows.signs and s.rows.lost), None)

    def _value_of(self, reference: BaseSegment) -> Value:
        *qualifiers, name = parts_of(reference)
        if qualifiers:
            for source in self.sources:
                if source.name in (qualifiers[-1], qualifiers[0]):
                    is_column = source.name == qualifiers[-1]
                    return source.rows.find(name if is_column else qualifiers[1]) or Value()
            return Value()
        if name not in self._resolving and (terms := self.aliased.get(name)) is not None:
            self._resolving.append(name)
            try:
                return self.expressions.value(terms)
            finally:
                self._resolving.pop()
        found = (source.rows.find(name) for source in self.sources)
        return next((value for value in found if value is not None), Value())

    # What is selected.

    @cached_property
    def elements(self) -> list[BaseSegment]:
        clause = self.segment.get_child("select_clause")
        return clause.get_children("select_clause_element") if clause else []

    @cached_property
    def aliased(self) -> dict[str, Terms]:
        """Expressions by the alias that the select or its with clause gives them."""
        named = {alias: content_of(e) for e in self.elements if (alias := alias_of(e))}
        return {**self.shared, **named}

    @cached_property
    def columns(self) -> list[tuple[str, Value]]:
        """The columns that are returned, except those of wildcards."""
        columns = []
        for element in self.elements:
            if element.get_child("wildcard_expression"):
                continue
            terms = content_of(element)
            alias = alias_of(element)
            name = alias or (parts_of(terms[0])[-1] if terms[0].is_type("column_reference") else text_of(terms))
            if alias:
                self._resolving.append(alias)
            columns.append((name, self.expressions.value(terms)))
            if alias:
                self._resolving.pop()
        return columns

    @cached_property
    def wildcards(self) -> list[tuple[BaseSegment, Rows]]:
        """What each wildcard returns."""
        found = []
        for element in self.elements:
            wildcard = element.get_child("wildcard_expression")
            if wildcard is None:
                continue
            identifier = wildcard.get_child("wildcard_identifier")
            names = parts_of(identifier) if identifier and "." in identifier.raw else []
            excluded = frozenset(
                identifier_of(name)
                for clause in wildcard.get_children("select_except_clause")
                for name in clause.recursive_crawl("naked_identifier", "quoted_identifier")
            )
            for source in self.sources:
                if not names or source.name == names[-1]:
                    found.append((wildcard, source.rows.without(excluded)))
        return found

    @cached_property
    def rows(self) -> Rows:
        """The rows that are returned."""
        named: dict[str, Value] = {}
        others: list[Columns] = []
        for _, rows in self.wildcards:
            named |= {name: value for name, value in rows.named.items() if name not in named}
            others += rows.others
        if self.is_grouped and not self.is_by_sign:
            return Rows(
                named={
                    name: replace(v, signs=frozenset(), is_mixed=False, is_bare=False, is_aggregate=False)
                    for name, v in self.columns
                }
            )
        named |= {name: replace(v, is_aggregate=False) for name, v in self.columns}
        return Rows(self.signs, named, tuple(others), self.lost or self.loss, self.replacing)

    @cached_property
    def loss(self) -> str | None:
        """The clause of this select that leaves rows out without their partners, or separates pairs."""
        if not self.signs or self.is_of_stored_rows:
            return None
        clause = self.segment.get_child("select_clause")
        modifiers = clause.get_children("select_clause_modifier") if clause else []
        if "distinct" in text_of(modifiers):
            return "distinct"
        for limit in self.segment.get_children("limit_clause"):
            if any(part.raw.lower() == "by" for part in limit.segments):
                return "limit by"
        return None

    # ReplacingMergeTree.

    @cached_property
    def replacing(self) -> Relation | None:
        """The ReplacingMergeTree whose replaced rows it sees."""
        read = (source for source in self.sources if not source.picks)
        found = next((s.rows.replacing for s in read if s.rows.replacing), None)
        return None if found is None or self._keeps_one_of_several else found

    @property
    def _keeps_one_of_several(self) -> bool:
        """Whether it picks the last row of each key itself."""
        clause = self.segment.get_child("select_clause")
        modifiers = clause.get_children("select_clause_modifier") if clause else []
        if self.segment.get_child("qualify_clause") or "distinct" in text_of(modifiers):
            return True
        limits = self.segment.get_children("limit_clause")
        if any(part.raw.lower() == "by" for limit in limits for part in limit.segments):
            return True
        # `where (id, version) in (select id, max(version) ...)`, or a join with that.
        clauses = self.segment.get_children("where_clause", "prewhere_clause")
        nested = [query for clause in clauses for query in nested_queries(clause)]
        nested += [source.query.segment for source in self.sources if source.query]
        return any(_LAST.search(query.raw) for query in nested)

    # Conditions on the sign.

    @cached_property
    def _conditions(self) -> list[tuple[str, frozenset[int]]]:
        """What each condition on signs lets through, and which signs it tests."""
        clauses = self.segment.get_children("where_clause", "prewhere_clause")
        for clause in self.segment.get_children("from_clause"):
            clauses += crawl(clause, "join_on_condition")
        found = [
            condition
            for clause in clauses
            for condition in self.expressions.signed_conditions(
                [part for part in code_of(clause) if not part.is_type("keyword")]
            )
        ]
        # A join on the sign never lets a state row meet a cancel row.
        return found + [(STATES, signs) for signs in self._signs_of_using()]

    def _signs_of_using(self) -> Iterator[frozenset[int]]:
        for clause in self.segment.get_children("from_clause"):
            for join in crawl(clause, "join_clause"):
                bracketed = join.get_children("bracketed", "naked_identifier", "quoted_identifier")
                for name in bracketed:
                    for part in inside(name) if name.is_type("bracketed") else [name]:
                        values = (s.rows.find(identifier_of(part)) for s in self.sources)
                        yield from (v.signs for v in values if v is not None and v.is_bare)

    @property
    def keeps_states(self) -> bool:
        """Whether it filters out cancel rows, but not the state rows that they cancel."""
        return any(kind == STATES for kind, _ in self._conditions)

    @cached_property
    def of_stored_rows(self) -> frozenset[int]:
        """The signs of the tables whose stored rows the select is about.

        It asks for cancel rows, wrong signs or parts, or groups by the sign or the version.
        """
        found = [signs for kind, signs in self._conditions if kind in (CANCELS, NONE)]
        for clause in self.segment.get_children("where_clause", "prewhere_clause"):
            values = [self.expressions.value([r]) for r in crawl(clause, "column_reference")]
            found += [value.of for value in values if value.is_virtual]
        for key in self.group_by:
            value = self.expressions.value(key)
            found += [value.of or self.signs] if value.is_stored else []
        return frozenset().union(*found, self._by_sign)

    @property
    def is_of_stored_rows(self) -> bool:
        """Whether the select is about the stored rows of all its tables."""
        return bool(self.of_stored_rows) and not self.needed

    @property
    def needed(self) -> frozenset[int]:
        """The signs that each sum must have: those of the tables that it treats as live rows."""
        return self.signs - self.of_stored_rows

    def has_signs(self, value: Value) -> bool:
        """Whether a value is multiplied by the sign of each signed table, and by no other sign."""
        return self.needed <= value.signs <= self.signs and not value.is_mixed

    # Groups.

    @cached_property
    def group_by(self) -> list[Terms]:
        """The grouping expressions, with positions and `all` resolved."""
        clause = self.segment.get_child("groupby_clause")
        if clause is None:
            return []
        contents = [content_of(element) for element in self.elements]
        keys: list[Terms] = []
        for terms in split([p for p in code_of(clause) if not p.is_type("keyword")], ","):
            text = text_of(terms)
            if text == "all":
                keys += [c for c in contents if not self.expressions.has_aggregate(c)]
            elif text.isdigit() and 0 < int(text) <= len(contents):
                keys.append(contents[int(text) - 1])
            elif terms and terms[0].is_type("cube_rollup_clause", "grouping_sets_clause"):
                keys += [[r] for r in crawl_all(terms, "column_reference")]
            elif terms:
                keys.append(terms)
        return keys

    @cached_property
    def is_grouped(self) -> bool:
        """Whether each returned row is made of several."""
        if self.segment.get_child("groupby_clause"):
            return True
        return any(self.expressions.has_aggregate(content_of(element)) for element in self.elements)

    @property
    def is_by_sign(self) -> bool:
        """Whether there is a group per sign, and the sign is returned with it."""
        return bool(self.signs) and self.signs <= self._by_sign

    @cached_property
    def _by_sign(self) -> frozenset[int]:
        """The signs that are grouped by and returned."""
        if not self.signs or self.segment.get_child("groupby_clause") is None:
            return frozenset()
        keys = [v for key in self.group_by if (v := self.expressions.value(key)).is_bare]
        shown = {value.signs for _, value in self.columns if value.is_bare}
        return frozenset(s for v in keys if v.signs in shown for s in v.signs)

    @cached_property
    def is_plainly_grouped(self) -> bool:
        """Whether a `having` condition can be added."""
        clause = self.segment.get_child("groupby_clause")
        return (
            clause is not None and not _UNGROUPED.search(clause.raw) and not (self.segment.get_child("having_clause"))
        )

    @cached_property
    def only_sums(self) -> bool:
        """Whether it returns only sums of what it reads, to which an empty group adds nothing."""
        if self.segment.get_child("groupby_clause") or self.wildcards or self.shared:
            return False
        calls = [f for f in self.functions() if aggregate_of(name_of(f))]
        bases = [found for f in calls if (found := aggregate_of(name_of(f)))]
        within = {id(r) for f in calls for r in crawl(f, "column_reference")}
        references = [r for e in self.elements for r in crawl(e, "column_reference")]
        are_sums = all(a.base in SUMS and "distinct" not in a.combinators for a in bases)
        return bool(calls) and are_sums and all(id(r) in within for r in references)

    # Functions.

    def functions(self, *clauses: str) -> Iterator[BaseSegment]:
        """The function calls of some clauses, except those in nested selects."""
        for clause in self.segment.get_children(*(clauses or _CLAUSES)):
            yield from crawl(clause, "function")
        if not clauses:
            for terms in self.shared.values():
                yield from crawl_all(terms, "function")

    @cached_property
    def _named(self) -> dict[int, str]:
        """The alias of the expression that each call is part of."""
        elements = {alias: [e] for e in self.elements if (alias := alias_of(e))}
        return {
            id(function): name
            for name, terms in {**self.shared, **elements}.items()
            for function in crawl_all(terms, "function")
        }

    @contextmanager
    def within(self, function: BaseSegment) -> Iterator[None]:
        """Resolve names as inside a call: in `sum(x) as x` the first x is the column."""
        self._resolving.append(self._named.get(id(function), ""))
        try:
            yield
        finally:
            self._resolving.pop()

    def is_count(self, function: BaseSegment) -> bool:
        """Whether a call is `sum` of nothing but the sign: the number of live rows."""
        found = aggregate_of(name_of(function))
        arguments = arguments_of(function)
        if found is None or found.base != "sum" or found.combinators - {"state"} or len(arguments) != 1:
            return False
        with self.within(function):
            value = self.expressions.value(arguments[0])
        return value.is_bare and self.has_signs(value)

    def counts_in(self, terms: Terms) -> bool:
        """Whether some terms contain such a sum, or its alias."""
        if any(self.is_count(function) for function in crawl_all(terms, "function")):
            return True
        named = [parts_of(r)[-1] for r in crawl_all(terms, "column_reference") if len(parts_of(r)) == 1]
        return any(
            self.is_count(function) for name in named for function in crawl_all(self.aliased.get(name, ()), "function")
        )


def content_of(element: BaseSegment) -> Terms:
    """The terms of an element of a select, without the alias."""
    terms = [part for part in code_of(element) if not part.is_type("alias_expression")]
    return terms_of(terms[0]) if len(terms) == 1 and not terms[0].is_type("bracketed") else terms
