"""Which relations have a sign, and what else rules must know of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlfluff.core.errors import SQLFluffUserError

_ARGUMENTS = re.compile(r"(Versioned)?CollapsingMergeTree\s*\(([^)]*)\)")
_CLAUSE = r"\b{}\b(.*?)(?=\b(?:PRIMARY KEY|ORDER BY|SAMPLE BY|PARTITION BY|TTL|SETTINGS)\b|$)"
# What a materialization stores its rows in when the model's config names no engine.
_ENGINES = {
    "versioned_collapsing": "VersionedCollapsingMergeTree({sign}, {version})",
    "versioned_collapsing_view": "SummingMergeTree",
}
_FOLLOWING = ("materialized_view", "versioned_collapsing_view")


@dataclass(frozen=True)
class Relation:
    """A table or view of ClickHouse.

    Args:
        schema: its database.
        name: its name there.
        engine: engine with its arguments, empty if not known.
        types: types of columns by name, as far as they are known.
        partition_by: the partition key.
        ttl: its TTL.
        path: the dbt model's file, relative to the project.
        is_following: whether a materialized view fills it with what is inserted elsewhere.
    """

    schema: str
    name: str
    engine: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    partition_by: str = ""
    ttl: str = ""
    path: str = ""
    is_following: bool = False

    @property
    def sign(self) -> str | None:
        """The sign column, of an engine that collapses."""
        return sign_of(self.engine)

    @property
    def is_summing(self) -> bool:
        """Whether merges sum its rows."""
        return "SummingMergeTree" in self.engine


def sign_of(engine: str) -> str | None:
    """The sign column of a collapsing engine, whatever replication puts before it."""
    found = _ARGUMENTS.search(engine)
    if found is None:
        return None
    arguments = [argument.strip().strip('`"') for argument in found[2].split(",")]
    position = -2 if found[1] else -1
    return arguments[position] if len(arguments) >= -position else None


class Relations:
    """Relations by name."""

    def __init__(self, relations: Iterable[Relation]) -> None:
        self._all = tuple(relations)
        self._by_name = {(relation.schema, relation.name): relation for relation in self._all}

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._all)

    def find(self, parts: Sequence[str]) -> Relation | None:
        """The relation of a reference, with its schema, or without if only one has the name."""
        if len(parts) > 1:
            return self._by_name.get((parts[-2], parts[-1]))
        named = [relation for relation in self._all if relation.name == parts[-1]]
        return named[0] if len(named) == 1 else None

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


def load_relations(manifest: str | None, engines: str | None) -> Relations:
    """Relations from dbt's manifest, and from ClickHouse's engines, which count for more.

    Raises:
        SQLFluffUserError: there is no such file.
    """
    return _load(*(_version_of(path) for path in (manifest, engines)))


def _version_of(path: str | None) -> tuple[Path, int] | None:
    if not path or path == "None":
        return None
    try:
        return Path(path), Path(path).stat().st_mtime_ns
    except FileNotFoundError as error:
        advice = "`dbt parse` writes the manifest" if path.endswith(".json") else "see the README"
        raise SQLFluffUserError(
            f"{path} is not there, and without it no signs are known: {advice}."
        ) from error


@lru_cache(maxsize=8)
def _load(manifest: tuple[Path, int] | None, engines: tuple[Path, int] | None) -> Relations:
    relations: dict[tuple[str, str], Relation] = {}
    if manifest:
        for relation in _of_manifest(json.loads(manifest[0].read_text(encoding="utf-8"))):
            relations[relation.schema, relation.name] = relation
    if engines:
        for line in engines[0].read_text(encoding="utf-8").splitlines():
            relation = _of_engine(json.loads(line))
            relations[relation.schema, relation.name] = relation
    return Relations(relations.values())


def _of_manifest(manifest: Mapping[str, Any]) -> Iterator[Relation]:
    for node in (*manifest["nodes"].values(), *manifest["sources"].values()):
        if node["resource_type"] not in ("model", "seed", "snapshot", "source"):
            continue
        config = node.get("config") or {}
        materialized = config.get("materialized") or ""
        engine = config.get("engine") or (config.get("meta") or {}).get("engine")
        default = _ENGINES.get(materialized, "").format(
            sign=config.get("sign") or "_sign", version=config.get("version") or "_version"
        )
        yield Relation(
            schema=node["schema"],
            name=node.get("alias") or node["identifier"],
            engine=engine or default,
            types={
                column["name"]: column["data_type"]
                for column in node["columns"].values()
                if column.get("data_type")
            },
            partition_by=_joined(config.get("partition_by")),
            ttl=_joined(config.get("ttl")),
            path=node["original_file_path"] if node["resource_type"] == "model" else "",
            is_following=materialized in _FOLLOWING,
        )


def _of_engine(row: Mapping[str, Any]) -> Relation:
    engine = row["engine_full"]

    def clause(name: str) -> str:
        found = re.search(_CLAUSE.format(name), engine)
        return found[1].strip() if found else ""

    return Relation(
        schema=row["database"],
        name=row["name"],
        engine=engine,
        types=row.get("columns", {}),
        partition_by=clause("PARTITION BY"),
        ttl=clause("TTL"),
    )


def _joined(option: Any) -> str:
    return ", ".join(option) if isinstance(option, list) else str(option or "")
