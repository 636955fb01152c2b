"""Parses SQL that is in no file."""

from __future__ import annotations

from functools import lru_cache

from sqlfluff.core import FluffConfig
from sqlfluff.core.errors import SQLParseError
from sqlfluff.core.parser import BaseSegment, Lexer, Parser


@lru_cache(maxsize=1)
def _config() -> FluffConfig:
    return FluffConfig(overrides={"dialect": "clickhouse"})


def parsed(sql: str) -> BaseSegment | None:
    """The syntax tree of ClickHouse SQL; None if it cannot be parsed at all."""
    tokens, _ = Lexer(config=_config()).lex(sql.strip() + "\n")
    try:
        tree: BaseSegment | None = Parser(config=_config()).parse(tokens)
    except SQLParseError:  # brackets that do not close
        return None
    return tree


def parsed_part(sql: str, kind: str) -> BaseSegment:
    """The first part of some kind in some SQL, for insertion into another tree."""
    tree = parsed(sql)
    part = next(tree.recursive_crawl(kind)) if tree else None
    if part is None:
        raise ValueError(f"There is no {kind} in {sql}")
    found = part.copy()
    for segment in (found, *found.recursive_crawl_all()):
        segment.pos_marker = None
    return found
