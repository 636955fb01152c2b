"""The error messages of Python modules: arguments of exceptions and of functions that print errors."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.message_texts import GAP, joined, worth_telling


def texts_in(path: Path) -> Iterator[str]:
    """The messages of a module, except those of Python's own exceptions, which are for developers."""
    module = _Module(path)
    for name, value in module.constants.items():
        if name.endswith("ADVICE") and isinstance(value, ast.Dict):
            for advice in value.values:
                yield from module.texts(advice, None)
    for function in module.functions.values():
        for node in ast.walk(function):
            match node:
                case ast.Call(func=called, args=[text, *_]) if _is_told(called):
                    yield from module.texts(text, function)
                case ast.Assign(targets=[ast.Attribute(attr="msg")], value=text):
                    yield from module.texts(text, function)


def _is_told(called: ast.expr) -> bool:
    """Whether users see the argument of a call, as an error or as output of a resident run."""
    match called:
        case ast.Name(id=name) if name.endswith("Error"):
            return not hasattr(builtins, name)
        case ast.Name(id="say") | ast.Attribute(value=ast.Name(id="parser"), attr="error"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="stderr"), attr="write"):
            return True
    return False


class _Module:
    """A module, and what its names contribute to a message."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = _tree(path)
        self.functions = {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)}
        self.constants = {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def texts(self, node: ast.expr, function: ast.FunctionDef | None) -> list[str]:
        """The texts of an expression in a function of the module."""
        match node:
            case ast.Constant(value=str() as text):
                return [text]
            case ast.JoinedStr(values=values):
                return joined(self.texts(value, function) for value in values)
            case ast.FormattedValue(value=value):
                return worth_telling(self.texts(value, function))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return joined([self.texts(left, function), self.texts(right, function)])
            case ast.IfExp(body=body, orelse=other):
                return worth_telling([*self.texts(body, function), *self.texts(other, function)])
            case ast.BoolOp(op=ast.Or(), values=[first, *_]):
                return self.texts(first, function)
            case ast.Name(id=name):
                return self._named(name, function)
            case ast.Call(func=ast.Name(id=name)):
                return self._returned(name)
            case ast.Call(func=ast.Attribute(value=value, attr="replace"), args=[ast.Constant(value=old), _]):
                return [text.replace(str(old), GAP) for text in self.texts(value, function)]
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str() as between), attr="join"),
                args=[ast.List(elts=[first, *_])],
            ):
                return [f"{text}{between}{GAP}" for text in self.texts(first, function)]
        return [GAP]

    def _named(self, name: str, function: ast.FunctionDef | None) -> list[str]:
        if name in self.constants:
            return self.texts(self.constants[name], None)
        if imported := self._imported(name):
            return imported._named(name, None)
        if function is None:
            return [GAP]
        assigned = (value for node in ast.walk(function) for value in _assigned(node, name))
        return [
            *(text for value in assigned for text in self.texts(value, function)),
            *(text for value in self._given(function, name) for text in self.texts(value, None)),
        ] or [GAP]

    def _given(self, function: ast.FunctionDef, name: str) -> Iterator[ast.expr]:
        """The values that calls of a function pass for an argument."""
        names = [argument.arg for argument in function.args.args]
        for call in ast.walk(self.tree) if name in names else ():
            match call:
                case ast.Call(func=ast.Name(id=called), args=given) if called == function.name:
                    yield given[names.index(name)]

    def _returned(self, name: str) -> list[str]:
        if imported := self._imported(name):
            return imported._returned(name)
        function = self.functions.get(name)
        found = [
            text
            for node in (ast.walk(function) if function else ())
            if isinstance(node, ast.Return) and node.value and not _is_none(node.value)
            for text in self.texts(node.value, function)
        ]
        return found or [GAP]

    def _imported(self, name: str) -> _Module | None:
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and name in (alias.name for alias in node.names):
                path = self.path.with_name(f"{(node.module or '').rpartition('.')[2]}.py")
                return _Module(path) if path.is_file() else None
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


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
