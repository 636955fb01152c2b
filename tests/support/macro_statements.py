"""The statements that macros send to ClickHouse, as far as the Jinja sources show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jinja2 import nodes

PACKAGE = "versioned_collapsing"
PINNING = "get_settings_sql"
# dbt's functions that send a statement, and the position of the statement among their arguments.
SENDING = {"run_query": 0, "adapter.get_column_schema_from_query": 0, "adapter.query_on": 1}
# The settings end a statement. Only more settings, a table comment, or the wrapper that adds dbt's limit may follow.
AFTER_SETTINGS = re.compile(r"(,\s+)?\s*(comment\b.*|\)\s*as _dbt_failing\s*)?", re.DOTALL)

Macros = Mapping[str, nodes.Macro]


@dataclass(frozen=True)
class Sent:
    """A statement in a macro."""

    line: int
    by: str
    text: str
    """How it begins, up to where it depends on run time."""
    is_pinned: bool


def macros_by_name(template: nodes.Template) -> dict[str, nodes.Macro]:
    found = template.find_all(nodes.Macro)
    return {macro.name.removeprefix("dbt_macro__"): macro for macro in found}


def statements_sent(macros: Macros) -> Iterator[tuple[str, Sent]]:
    """The statements of macros, with the macro's name: those that it sends itself or passes on, and generic tests.
    Those that it sends to Spark by name are left out."""
    sending = {**SENDING, **_passing_on(macros)}
    known: dict[str, list[str | None]] = {}
    for name, macro in macros.items():
        for sent in _sent_by(macro, _Reader(macro, macros, known), sending):
            yield name, sent


def _sent_by(macro: nodes.Macro, reader: _Reader, sending: Mapping[str, int]) -> Iterator[Sent]:
    if macro.name.startswith("dbt_macro__test_"):
        yield reader.sent(macro, "test", macro)
    for block in macro.find_all(nodes.CallBlock):
        if _name_of(block.call) == "statement":
            yield reader.sent(block, "statement", *block.body)
    for call in macro.find_all(nodes.Call):
        name = _name_of(call)
        if name in sending and len(call.args) > sending[name] and not _is_for_spark(call):
            sql = call.args[sending[name]]
            if not (isinstance(sql, nodes.Name) and sql.name in _arguments(macro)):
                yield reader.sent(call, name, sql)


def _is_for_spark(call: nodes.Call) -> bool:
    match call:
        case nodes.Call(args=[nodes.Const(value="spark"), *_]):
            return True
    return False


def _passing_on(macros: Macros) -> dict[str, int]:
    """Macros that send a statement given as an argument, and the position of that argument."""
    return {
        name: _arguments(macro).index(call.args[0].name)
        for name, macro in macros.items()
        for call in macro.find_all(nodes.Call)
        if _name_of(call) == "run_query"
        if isinstance(call.args[0], nodes.Name) and call.args[0].name in _arguments(macro)
    }


def _arguments(macro: nodes.Macro) -> list[str]:
    return [argument.name for argument in macro.args]


def _name_of(call: nodes.Expr) -> str:
    match call:
        case nodes.Call(node=nodes.Name(name=name)):
            return str(name)
        case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=owner), attr=name)):
            return str(name) if owner == PACKAGE else f"{owner}.{name}"
    return ""


@dataclass(frozen=True)
class _Reader:
    macro: nodes.Macro
    macros: Macros
    known: dict[str, list[str | None]]
    """The pieces of the macros that are called."""

    def sent(self, node: nodes.Node, by: str, *parts: nodes.Node) -> Sent:
        pieces = [piece for part in parts for piece in self._pieces(part, frozenset())]
        text = " ".join("".join(filter(None, pieces)).split())
        last = max((at for at, piece in enumerate(pieces) if piece is None), default=len(pieces))
        rest = "".join(filter(None, pieces[last + 1 :]))
        is_pinned = None in pieces and AFTER_SETTINGS.fullmatch(rest) is not None
        return Sent(node.lineno, by, text[:60], is_pinned)

    def _pieces(self, node: nodes.Node, within: frozenset[str]) -> Iterator[str | None]:
        """The texts that make up a statement, in order; None in place of the settings."""
        match node:
            case nodes.TemplateData(data=text) | nodes.Const(value=str() as text):
                yield text
            case nodes.Name(name=name):
                yield from self._assigned(name, within)
            case nodes.CallBlock(call=call, body=body):
                for part in [*body, call]:
                    yield from self._pieces(part, within)
            case nodes.Macro(body=body):
                for part in body:
                    yield from self._pieces(part, within)
            case nodes.Call(node=nodes.Name(name="return"), args=[value]):
                yield from self._pieces(value, within)
            case nodes.Call():
                yield from self._called(_name_of(node), within)
            case nodes.If(body=body, elif_=others, else_=rest):
                for part in [*body, *others, *rest]:
                    yield from self._pieces(part, within)
            case nodes.For(body=body):
                for part in body:
                    yield from self._pieces(part, within)
            case nodes.CondExpr(expr1=one, expr2=other):
                for part in filter(None, (one, other)):
                    yield from self._pieces(part, within)
            case nodes.Output() | nodes.Concat() | nodes.Add() | nodes.ExprStmt():
                for child in node.iter_child_nodes():
                    yield from self._pieces(child, within)

    def _assigned(self, name: str, within: frozenset[str]) -> Iterator[str | None]:
        if name in within:
            return
        for found in self.macro.find_all((nodes.Assign, nodes.AssignBlock)):
            match found:
                case nodes.Assign(target=nodes.Name(name=target), node=value) if target == name:
                    yield from self._pieces(value, within | {name})
                case nodes.AssignBlock(target=nodes.Name(name=target), body=body) if target == name:
                    for part in body:
                        yield from self._pieces(part, within | {name})

    def _called(self, name: str, within: frozenset[str]) -> Iterator[str | None]:
        if name == PINNING:
            yield None
        elif (called := self.macros.get(name)) and name not in within:
            if name not in self.known:
                reader = _Reader(called, self.macros, self.known)
                self.known[name] = list(reader._pieces(called, within | {name}))
            yield from self.known[name]
