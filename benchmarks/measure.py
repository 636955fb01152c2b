"""Interleaved measurements, and the files with their results."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("chdb", "clickhouse-connect", "dbt-core", "dbt-clickhouse", "dbt-spark", "pyspark")


@dataclass
class Arm:
    """One way to do the work: ``run`` returns the seconds that count."""

    name: str
    run: Callable[[], float]
    trials: int | None = None  # fewer than the others, for arms that take minutes


@dataclass
class Figures:
    """The seconds of each trial of an arm, without the first trial, which is a warm-up."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def as_row(self) -> dict[str, Any]:
        return {
            "median": round(self.median, 4),
            "min": round(min(self.seconds), 4),
            "max": round(max(self.seconds), 4),
            "trials": len(self.seconds),
        }


def interleaved(arms: list[Arm], trials: int) -> dict[str, Figures]:
    """Run all arms in turn, ``trials`` times plus a first time that does not count."""
    figures = {arm.name: Figures() for arm in arms}
    for trial in range(trials + 1):
        for arm in arms:
            if trial > (arm.trials or trials):
                continue
            seconds = arm.run()
            print(f"  {trial or 'warm-up'}: {arm.name} {seconds:.3f} s", flush=True)
            if trial:
                figures[arm.name].seconds.append(seconds)
    return figures


def as_rows(figures: dict[str, Figures], yardstick: str) -> list[dict[str, Any]]:
    """The figures as rows of a table, each also as a multiple of one of them."""
    one = figures[yardstick].median
    return [
        {"way": name, **found.as_row(), f"times {yardstick}": round(found.median / one, 3)}
        for name, found in figures.items()
    ]


def machine() -> dict[str, Any]:
    """What the figures depend on: processors, memory, versions, date."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processors": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def write_results(
    folder: Path, name: str, parameters: Mapping[str, Any], tables: Mapping[str, list[dict[str, Any]]]
) -> None:
    """Write ``name``.json and ``name``.md: parameters, machine, and a table for each of ``tables``."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"parameters": dict(parameters), "machine": machine(), "tables": dict(tables)}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")
    lines = [f"# {name}", "", _sentence(parameters), "", _sentence(content["machine"]), ""]
    for title, rows in tables.items():
        lines += [f"## {title}", "", *_markdown(rows), ""]
    (folder / f"{name}.md").write_text("\n".join(lines))


def _sentence(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _markdown(rows: list[dict[str, Any]]) -> list[str]:
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    return lines + [f"| {' | '.join(str(row[name]) for name in names)} |" for row in rows]
