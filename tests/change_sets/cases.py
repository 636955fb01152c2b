"""Cases: what lands in batches, and the rows that ClickHouse should then have."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.support.change_set_project import Situation
from tests.support.shop import Row

EPOCH = datetime(2025, 1, 1)


@dataclass(frozen=True)
class Broken:
    """A line that must end in quarantine for ``reason``, and must change nothing else."""

    text: str
    reason: str


Line = str | Broken


@dataclass(frozen=True)
class Case:
    """A table, the lines of its batches, and its live rows after the last batch.

    ``changes`` is the expected change set of the last batch, if given. With ``stops``, parts of an error message, the
    change set of all batches but the first is refused, and the rows are those after the first batch.
    """

    situation: Situation
    batches: Mapping[int, Sequence[Line]]
    live: Iterable[Row]
    changes: Iterable[Row] | None = None
    change_columns: Sequence[str] = ()
    stops: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self.situation.name

    @property
    def is_quarantined(self) -> bool:
        """Whether the quarantine reads the case. It need not if the change set stops and every line can be used."""
        return not self.stops or any(isinstance(line, Broken) for lines in self.batches.values() for line in lines)

    def texts(self, batch: int) -> list[str]:
        return [line.text if isinstance(line, Broken) else line for line in self.batches[batch]]

    def quarantined(self, files: Mapping[int, str]) -> list[Row]:
        """The quarantined rows of this case, given the names of the batches' files."""
        return [
            (self.name, batch, files[batch], number, line.reason, line.text)
            for batch, lines in self.batches.items()
            for number, line in enumerate(lines, start=1)
            if isinstance(line, Broken)
        ]


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def plain(call: str) -> str:
    """The call of a parser that reads only plain envelopes: Spark takes half the time to read the view."""
    return f"get_sql_of_plain_envelopes(versioned_collapsing.{call})"


def scattered(lines: Sequence[Line], among: Sequence[Line], rng: random.Random) -> list[Line]:
    """``among`` in order, with ``lines`` inserted at random places."""
    mixed = list(among)
    for line in lines:
        mixed.insert(rng.randint(0, len(mixed)), line)
    return mixed


def at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def iso(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds") + "Z"


def ordered(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: repr(row[0]))
