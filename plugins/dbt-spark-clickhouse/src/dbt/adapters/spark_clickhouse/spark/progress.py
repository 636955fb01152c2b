"""Shows what Spark is doing, in one line on the terminal that vanishes when it is done.

Spark's own bar (spark.ui.showConsoleProgress) does not help: it goes to the output of the JVM, which is a log.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from typing import Any, TextIO

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.private_api import PrivateApiError, StageAtWork

logger = AdapterLogger("spark_clickhouse")

INTERVAL = 0.5  # seconds between two looks
PATIENCE = 3  # looks that must have seen a stage before it is shown: short stages never are
WIDTH = 20  # characters of the bar
_ERASE = "\r\x1b[K"


class Progress:
    """Shows the stages of this process's Spark on ``terminal``, until ``end``."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop showing anything."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        try:
            self._look()
        except (PrivateApiError, OSError) as error:  # a failure here must not fail a run
            logger.debug(f"What Spark is at is not shown: {error}")

    def _look(self) -> None:
        looks: dict[int, int] = {}
        is_shown = False
        while not self._ended.wait(INTERVAL):
            stages = private_api.stages_at_work()
            looks = {stage.number: looks.get(stage.number, 0) + 1 for stage in stages}
            long = [stage for stage in stages if looks[stage.number] >= PATIENCE]
            if long or is_shown:
                # dbt's next line then overwrites this one.
                self._print(f"{_ERASE}{line(long, self._columns())}\r" if long else _ERASE)
            is_shown = bool(long)
        if is_shown:
            self._print(_ERASE)

    def _columns(self) -> int:
        return shutil.get_terminal_size().columns

    def _print(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


def line(stages: list[StageAtWork], columns: int) -> str:
    """The line for the stages that have been running longest."""
    first, *others = sorted(stages, key=lambda stage: stage.number)
    done = WIDTH * first.done // max(first.tasks, 1)
    bar = f"[{'=' * done}{' ' * (WIDTH - done)}]"
    more = f", and {len(others)} more" if others else ""
    text = f"Spark {bar} stage {first.number}: {first.done} of {first.tasks} tasks"
    return f"{text}, {first.rows:,} rows{more}"[: columns - 1]


def terminal_for(config: Any) -> TextIO | None:
    """The terminal on which to show what Spark is doing; None if nobody watches."""
    arguments = getattr(config, "args", None)
    is_plain = getattr(arguments, "LOG_FORMAT", "default") != "json"
    is_wanted = is_plain and not getattr(arguments, "QUIET", False)
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    is_terminal = sys.stderr.isatty() and sys.stdout.isatty()
    return sys.stderr if is_wanted and is_terminal and not is_dumb else None
