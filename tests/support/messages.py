"""The error messages that users meet, as the sources of the project write them.

What is filled in at run time is `…` in a message, and so is a word that depends on it, such as `it` or `them`. A longer
alternative is a message of its own.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from jinja2 import nodes

from tests.support.macro_sources import macros_in, parsed, sources
from tests.support.shop import REPOSITORY

GAP = "…"
SHORTEST = 8  # characters of the longest part of a message that can be searched for
SHORTEST_ALTERNATIVE = 15  # characters of a text that is worth a message of its own
PYTHON = ("plugins/dbt-spark-clickhouse/src", "plugins/sqlfluff-plugin-versioned-collapsing/src")
_RAISES_IN_SQL = re.compile(r"(?:throwIf|raise_error)\(")


@dataclass(frozen=True)
class Message:
    """A message and the file that has it, relative to the repository."""

    path: str
    text: str

    @property
    def parts(self) -> list[str]:
        """What is constant in the message, in the order of the message."""
        return [part for part in self.text.split(GAP) if part.strip()]


def normalized(text: str) -> str:
    """A text with single spaces, and one `…` for several in a row."""
    return re.sub(rf"{GAP}(\s*{GAP})+", GAP, " ".join(text.split()))


@cache
def messages() -> list[Message]:
    """All messages, by file."""
    macros = sources("macros", "tests/generic")
    modules = [path for folder in PYTHON for path in sorted((REPOSITORY / folder).rglob("*.py"))]
    found = [
        *((path, text) for path in macros for text in _of_macros(parsed(path))),
        *((path, text) for path in modules for text in _Module(path).messages()),
    ]
    return [
        Message(path, text)
        for path, text in dict.fromkeys(
            (path.relative_to(REPOSITORY).as_posix(), normalized(text)) for path, text in found
        )
        if len(max(text.split(GAP), key=len).strip()) >= SHORTEST
    ]


def _joined(parts: Iterable[Sequence[str]]) -> list[str]:
    """Every text that takes one alternative of each part."""
    return ["".join(chosen) for chosen in product(*parts)]


def _worth_telling(alternatives: Sequence[str]) -> list[str]:
    longest = max((len(part) for text in alternatives for part in text.split(GAP)), default=0)
    return list(alternatives) if longest >= SHORTEST_ALTERNATIVE else [GAP]


# Macros


def _of_macros(template: nodes.Template) -> Iterator[str]:
    for macro in template.find_all(nodes.Macro):
        yield from _raised_in_sql("".join(_sql(macro)))
        if not _name_of(macro).endswith("_sql"):  # its lists are SQL
            yield from _Macro(macro).messages()


def _name_of(macro: nodes.Macro) -> str:
    return macro.name.removeprefix("dbt_macro__")


class _Macro:
    """A macro, and what its names mean in a message."""

    def __init__(self, macro: nodes.Macro) -> None:
        self.macro = macro
        self.name = _name_of(macro)
        sets = [
            node for node in macro.find_all(nodes.Assign) if isinstance(node.target, nodes.Name)
        ]
        self.sets = {node.target.name: node.node for node in sets}
        self.calls = list(macro.find_all(nodes.Call))

    def messages(self) -> Iterator[str]:
        for name, node in self.sets.items():
            if name.endswith("problems"):
                yield from self._items(node)
        for call in self.calls:
            yield from self._told_by(call)

    def returned(self) -> Iterator[str]:
        for call in self.calls:
            if isinstance(call.node, nodes.Name) and call.node.name == "return":
                yield from self._texts(call.args[0])

    def _told_by(self, call: nodes.Call) -> Iterator[str]:
        match call:
            case nodes.Call(node=nodes.Getattr(attr="raise_compiler_error"), args=[text]):
                yield from self._texts(text)
            case nodes.Call(node=nodes.Getattr(attr="stop_run"), args=[_, text]):
                yield from self._texts(text)
            case nodes.Call(
                node=nodes.Getattr(attr="raise_problems" | "validate_no_problems"),
                args=[_, problems, *_],
            ):
                yield from self._items(problems)
            case nodes.Call(
                node=nodes.Getattr(node=nodes.Name(name=name), attr="append"), args=[text]
            ):
                if name.endswith("problems") and not isinstance(text, nodes.Dict):
                    yield from self._texts(text)
            case nodes.Call(node=nodes.Name(name="return"), args=[value]):
                if self.name.endswith("problems"):
                    yield from self._items(value)
                elif self.name.endswith("_advice"):
                    values = (
                        [pair.value for pair in value.items]
                        if isinstance(value, nodes.Dict)
                        else [value]
                    )
                    for one in values:
                        yield from (text.strip("'") for text in self._texts(one))  # some are SQL

    def _items(self, node: nodes.Expr | None) -> Iterator[str]:
        """The texts of a list of problems. One of a quarantine has mappings."""
        match node:
            case nodes.List():
                for item in node.items:
                    if not isinstance(item, nodes.Dict):
                        yield from self._texts(item)
            case nodes.Add():
                yield from self._items(node.left)
                yield from self._items(node.right)
            case nodes.CondExpr():
                yield from self._items(node.expr1)
                yield from self._items(node.expr2)

    def _texts(self, node: nodes.Expr | None) -> list[str]:
        match node:
            case nodes.Const(value=str() as text):
                return [text]
            case nodes.Concat():
                return _joined(map(self._texts, node.nodes))
            case nodes.Add():
                return _joined([self._texts(node.left), self._texts(node.right)])
            case nodes.CondExpr():
                other = self._texts(node.expr2) if node.expr2 else [""]
                return _worth_telling([*self._texts(node.expr1), *other])
            case nodes.Name(name=name) if name in self.sets:
                return _worth_telling(self._texts(self.sets[name]))
            case nodes.Call(node=nodes.Getattr(attr=name)) if name.endswith("_message"):
                return _returned(name)
        return [GAP]


@cache
def _returned(name: str) -> list[str]:
    """What a macro of the project returns."""
    (path,) = (path for path in sources("macros") if name in macros_in([path]))
    (macro,) = (found for found in parsed(path).find_all(nodes.Macro) if _name_of(found) == name)
    return list(_Macro(macro).returned())


def _sql(node: nodes.Node) -> Iterator[str]:
    """The SQL of a template, with `…` for what it fills in."""
    match node:
        case nodes.TemplateData():
            yield node.data
        case nodes.Call(node=nodes.Getattr(attr="quote_literal"), args=[text]):
            yield f"'{_Macro(nodes.Macro('', [], [], []))._texts(text)[0]}'"
        case nodes.Expr():
            yield GAP
        case _:
            fields = ["test", "iter", "target", "args", "defaults"]
            for child in node.iter_child_nodes(exclude=fields):
                yield from _sql(child)


def _raised_in_sql(sql: str) -> Iterator[str]:
    for call in _RAISES_IN_SQL.finditer(sql):
        *_, text = _arguments(sql, call.end())
        parts = _arguments(text, len("concat(")) if text.startswith("concat(") else [text]
        yield "".join(map(_literal, parts))


def _literal(sql: str) -> str:
    """The text of a literal, which may be written in several parts."""
    if not sql.startswith("'"):
        return GAP
    return "".join(
        re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"'((?:[^'\\]|\\.)*)'", sql)
    )


def _arguments(sql: str, start: int) -> list[str]:
    """The arguments of a call whose parenthesis opens before ``start``."""
    depth, found = 0, [""]
    for token in re.findall(r"'(?:[^'\\]|\\.)*'|.", sql[start:], re.DOTALL):
        if token == ")" and depth == 0:
            break
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            found.append("")
        else:
            found[-1] += token
    return [argument.strip() for argument in found]


# Python


class _Module:
    """A module, and what its names mean in a message."""

    def __init__(self, path: Path) -> None:
        self.tree = _tree(path)
        self.path = path
        self.functions = {
            node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)
        }
        self.constants = {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def messages(self) -> Iterator[str]:
        for name, value in self.constants.items():
            if name.endswith("ADVICE") and isinstance(value, ast.Dict):
                for advice in value.values:
                    yield from self._texts(advice, None)
        for function in self.functions.values():
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and call.args and _is_told(call.func):
                    yield from self._texts(call.args[0], function)

    def _texts(self, node: ast.expr, function: ast.FunctionDef | None) -> list[str]:
        match node:
            case ast.Constant(value=str() as text):
                return [text]
            case ast.JoinedStr(values=values):
                return _joined(self._texts(value, function) for value in values)
            case ast.FormattedValue(value=value):
                return _worth_telling(self._texts(value, function))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined([self._texts(left, function), self._texts(right, function)])
            case ast.IfExp(body=body, orelse=other):
                return _worth_telling([*self._texts(body, function), *self._texts(other, function)])
            case ast.BoolOp(op=ast.Or(), values=[first, *_]):
                return self._texts(first, function)
            case ast.Call(
                func=ast.Attribute(value=value, attr="replace"), args=[ast.Constant() as old, _]
            ):
                return [text.replace(str(old.value), GAP) for text in self._texts(value, function)]
            case ast.Call(func=ast.Name(id=name)):
                return self._returned(name)
            case ast.Name(id=name):
                return self._named(name, function)
        return [GAP]

    def _named(self, name: str, function: ast.FunctionDef | None) -> list[str]:
        if name in self.constants:
            return self._texts(self.constants[name], None)
        if imported := self._imported(name):
            return imported._named(name, None)
        found = [
            text
            for node in (ast.walk(function) if function else ())
            for value in _assigned(node, name)
            for text in self._texts(value, function)
        ]
        if function:
            found += self._given(function, name)
        return found or [GAP]

    def _given(self, function: ast.FunctionDef, name: str) -> Iterator[str]:
        """What the calls of a function give for an argument."""
        names = [argument.arg for argument in function.args.args]
        for call in ast.walk(self.tree) if name in names else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                if call.func.id == function.name and len(call.args) == len(names):
                    yield from self._texts(call.args[names.index(name)], None)

    def _returned(self, name: str) -> list[str]:
        if imported := self._imported(name):
            return imported._returned(name)
        function = self.functions.get(name)
        found = [
            text
            for node in (ast.walk(function) if function else ())
            if isinstance(node, ast.Return) and node.value
            for text in self._texts(node.value, function)
        ]
        return _worth_telling(found) if found else [GAP]

    def _imported(self, name: str) -> _Module | None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and name in (alias.name for alias in node.names):
                path = self.path.with_name(f"{(node.module or '').rpartition('.')[2]}.py")
                return _Module(path) if path.is_file() and path != self.path else None
        return None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _assigned(node: ast.AST, name: str) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
            yield value
        case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
            yield value
        case ast.AugAssign(target=ast.Name(id=found), value=value) if found == name:
            yield value


def _is_told(function: ast.expr) -> bool:
    """Whether the argument of a call is an error that users see, or a line of a resident run."""
    match function:
        case ast.Name(id=name) if name.endswith("Error"):
            return not hasattr(builtins, name)
        case ast.Name(id="say") | ast.Attribute(value=ast.Name(id="parser"), attr="error"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="stderr"), attr="write"):
            return True
    return False
