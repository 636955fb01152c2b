"""The statements of dbt commands, recorded once and replayed with the settings of another profile.

dbt takes seconds to render what ClickHouse runs in milliseconds. A replay sends each statement with the settings of a
profile, as dbt does: settings in the statement itself win. What dbt reads is compared with what it read without them,
because dbt acts on it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from tests.support.statements import Send, intercepted

# The lock reads times and what is under way; each replay has another profile; the rest is what dbt asks the server once
# per process.
NOT_REPLAYED = re.compile(
    r"__dbt_lock|\bsleep\(|system\.settings|__dbt_exchange_test"
    r"|(?i:\bexists database\b|\bfrom system\.databases\s*$|^\s*set\s|engine from system\.databases)"
)

IS_READ = re.compile(r"\s*(?:/\*.*?\*/\s*)?(?:with|select|describe|exists|show)\b", re.DOTALL | re.IGNORECASE)
# Without `order by`, the order of rows means nothing.
IS_ORDERED = re.compile(r"\border by [^()]*(?:\bsettings\b.*)?$", re.DOTALL)
# What dbt-clickhouse sets where a profile says nothing.
OF_DBT = {
    "allow_nondeterministic_mutations": "1",
    "alter_sync": "3",
    "insert_distributed_sync": "1",
    "lightweight_deletes_sync": "3",
    "mutations_sync": "3",
}


@dataclass(frozen=True)
class Statement:
    """A statement of dbt, or of a test itself, which the settings of a profile do not affect."""

    sql: str
    is_dbt: bool = True

    @property
    def is_read(self) -> bool:
        return IS_READ.match(self.sql) is not None


@dataclass
class Recording:
    """Statements in order, all in the database ``schema``."""

    schema: str
    statements: list[Statement] = field(default_factory=list)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record what dbt sends."""

        def record(send: Send, sql: str) -> Any:
            if not NOT_REPLAYED.search(sql):
                is_of_columns = send.method == "columns_in_query"
                self.statements.append(Statement(f"select * from (\n{sql}\n) limit 0" if is_of_columns else sql))
            return send(sql)

        with intercepted(record):
            yield

    def prepare(self, client: Client, *statements: str) -> None:
        """Run and record a test's own statements."""
        for sql in statements:
            client.command(sql, settings={"database": self.schema})
            self.statements.append(Statement(sql, is_dbt=False))


class Stopped(Exception):
    """ClickHouse refused a statement; dbt would have stopped there."""


Answer = tuple[str, str]


@dataclass
class Replayer:
    """Runs a recording in databases of its own."""

    recording: Recording
    client: Client
    results: Sequence[str]
    expected: list[Answer] = field(default_factory=list)
    unsteady: set[int] = field(default_factory=set)

    @classmethod
    def start(cls, recording: Recording, address: tuple[str, int], results: Sequence[str]) -> Replayer:
        """Replay twice without settings. What differs between the two, such as times and UUIDs, is not compared."""
        host, port = address
        client = clickhouse_connect.get_client(host=host, port=port, autogenerate_session_id=False, query_limit=0)
        replayer = cls(recording, client, results)
        replayer.expected, other = list(replayer._answers({})), list(replayer._answers({}))
        pairs = zip(replayer.expected, other, strict=True)
        replayer.unsteady = {at for at, (one, two) in enumerate(pairs) if one != two}
        return replayer

    def difference(self, settings: Mapping[str, str]) -> str:
        """Where a replay first differs from the recording; empty if nowhere.

        Raises:
            Stopped: ClickHouse refused a statement.
        """
        with closing(self._answers(settings)) as answers:
            pairs = zip(self.expected, answers, strict=True)
            for at, (expected, found) in enumerate(pairs):
                if found != expected and at not in self.unsteady:
                    return f"{found[0].strip()[:2000]}\nfound {found[1]}\nnot {expected[1]}"
        return ""

    def expected_rows(self, result: int) -> Any:
        """The expected rows of one of the results, as they are without settings."""
        return ast.literal_eval(self.expected[len(self.expected) - len(self.results) + result][1])

    def _answers(self, settings: Mapping[str, str]) -> Generator[Answer, None, None]:
        """What dbt reads, and finally the results."""
        schema = f"replay_{uuid4().hex}"
        own = {"database": schema}
        given = {**OF_DBT, **settings, **own, "session_id": schema}
        self.client.command(f"create database {schema}")
        try:
            for statement in self.recording.statements:
                sql = statement.sql.replace(self.recording.schema, schema)
                if statement.is_read:
                    yield statement.sql, self._read(sql, given, schema)
                else:
                    self._run(sql, given if statement.is_dbt else own)
            for sql in self.results:
                yield sql, repr(self.client.query(sql, settings=own).result_rows)
        finally:
            self.client.command(f"drop database {schema} sync")

    def _read(self, sql: str, settings: dict[str, str], schema: str) -> str:
        try:
            result = self.client.query(sql, settings=settings)
        except ClickHouseError as error:
            raise Stopped(f"{error}\n{sql[:2000]}") from error
        rows = result.result_rows if IS_ORDERED.search(sql) else sorted(result.result_rows, key=repr)
        return repr((result.column_names, rows)).replace(schema, self.recording.schema)

    def _run(self, sql: str, settings: dict[str, str]) -> None:
        try:
            self.client.command(sql, settings=settings)
        except ClickHouseError as error:
            raise Stopped(f"{error}\n{sql[:2000]}") from error
