"""All examples of the documents together are a project that dbt parses where the package is installed.

Each example with Jinja is a model, and each properties file has names of its own. What they select from is there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from tests.docs.test_documents import DOCUMENTS
from tests.support.commands import dbt
from tests.support.page import blocks
from tests.support.shop import REPOSITORY

_SOURCE = re.compile(r"source\('(\w+)', *'(\w+)'\)")
_REF = re.compile(r"ref\('(\w+)'\)")
# Semantic models, which need a calendar, have a test in tests/invariants.
PROPERTIES = ("models", "sources", "exposures")


def _examples() -> dict[str, str]:
    """SQL with Jinja, and YAML, by page and place."""
    return {
        f"{Path(page).parent.name}_{Path(page).stem}_{place}.{block.language}": block.text
        for page in DOCUMENTS
        for place, block in enumerate(blocks(page))
        if block.language == "yaml" or (block.language == "sql" and re.search("{[{%]", block.text))
    }


def _properties(name: str, text: str) -> dict[str, Any]:
    """A properties file whose models and sources have names that no other example has; nothing for other files."""
    content = yaml.safe_load(text)
    content = {"models": content} if isinstance(content, list) else content
    found = {kind: content[kind] for kind in PROPERTIES if isinstance(content.get(kind), list)}
    for entry in (entry for entries in found.values() for entry in entries):
        entry["name"] = f"{entry['name']}_{name}"
    return found


def test_dbt_parses_all_examples(tmp_path: Path) -> None:
    files: dict[str, str] = {}
    refs, sources = set(), set()
    for name, text in _examples().items():
        stem, _, kind = name.replace("-", "_").rpartition(".")
        if kind == "sql":
            files[f"models/{stem}.sql"] = text
        elif found := _properties(stem, text):
            files[f"models/{stem}.yml"] = yaml.safe_dump(found)
            refs |= {model["name"] for model in found.get("models", ())}
        else:
            continue
        refs |= set(_REF.findall(text))
        sources |= set(_SOURCE.findall(text))
    files |= {f"models/read/{name}.sql": "select 1 as id" for name in refs}
    schemas = {schema: [{"name": table} for of, table in sorted(sources) if of == schema] for schema, _ in sources}
    files |= {
        "models/read.yml": yaml.safe_dump(
            {"sources": [{"name": schema, "tables": tables} for schema, tables in schemas.items()]}
        ),
        "packages.yml": yaml.safe_dump({"packages": [{"local": str(REPOSITORY)}]}),
        "dbt_project.yml": yaml.safe_dump(
            {"name": "examples", "profile": "it", "flags": {"send_anonymous_usage_stats": False}}
        ),
        "profiles.yml": yaml.safe_dump(
            {"it": {"target": "it", "outputs": {"it": {"type": "spark_clickhouse", "schema": "examples"}}}}
        ),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    installed, parsed = dbt(tmp_path / "home", ["deps"], ["parse", "--show-all-deprecations"], folder=tmp_path)
    assert installed.success, installed.why()
    assert parsed.success, parsed.why()
    assert "[WARNING]" not in parsed.output, parsed.output
