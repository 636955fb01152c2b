"""Relations from dbt's manifest and from ClickHouse's engines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlfluff.core.errors import SQLFluffUserError

from sqlfluff_plugin_versioned_collapsing.relations import Relation, Relations

_CLAUSE = r"\b{}\b(.*?)(?=\b(?:PRIMARY KEY|ORDER BY|SAMPLE BY|PARTITION BY|TTL|SETTINGS)\b|$)"
# The engine of each materialization if the model's config names none.
_ENGINES = {
    "versioned_collapsing": "VersionedCollapsingMergeTree({sign}, {version})",
    "versioned_collapsing_view": "SummingMergeTree",
}
_FOLLOWING = ("materialized_view", "versioned_collapsing_view")
_COLUMN = re.compile(r"[A-Za-z_]\w*(?!\s*\()")
_REF = re.compile(r"\{\{-?\s*ref\(\s*(?:['\"][^'\"]+['\"]\s*,\s*)?['\"]([^'\"]+)['\"]\s*\)\s*-?\}\}")
_SOURCE = re.compile(r"\{\{-?\s*source\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]\s*\)\s*-?\}\}")
_CONFIG = re.compile(r"\{\{-?\s*config\(.*?\)\s*-?\}\}", re.DOTALL)


def load_relations(manifest: str | None, engines: str | None) -> Relations:
    """Relations from dbt's manifest and from ClickHouse's engines, which take precedence.

    Raises:
        SQLFluffUserError: a file is missing or malformed.
    """
    return _load(*(_version_of(path) for path in (manifest, engines)))


def read_manifest(path: Path) -> Mapping[str, Any]:
    """dbt's manifest.

    Raises:
            SQLFluffUserError: the file is missing or is not a manifest.
    """
    try:
        loaded = json.loads(_text_of(path))
    except json.JSONDecodeError as error:
        raise SQLFluffUserError(f"{path} is not JSON: {error}. `dbt parse` writes it again.") from error
    groups = ("nodes", "sources")
    if not isinstance(loaded, dict) or any(not _is_group(loaded.get(group)) for group in groups):
        raise SQLFluffUserError(
            f"{path} is not a dbt manifest, which has objects in `nodes` and `sources`. `dbt parse` writes one."
        )
    return loaded


def _is_group(group: Any) -> bool:
    return isinstance(group, dict) and all(isinstance(node, dict) for node in group.values())


def _version_of(path: str | None) -> tuple[Path, int] | None:
    if not path or path == "None":
        return None
    try:
        return Path(path), Path(path).stat().st_mtime_ns
    except FileNotFoundError as error:
        advice = "`dbt parse` writes the manifest" if path.endswith(".json") else "see the README"
        raise SQLFluffUserError(
            f"{path} does not exist, and without it no sign columns are known: {advice}."
        ) from error
    except OSError as error:
        raise SQLFluffUserError(f"{path} cannot be read: {error.strerror}.") from error


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SQLFluffUserError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SQLFluffUserError(f"{path} is not UTF-8 text: {error.reason}.") from error


@lru_cache(maxsize=8)
def _load(manifest: tuple[Path, int] | None, engines: tuple[Path, int] | None) -> Relations:
    relations: dict[tuple[str, str], Relation] = {}
    if manifest:
        for relation in _of_manifest(manifest[0]):
            relations[relation.schema, relation.name] = relation
    if engines:
        for relation in _of_engines(engines[0]):
            key = relation.schema, relation.name
            known = relations.get(key)
            relations[key] = _joined_with(relation, known) if known else relation
    return Relations(relations.values())


def _joined_with(stored: Relation, model: Relation) -> Relation:
    """What ClickHouse says about a model, plus what only dbt knows."""
    return replace(
        model,
        engine=stored.engine,
        types=stored.types or model.types,
        partition_by=stored.partition_by,
        ttl=stored.ttl,
        sql=stored.sql or model.sql,
        keys=stored.keys or model.keys,
        sorting_key=stored.sorting_key,
    )


def _of_manifest(path: Path) -> Iterator[Relation]:
    manifest = read_manifest(path)
    for unique_id, node in (*manifest["nodes"].items(), *manifest["sources"].items()):
        try:
            relation = _of_node(node)
        except (KeyError, TypeError, AttributeError) as error:
            raise SQLFluffUserError(
                f"{path} is not a dbt manifest: {unique_id} lacks {error}. `dbt parse` writes one."
            ) from error
        if relation is not None:
            yield relation


def _of_node(node: Mapping[str, Any]) -> Relation | None:
    if node["resource_type"] not in ("model", "seed", "snapshot", "source"):
        return None
    given = node.get("config") or {}
    config = {**given, **(given.get("meta") or {})}  # options are in the config or in its `meta`
    materialized = given.get("materialized") or ""
    engine = config.get("engine")
    default = _ENGINES.get(materialized, "").format(
        sign=config.get("sign") or "_sign", version=config.get("version") or "_version"
    )
    is_model = node["resource_type"] == "model"
    aliases = {node["name"], f"__dbt__cte__{node['name']}"}
    if node["resource_type"] == "source":  # as sqlfluff's jinja templater renders a source
        aliases = {f"{node['source_name']}_{node['name']}"} if node.get("source_name") else set()
    return Relation(
        schema=str(node["schema"]),
        name=str(node.get("alias") or node.get("identifier") or node["name"]),
        engine=str(engine or default),
        types={column["name"]: column["data_type"] for column in node["columns"].values() if column.get("data_type")},
        partition_by=_joined(config.get("partition_by")),
        ttl=_joined(config.get("ttl")),
        path=node["original_file_path"] if is_model else "",
        is_following=materialized in _FOLLOWING and not config.get("refreshable"),
        sql=_sql_of(node) if is_model else "",
        keys=_columns_in(_joined(config.get("unique_key") or config.get("order_by"))),
        aliases=frozenset(aliases),
        sorting_key=_joined(config.get("order_by")),
        unique_key=_columns_in(_joined(config.get("unique_key"))),
        hooks=tuple(str(hook["sql"]) for kind in ("pre-hook", "post-hook") for hook in config.get(kind) or ()),
        config=config,
    )


def _sql_of(node: Mapping[str, Any]) -> str:
    """The SQL that dbt has compiled, or that of the file if it can be read without dbt."""
    if node.get("language", "sql") != "sql":
        return ""
    if compiled := node.get("compiled_code"):
        return str(compiled)
    sql = _CONFIG.sub("", str(node.get("raw_code") or ""))
    sql = _SOURCE.sub(r"`\1_\2`", _REF.sub(r"`\1`", sql))
    return "" if "{{" in sql or "{%" in sql else sql


def _of_engines(path: Path) -> Iterator[Relation]:
    for number, line in enumerate(_text_of(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            relation = _of_engine(json.loads(line))
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise SQLFluffUserError(
                f"{path}, line {number} is not a row of the query in the README: {what}."
            ) from error
        yield relation


def _of_engine(row: Mapping[str, Any]) -> Relation:
    engine, columns = str(row["engine_full"]), row.get("columns") or {}

    def clause(name: str) -> str:
        found = re.search(_CLAUSE.format(name), engine)
        return found[1].strip() if found else ""

    return Relation(
        schema=str(row["database"]),
        name=str(row["name"]),
        engine=engine,
        types={str(name): str(type_name) for name, type_name in columns.items()},
        partition_by=clause("PARTITION BY"),
        ttl=clause("TTL"),
        sql=str(row.get("as_select") or ""),
        keys=_columns_in(clause("ORDER BY")),
        sorting_key=clause("ORDER BY"),
    )


def _columns_in(expressions: str) -> frozenset[str]:
    return frozenset(_COLUMN.findall(re.sub(r"'[^']*'", "", expressions)))


def _joined(option: Any) -> str:
    return ", ".join(map(str, option)) if isinstance(option, list) else str(option or "")
