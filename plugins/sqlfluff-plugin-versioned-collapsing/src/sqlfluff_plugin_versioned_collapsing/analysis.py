"""Finds every select of a file, and what its sources return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlfluff.core.parser import BaseSegment

from sqlfluff_plugin_versioned_collapsing.parsing import parsed
from sqlfluff_plugin_versioned_collapsing.relations import Relation, Relations
from sqlfluff_plugin_versioned_collapsing.rows import Rows, Value, rows_of_table, union_of
from sqlfluff_plugin_versioned_collapsing.segments import (
    QUERIES,
    Terms,
    arguments_of,
    code_of,
    identifier_of,
    name_of,
    nested_queries,
    parts_of,
    text_of,
)
from sqlfluff_plugin_versioned_collapsing.selects import Select, Source

RESULT, SOURCE, NESTED = "result", "source", "nested"
_PICKING = {"semi", "anti", "any", "asof"}
_READING = {"merge", "remote", "remotesecure", "cluster", "clusterallreplicas"}


@dataclass(frozen=True)
class _Scope:
    """What names mean at the place of a query."""

    queries: dict[str, Rows] = field(default_factory=dict)
    selects: dict[str, Select | None] = field(default_factory=dict)
    shared: dict[str, Terms] = field(default_factory=dict)
    is_final: bool = False


class Analysis:
    """The selects of a file.

    Args:
        root: the parsed file; None to ask only about relations.
        relations: what is known about the relations that the file reads.
        reading: names of views whose queries are being read.
    """

    def __init__(self, root: BaseSegment | None, relations: Relations, reading: frozenset[str] = frozenset()) -> None:
        self.selects: list[Select] = []
        self.rows = Rows()
        self._relations = relations
        self._reading = reading
        for query in nested_queries(root) if root else ():
            self.rows = self._query(query, _Scope(), RESULT)[1]

    def _query(self, query: BaseSegment, scope: _Scope, role: str) -> tuple[list[tuple[str, Value]], Rows]:
        """The columns and the rows of a query."""
        if query.is_type("with_compound_statement"):
            return self._with(query, scope, role)
        if query.is_type("set_expression"):
            return self._set(query, scope, role)
        return self._select(query, scope, role)

    def _with(self, query: BaseSegment, scope: _Scope, role: str) -> tuple[list[tuple[str, Value]], Rows]:
        body = query.get_child("select_statement", "set_expression", "bracketed")
        is_final = scope.is_final or (body is not None and _sets_final(body))
        queries, shared, selects = dict(scope.queries), dict(scope.shared), dict(scope.selects)
        for cte in query.get_children("common_table_expression"):
            name = next(c for c in reversed(cte.segments) if c.is_type("naked_identifier", "quoted_identifier"))
            named = identifier_of(name)
            inner = next(nested_queries(cte), None)
            first = code_of(cte)[0]
            if first is name and inner is not None:
                queries[named] = Rows()  # a recursive query, while it is being read
                rows = self._query(inner, _Scope(queries, selects, shared, is_final), SOURCE)[1]
                queries = {**queries, named: rows}
                selects = {**selects, named: self._select_of(inner)}
            else:
                shared = {**shared, named: code_of(cte)[:1]}
                if inner is not None:
                    self._query(inner, _Scope(queries, selects, shared, is_final), NESTED)
        if body is None:
            return [], Rows()
        inner = next(nested_queries(body), None)
        if inner is None:
            return [], Rows()
        return self._query(inner, _Scope(queries, selects, shared, is_final), role)

    def _set(self, query: BaseSegment, scope: _Scope, role: str) -> tuple[list[tuple[str, Value]], Rows]:
        parts = [
            self._query(nested, scope, role)
            for part in code_of(query)
            if (nested := next(nested_queries(part), None)) is not None
        ]
        operators = {text_of([part]) for part in query.get_children("set_operator")}
        rows = union_of(parts, keeps_all=operators <= {"unionall"})
        return [(name, rows.find(name) or Value()) for name, _ in parts[0][0]], rows

    def _select(self, query: BaseSegment, scope: _Scope, role: str) -> tuple[list[tuple[str, Value]], Rows]:
        scope = replace(scope, is_final=scope.is_final or _sets_final(query))
        sources = tuple(
            self._source(element, join, scope)
            for clause in query.get_children("from_clause")
            for element, join in _elements_of(clause)
        )
        select = Select(query, sources, role, scope.shared)
        self.selects.append(select)
        for source in sources:
            if source.query is not None:
                source.query.readers.append(select)
        for clause in query.segments:
            nested = nested_queries(clause)
            if clause.is_type("from_clause"):
                nested = _queries_of_conditions(clause)
            for inner in nested:
                self._query(inner, scope, NESTED)
        return select.columns, select.rows

    def _source(self, element: BaseSegment, picks: str, scope: _Scope) -> Source:
        final = next((k for k in element.get_children("keyword") if k.raw_upper == "FINAL"), None)
        alias = element.get_child("alias_expression")
        name = alias.get_child("naked_identifier", "quoted_identifier") if alias else None
        table = element.get_child("table_expression")
        nested = next(nested_queries(table), None) if table else None
        relation, rows, named, inner = None, Rows(), "", None
        is_live = final is not None or scope.is_final
        reference = table.get_child("table_reference") if table else None
        function = table.get_child("function") if table else None
        if nested is not None and function is None:
            rows = self._query(nested, scope, SOURCE)[1]
            inner = self._select_of(nested)
        elif reference is not None:
            parts = parts_of(reference)
            named = parts[-1]
            if len(parts) == 1 and named in scope.queries:
                rows = scope.queries[named].read_again()
                inner = scope.selects.get(named)
            else:
                relation = self._relations.find(parts)
                rows = self._rows_of(relation, is_live)
        elif function is not None:
            relation = self._relation_of_call(function)
            rows = self._rows_of(relation, is_live)
        named = identifier_of(name) if name else named
        return Source(element, named, relation, rows, final, is_live, picks, inner)

    def _select_of(self, query: BaseSegment) -> Select | None:
        return next((s for s in self.selects if s.segment is query), None)

    def _relation_of_call(self, function: BaseSegment) -> Relation | None:
        """The table that `merge`, `remote` or `cluster` reads."""
        called = name_of(function).lower()
        if called not in _READING:
            return None
        arguments = ["".join(t.raw for t in a).strip("'") for a in arguments_of(function)]
        if called != "merge":
            arguments = arguments[1:]
            names = arguments[0].split(".") if arguments and "." in arguments[0] else arguments[:2]
            return self._relations.find([n.strip("`\"'") for n in names]) if names else None
        if len(arguments) < 2:
            return None
        return self._relations.matching(arguments[0].strip('`"'), arguments[1])

    def _rows_of(self, relation: Relation | None, is_live: bool) -> Rows:
        """The rows of a relation; for a view, those of its query."""
        if relation is None or relation.sign or relation.is_aggregating or relation.is_replacing:
            return rows_of_table(relation, is_live=is_live)
        target = self._relations.read_by(relation)
        if target is not None:
            return self._rows_of(target, is_live)
        key = f"{relation.schema}.{relation.name}"
        if not relation.sql or key in self._reading or is_live:
            return rows_of_table(relation, is_live=True)
        if not self._relations.names_suspect(relation.sql):
            return rows_of_table(relation, is_live=True)
        if key not in self._relations.views:
            tree = parsed(relation.sql)
            found = Analysis(tree, self._relations, self._reading | {key}).rows if tree else Rows()
            self._relations.views[key] = found
        rows: Rows = self._relations.views[key]
        is_known = rows.signs or rows.replacing
        return rows.read_again() if is_known else rows_of_table(relation, is_live=True)


def rows_of(relation: Relation, relations: Relations) -> Rows:
    """The rows of a relation. They are signed even for a view that only passes signed rows on."""
    return Analysis(None, relations)._rows_of(relation, is_live=False)


def _sets_final(query: BaseSegment) -> bool:
    clauses = query.get_children("settings_clause")
    return any("final=1" in text_of([c]) or "final=true" in text_of([c]) for c in clauses)


def _elements_of(clause: BaseSegment) -> list[tuple[BaseSegment, str]]:
    """The sources of a `from`, each with the kind of its join if that keeps only one of several rows."""
    found: list[tuple[BaseSegment, str]] = []
    for part in clause.segments:
        if part.is_type("from_expression_element"):
            found.append((part, ""))
        elif part.is_type("join_clause"):
            words = {k.raw.lower() for k in part.get_children("keyword")}
            picks = " ".join(sorted(words & _PICKING))
            # `right semi` keeps one row of the left side, and `any inner` one row of each side.
            is_of_left = "right" in words or (picks == "any" and "left" not in words)
            is_of_joined = "right" not in words
            found = [(element, picks if is_of_left and picks else old) for element, old in found]
            found += [(e, picks if is_of_joined and picks else old) for e, old in _elements_of(part)]
        elif part.segments and not part.is_type(*QUERIES, "join_on_condition"):
            found += _elements_of(part)
    return found


def _queries_of_conditions(clause: BaseSegment) -> Iterator[BaseSegment]:
    for condition in clause.recursive_crawl("join_on_condition", no_recursive_seg_type=list(QUERIES)):
        yield from nested_queries(condition)
