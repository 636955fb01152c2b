"""Runs a connector while statements run, and records what it sends up to a marker."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

from scripts.debezium.engine import Debezium, Record

PATIENCE = 60  # seconds for a marker to arrive
MARKER = "marker"  # a table whose rows are not recorded
COMMON = {
    "topic.prefix": "shop",
    "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
    "value.converter.schemas.enable": "false",
    "snapshot.max.threads": "1",
}


class Recording:
    """A running connector and its records.

    Args:
        debezium: the JVM.
        settings: the connector's, which override those of `COMMON`.

    `markers` has the number of each marker that has arrived.
    """

    def __init__(self, debezium: Debezium, settings: Mapping[str, str]) -> None:
        self._records: list[Record] = []
        self.markers: list[int] = []
        self._news = threading.Condition()
        self._engine = debezium.start({**COMMON, **settings}, self._take)

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.stop()

    def wait_for_marker(self, number: int, times: int = 1) -> list[Record]:
        """The records so far, once the marker with this number has arrived this many times.

        Raises:
            RuntimeError: the connector has ended, or the marker does not arrive.
        """
        end = time.monotonic() + PATIENCE
        with self._news:
            while self.markers.count(number) < times:
                if self._engine.error or time.monotonic() > end:
                    raise RuntimeError(f"Debezium: {self._engine.error or 'the marker does not come'}")
                self._news.wait(0.2)
            return list(self._records)

    def _take(self, records: Sequence[Record]) -> None:
        with self._news:
            for record in records:
                if not record.topic.endswith(f".{MARKER}"):
                    self._records.append(record)
                elif record.value:
                    self.markers.append(int(re.findall(r'"id":(\d+)', record.value)[0]))
            self._news.notify_all()


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until ``is_so`` returns true.

    Raises:
        RuntimeError: it does not in time.
    """
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise RuntimeError("Debezium does not come that far")
        time.sleep(0.01)
