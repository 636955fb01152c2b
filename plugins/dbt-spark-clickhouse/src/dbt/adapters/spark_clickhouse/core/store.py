"""The locks of a home folder: on its embedded stores, and on schemas of Spark servers.

chDB and the embedded metastore each allow one process per folder, and neither complains about a second one. The lock is
an flock on a file that names its holder. The JVM inherits it, so that it lasts until the metastore is free, even if the
process that started the JVM was killed.

A Spark server lets two statements write to one folder, and one that fails can delete files of the other. So a process
holds each schema in which it creates or reads tables until its command has ended.
"""

from __future__ import annotations

import fcntl
import os
import sys
import threading
import time
from pathlib import Path
from typing import IO

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

logger = AdapterLogger("spark_clickhouse")

# After its run is killed, a JVM finishes what it is doing and ends by itself.
SECONDS_FOR_A_JVM_TO_END = 60

_guard = threading.Lock()
_held: dict[Path, IO[str]] = {}
_schemas: dict[Path, IO[str]] = {}
_shared: set[Path] = set()


def hold(home: Path, wait: int) -> None:
    """Hold the lock on ``home`` for this process until ``release``; repeated calls do nothing.

    Args:
        home: folder of the embedded stores; created if it does not exist.
        wait: how many seconds to wait for another process.

    Raises:
        DbtRuntimeError: another process holds it; the message names the process.
    """
    with _guard:
        if home not in _held:
            _held[home] = _lock(
                home / "lock",
                wait,
                f"The embedded stores in {home} are in use by {{holder}}; only one process at a "
                f"time can work on them. dbt has waited {wait} s. Wait for it to end, let dbt wait longer "
                "(`wait` in the profile, in seconds), or use another folder (`home` in the profile).",
            )


def hold_schema(home: Path, server: str, schema: str, wait: int) -> None:
    """Hold a schema of a Spark server for this process until ``release_schemas``.

    Raises:
            DbtRuntimeError: another process that uses ``home`` holds it.
    """
    path = home / "schemas" / server / schema
    with _guard:
        if path not in _schemas:
            _schemas[path] = _lock(
                path,
                wait,
                f"The schema {schema} of Spark at {server} is in use by {{holder}}, which makes or "
                f"reads its tables. dbt has waited {wait} s. Run the command again when that has ended, let dbt "
                "wait longer (`wait` in the profile, in seconds), or use another folder (`home` in the profile) "
                "if the two share no table.",
            )


def release_schemas() -> None:
    """Release all schemas of Spark servers."""
    with _guard:
        while _schemas:
            _schemas.popitem()[1].close()


def share(home: Path, wait: int) -> int:
    """Hold the lock on ``home`` for this process and a child process, until both have ended.

    Returns:
        The file descriptor for the child to inherit.

    Raises:
        DbtRuntimeError: another process holds it; the message names the process.
    """
    hold(home, wait)
    with _guard:
        _shared.add(home)
        return _held[home].fileno()


def is_shared(home: Path) -> bool:
    """Whether a child process also holds the lock on ``home``; it then stays held."""
    with _guard:
        return home in _shared


def release(home: Path) -> None:
    """Release the lock on ``home``, if this process holds it and no child process does.

    While a child holds it, this process could not take it again.
    """
    with _guard:
        if home not in _shared and (handle := _held.pop(home, None)):
            handle.close()


def _lock(path: Path, wait: int, refusal: str) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("a+")
    except OSError as error:
        raise DbtRuntimeError(
            f"dbt cannot keep a lock in {path.parent}: {error.strerror}. Let `home` in the profile "
            "name a folder that dbt can write to."
        ) from error
    deadline = time.monotonic() + wait
    announced = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid, command = _holder(handle)
            holder = f"process {pid} ({command})" if pid else "another process"
            grace = 0 if _is_alive(pid) else SECONDS_FOR_A_JVM_TO_END
            if time.monotonic() >= deadline + grace:
                handle.close()
                raise DbtRuntimeError(refusal.replace("{holder}", holder)) from None
            if not announced:
                seconds = max(wait, grace)
                used = path.parent if path.name == "lock" else path
                logger.info(f"Waiting up to {seconds} s for {holder}, which uses {used}")
                announced = True
            time.sleep(0.2)
        else:
            handle.truncate(0)
            handle.write(f"{os.getpid()} {' '.join(sys.argv)}\n")
            handle.flush()
            return handle


def _holder(handle: IO[str]) -> tuple[int, str]:
    handle.seek(0)
    pid, _, command = handle.read().strip().partition(" ")
    return int(pid or 0), command


def _is_alive(pid: int) -> bool:
    """Whether a process exists. If not, a JVM that it started holds the lock."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
