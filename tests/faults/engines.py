"""Where tables live: in the embedded engine, which is killed together with dbt, or on a server behind a proxy."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from tests.faults.project import PASSWORD, SCHEMA, write_profile, write_project
from tests.faults.proxy import Proxy
from tests.support.chdb_http import HOST, start_server, stop_server
from tests.support.commands import variables
from tests.support.forked_dbt import Fork, ForkServer

Answers = dict[str, list[tuple[Any, ...]]]
USER = "default"
DISK_MB = 256
# Characters that a path may contain.
HOSTILE = "it's 50% #1 \"ü\n$x"


class Engine(ABC):
    """dbt, and a ClickHouse whose database is empty at the start of each life."""

    name: str

    def __init__(self, folder: Path, profile: Mapping[str, Any]) -> None:
        self.folder = folder
        self.has_disk = False
        self._profile = profile
        write_project(folder, profile)
        self._forks = ForkServer(folder, changes="", rates="")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._forks.__exit__()
        if self.has_disk:
            subprocess.run(["umount", "-l", self.disk], check=True)

    def mount_disk(self) -> None:
        """Put the store on a small file system of its own, if that is allowed."""
        self.disk.mkdir(parents=True, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(self.disk)]
        self.has_disk = subprocess.run(command, capture_output=True, check=False).returncode == 0

    @property
    @abstractmethod
    def disk(self) -> Path:
        """The folder on which a small file system can be mounted."""

    @property
    @abstractmethod
    def store(self) -> Path:
        """ClickHouse's folder."""

    @abstractmethod
    def begin(self) -> None:
        """Recreate the database."""

    @abstractmethod
    def ask(self, queries: Mapping[str, str]) -> Answers:
        """The rows of each query."""

    @abstractmethod
    def pid(self, fork: Fork) -> int:
        """The process that runs ClickHouse."""

    def start(self, *arguments: str, options: Mapping[str, Mapping[str, Any]] | None = None, **values: Any) -> Fork:
        """Start a dbt command."""
        return self._forks.start(*arguments, *variables(**values), options=options)

    def set_profile(self, **more: Any) -> None:
        """Give the profile other keys, for the next runs."""
        write_profile(self.folder, {**self._profile, **more})

    def command(self, *statements: str) -> None:
        """Run statements."""
        self.ask({str(number): statement for number, statement in enumerate(statements)})

    def printed(self) -> str:
        """Everything that dbt has printed and logged."""
        files = [self.folder / "output.log", *(self.folder / "logs").glob("*")]
        return "\n".join(file.read_text(errors="replace") for file in files if file.exists())


class Embedded(Engine):
    """ClickHouse inside dbt's process."""

    name = "embedded"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / HOSTILE, {"type": "spark_clickhouse", "home": str(folder / HOSTILE / "home")})
        self.mount_disk()

    @property
    def store(self) -> Path:
        return self.folder / "home" / "clickhouse"

    @property
    def disk(self) -> Path:
        return self.folder / "home"

    def begin(self) -> None:
        for path in self.disk.glob("*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def ask(self, queries: Mapping[str, str]) -> Answers:
        end = self._forks.start(queries=queries).wait()
        answers = {name: [tuple(row) for row in rows] for name, rows in end["answers"].items()}
        if len(answers) < len(queries):
            raise OSError(f"The store cannot be read: {end['message']}")
        return answers

    def pid(self, fork: Fork) -> int:
        return fork.pid


class Server(Engine):
    """ClickHouse over HTTP, behind a proxy."""

    name = "server"

    def __init__(self, folder: Path) -> None:
        self.proxy = Proxy()
        self._disk = folder / "disk"
        self.mount_disk()
        has_disk = self.has_disk
        self.store.mkdir(parents=True, exist_ok=True)
        self._others: list[ForkServer] = []
        self._process: subprocess.Popen[bytes] | None = None
        self.start_clickhouse()
        profile = {"type": "clickhouse", "driver": "http", "host": HOST, "port": self.proxy.port}
        super().__init__(folder / "project", {**profile, "user": USER, "password": PASSWORD})
        self.has_disk = has_disk

    def __exit__(self, *_: object) -> None:
        for other in self._others:
            other.__exit__()
        if self._process:
            stop_server(self._process)
        super().__exit__()
        self.proxy.shutdown()
        self.proxy.server_close()

    @property
    def disk(self) -> Path:
        return self._disk

    @property
    def store(self) -> Path:
        return self._disk / "store"

    def others(self, count: int) -> list[ForkServer]:
        """More processes in which dbt runs."""
        while len(self._others) < count:
            self._others.append(ForkServer(self.folder, changes="", rates=""))
        return self._others[:count]

    def start_clickhouse(self, store: Path | None = None) -> None:
        """Start it on its own store, or on another one."""
        # The front cannot use a default database that it made for another process.
        ((store or self.store) / "metadata" / "default.sql").unlink(missing_ok=True)
        self._process, self.proxy.target = start_server(store or self.store, USER, PASSWORD)
        self._client: Client = clickhouse_connect.get_client(
            host=HOST,
            port=self.proxy.target,
            username=USER,
            password=PASSWORD,
            query_limit=0,
            settings={"session_timezone": "UTC"},
            autogenerate_session_id=False,
        )

    def kill_clickhouse(self, number: int = signal.SIGKILL) -> None:
        """Kill ClickHouse with a signal."""
        assert self._process
        self._process.send_signal(number)
        self._process.communicate()
        self._process = None

    def begin(self) -> None:
        self.proxy.arm(None)
        for (database,) in self._client.query("show databases").result_rows:
            if database.startswith(SCHEMA):
                self._client.command(f"drop database {database} sync")
        self._client.command(f"create database {SCHEMA}")

    def ask(self, queries: Mapping[str, str]) -> Answers:
        return {name: [tuple(row) for row in self._client.query(sql).result_rows] for name, sql in queries.items()}

    def command(self, *statements: str) -> None:
        for statement in statements:
            self._client.command(statement)

    def pid(self, fork: Fork) -> int:
        assert self._process
        return self._process.pid

    def wait_until_idle(self) -> None:
        """Wait until no statement of a run is running: a server finishes what a dead client asked for."""
        query = "select count() from system.processes where Settings['log_comment'] like 'versioned_collapsing %'"
        while self.ask({"": query})[""][0][0]:
            time.sleep(0.05)

    def kill_a_query(self) -> str:
        """Kill the current statement of a run, if there is one, and return it."""
        with suppress(clickhouse_connect.driver.exceptions.ClickHouseError):
            running = self._client.query(
                "select query_id, query from system.processes where Settings['log_comment'] like 'versioned_collapsing %' limit 1"
            ).result_rows
            if running:
                self._client.command(f"kill query where query_id = '{running[0][0]}' async")
                return " ".join(running[0][1].split())[:120]
        return ""
