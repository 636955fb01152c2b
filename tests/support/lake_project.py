"""A project that follows tables of a lake, and reads what the lake and ClickHouse hold."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.support.commands import Outcome, dbt, variables
from tests.support.shop import REPOSITORY

COLUMNS = {"id": "bigint", "status": "string", "amount": "decimal(12,2)", "ver": "bigint", "day": "date"}
Command = list[str]

# Runs statements, and returns the rows of a lake table together with the live rows of ClickHouse tables.
_MACROS = """
{% macro commit(statements, engine) %}
  {%- for sql in statements %}{% do adapter.query_on(engine, sql) %}{% endfor -%}
{% endmacro %}

{% macro look(lake, tables, columns) %}
  {%- set found = {} -%}
  {%- set texts = [] -%}
  {%- for name in columns %}{% do texts.append('cast(' ~ name ~ ' as string) as ' ~ name) %}{% endfor -%}
  {%- set rows = [] -%}
  {%- for row in adapter.query_on('spark', 'select ' ~ texts | join(', ') ~ ' from ' ~ lake).rows %}
    {%- do rows.append(row.values() | list) -%}
  {%- endfor -%}
  {%- do found.update({'lake': rows}) -%}
  {%- for table in tables %}
    {%- set texts = [] -%}
    {%- for name in columns %}{% do texts.append('toString(' ~ name ~ ') as ' ~ name) %}{% endfor -%}
    {%- set rows = [] -%}
    {%- for row in adapter.query_on('clickhouse', 'select ' ~ texts | join(', ') ~ ' from shop.' ~ table
        ~ ' group by ' ~ columns | join(', ') ~ ' having sum(_sign) <> 0').rows %}
      {%- do rows.append(row.values() | list) -%}
    {%- endfor -%}
    {%- do found.update({table: rows}) -%}
    {%- set counts = adapter.query_on('clickhouse', 'select sum(_sign) as live, (select count() from shop.' ~ table
        ~ ' final where _sign = 1) as final from shop.' ~ table).rows[0] -%}
    {%- do found.update({table ~ '_counts': [counts['live'] | int, counts['final'] | int]}) -%}
  {%- endfor -%}
  {%- do print('LOOK ' ~ tojson(found)) -%}
{% endmacro %}
"""


@dataclass(frozen=True)
class Lake:
    """A lake format: what Spark needs for it, and the macro that reads its feed."""

    format: str
    spark: str
    packages: str
    settings: Mapping[str, str]
    properties: str

    @property
    def macro(self) -> str:
        return f"{self.format}_changes"

    def create(self, table: str, properties: str | None = None) -> str:
        """The statement that creates a table."""
        declared = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        given = self.properties if properties is None else properties
        return f"create table {table} ({declared}) using {self.format} partitioned by (day) {given}"


@dataclass
class LakeProject:
    """Tables of a lake, each followed by change sets and ClickHouse tables.

    Args:
        folder: the root of everything.
        lake: the format.
        models: for each ClickHouse table, the call that makes its change set, and its config.
        others: more ClickHouse tables, each with the change set that it reads.
    """

    folder: Path
    lake: Lake
    models: Mapping[str, tuple[str, Mapping[str, Any]]]
    others: Mapping[str, str] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)

    def __post_init__(self) -> None:
        declared = [{"name": "id", "data_type": "Int64"}, {"name": "day", "data_type": "Date32"}]
        tables = sorted({call.split("'")[1] for call, _ in self.models.values()})
        properties: dict[str, Any] = {
            "sources": [
                {"name": "lake", "schema": "shop", "database": "spark", "tables": [{"name": name} for name in tables]}
            ],
            "models": [{"name": name, "columns": declared} for name in (*self.models, *self.others)],
        }
        self._write("models/schema.yml", json.dumps(properties))
        for name, (call, config) in self.models.items():
            table = call.split("'")[1]
            changes = call.replace(f"'{table}'", f"source('lake', '{table}')", 1)
            self._write(f"models/changes/{name}_changes.sql", f"{{{{ {self.lake.macro}({changes}) }}}}")
            self._add(name, f"{name}_changes", config)
        for name, changes in self.others.items():
            self._add(name, changes, {"on_schema_change": "append_new_columns"})
        self._write("macros/lake.sql", _MACROS)
        self._write("dbt_project.yml", json.dumps(_PROJECT))
        output: dict[str, Any] = {
            "type": "spark_clickhouse",
            "schema": "shop",
            "threads": 2,
            "home": str(self.folder / "home"),
            "spark": {
                "method": "session",
                "server_side_parameters": {
                    **self.lake.settings,
                    **({"spark.jars.packages": self.lake.packages} if self.lake.packages else {}),
                },
            },
        }
        self._write("profiles.yml", json.dumps({"versioned_collapsing": {"target": "it", "outputs": {"it": output}}}))

    def _add(self, name: str, changes: str, config: Mapping[str, Any]) -> None:
        options = {"unique_key": "id", "partition_by": "toYYYYMM(day)", **config}
        self._write(
            f"models/current/{name}.sql", f"{{{{ config(**{options!r}) }}}}\nselect * from {{{{ ref('{changes}') }}}}"
        )

    def _write(self, name: str, text: str) -> None:
        path = self.folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, *statements: str, engine: str = "spark") -> None:
        """Add statements to the sequence."""
        arguments = json.dumps({"statements": statements, "engine": engine})
        self.commands.append(["run-operation", "commit", "--args", arguments])

    def run(self, *options: str, **values: object) -> int:
        """Add a `dbt run` to the sequence. Return its number among the commands."""
        self.commands.append(["run", *options, *(variables(**values) if values else [])])
        return len(self.commands) - 1

    def look(self, lake: str, *tables: str, columns: Iterable[str] = COLUMNS) -> int:
        """Add a look at the rows of the lake and of ClickHouse. Return the number of the command."""
        arguments = json.dumps({"lake": lake, "tables": tables, "columns": list(columns)})
        self.commands.append(["run-operation", "look", "--args", arguments])
        return len(self.commands) - 1

    def go(self) -> list[Outcome]:
        """Run the whole sequence, in one process."""
        project = str(self.folder / "project")
        folders = ["--project-dir", project, "--profiles-dir", project]
        path = [str(REPOSITORY / ".venv" / "formats" / f"spark-{self.lake.spark}")]
        return dbt(
            self.folder / "home",
            *([*command, *folders] for command in self.commands),
            folder=self.folder,
            PYTHONPATH=":".join([*(path if self.lake.spark else []), str(REPOSITORY)]),
        )


def looked(outcome: Outcome) -> dict[str, Any]:
    """What a `look` found."""
    (line,) = (line for line in outcome.output.splitlines() if line.startswith("LOOK "))
    found: dict[str, Any] = json.loads(line.removeprefix("LOOK "))
    return found


def assert_equal(outcome: Outcome, *tables: str) -> int:
    """The live rows of each table are those of the lake. Return how many there are."""
    found = looked(outcome)
    lake = sorted(_normal(row) for row in found["lake"])
    for table in tables:
        assert sorted(_normal(row) for row in found[table]) == lake, table
        assert found[f"{table}_counts"] == [len(lake), len(lake)], table
    return len(lake)


def _normal(row: Sequence[str | None]) -> tuple[str, ...]:
    identity, status, amount, *others = row
    return (
        f"{identity:>9}",
        str(status),
        str(None if amount is None else Decimal(amount).normalize()),
        *map(str, others),
    )


class History:
    """Random commits to one table: rows are added, change, move to other partitions, disappear and come back under the
    same key.

    Each change of a row has a version above all earlier ones.
    """

    def __init__(self, table: str, seed: int, keys: int) -> None:
        self._table = table
        self._rng = random.Random(seed)
        self._keys = keys
        self._version = 0
        self.live: set[int] = set()

    def merge(self, changes: int) -> str:
        """A commit that inserts, updates and deletes."""
        values = []
        for key in self._rng.sample(range(1, self._keys + 1), changes):
            is_delete = key in self.live and self._rng.random() < 0.35
            (self.live.discard if is_delete else self.live.add)(key)
            values.append(f"({key}, {self._row()}, {str(is_delete).lower()})")
        assignments = ", ".join(f"{name} = c.{name}" for name in COLUMNS if name != "id")
        return (
            f"merge into {self._table} as t using (select * from values {', '.join(values)} "
            f"as changes ({', '.join(COLUMNS)}, is_gone)) as c on t.id = c.id "
            f"when matched and c.is_gone then delete when matched then update set {assignments} "
            f"when not matched then insert ({', '.join(COLUMNS)}) values (c.{', c.'.join(COLUMNS)})"
        )

    def move_key(self) -> str:
        """A commit that gives a row another key."""
        old = self._rng.choice(sorted(self.live))
        new = self._keys + self._version
        self.live ^= {old, new}
        self._version += 1
        return f"update {self._table} set id = {new}, ver = {self._version} where id = {old}"

    def delete(self) -> str:
        """A commit that only deletes."""
        gone = self._rng.sample(sorted(self.live), 3)
        self.live -= set(gone)
        return f"delete from {self._table} where id in ({', '.join(map(str, gone))})"

    def _row(self) -> str:
        self._version += 1
        status = self._rng.choice(["'new'", "'paid'", "'sent'", "null"])
        day = f"date'2025-{self._rng.randint(1, 4):02}-{self._rng.randint(1, 28):02}'"
        return f"{status}, cast({self._rng.randint(0, 9999)} / 100 as decimal(12, 2)), {self._version}L, {day}"


_PROJECT: dict[str, Any] = {
    "name": "versioned_collapsing",
    "version": "1.0",
    "profile": "versioned_collapsing",
    "macro-paths": ["macros", str(REPOSITORY / "macros"), str(REPOSITORY / "tests" / "generic")],
    "models": {
        "versioned_collapsing": {
            "changes": {"+database": "spark", "+materialized": "change_set"},
            "current": {"+database": "clickhouse", "+materialized": "versioned_collapsing"},
        }
    },
    "flags": {"send_anonymous_usage_stats": False, "validate_macro_args": True},
}
