"""Runs dbt in forks of a process that has imported dbt and parsed the project once. A run starts at once, and can be
killed.

The process itself opens no engine, because a fork would share it. Each fork runs a command, or opens the engine to
answer queries. Run as a script, this module is that process. Each line that it reads is a job in JSON; it answers with
the fork's process ID, and later with how the fork ended.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

Row = tuple[Any, ...]


class Fork:
    """A running command."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self._server = server
        self._pid = pid
        self._end: dict[str, Any] | None = None

    def has_ended(self) -> bool:
        """Whether the process is gone, or a zombie."""
        try:
            stat = Path(f"/proc/{self._pid}/stat").read_text()
        except OSError:
            return True
        return stat.rpartition(")")[2].split()[0] == "Z"

    @property
    def pid(self) -> int:
        """Its process ID."""
        return self._pid

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send it a signal: SIGKILL ends it, and the engine inside it."""
        os.kill(self._pid, number)

    def wait(self) -> dict[str, Any]:
        """Wait for its end.

        Returns:
            `signal`, 0 unless it was killed; `success` of the command, or None; `message` of what failed; `answers`,
            the rows of each query by its name.
        """
        if self._end is None:
            self._end = self._server.reap()
        return self._end


class ForkServer:
    """The process from which dbt is forked, for the project in ``folder``; one fork at a time.

    Args:
        folder: the project, whose profile keeps its stores in the folder ``home`` there.
        values: variables for parsing the project.
    """

    def __init__(self, folder: Path, **values: object) -> None:
        self._process = subprocess.Popen(
            # -P: dbt imports every module on sys.path whose name looks like a plugin's.
            [sys.executable, "-P", __file__, json.dumps(values)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.read() == {"ready": True}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(
        self,
        *arguments: str,
        queries: Mapping[str, str] | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Fork:
        """Fork a process that runs a dbt command, if there are arguments, and then answers queries.

        Args:
            arguments: of the command.
            queries: by name.
            options: by model name, options that replace those from parsing.
        """
        assert self._process.stdin
        job = {"arguments": arguments, "queries": dict(queries or {}), "options": options or {}}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Fork(self, self.read()["pid"])

    def reap(self) -> dict[str, Any]:
        """How the fork ended. Its process ID cannot be reused before this is called."""
        assert self._process.stdin
        self._process.stdin.write("{}\n")
        self._process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """The next message of the process.

        Raises:
            AssertionError: it died.
        """
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the process from which dbt is forked has died"
        read: dict[str, Any] = json.loads(line)
        return read


def _serve(values: str) -> None:
    from dbt.contracts.graph.manifest import Manifest

    for module in ("clickhouse_connect", "dbt.adapters.spark_clickhouse", "dbt.cli.main"):
        importlib.import_module(module)  # before any fork, so that no fork has to do it

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open("output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(1, 2)

    def say(**said: object) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    # Parsing imports chDB, whose threads a fork would not have.
    parsed = _wait(*_fork({"arguments": ["parse", "--vars", values]}, None))
    assert parsed["success"], parsed
    manifest = Manifest.from_msgpack(Path("target", "partial_parse.msgpack").read_bytes())
    manifest.build_flat_graph()
    say(ready=True)
    while line := sys.stdin.readline():
        job = json.loads(line)
        pid, pipe = _fork(job, manifest)
        say(pid=pid)
        sys.stdin.readline()
        say(**_wait(pid, pipe))


def _fork(job: Mapping[str, Any], manifest: Any) -> tuple[int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _end_as_fork(writing, job, manifest)
    os.close(writing)
    return pid, reading


def _end_as_fork(writing: int, job: Mapping[str, Any], manifest: Any) -> NoReturn:
    status = 1
    try:
        with os.fdopen(writing, "w") as pipe:
            json.dump(_do(job, manifest), pipe, default=str)
        status = 0
    except Exception:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        os._exit(status)


def _wait(pid: int, pipe: int) -> dict[str, Any]:
    with os.fdopen(pipe) as answer:
        said = answer.read()
    status = os.waitpid(pid, 0)[1]
    begun: dict[str, Any] = {"success": None, "message": "", "answers": {}}
    # The output of a killed fork may be cut off.
    end = json.loads(said) if os.WIFEXITED(status) and said else {}
    return {**begun, "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, **end}


def _do(job: Mapping[str, Any], manifest: Any) -> dict[str, Any]:
    from dbt.cli.main import dbtRunner

    done: dict[str, Any] = {"success": None, "message": "", "answers": {}}
    for node in manifest.nodes.values() if manifest else ():
        for name, value in job.get("options", {}).get(node.name, {}).items():
            node.config[name] = value
    if job["arguments"]:
        began = time.monotonic()
        said: list[str] = []
        result = dbtRunner(manifest=manifest, callbacks=[partial(_listen, said)]).invoke(list(job["arguments"]))
        nodes = getattr(result.result, "results", None) or []
        messages = [str(node.message) for node in nodes if str(node.status) != "success"]
        done["success"] = result.success
        done["message"] = "\n".join([*messages, *said, str(result.exception or "")])
        done["seconds"] = time.monotonic() - began
    if job.get("queries"):
        done["answers"] = _answers(job["queries"])
    return done


def _listen(said: list[str], event: Any) -> None:
    """Collect warnings and the errors of operations, which no result contains."""
    if event.info.name in ("RunningOperationCaughtError", "JinjaLogWarning"):
        said.append(event.info.msg)


def _answers(queries: Mapping[str, str]) -> dict[str, list[list[Any]]]:
    import clickhouse_connect

    client = clickhouse_connect.get_client(
        interface="chdb", path="home/clickhouse", settings={"session_timezone": "UTC"}
    )
    try:
        return {name: [list(row) for row in client.query(sql).result_rows] for name, sql in queries.items()}
    finally:
        client.close()


if __name__ == "__main__":
    _serve(sys.argv[1])
