"""The project's macros in dbt's own context, with a stand-in for ClickHouse that only remembers.

dbt itself parses the project and runs its models: the adapter, the Jinja environment and the macros of dbt and
dbt-clickhouse are the real ones. Only the engine is missing. In its place is a `Recording`: each statement gets the
answer that a ClickHouse once gave, and everything that is sent is kept. `Recorder` makes recordings of a real
ClickHouse.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from dbt.adapters.clickhouse import ClickHouseColumn, connections
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt.adapters.factory import FACTORY, get_adapter, register_adapter
from dbt.cli.flags import Flags
from dbt.cli.types import Command
from dbt.clients.jinja import get_rendered
from dbt.config.runtime import RuntimeConfig
from dbt.context import base
from dbt.context.context_config import ContextConfig
from dbt.context.providers import generate_parser_model_context, generate_runtime_macro_context
from dbt.mp_context import get_mp_context
from dbt.parser.manifest import ManifestLoader
from dbt.task.run import ModelRunner
from dbt_common import invocation
from dbt_common.context import get_invocation_context, set_invocation_context
from dbt_common.exceptions import DbtDatabaseError

from dbt import deprecations, flags, tracking
from tests.support.shop import REPOSITORY

SCHEMA = "it"
INVOCATION = "00000000-0000-4000-8000-000000000000"

IDLE = "seconds_idle"  # how long the holder of a lock was idle

Answer = dict[str, Any]  # columns and rows


@dataclass
class Recording:
    """Statements in short form, with their answers, if they have any."""

    said: list[tuple[str, Answer | None]] = field(default_factory=list)

    @property
    def statements(self) -> list[str]:
        return [statement for statement, _ in self.said]

    @classmethod
    def load(cls, path: Path) -> Recording:
        found = cls()
        for line in yaml.safe_load(path.read_text(encoding="utf-8")):
            match line:
                case str():
                    found.said.append((line, None))
                case _:
                    ((statement, answer),) = line.items()
                    found.said.append((statement, answer))
        return found

    def save(self, path: Path) -> None:
        lines = [{said: answer} if answer else said for said, answer in _without_chance(self.said)]
        path.parent.mkdir(exist_ok=True)
        text = yaml.safe_dump(lines, sort_keys=False, width=10000, default_flow_style=None)
        path.write_text(text, encoding="utf-8")


def _without_chance(said: list[tuple[str, Answer | None]]) -> list[tuple[str, Answer | None]]:
    """The same with numbered UUIDs and without fractions of waits, so that two recordings of the same thing are
    equal."""
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        found = match.group(0)
        if found.startswith(INVOCATION[:24]):
            return found
        return numbers.setdefault(found, str(uuid.UUID(int=len(numbers) + 1)))

    text = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", numbered, json.dumps(said))
    recorded: list[tuple[str, Answer | None]] = json.loads(text)
    for _, answer in recorded:
        for at, column in enumerate(answer["columns"] if answer else []):
            for row in answer["rows"] if answer and column == IDLE else []:
                row[at] = 9 if row[at] > 1 else 0
    return recorded


_RELATION = rf"\b(?:{SCHEMA}_\w+|system)\.\w+"
_BEGIN = re.compile(
    r"create (?:or replace )?(?:table|materialized view|database)(?: if not exists)?|insert into|alter table \S+ (?:\w+ ?){1,2}"
    r"|drop \w+(?: if exists)?|exchange \w+|rename \w+|exists \w+|describe|optimize \w+|show \w+",
    re.IGNORECASE,
)


def in_short(sql: str) -> str:
    """A statement in short form: how it begins, and the relations that it names, in order."""
    text = " ".join(re.sub(r"/\*.*?\*/|--[^\n]*", " ", sql, flags=re.DOTALL).split()).replace("`", "")
    relations = dict.fromkeys(re.findall(_RELATION, text))
    if begin := _BEGIN.match(text):
        words = re.sub(_RELATION, "", begin.group(0))
    else:
        words = re.split(rf"\bfrom {_RELATION}", text)[0][:40].strip()
        words += " .. from" if relations else ""
    short = f"{' '.join(words.split())} {', '.join(relations)}"
    return re.sub(rf"\b{SCHEMA}_\w+\.", "", short).strip()


class Unanswered(DbtDatabaseError):
    """A statement without an answer in the recording."""


class Replay:
    """A client for dbt-clickhouse that answers from the recording, and keeps what is sent."""

    minutes = 0  # since the full hour
    server_version = "26.9.1.1"
    atomic_exchange = True
    has_lw_deletes = use_lw_deletes = True
    database = SCHEMA

    def __init__(self, recording: Recording) -> None:
        self.sent: list[str] = []
        self._answers: dict[str, deque[Answer | None]] = defaultdict(deque)
        for statement, answer in recording.said:
            self._answers[statement].append(answer)

    def _answer(self, sql: str) -> Answer:
        self.sent.append(sql)
        answers = self._answers[in_short(sql)]
        if not answers:
            raise Unanswered(f"nothing of this kind was recorded here: {in_short(sql)}")
        return answers.popleft() or {"columns": [], "rows": []}

    def query(self, sql: str, **_: object) -> Any:
        answer = self._answer(sql)
        return SimpleNamespace(column_names=answer["columns"], result_set=answer["rows"])

    def command(self, sql: str, **_: object) -> None:
        self._answer(sql)

    def columns_in_query(self, sql: str, **_: object) -> list[Any]:
        rows = self._answer(f"describe ({sql})")["rows"]
        return [ClickHouseColumn.create(name, kind) for name, kind in rows]

    def update_model_settings(self, settings: dict[str, str], materialization: str) -> None:
        """Do what dbt-clickhouse's own client does."""
        settings.setdefault("replicated_deduplication_window", "0")

    def close(self) -> None:
        """Nothing is open."""


class Recorder:
    """A client of a real ClickHouse that records the conversation.

    Args:
        client: the client.
        dies_before: pattern of the statement, in short form, before which the run dies.
    """

    def __init__(self, client: ChHttpClient, dies_before: str = "") -> None:
        self.minutes = 0
        self._client = client
        self._dies_before = dies_before
        self.recording = Recording()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def _keep(self, sql: str, columns: Any = (), rows: Any = ()) -> None:
        plain = [[_plain(value) for value in row] for row in rows]
        if "system." in sql and "order by" not in sql.lower() and "arrayJoin" not in sql:
            plain.sort(key=str)
        is_question = re.match(r"select |with |describe |show |exists ", in_short(sql), re.IGNORECASE)
        answer = {"columns": list(columns), "rows": plain} if is_question else None
        self.recording.said.append((in_short(sql), answer))

    def _begin(self, sql: str) -> None:
        if self._dies_before and re.fullmatch(self._dies_before, in_short(sql)):
            raise DbtDatabaseError(f"died before: {in_short(sql)}")

    def query(self, sql: str, **more: Any) -> Any:
        self._begin(sql)
        found = self._client.query(sql, **more)
        self._keep(sql, found.column_names, found.result_set)
        return found

    def command(self, sql: str, **more: Any) -> Any:
        self._begin(sql)
        found = self._client.command(sql, **more)
        self._keep(sql)
        return found

    def columns_in_query(self, sql: str, **more: Any) -> list[ClickHouseColumn]:
        found = self._client.columns_in_query(sql, **more)
        rows = [(column.name, column.data_type) for column in found]
        self._keep(f"describe ({sql})", ("name", "type"), rows)
        return found


def _plain(value: Any) -> Any:
    """A value as YAML can hold it; dbt does not distinguish lists from tuples."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_plain(each) for each in value]
    return str(value)


def _clock(hour: int, minutes: Callable[[], int]) -> type[datetime]:
    """A clock that stands still between these minutes, so that run ids and durations are always the same."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Clock:
            return cls(2026, 1, 1, hour, tzinfo=tz) + timedelta(minutes=minutes())

    return Clock


@dataclass(frozen=True)
class Project:
    """A project on stock dbt-clickhouse, with only the macros of this one, as dbt has loaded it."""

    config: RuntimeConfig
    adapter: Any
    manifest: Any

    def run(self, model: str, client: Any, hour: int = 12) -> str:
        """Run a model against a client, at an hour of the day. Return its message."""
        modules = {**_MODULES, "datetime": _clock(hour, lambda: client.minutes)}
        run = uuid.UUID(int=uuid.UUID(INVOCATION).int + hour)
        node = self._node(model)
        self.adapter.cache.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connections, "get_db_client", lambda _: client)
            patch.setattr(base, "get_datetime_module_context", lambda: modules)
            patch.setattr(invocation, "_INVOCATION_ID", str(run))
            self.adapter.cleanup_connections()
            runner = ModelRunner(self.config, self.adapter, node, 1, 1)
            with self.adapter.connection_named(node.unique_id, node):
                compiled = runner.compile(self.manifest)
                try:
                    result = runner.execute(compiled, self.manifest)
                finally:
                    self.adapter.cleanup_connections()
                    deprecations.reset_deprecations()  # Otherwise the next command of this process reports them.
        return str(result.message)

    def compiled(self, model: str) -> str:
        """The SQL of a model that queries no engine."""
        node = self._node(model)
        runner = ModelRunner(self.config, self.adapter, node, 1, 1)
        return str(runner.compile(self.manifest).compiled_code)

    def parsed(self, model: str, sql: str) -> str:
        """What a model with this SQL renders to while dbt parses it."""
        node = self._node(model)
        own = ContextConfig(self.config, node.fqn, node.resource_type, self.config.project_name)
        context = generate_parser_model_context(node, self.config, self.manifest, own)
        return str(get_rendered(sql, context, node))

    def rendered(self, macro: str, **arguments: Any) -> str:
        """What a macro of the project returns or renders."""
        self._use()
        found = self.adapter.execute_macro(macro, kwargs=arguments, project="versioned_collapsing")
        return str(found)

    def _node(self, model: str) -> Any:
        self._use()
        return self.manifest.nodes[f"model.versioned_collapsing.{model}"]

    def _use(self) -> None:
        """Within a process, dbt has one adapter per type."""
        FACTORY.adapters[self.adapter.type()] = self.adapter

    def replay(self, model: str, recording: Recording, hour: int = 12, replay: type[Replay] = Replay) -> Replay:
        """Run a model against a recording, to its end or to the first statement without an answer."""
        client = replay(recording)
        try:
            self.run(model, client, hour)
        except Unanswered as unanswered:
            client.sent.append(f"{unanswered}")
        return client


_MODULES = base.get_datetime_module_context()


@contextmanager
def parsed_project(
    folder: Path,
    models: Mapping[str, str],
    address: tuple[str, int] = ("nowhere", 1),
    variables: Mapping[str, Any] | None = None,
    engine: str = "clickhouse",
    properties: Mapping[str, Any] | None = None,
) -> Iterator[Project]:
    """A project with these models, by name. It connects to nothing before one of them runs."""
    host, port = address
    output: dict[str, Any] = {"type": engine, "host": host, "port": port, "schema": SCHEMA}
    output |= {"driver": "http"} if engine == "clickhouse" else {"method": "thrift"}
    files: dict[str, Any] = {
        "profiles.yml": {"host": {"target": "it", "outputs": {"it": output}}},
        "dbt_project.yml": {
            "name": "versioned_collapsing",
            "profile": "host",
            "version": "1.0",
            "macro-paths": [str(REPOSITORY / "macros")],
            "vars": variables or {},
            "flags": {"send_anonymous_usage_stats": False},
        },
    }
    (folder / "models").mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))  # JSON is YAML
    (folder / "models" / "properties.yml").write_text(json.dumps(properties or {}))
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql)
    with _no_adapter(engine):
        yield _parse(folder)


@contextmanager
def _no_adapter(engine: str) -> Iterator[None]:
    """Without an adapter of this type. What another project has set is restored at the end."""
    adapters, known = dict(FACTORY.adapters), flags.get_flags()
    FACTORY.adapters.pop(engine, None)
    set_invocation_context({})
    try:
        yield
    finally:
        FACTORY.adapters.clear()
        FACTORY.adapters.update(adapters)
        flags.set_flags(known)


def _parse(folder: Path) -> Project:
    arguments = Flags.from_dict(Command.RUN, {"project_dir": folder, "profiles_dir": folder})
    flags.set_flags(arguments)
    tracking.disable_tracking()
    config = RuntimeConfig.from_args(arguments)
    get_invocation_context().uses_adapter(config.credentials.type)
    register_adapter(config, get_mp_context())
    adapter: Any = get_adapter(config)
    manifest = ManifestLoader.get_full_manifest(config)
    manifest.build_flat_graph()
    adapter.set_macro_resolver(manifest)
    adapter.set_macro_context_generator(generate_runtime_macro_context)
    deprecations.reset_deprecations()
    return Project(config, adapter, manifest)
