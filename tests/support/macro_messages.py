"""The error messages of macros: what they raise, collect as problems, or make ClickHouse and Spark raise.

The suffix of a macro's name tells its kind: `…_problems` returns a list of messages, `…_message` and `…_advice` return
texts, `…_sql` returns SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import nodes

from tests.support.macro_sources import macros_in, parsed, sources
from tests.support.message_texts import GAP, joined, worth_telling

_RAISES_IN_SQL = re.compile(r"(?:throwIf|raise_error)\(")
_TEXT = r"'((?:[^'\\]|\\.)*)'"


def texts_in(path: Path) -> Iterator[str]:
    """The messages of a file's macros."""
    for node in parsed(path).find_all(nodes.Macro):
        macro = _Macro(node)
        yield from _raised_in_sql("".join(macro.sql(node)))
        if not macro.name.endswith("_sql"):  # their lists are SQL
            yield from macro.texts()


class _Macro:
    """A macro, and what its names contribute to a message."""

    def __init__(self, macro: nodes.Macro) -> None:
        self.name = macro.name.removeprefix("dbt_macro__")
        self.calls = list(macro.find_all(nodes.Call))
        self.sets: dict[str, nodes.Node] = {
            node.target.name: node.node for node in macro.find_all(nodes.Assign) if isinstance(node.target, nodes.Name)
        }
        for loop in macro.find_all(nodes.For):
            match loop:
                case nodes.For(
                    target=nodes.Tuple(items=[_, nodes.Name(name=name)]),
                    iter=nodes.Call(node=nodes.Getattr(node=found, attr="items")),
                ):
                    self.sets[name] = found  # a value from the result of a macro

    def texts(self) -> Iterator[str]:
        for name, node in self.sets.items():
            if name.endswith("problems"):
                yield from self._items(node)
        for call in self.calls:
            match call:
                case nodes.Call(node=nodes.Getattr(attr="raise_compiler_error" | "raise_database_error"), args=[text]):
                    yield from self._texts(text)
                case nodes.Call(node=nodes.Getattr(attr="stop_run"), args=[_, text]):
                    yield from self._texts(text)
                case nodes.Call(
                    node=nodes.Getattr(attr="raise_problems" | "validate_no_problems"), args=[_, problems, *_]
                ):
                    yield from self._items(problems)
                case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=name), attr="append"), args=[text]) if (
                    name.endswith("problems")
                ):
                    yield from self._items(nodes.List([text]))
                case nodes.Call(node=nodes.Name(name="return"), args=[problems]):
                    if self.name.endswith("problems"):
                        yield from self._items(problems)

    def returned(self) -> Iterator[str]:
        """What the macro returns, or the values of the mapping that it returns."""
        for call in self.calls:
            match call:
                case nodes.Call(node=nodes.Name(name="return"), args=[nodes.Dict(items=pairs)]):
                    for pair in pairs:
                        yield from self._texts(pair.value)
                case nodes.Call(node=nodes.Name(name="return"), args=[text]):
                    yield from self._texts(text)

    def _items(self, node: nodes.Node | None) -> Iterator[str]:
        """The texts of a list of problems. Those of a quarantine are mappings."""
        match node:
            case nodes.List(items=items):
                for item in items:
                    if not isinstance(item, nodes.Dict):
                        yield from self._texts(item)
            case nodes.Add(left=left, right=right):
                yield from self._items(left)
                yield from self._items(right)
            case nodes.CondExpr(expr1=one, expr2=other):
                yield from self._items(one)
                yield from self._items(other)

    def _texts(self, node: nodes.Node | None) -> list[str]:
        match node:
            case nodes.Const(value=str() as text):
                return [text]
            case nodes.Concat(nodes=parts):
                return joined(map(self._texts, parts))
            case nodes.Add(left=left, right=right):
                return joined([self._texts(left), self._texts(right)])
            case nodes.CondExpr(expr1=one, expr2=other):
                return worth_telling([*self._texts(one), *(self._texts(other) if other else [""])])
            case nodes.Name(name=name) if name in self.sets:
                return worth_telling(self._texts(self.sets[name]))
            case nodes.Call(node=nodes.Getattr(attr=name)) if name.endswith(("_message", "_advice")):
                return _returned(name)
        return [GAP]

    def sql(self, node: nodes.Node) -> Iterator[str]:
        """The SQL of part of the macro, with `…` for each expression."""
        match node:
            case nodes.TemplateData(data=data):
                yield data
            case nodes.Call(node=nodes.Getattr(attr="quote_literal"), args=[text]):
                yield f"'{self._texts(text)[0]}'"
            case nodes.Call(node=nodes.Getattr(attr=name)) if name.endswith("_advice"):
                yield _returned(name)[0]
            case nodes.Expr():
                yield GAP
            case _:
                for child in node.iter_child_nodes(exclude=["test", "iter", "target", "args"]):
                    yield from self.sql(child)


@cache
def _returned(name: str) -> list[str]:
    (path,) = (path for path in sources("macros") if name in macros_in([path]))
    macros = (_Macro(node) for node in parsed(path).find_all(nodes.Macro))
    return [text for macro in macros if macro.name == name for text in macro.returned()]


def _raised_in_sql(sql: str) -> Iterator[str]:
    for call in _RAISES_IN_SQL.finditer(sql):
        *_, text = _arguments(sql, call.end())
        parts = _arguments(text, len("concat(")) if text.startswith("concat(") else [text]
        yield "".join(map(_literal, parts))


def _literal(sql: str) -> str:
    """The text of a literal, which may be split into several strings."""
    if not sql.startswith("'"):
        return GAP
    return "".join(re.sub(r"\\(.)", r"\1", part) for part in re.findall(_TEXT, sql))


def _arguments(sql: str, start: int) -> list[str]:
    """The arguments of the call whose parenthesis opens just before ``start``."""
    depth, found = 0, [""]
    for token in re.finditer(rf"{_TEXT}|.", sql[start:], re.DOTALL):
        if token[0] == ")" and depth == 0:
            break
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "," and depth == 0:
            found.append("")
        else:
            found[-1] += token[0]
    return [argument.strip() for argument in found]
