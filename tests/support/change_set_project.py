"""A dbt project with this project's macros and its own landing zone, on the embedded engines."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet

from tests.support import shop
from tests.support.balance import assert_ledger_adds_up, assert_manifest_adds_up
from tests.support.commands import Outcome, dbt, variables
from tests.support.shop import REPOSITORY, Row


@dataclass(frozen=True)
class Situation:
    """One table, from its lines in the landing zone to ClickHouse.

    Args:
        name: of source and table.
        staging: the macro call that parses SOURCE, its landing zone.
        changes: the macro call that makes the change set of EVENTS, its staging model.
        types: ClickHouse types of the stored columns.
        config: options of the table.
        select: what the table selects from the change set.
    """

    name: str
    staging: str
    changes: str
    types: Mapping[str, str]
    config: Mapping[str, Any] = field(default_factory=dict)
    select: str = "*"


class ChangeSetProject:
    """Several situations in one project, so that one process builds them all.

    Args:
        folder: the root of everything.
        situations: the tables.
        landed: the URL at which Spark finds the landing zone, if not where the test writes it.
        changes: config of the change sets.
        output: the profile's output, if not the repository's.
        models: further models, by path in the models folder.
        quarantined: situations whose lines the quarantine reads; by default all.
        parsed_once: situations whose quarantine reuses what the change set has parsed.
    """

    def __init__(
        self,
        folder: Path,
        situations: Iterable[Situation],
        *,
        landed: str = "",
        changes: Mapping[str, Any] | None = None,
        output: Mapping[str, Any] | None = None,
        models: Mapping[str, str] | None = None,
        quarantined: Collection[str] | None = None,
        parsed_once: Collection[str] = (),
    ) -> None:
        self.situations = {situation.name: situation for situation in situations}
        self.landing = folder / "landing"
        self._folder = folder
        self._home = folder / "home"
        self._project = folder / "project"
        self._has_profile = output is not None
        for situation in self.situations.values():
            self._add(situation)
        unusable = "\nunion all\n".join(
            f"{{{{ quarantined_lines(ref('stg_{name}'), '{name}'"
            + (f", change_set=ref('{name}_changes')" if name in parsed_once else "")
            + ") }}"
            for name in self.situations
            if quarantined is None or name in quarantined
        )
        self._write("models/changes/cdc_quarantine_changes.sql", unusable)
        self._write(
            "models/current/cdc_quarantine.sql",
            "{{ config(unique_key=['source_table', 'batch', 'file', 'line_number']) }}\n"
            "{{ replace_quarantined_batches(ref('cdc_quarantine_changes')) }}",
        )
        tables = [
            {
                "name": name,
                "external": {"location": f"{landed or self.landing}/{name}", "file_format": "text"},
                # The column by which `--sample` samples.
                "config": {"event_time": "_metadata.file_modification_time"},
            }
            for name in self.situations
        ]
        sources = [{"name": "landing", "database": "spark", "tables": tables}]
        properties: list[dict[str, Any]] = []
        for name, situation in self.situations.items():
            test = {"name": f"{name}_fields", "arguments": {"change_set": f"ref('{name}_changes')"}}
            columns = [{"name": column, "data_type": kind} for column, kind in situation.types.items()]
            properties.append({"name": f"stg_{name}", "data_tests": [{"no_unknown_fields": test}]})
            properties.append({"name": name, "columns": columns})
        for path, text in (models or {}).items():
            self._write(f"models/{path}", text)
        self._write("models/schema.yml", json.dumps({"sources": sources, "models": properties}))
        project = copy.deepcopy(_PROJECT)
        configs = {f"+{name}": value for name, value in (changes or {}).items()}
        project["models"]["versioned_collapsing"]["changes"].update(configs)
        self._write("dbt_project.yml", json.dumps(project))
        if output is not None:
            profile = {"target": "it", "outputs": {"it": {**output, "home": str(self._home)}}}
            self._write("profiles.yml", json.dumps({project["profile"]: profile}))

    def _add(self, situation: Situation) -> None:
        name = situation.name
        staging = situation.staging.replace("SOURCE", f"source('landing', '{name}')")
        changes = situation.changes.replace("EVENTS", f"ref('stg_{name}')")
        self._write(f"models/staging/stg_{name}.sql", f"{{{{ {staging} }}}}")
        self._write(f"models/changes/{name}_changes.sql", f"{{{{ {changes} }}}}")
        self._write(
            f"models/current/{name}.sql",
            f"{{{{ config(**{dict(situation.config)!r}) }}}}\n"
            f"select {situation.select} from {{{{ ref('{name}_changes') }}}}",
        )

    def _write(self, name: str, text: str) -> None:
        path = self._project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def land(self, name: str, batch: int, lines: Iterable[str | bytes], file: int = 0) -> str:
        """Write a file of a batch. Return its name as the quarantine shows it."""
        path = self.landing / name / f"batch={batch:06d}" / f"part-{file:05d}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = [line.encode() if isinstance(line, str) else line for line in lines]
        path.write_bytes(b"".join(line + b"\n" for line in raw))
        return str(path.relative_to(self.landing))

    def dbt(self, *commands: Sequence[str], **environment: str) -> list[Outcome]:
        """Run dbt commands in one process."""
        profiles = self._project if self._has_profile else REPOSITORY
        folders = ["--project-dir", str(self._project), "--profiles-dir", str(profiles)]
        found = (command if command[0] == "mv" else [*command, *folders] for command in commands)
        return dbt(self._home, *found, folder=self._folder, **environment)

    def run(self, *through: int, **environment: str) -> list[Outcome]:
        """`dbt run` up to each of these batches in turn, in one process."""
        commands = (["run", *variables(through_batch=batch)] for batch in through)
        return self.dbt(*commands, **environment)

    def log(self) -> str:
        """The log of all commands so far."""
        return (self._home / "logs" / "dbt.log").read_text()

    def change_set(self, name: str, columns: Sequence[str], suffix: str = "") -> list[Row]:
        """Columns of the change set that the last run made, or of the table with its name plus a suffix."""
        return self.spark_rows(f"{name}_changes{suffix}", columns)

    def spark_rows(self, name: str, columns: Sequence[str]) -> list[Row]:
        """Columns of a Spark table."""
        rows = self._read_table(name)
        return [tuple(row[column] for column in columns) for row in rows]

    def _read_table(self, name: str) -> list[dict[str, Any]]:
        folder = self._home / "warehouse" / "shop.db" / name
        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(sorted(folder.glob("*.parquet"))).to_pylist()
        return rows

    def assert_manifest_adds_up(self, name: str) -> None:
        """Every line of the batches in the last run is counted exactly once."""
        assert_manifest_adds_up(self._read_table(f"{name}_changes__manifest"))

    def queries(self, **queries: str) -> dict[str, list[Row]]:
        """The results of queries on ClickHouse, by name."""
        with shop.clickhouse(self._home) as client:
            return {name: shop.query(client, sql) for name, sql in queries.items()}

    def quarantined(self) -> list[Row]:
        """The quarantine's lines: table, batch, file, number, reason and text."""
        columns = "source_table, batch, file, line_number, reason, raw_line"
        sql = f"select {columns} from shop.cdc_quarantine final where _sign = 1"
        return self.queries(lines=sql)["lines"]

    def live_rows(self) -> dict[str, list[Row]]:
        """The live rows of every table, without the sign; FINAL and signed sums must agree on them.

        Raises:
            AssertionError: they differ, or the ledger does not account for every event.
        """
        found = {}
        with shop.clickhouse(self._home) as client:
            assert_ledger_adds_up(lambda sql: shop.query(client, sql), "shop")
            for name, situation in self.situations.items():
                columns = ", ".join(f"`{column}`" for column in situation.types)
                final = f"select {columns} from shop.{name} final where _sign = 1 order by all"
                net = f"select {columns} from shop.{name} group by all having sum(_sign) <> 0 order by all"
                found[name] = shop.query(client, final)
                assert found[name] == shop.query(client, net), name
        return found


_PROJECT: dict[str, Any] = {
    "name": "versioned_collapsing",
    "version": "1.0",
    "profile": "versioned_collapsing",
    "macro-paths": [str(REPOSITORY / "macros"), str(REPOSITORY / "tests" / "generic")],
    "models": {
        "versioned_collapsing": {
            "staging": {"+database": "spark", "+materialized": "view"},
            "changes": {"+database": "spark", "+materialized": "change_set", "+on_changed_batch": "reprocess"},
            "current": {"+database": "clickhouse", "+materialized": "versioned_collapsing"},
        }
    },
    "flags": {"send_anonymous_usage_stats": False, "validate_macro_args": True},
}
