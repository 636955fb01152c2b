"""The rules over the SQL that dbt has compiled: what macros made of the files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlfluff.core import FluffConfig, Linter
from sqlfluff.core.errors import SQLFluffUserError

from sqlfluff_plugin_versioned_collapsing.relations import Relation, load_relations
from sqlfluff_plugin_versioned_collapsing.ttl import why_unsafe

LINTED = ("model", "analysis", "test", "snapshot")


@dataclass(frozen=True)
class Finding:
    """What is wrong with a node of the graph, and the line of its compiled SQL."""

    node: str
    line: int
    code: str
    description: str

    def __str__(self) -> str:
        return f"{self.node}:{self.line}: {self.code} {self.description}"


def lint_manifest(manifest: Path, engines: Path | None = None) -> list[Finding]:
    """Lint what dbt has compiled of all that reads a signed or summing relation.

    That is models, analyses, snapshots and singular tests, and the TTL of tables in ``engines``.

    Args:
        manifest: `target/manifest.json`, as `dbt compile` writes it.
        engines: tables and their engines, see the README.

    Raises:
        SQLFluffUserError: there is no such file.
    """
    files = {"collapsing_manifest": str(manifest), "collapsing_engines": str(engines or "")}
    relations = load_relations(*files.values())
    linter = Linter(
        FluffConfig(
            configs={"rules": dict(files)},
            overrides={
                "dialect": "clickhouse",
                "templater": "raw",
                "rules": "versioned_collapsing",
            },
        )
    )
    loaded = json.loads(manifest.read_text(encoding="utf-8"))
    watched = {
        unique_id
        for group in ("nodes", "sources")
        for unique_id, node in loaded[group].items()
        if (relation := relations.find([node["schema"], _identifier(node)]))
        and (relation.sign or relation.is_summing)
    }
    findings = [
        finding
        for unique_id, node in sorted(loaded["nodes"].items())
        if _is_linted(node) and (unique_id in watched or watched & _parents(node))
        for finding in _lint(linter, unique_id, node)
    ]
    return findings + [finding for relation in relations for finding in _lint_ttl(relation)]


def _identifier(node: Mapping[str, Any]) -> str:
    return str(node.get("alias") or node.get("identifier") or node["name"])


def _is_linted(node: Mapping[str, Any]) -> bool:
    # Generic tests look at signed rows on purpose.
    return (
        node["resource_type"] in LINTED
        and not node.get("test_metadata")
        and node.get("language", "sql") == "sql"
    )


def _parents(node: Mapping[str, Any]) -> set[str]:
    return set(node.get("depends_on", {}).get("nodes", []))


def _lint(linter: Linter, unique_id: str, node: Mapping[str, Any]) -> Iterator[Finding]:
    sql = node.get("compiled_code")
    if sql is None:
        yield Finding(unique_id, 1, "VC00", "It is not compiled: run dbt compile.")
        return
    linted = linter.lint_string(sql.strip() + "\n", fname=node["original_file_path"])
    for violation in linted.get_violations():
        yield Finding(unique_id, violation.line_no, violation.rule_code(), violation.desc())


def _lint_ttl(relation: Relation) -> Iterator[Finding]:
    """Of a table that is no model: those are linted with their SQL."""
    reason = relation.sign and why_unsafe(relation.ttl, relation.sign, relation.partition_by)
    if reason and not relation.path:
        description = f"The TTL can remove a state row before its cancel row: {reason}."
        name = f"{relation.schema}.{relation.name}"
        yield Finding(name, 1, "VersionedCollapsing_VC06", description)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is wrong, a line for each; 1 if there is anything."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--manifest", type=Path, default=Path("target/manifest.json"))
    parser.add_argument("--engines", type=Path)
    options = parser.parse_args(arguments)
    try:
        findings = lint_manifest(options.manifest, options.engines)
    except SQLFluffUserError as error:
        parser.error(str(error))
    for finding in findings:
        sys.stdout.write(f"{finding}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
