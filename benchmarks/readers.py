"""What readers see of a table during applies: how often, how far and for how long it is in no state between applies.

Readers and dbt are in this process; the table is on an HTTP front of the engine.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.polling import Size, poll_applies
from tests.support.chdb_http import running_server
from tests.support.collapsing_project import CollapsingProject

# Options of the model; `auto` is the default.
WAYS: dict[str, dict[str, Any]] = {
    "auto": {},
    "auto, chunks: 3": {"chunks": 3},
    "journal": {"publish": "journal"},
    "journal, chunks: 3": {"publish": "journal", "chunks": 3},
}


def measure_readers(size: Size) -> list[dict[str, Any]]:
    """Poll during applies, in each way.

    Raises:
        AssertionError: an apply failed, or the table is wrong in the end.
    """
    with TemporaryDirectory() as folder, running_server(Path(folder, "server")) as address:
        rows = []
        for number, (way, config) in enumerate(WAYS.items()):
            project = CollapsingProject(Path(folder, f"way_{number}"), address, f"way_{number}")
            report = poll_applies(project, address, config, size)
            rows.append(
                {
                    "way": way,
                    "applies": report.applies,
                    "polls": report.polls,
                    "answers that are no state": report.torn,
                    "answers of a state that was over": report.backward,
                    "worst difference, %": round(100 * report.worst, 2),
                    "longest time off, s": round(report.longest, 2),
                }
            )
            print(f"  {rows[-1]}", flush=True)
    return rows
