"""How a sign takes part in the value of an expression."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlfluff.core.parser import BaseSegment

from sqlfluff_plugin_versioned_collapsing.aggregates import aggregate_of
from sqlfluff_plugin_versioned_collapsing.rows import Value, kind_of
from sqlfluff_plugin_versioned_collapsing.segments import (
    QUERIES,
    Terms,
    arguments_of,
    code_of,
    crawl_all,
    inside,
    name_of,
    split,
    terms_of,
    text_of,
)

_PLAIN = Value()
# f(-x) = -f(x): a sign factor in the argument is a sign factor of the result.
_ODD = re.compile(
    r"(to(int(8|16|32|64|128|256)|float(32|64)|decimal(32|64|128|256)|bfloat16)(ornull|orzero|ordefault)?|tonullable"
    r"|accuratecast(ornull|ordefault)?|cast|assumenotnull|materialize|identity|round|roundbankers|trunc(ate)?|negate"
    r"|sign|coalesce|ifnull|nullif|tolowcardinality|_cast)",
    re.IGNORECASE,
)
_PRODUCTS = {"multiply", "divide", "intdiv", "multiplydecimal", "dividedecimal"}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_LOGICAL = {"and", "or", "not", "in", "is", "between", "like", "ilike", "xor", "global"}

STATES, CANCELS, ALL, NONE, OTHER = "states", "cancels", "all", "none", "other"


class Expressions:
    """The expressions of a select.

    Args:
        find: the value of a column, by the segment of its reference.
    """

    def __init__(self, find: Callable[[BaseSegment], Value]) -> None:
        self._find = find
        self.wrapping: dict[int, BaseSegment] = {}  # UInt64 factors of a sign

    def value(self, terms: Terms) -> Value:
        """What is known about the value of an expression."""
        if len(terms) == 1:
            unwrapped = terms_of(terms[0])
            return self.value(unwrapped) if len(unwrapped) > 1 else self._of_term(unwrapped[0])
        if not terms:
            return _PLAIN
        if any(term.raw == "?" for term in terms):
            condition, branches = split(terms, "?")[:2]
            return self._of_branches([(condition, b) for b in split(branches, ":")], terms)
        if any(_is_logical(term) for term in terms):
            return self._opaque(terms)
        for operators in (("+", "-", "||"), ("*", "/", "%", "div", "mod")):
            parts = list(_operands(terms, operators))
            if len(parts) > 1:
                return self._combined(parts)
        if terms[0].raw in ("-", "+"):
            found = self.value(terms[1:])
            return replace(found, is_bare=False, kind="wide" if found.kind == "wide" else "")
        return self._opaque(terms)

    def mentions_sign(self, terms: Terms) -> bool:
        return any(self._find(r).has_sign for r in crawl_all(terms, "column_reference"))

    def conditions(self, terms: Terms) -> Iterator[str]:
        """For each part of a condition that contains a sign: which rows it lets through."""
        for kind, _ in self.signed_conditions(terms):
            yield kind

    def signed_conditions(self, terms: Terms) -> Iterator[tuple[str, frozenset[int]]]:
        """Like `conditions`, with the signs that each part tests."""
        for part in parts_of_condition(terms):
            if self.mentions_sign(part):
                yield self._condition(part), self._signs_in(part)

    def _condition(self, terms: Terms) -> str:
        is_negated = False
        while terms and terms[0].raw.lower() == "not" and not terms[0].segments:
            is_negated, terms = not is_negated, terms[1:]
        if len(terms) == 1 and terms[0].is_type("function") and name_of(terms[0]).lower() == "not":
            is_negated, terms = not is_negated, arguments_of(terms[0])[0]
        if len(terms) == 1:
            unwrapped = terms_of(terms[0])
            if len(unwrapped) > 1:
                inner = self._condition(unwrapped)
                return _INVERSE.get(inner, inner) if is_negated else inner
        passing = self._passing(terms)
        if passing is None:
            return OTHER
        return _KINDS[frozenset({1, -1} - passing) if is_negated else passing]

    def _passing(self, terms: Terms) -> frozenset[int] | None:
        """The signs that a comparison lets through; None if it does not compare a sign alone."""
        for position, term in enumerate(terms):
            left, right = terms[:position], terms[position + 1 :]
            if term.is_type("comparison_operator") and term.raw in _COMPARISONS:
                compare = _COMPARISONS[term.raw]
                if self.value(left).is_bare and (number := _number(right)) is not None:
                    return frozenset(s for s in (1, -1) if compare(s, number))
                if self.value(right).is_bare and (number := _number(left)) is not None:
                    return frozenset(s for s in (1, -1) if compare(number, s))
                return self._of_two_signs(left, right, compare)
            if term.raw.lower() == "in" and right:
                is_negated = bool(left) and left[-1].raw.lower() == "not"
                tested = left[:-1] if is_negated else left
                listed = [_number(item) for item in split(_items(right[0]), ",")]
                if not self.value(tested).is_bare or None in listed:
                    return None
                return frozenset(s for s in (1, -1) if (s in listed) is not is_negated)
        if self.value(terms).is_bare:
            return frozenset({1, -1})
        return None

    def _of_two_signs(
        self, left: Terms, right: Terms, compare: Callable[[float, float], bool]
    ) -> frozenset[int] | None:
        """For `a._sign = b._sign`: which products of the two signs it lets through."""
        values = [self.value(left), self.value(right)]
        are_signs = all(v.is_bare for v in values) and not values[0].signs & values[1].signs
        is_symmetric = compare(1, -1) == compare(-1, 1)
        return frozenset(s for s in (1, -1) if compare(1, s)) if are_signs and is_symmetric else None

    def _of_term(self, term: BaseSegment) -> Value:
        if term.is_type("column_reference"):
            return self._find(term)
        if term.is_type("function"):
            return self._of_function(term)
        if term.is_type("numeric_literal"):
            number = _number([term])
            return Value(is_zero=number == 0, kind="" if term.raw.startswith("-") else "unsigned")
        if term.is_type("null_literal") or term.raw.lower() == "null":
            return Value(is_zero=True, kind="unsigned")
        if term.is_type("bracketed"):
            inner = inside(term)
            return _PLAIN if not inner or inner[0].is_type(*QUERIES) else self.value(inner)
        if term.is_type("cast_expression"):
            return _cast(self.value(code_of(term)[:1]), code_of(term)[-1].raw)
        if term.is_type("case_expression"):
            return self._of_case(term)
        return self._opaque([term])

    def _of_function(self, function: BaseSegment) -> Value:
        name, arguments = name_of(function).lower(), arguments_of(function)
        values = [self.value(argument) for argument in arguments]
        if aggregate_of(name_of(function)) is not None and function.get_child("over_clause") is None:
            return Value(is_aggregate=True)
        is_aggregate = any(value.is_aggregate for value in values)
        if name in _PRODUCTS and len(values) > 1:
            return self._product(list(zip(values[:2], arguments[:2], strict=True)))
        if name in ("plus", "minus") and len(values) == 2:
            return values[0].plus(values[1])
        if name in ("if", "multiif") and len(arguments) > 2:
            pairs = list(zip(arguments[::2], arguments[1::2], strict=False))
            return self._of_branches([*pairs, (None, arguments[-1])], [function])
        if name in ("coalesce", "ifnull"):
            found = values[0]
            for value in values[1:]:
                found = found.either(value)
            return found
        if _ODD.fullmatch(name) and values and not any(v.has_sign for v in values[1:]):
            return self._converted(name, function, arguments, values[0])
        if is_aggregate:
            return Value(is_aggregate=True)
        return replace(self._opaque([function]), kind=kind_of(name_of(function)[2:]))

    def _converted(self, name: str, function: BaseSegment, arguments: list[list[BaseSegment]], value: Value) -> Value:
        if "cast" in name:
            keyword = [n for n, term in enumerate(arguments[0]) if term.raw.lower() == "as"]
            if keyword:
                return _cast(self.value(arguments[0][: keyword[0]]), text_raw(arguments[0][keyword[0] + 1 :]))
            return _cast(value, text_raw(arguments[-1]).strip("'"))
        if name.startswith("to") and name not in ("tonullable", "tolowcardinality"):
            return replace(value, kind=kind_of(re.sub(r"Or\w+$", "", name_of(function)[2:])))
        return value

    def _of_case(self, case: BaseSegment) -> Value:
        tested = case.get_child("expression")
        branches: list[tuple[Terms | None, Terms]] = []
        for clause in case.get_children("when_clause", "else_clause"):
            parts = [p for p in code_of(clause) if not p.is_type("keyword")]
            if clause.is_type("when_clause") and len(parts) == 2:
                branches.append(([tested] if tested else parts[:1], parts[1:]))
            elif parts:
                branches.append((None, parts[-1:]))
        if tested is not None and self.mentions_sign([tested]):
            value = self.value([tested])
            numbers = [_number(code_of(c)[1:2]) for c in case.get_children("when_clause")]
            kinds = [[_KINDS[frozenset(s for s in (1, -1) if s == n)]] for n in numbers]
            kinds += [[] for _ in branches[len(kinds) :]]
            found = self._by_sign(branches, kinds, value.signs) if value.is_bare else None
            return found or Value(is_mixed=True)
        return self._of_branches(branches, [case])

    def _of_branches(self, branches: list[tuple[Terms | None, Terms]], whole: Terms) -> Value:
        """The value of one branch or the other. By the sign, one may be the opposite of the other."""
        conditions = [condition for condition, _ in branches if condition is not None]
        values = [self.value(result) for _, result in branches]
        if any(self.mentions_sign(condition) for condition in conditions):
            kinds = [self._kinds_of(condition) for condition, _ in branches]
            signs = {s for c in conditions for s in self._signs_in(c)}
            found = self._by_sign(branches, kinds, frozenset(signs))
            return found or replace(self._opaque(whole), is_mixed=True)
        found = values[0]
        for value in values[1:]:
            found = found.either(value)
        return found

    def _kinds_of(self, condition: Terms | None) -> list[str]:
        """What a condition lets through, if it tests nothing but a sign."""
        if condition is None:
            return []
        is_single = len(list(parts_of_condition(condition))) == 1
        return list(self.conditions(condition)) if is_single else [OTHER]

    def _signs_in(self, terms: Terms) -> frozenset[int]:
        references = crawl_all(terms, "column_reference")
        return frozenset(sign for r in references for sign in self._find(r).signs)

    def _by_sign(
        self, branches: list[tuple[Terms | None, Terms]], kinds: list[list[str]], signs: frozenset[int]
    ) -> Value | None:
        """`if(_sign = 1, x, -x)` is `x * _sign`."""
        left = [
            (kind, result)
            for kind, (condition, result) in zip(kinds, branches, strict=True)
            if condition is not None or not self.value(result).is_zero
        ]
        if len(left) != 2 or left[0][0] not in ([STATES], [CANCELS]) or left[0][0] == left[1][0]:
            return None
        if left[1][0] not in ([], [STATES], [CANCELS]):
            return None
        first, second = (_opposed_text(result) for _, result in left)
        if first[0] != second[0] or first[1] == second[1]:
            return None
        return self.value(left[0][1]).times(Value(signs=signs))

    def _combined(self, parts: list[tuple[str, Terms]]) -> Value:
        values = [(self.value(terms), terms) for _, terms in parts]
        if parts[1][0] in ("+", "-", "||"):
            found = values[0][0]
            for (symbol, _), (value, _) in zip(parts[1:], values[1:], strict=True):
                found = found.plus(value)
                if symbol == "-":  # UInt64 - UInt8 is an Int64
                    found = replace(found, kind="wide" if found.kind == "wide" else "")
            return found
        if any(symbol in ("%", "mod") for symbol, _ in parts[1:]):
            return self._opaque([term for _, terms in parts for term in terms])
        found = self._product(values)
        if any(symbol == "/" for symbol, _ in parts[1:]):
            found = replace(found, kind="wide")
        return found

    def _product(self, factors: list[tuple[Value, Terms]]) -> Value:
        found, terms = factors[0]
        for value, more in factors[1:]:
            for one, other, factor in ((found, value, terms), (value, found, more)):
                if one.kind == "UInt64" and other.is_bare and other.kind != "wide" and factor:
                    self.wrapping[id(factor[0])] = factor[0]
            found, terms = found.times(value), more
        return found

    def _opaque(self, terms: Terms) -> Value:
        for function in crawl_all(terms, "function"):
            if function not in terms:
                self._of_function(function)
        references = [self._find(r) for r in crawl_all(terms, "column_reference")]
        return Value(
            is_mixed=any(value.has_sign for value in references),
            is_aggregate=any(value.is_aggregate for value in references) or self.has_aggregate(terms),
            is_stored=bool(references) and all(value.is_stored for value in references),
            of=frozenset(sign for value in references for sign in value.of),
        )

    def has_aggregate(self, terms: Terms) -> bool:
        """Whether the expression aggregates, directly or through an alias."""
        return any(
            aggregate_of(name_of(function)) and function.get_child("over_clause") is None
            for function in crawl_all(terms, "function")
        ) or any(self._find(r).is_aggregate for r in crawl_all(terms, "column_reference"))


_KINDS = {frozenset({1}): STATES, frozenset({-1}): CANCELS, frozenset({1, -1}): ALL, frozenset(): NONE}
_INVERSE = {STATES: CANCELS, CANCELS: STATES, ALL: NONE, NONE: ALL}


def text_raw(terms: Terms) -> str:
    """The text of the terms."""
    return "".join(term.raw for term in terms)


def _is_logical(term: BaseSegment) -> bool:
    if term.is_type("comparison_operator"):
        return True
    return not term.segments and term.raw.lower() in _LOGICAL


def _operands(terms: Terms, operators: tuple[str, ...]) -> Iterator[tuple[str, Terms]]:
    """Operands, each with the operator before it."""
    current: list[BaseSegment] = []
    symbol = ""
    for term in terms:
        if current and not term.segments and term.raw.lower() in operators and not _is_prefix(current):
            yield symbol, current
            symbol, current = term.raw.lower(), []
        else:
            current.append(term)
    yield symbol, current


def _is_prefix(terms: list[BaseSegment]) -> bool:
    """Whether a minus that comes next is a prefix, because the last term is an operator."""
    return terms[-1].raw in ("-", "+", "*", "/", "%") and not terms[-1].segments


def parts_of_condition(terms: Terms) -> Iterator[Terms]:
    """The parts of a condition between `and` and `or`, including those in brackets."""
    if len(terms) == 1:
        terms = terms_of(terms[0])
        if len(terms) == 1 and terms[0].is_type("bracketed"):
            terms = inside(terms[0])
    parts = [part for part in split(terms, "and", "or") if part]
    if len(parts) > 1 and not any(term.raw.lower() == "between" for term in terms):
        for part in parts:
            yield from parts_of_condition(part)
    else:
        yield terms


def _number(terms: Terms) -> float | None:
    try:
        return float(text_raw([t for t in terms if t.is_code]).strip("() "))
    except ValueError:
        return None


def _items(term: BaseSegment) -> list[BaseSegment]:
    bracketed = term if term.is_type("bracketed") else term.get_child("bracketed")
    if bracketed is None:
        return []
    inner = inside(bracketed)
    return code_of(inner[0]) if len(inner) == 1 and inner[0].is_type("expression") else inner


def _cast(value: Value, type_name: str) -> Value:
    kind = kind_of(type_name)
    is_unsigned = kind in ("UInt64", "unsigned") and value.has_sign
    return Value(is_mixed=True) if is_unsigned else replace(value, kind=kind)


def _opposed_text(terms: Terms) -> tuple[str, bool]:
    """An expression without a minus before it, and whether it had one."""
    text, is_negative = text_of(terms), False
    while text.startswith(("-", "(", "negate(")):
        if text.startswith("-"):
            text, is_negative = text[1:], not is_negative
        elif text.endswith(")"):
            is_negative ^= text.startswith("negate(")
            text = text[text.index("(") + 1 : -1]
        else:
            break
    return text, is_negative
