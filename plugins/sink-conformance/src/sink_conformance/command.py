"""The command `sink-conformance`, for sinks that are commands."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from sink_conformance.histories import HISTORIES
from sink_conformance.kit import Size, measure, report
from sink_conformance.page import page, summary
from sink_conformance.source import Row

DESCRIPTION = """Tells whether a sink of changes ends with the rows of its source. It applies histories of changes by
your command, kills it, reads the table meanwhile, and prints what is wrong. Exit code 1: something was."""


class CommandSink:
    """A sink of three commands of the shell.

    Args:
        reset: empties the table.
        apply: applies the changes of the file `{file}`, which is batch number `{batch}`.
        rows: prints the rows as lines of JSON, or the address that returns them.
    """

    def __init__(self, reset: str, apply: str, rows: str) -> None:
        self._reset, self._apply, self._rows = reset, apply, rows

    def reset(self) -> None:
        """Empty the table."""
        _output(self._reset)

    def apply(self, file: Path, batch: int, kill_after: float | None = None) -> str:
        """Apply a file. Its whole process group is killed after so many seconds."""
        command = self._apply.replace("{file}", shlex.quote(str(file))).replace("{batch}", str(batch))
        process = subprocess.Popen(
            command,
            shell=True,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            output, _ = process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "killed"
        return f"exit code {process.returncode}: {output.decode(errors='replace')}" if process.returncode else ""

    def rows(self) -> list[Row]:
        """Run the command, or get the address."""
        if self._rows.startswith(("http://", "https://")):
            with urllib.request.urlopen(self._rows, timeout=60) as answer:
                text = answer.read().decode()
        else:
            text = _output(self._rows)
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _output(command: str) -> str:
    """What a command prints.

    Raises:
        ValueError: it failed.
    """
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"The command `{command}` failed with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a sink, print a summary, and write the report."""
    parser = argparse.ArgumentParser(description=DESCRIPTION)
    parser.add_argument("--reset", required=True, help="a command that empties the table")
    parser.add_argument("--apply", required=True, help="a command that applies the changes of {file}, batch {batch}")
    parser.add_argument("--rows", required=True, help="a command that prints the rows as lines of JSON, or a URL")
    parser.add_argument("--name", default="sink", help="of the sink, for the report")
    parser.add_argument("--seed", type=int, default=1, help="other seeds give other histories")
    parser.add_argument("--histories", nargs="+", choices=list(HISTORIES), default=list(HISTORIES), metavar="CLASS")
    parser.add_argument("--batches", type=int, default=Size.batches, help="of each history")
    parser.add_argument("--changes", type=int, default=Size.changes, help="of each batch")
    parser.add_argument("--keys", type=int, default=Size.rows, help="rows of the table in the beginning")
    parser.add_argument("--readers", type=int, default=Size.readers, help="threads that read meanwhile")
    parser.add_argument("--settle", type=float, default=Size.settle, help="seconds to wait for rows to appear")
    parser.add_argument("--folder", type=Path, help="keep the files of the changes there")
    parser.add_argument("--json", type=Path, help="write the report there")
    parser.add_argument("--page", type=Path, help="write an HTML page there")
    parser.add_argument("--beside", type=Path, nargs="+", default=[], help="reports of other sinks, for the page")
    options = parser.parse_args(arguments)
    size = Size(options.batches, options.changes, options.keys, options.readers, options.settle)
    sink = CommandSink(options.reset, options.apply, options.rows)
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = measure(sink, options.folder or Path(folder), options.seed, size, options.histories)
        except (ValueError, OSError) as error:  # OSError: among others, the address does not answer
            print(f"sink-conformance: {error}", file=sys.stderr)  # noqa: T201
            return 2
    result = report(options.name, options.seed, size, found)
    print(summary(result))  # noqa: T201
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        others = [json.loads(path.read_text()) for path in options.beside]
        options.page.write_text(page([result, *others]))
    return 0 if all(figures.is_right for figures in found.values()) else 1
