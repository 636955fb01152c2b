"""A PostgreSQL of its own, in a folder, that is reached by a socket only."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

ACCOUNT = "postgres"  # PostgreSQL does not run as root
SETTINGS = {
    "wal_level": "logical",
    "listen_addresses": "",
    "timezone": "UTC",
    "fsync": "off",  # the cluster ends with the process
}
SCHEMA = """
create table customers (
  customer_id bigint primary key, name text not null, email text, region text not null, tier text not null,
  credit_limit numeric(12,2) not null, updated_at timestamptz not null default clock_timestamp()
);
create table orders (
  order_id bigint primary key, customer_id bigint not null, region text not null, status text not null,
  amount numeric(12,2) not null, items bigint not null, note text,
  created_at timestamptz not null default clock_timestamp(), updated_at timestamptz not null default clock_timestamp()
);
create table order_items (
  order_id bigint, line_no bigint, sku text not null, quantity bigint not null, unit_price numeric(10,2) not null,
  updated_at timestamptz not null default clock_timestamp(), primary key (order_id, line_no)
);
create sequence ids start 1001;
-- Long notes stay out of line: an update of another column does not carry them.
alter table orders alter note set storage external;
-- As in the shop's own events: an event has the whole row before the change.
alter table customers replica identity full;
alter table orders replica identity full;
alter table order_items replica identity full;
"""


class Postgres:
    """The cluster.

    Args:
        folder: an empty folder, where its data and its socket are to be.
        schema: statements that create the tables.
        settings: settings of the server, besides those that every cluster needs.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
    """

    def __init__(
        self, folder: Path, schema: str = SCHEMA, settings: Mapping[str, object] | None = None
    ) -> None:
        self.folder = folder
        self._schema = schema
        self._settings = {**SETTINGS, **(settings or {})}
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            raise FileNotFoundError("PostgreSQL is not installed: run make postgresql.")
        self._bin = found[-1].parent
        self._data = folder / "data"
        self._as_account = ["runuser", "-u", ACCOUNT, "--"] if os.geteuid() == 0 else []

    def start(self) -> None:
        """Create the cluster with the tables, and start it."""
        if self._as_account:
            shutil.chown(self.folder, ACCOUNT)
        self._run("initdb", "-D", self._data, "-U", ACCOUNT, "-A", "trust", "-E", "UTF8", "-N")
        settings = {**self._settings, "unix_socket_directories": str(self.folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._run(
            "pg_ctl", "-D", self._data, "-w", "-l", self._data / "log", "-o", options, "start"
        )
        self.query(self._schema)

    def stop(self) -> None:
        """End it, whoever is connected."""
        if self._data.exists():
            self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop", is_sure=False)

    def command(self, *more: str, database: str = "postgres") -> list[str]:
        """A psql that reads statements from its input, and stops at an error unless `more` says otherwise."""
        arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *more]
        place = ["-h", str(self.folder), "-U", ACCOUNT, "-d", database]
        return [str(self._bin / "psql"), *arguments, *place]

    def query(self, sql: str) -> list[str]:
        """Run statements; the lines that they return."""
        done = subprocess.run(
            self.command(), input=sql, capture_output=True, text=True, check=False, cwd="/"
        )
        if done.returncode:
            raise RuntimeError(f"PostgreSQL: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def _run(self, program: str, *arguments: object, is_sure: bool = True) -> None:
        command = [*self._as_account, str(self._bin / program), *map(str, arguments)]
        # The server keeps what it inherits: not the pipes of this process.
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
