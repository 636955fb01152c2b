"""A MariaDB of its own, in a folder."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from scripts.debezium.postgres import free_port

SETTINGS = {
    # Debezium's MySQL connector sends newer versions statements that MariaDB does not know.
    "version": "5.7.19",
    "server-id": "7",
    "log-bin": "binlog",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "bind-address": "127.0.0.1",
    "default-time-zone": "+00:00",
    "character-set-server": "utf8mb4",
    "innodb-buffer-pool-size": "64M",
    "innodb-flush-log-at-trx-commit": "0",
}
USER = "debezium"


class MariaDB:
    """The server.

    Args:
        folder: an empty folder for its data and its socket.

    Raises:
        FileNotFoundError: MariaDB is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self._server = shutil.which("mariadbd", path="/usr/sbin:/usr/bin:/usr/local/bin") or ""
        if not self._server:
            raise FileNotFoundError("MariaDB is not installed.")
        self._data = folder / "data"
        self._socket = folder / "socket"
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Create the server's data, start it, and wait until it answers."""
        subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--datadir={self._data}",
                "--user=root",
                "--auth-root-authentication-method=normal",
            ],
            check=True,
            capture_output=True,
        )
        settings = {**SETTINGS, "port": self.port, "socket": self._socket, "datadir": self._data, "user": "root"}
        self._process = subprocess.Popen(
            [self._server, "--no-defaults", *(f"--{name}={value}" for name, value in settings.items())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while not self._answers():
            if self._process.poll() is not None:
                raise RuntimeError(f"MariaDB has ended with exit code {self._process.returncode}")
            time.sleep(0.2)
        self.query(f"create user {USER}@'127.0.0.1' identified by '{USER}'; grant all on *.* to {USER}@'127.0.0.1'")

    def _answers(self) -> bool:
        try:
            self.query("select 1")
        except RuntimeError:
            return False
        return True

    def stop(self) -> None:
        """Stop it, whoever is connected."""
        if self._process:
            self._process.kill()
            self._process.wait()

    def query(self, sql: str, database: str = "mysql") -> list[str]:
        """Run statements. Return the lines of their results."""
        done = subprocess.run(self._command(database), input=sql, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"MariaDB: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def connector(self, database: str) -> dict[str, str]:
        """The settings with which Debezium's connector finds the database."""
        return {
            "connector.class": "io.debezium.connector.mysql.MySqlConnector",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.port),
            "database.user": USER,
            "database.password": USER,
            "database.server.id": "8",
            "database.include.list": database,
            "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
        }

    def _command(self, database: str = "mysql") -> list[str]:
        return [
            "mariadb",
            "--no-defaults",
            f"--socket={self._socket}",
            "-u",
            "root",
            "--batch",
            "--raw",
            "--skip-column-names",
            "--default-character-set=utf8mb4",
            database,
        ]
