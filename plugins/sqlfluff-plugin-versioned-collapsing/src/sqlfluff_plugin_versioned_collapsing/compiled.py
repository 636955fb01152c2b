"""Applies the rules to the SQL that dbt has compiled, which includes what macros generate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlfluff.core import FluffConfig, Linter
from sqlfluff.core.errors import SQLFluffUserError

from sqlfluff_plugin_versioned_collapsing.analysis import rows_of
from sqlfluff_plugin_versioned_collapsing.loading import load_relations, read_manifest
from sqlfluff_plugin_versioned_collapsing.relations import Relation, Relations
from sqlfluff_plugin_versioned_collapsing.replacing import why_never_replaced
from sqlfluff_plugin_versioned_collapsing.semantics import semantic_problems
from sqlfluff_plugin_versioned_collapsing.statements import statements_in, why_mutation_is_wrong, why_optimize_is_wrong
from sqlfluff_plugin_versioned_collapsing.ttl import why_unsafe

LINTED = ("model", "analysis", "test", "snapshot")


@dataclass(frozen=True)
class Finding:
    """A problem with a node of the graph, and the line of its compiled SQL."""

    node: str
    line: int
    code: str
    description: str

    def __str__(self) -> str:
        return f"{self.node}:{self.line}: {self.code} {self.description}"


def lint_manifest(manifest: Path, engines: Path | None = None) -> list[Finding]:
    """Lint the compiled SQL of everything that reads a signed, summing or replacing relation.

    It may read the relation directly, or through views, copies and ephemeral models, with `ref` or by name. This covers
    models with their hooks, analyses, snapshots and singular tests, the measures of semantic models, the hooks of runs,
    and the keys and TTL of the tables in ``engines``.

    Args:
        manifest: `target/manifest.json`, as `dbt compile` writes it.
        engines: tables and their engines, see the README.

    Raises:
        SQLFluffUserError: a file is missing or malformed.
    """
    files = {"collapsing_manifest": str(manifest), "collapsing_engines": str(engines or "")}
    relations = load_relations(*files.values())
    linter = Linter(
        FluffConfig(
            configs={"rules": dict(files)},
            overrides={"dialect": "clickhouse", "templater": "raw", "rules": "versioned_collapsing"},
        )
    )
    loaded = read_manifest(manifest)
    nodes = loaded["nodes"]
    watched = {
        unique_id
        for unique_id, node in (*nodes.items(), *loaded["sources"].items())
        if (relation := relations.find([str(node.get("schema")), _identifier(node)]))
        and (relation.is_summing or rows_of(relation, relations).signs)
    }
    findings: list[Finding] = []
    for unique_id, node in sorted(nodes.items()):
        if node.get("resource_type") == "operation":
            findings += _lint_operation(unique_id, node, relations)
        if not _is_linted(node):
            continue
        reads = unique_id in watched or bool(watched & _parents(node))
        if reads or _is_suspect(node, relations):
            findings += [
                finding
                for finding in _lint(linter, unique_id, node)
                # SQL that names a signed relation without depending on one may be for another engine.
                if reads or finding.code not in ("PRS", "LXR")
            ]
    findings += [
        Finding(unique_id, 1, "VC08", reason)
        for unique_id, reason in semantic_problems(
            loaded, relations, lambda sql: linter.lint_string(sql).get_violations()
        )
    ]
    return findings + [finding for relation in relations for finding in _lint_table(relation)]


def _identifier(node: Mapping[str, Any]) -> str:
    return str(node.get("alias") or node.get("identifier") or node.get("name"))


def _is_linted(node: Mapping[str, Any]) -> bool:
    # Generic tests read signed rows on purpose.
    return (
        node.get("resource_type") in LINTED and not node.get("test_metadata") and node.get("language", "sql") == "sql"
    )


def _parents(node: Mapping[str, Any]) -> set[str]:
    return set((node.get("depends_on") or {}).get("nodes") or ())


def _lint(linter: Linter, unique_id: str, node: Mapping[str, Any]) -> Iterator[Finding]:
    sql = node.get("compiled_code")
    if sql is None:
        yield Finding(unique_id, 1, "VC00", "It is not compiled: run dbt compile.")
        return
    linted = linter.lint_string(sql.strip() + "\n", fname=str(node.get("original_file_path")))
    for violation in linted.get_violations():
        yield Finding(unique_id, violation.line_no, violation.rule_code(), violation.desc())


def _is_suspect(node: Mapping[str, Any], relations: Relations) -> bool:
    """Whether a node names a relation that the rules are about, is itself one, or has a hook that changes rows."""
    relation = relations.find([str(node.get("schema")), _identifier(node)])
    hooks = relation.hooks if relation and relation.path else ()
    return (
        relations.names_suspect(node.get("compiled_code") or "")
        or (relation is not None and relation.is_replacing)
        or any(True for hook in hooks for _ in statements_in(hook))
    )


def _lint_operation(unique_id: str, node: Mapping[str, Any], relations: Relations) -> Iterator[Finding]:
    """Lint `on-run-start` and `on-run-end`."""
    sql = str(node.get("raw_code") or "")
    for code, reasons in (("VC11", why_optimize_is_wrong), ("VC12", why_mutation_is_wrong)):
        for _, reason in reasons(sql, relations):
            yield Finding(unique_id, 1, f"VersionedCollapsing_{code}", f"A hook: {reason}.")


def _lint_table(relation: Relation) -> Iterator[Finding]:
    """Lint a table that is not a model. Models are linted with their SQL."""
    if relation.path:
        return
    name = f"{relation.schema}.{relation.name}"
    if reason := why_never_replaced(relation):
        yield Finding(name, 1, "VersionedCollapsing_VC09", f"ReplacingMergeTree: {reason}.")
    reason = relation.sign and why_unsafe(relation.ttl, relation.sign, relation.partition_by)
    if reason:
        description = f"The TTL can remove a state row before its cancel row: {reason}."
        yield Finding(name, 1, "VersionedCollapsing_VC06", description)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the problems, one per line. Exit with 1 if there are any."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--manifest",
        type=Path,
        default=Path("target/manifest.json"),
        help="what dbt compile or dbt parse wrote [target/manifest.json]",
    )
    parser.add_argument("--engines", type=Path, help="the rows of the query in the README")
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
