"""A PostgreSQL of its own, in a folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

ACCOUNT = "postgres"  # PostgreSQL does not run as root
SETTINGS = {
    "wal_level": "logical",
    "listen_addresses": "127.0.0.1",  # JDBC cannot use sockets
    "max_prepared_transactions": "10",
    "max_replication_slots": "100",
    "max_wal_senders": "100",
    "timezone": "UTC",
    "fsync": "off",  # the data need not survive a crash
}


class Postgres:
    """The cluster.

    Args:
        folder: an empty folder for its data and its socket.
        schema: statements that create the tables.
        settings: of the server, in addition to those that every cluster needs.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
    """

    def __init__(self, folder: Path, schema: str = "", settings: Mapping[str, object] | None = None) -> None:
        self.folder = folder
        self._schema = schema
        self._settings = {**SETTINGS, **(settings or {})}
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            raise FileNotFoundError("PostgreSQL is not installed: run make postgresql.")
        self._bin = found[-1].parent
        self.port = free_port()
        self._data = folder / "data"
        self._as_account = ["runuser", "-u", ACCOUNT, "--"] if os.geteuid() == 0 else []

    def start(self) -> None:
        """Create the cluster with its tables, if it was not restored, and start it."""
        if not self._data.exists():
            self._give_folder()
            self._run("initdb", "-D", self._data, "-U", ACCOUNT, "-A", "trust", "-E", "UTF8", "-N")
        settings = {**self._settings, "port": self.port, "unix_socket_directories": str(self.folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._run("pg_ctl", "-D", self._data, "-w", "-l", self._data / "log", "-o", options, "start")
        self.query(self._schema)

    def restore(self, other: Postgres) -> None:
        """Take a backup of another cluster as its data, with which it will start."""
        self._give_folder()
        place = ["-h", other.folder, "-p", other.port, "-U", ACCOUNT]
        self._run("pg_basebackup", "-D", self._data, "-c", "fast", "-X", "stream", *place)

    def dump(self) -> str:
        """Its tables and rows, as statements."""
        command = [str(self._bin / "pg_dump"), "-h", str(self.folder), "-p", str(self.port), "-U", ACCOUNT, ACCOUNT]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout

    def stop(self) -> None:
        """Stop it, whoever is connected."""
        if self._data.exists():
            self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop", is_sure=False)

    def command(self, *more: str, database: str = ACCOUNT) -> list[str]:
        """The command of a psql that reads statements from stdin, and stops at an error unless `more` says
        otherwise."""
        arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *more]
        place = ["-h", str(self.folder), "-p", str(self.port), "-U", ACCOUNT, "-d", database]
        return [str(self._bin / "psql"), *arguments, *place]

    def query(self, sql: str, database: str = ACCOUNT) -> list[str]:
        """Run statements. Return the lines of their results."""
        done = subprocess.run(
            self.command(database=database), input=sql, capture_output=True, text=True, check=False, cwd="/"
        )
        if done.returncode:
            raise RuntimeError(f"PostgreSQL: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def connector(self, name: str, database: str = ACCOUNT) -> dict[str, str]:
        """The settings with which Debezium's connector finds the database; ``name`` is also that of its slot."""
        return {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "plugin.name": "pgoutput",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.port),
            "database.user": ACCOUNT,
            "database.dbname": database,
            "slot.name": name,
            "publication.name": name,
        }

    def _give_folder(self) -> None:
        if self._as_account:
            shutil.chown(self.folder, ACCOUNT)

    def _run(self, program: str, *arguments: object, is_sure: bool = True) -> None:
        command = [*self._as_account, str(self._bin / program), *map(str, arguments)]
        # The server inherits open files: it must not get the pipes of this process.
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            cwd="/",
        )
        if done.returncode and is_sure:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}")


def free_port() -> int:
    """A free port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
