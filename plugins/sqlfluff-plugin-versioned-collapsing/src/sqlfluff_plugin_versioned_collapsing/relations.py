"""Which relations have a sign, and what else the rules need to know about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

_ARGUMENTS = re.compile(r"(Versioned)?CollapsingMergeTree\s*\(([^)]*)\)")
# Engines that store no rows and read other tables.
_READING = re.compile(r"^(Distributed|Merge|Buffer)\s*\((.*)\)", re.DOTALL)
_WORD = re.compile(r"\w+")
_REPLACING = re.compile(r"ReplacingMergeTree\b(?:\s*\(((?:'[^']*'|[^()'])*)\))?")
_MERGING = re.compile(r"(Replacing|Collapsing|Summing|Aggregating|Coalescing|Graphite)MergeTree")


@dataclass(frozen=True)
class Relation:
    """A table or view of ClickHouse.

    Args:
        schema: its database.
        name: its name there.
        engine: its engine with arguments; empty if unknown.
        types: types of columns by name, as far as they are known.
        partition_by: the partition key.
        ttl: its TTL.
        path: the dbt model's file, relative to the project.
        is_following: whether a materialized view fills it with what is inserted elsewhere.
        sql: the query of a view, or the compiled SQL of a model.
        keys: the columns of the sorting key; empty if unknown.
        aliases: its other names, where no schema is given.
        sorting_key: the expressions of `order by`.
        unique_key: the columns that the dbt config of a model names as its key.
        hooks: the SQL of a model's hooks, as written in its config.
        config: the rest of the dbt config of a model.
    """

    schema: str
    name: str
    engine: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    partition_by: str = ""
    ttl: str = ""
    path: str = ""
    is_following: bool = False
    sql: str = ""
    keys: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    sorting_key: str = ""
    unique_key: frozenset[str] = frozenset()
    hooks: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def sign(self) -> str | None:
        """The sign column, if the engine collapses."""
        return sign_of(self.engine)

    @cached_property
    def version(self) -> str | None:
        """The version column, if the engine has one next to the sign."""
        found = _ARGUMENTS.search(self.engine)
        return _names_in(found[2])[-1] if found and found[1] and self.sign else None

    @property
    def is_summing(self) -> bool:
        """Whether merges sum its rows."""
        return "SummingMergeTree" in self.engine

    @cached_property
    def is_replacing(self) -> bool:
        """Whether merges keep only the last row of each key."""
        return _REPLACING.search(self.engine) is not None

    @property
    def is_merging(self) -> bool:
        """Whether merges change its rows, instead of only sorting them."""
        return _MERGING.search(self.engine) is not None

    @property
    def is_aggregating(self) -> bool:
        """Whether its rows stand for groups, whatever its query passes on."""
        return self.is_summing or "AggregatingMergeTree" in self.engine


def sign_of(engine: str) -> str | None:
    """The sign column of a collapsing engine, replicated or not."""
    found = _ARGUMENTS.search(engine)
    if found is None:
        return None
    arguments = _names_in(found[2])
    position = -2 if found[1] else -1
    return arguments[position] if len(arguments) >= -position else None


def columns_of_replacing(engine: str) -> list[str]:
    """The version of a ReplacingMergeTree and its flag for deletes, as far as the engine names them."""
    found = _REPLACING.search(engine)
    if found is None:
        return []
    arguments = (argument.strip() for argument in (found[1] or "").split(","))
    return [argument.strip('`"') for argument in arguments if argument and argument[0] != "'"]


def _names_in(arguments: str) -> list[str]:
    return [argument.strip().strip("`\"'") for argument in arguments.split(",")]


class Relations:
    """Relations by name."""

    def __init__(self, relations: Iterable[Relation]) -> None:
        self._all = tuple(relations)
        self.views: dict[str, Any] = {}  # what is known about the rows of views that have been read
        self._by_name = {(relation.schema, relation.name): relation for relation in self._all}
        self._by_single_name: dict[str, list[Relation]] = {}
        for relation in self._all:
            for name in {relation.name, *relation.aliases}:
                self._by_single_name.setdefault(name, []).append(relation)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._all)

    def find(self, parts: Sequence[str]) -> Relation | None:
        """The relation that a reference with a schema means; without a schema, only if the name is unique."""
        if len(parts) > 1:
            return self._by_name.get((parts[-2], parts[-1]))
        named = self._by_single_name.get(parts[-1], [])
        exact = [relation for relation in named if relation.name == parts[-1]] or named
        return exact[0] if len(exact) == 1 else None

    def matching(self, schema: str, pattern: str) -> Relation | None:
        """A relation of a schema whose name matches a pattern of `merge`: a signed one if there is one."""
        try:
            found = [r for r in self._all if r.schema == schema and re.search(pattern, r.name)]
        except re.error:
            return None
        return next((r for r in found if r.sign), found[0] if found else None)

    def read_by(self, relation: Relation) -> Relation | None:
        """The table whose rows a Distributed, Merge or Buffer table shows."""
        found = _READING.match(relation.engine)
        if found is None:
            return None
        arguments = _names_in(found[2])
        if found[1] == "Merge":
            target = self.matching(arguments[0], arguments[1]) if len(arguments) > 1 else None
        else:
            first = 1 if found[1] == "Distributed" else 0
            target = self.find(arguments[first : first + 2])
        return target if target is not relation else None

    @cached_property
    def suspects(self) -> frozenset[str]:
        """Names of the relations that are signed, summing or replacing, or whose SQL names one of these.

        Only their SQL is worth parsing, and only SQL that names one of them can have findings.
        """
        names: set[str] = set()
        for relation in self._all:
            if relation.sign or relation.is_summing or relation.is_replacing:
                names |= {relation.name, *relation.aliases}
        words = {id(r): set(_WORD.findall(r.sql + " " + r.engine)) for r in self._all}
        waiting = [r for r in self._all if r.name not in names]
        while found := [r for r in waiting if words[id(r)] & names]:
            waiting = [r for r in waiting if not words[id(r)] & names]
            for relation in found:
                names |= {relation.name, *relation.aliases}
        return frozenset(names)

    def names_suspect(self, sql: str) -> bool:
        """Whether SQL names a relation that may pass on signed rows."""
        return not self.suspects.isdisjoint(_WORD.findall(sql))

    def model_in(self, path: Path | None) -> Relation | None:
        """The relation of the model in a file."""
        if path is None:
            return None
        text = path.as_posix()
        return next(
            (
                relation
                for relation in self._all
                if relation.path and (text == relation.path or text.endswith("/" + relation.path))
            ),
            None,
        )
