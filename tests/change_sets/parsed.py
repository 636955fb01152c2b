"""What the parsers return for lines: their SQL as dbt renders it, run on a Spark without a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.macros.harness import parsed_project
from tests.support.warm_spark import warm_session

# Stands for the source in the SQL, because a relation of the stock adapter has no format.
_TEXT, _PARQUET = "landing.events", {"file_format": "parquet"}


@dataclass(frozen=True)
class Parse:
    """A call of a parser with the source SOURCE, and the lines to read: a list per file, or Parquet files."""

    call: str
    files: Sequence[Sequence[str]]
    parquet: Path | None = None


def parsed(folder: Path, parses: Mapping[str, Parse]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each parse, one per line, in the order of the lines."""
    models = {name: _model(parse) for name, parse in parses.items()}
    found = {}
    with parsed_project(folder / "project", models, engine="spark") as project, warm_session() as session:
        for name, parse in parses.items():
            landing = folder / name
            for number, lines in enumerate(parse.files):
                path = landing / "batch=1" / f"{number}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            sql = project.compiled(name).replace(str(_PARQUET), f"parquet.`{parse.parquet}`")
            sql = sql.replace(_TEXT, f"text.`{landing}`")
            rows = session.sql(sql).coalesce(1).collect()  # keeps the lines of a file in order
            found[name] = [row.asDict(recursive=True) for row in rows]
    return found


def _model(parse: Parse) -> str:
    return "{{ " + parse.call.replace("SOURCE", repr(_PARQUET if parse.parquet else _TEXT)) + " }}"
