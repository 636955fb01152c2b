"""Plots of the figures, as SVG files next to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

Row = dict[str, Any]


def plot_ways(file: Path, title: str, rows: list[Row]) -> None:
    """One bar per way, on a logarithmic scale."""
    figure = Figure(figsize=(8, 0.5 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([row["way"] for row in rows], [row["median"] for row in rows])
    axes.bar_label(bars, [f" {row['median']:.3g} s" for row in rows])
    axes.invert_yaxis()
    _finish(axes, title)
    axes.set_xscale("log")
    axes.set_xlabel("seconds, median")
    axes.margins(x=0.15)
    _save(figure, file)


def plot_growth(file: Path, title: str, rows: list[Row]) -> None:
    """Seconds by the number of changes, one line for each combination of table size and location of the keys."""
    lines: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        lines[f"{row['rows']:,} rows, {row['keys']} keys"].append(row)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, points in lines.items():
        style = "--" if name.endswith("scattered keys") else "-"
        axes.plot([row["changes"] for row in points], [row["atomic"] for row in points], style, label=name, marker="o")
    _finish(axes, title)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("changes")
    axes.set_ylabel("seconds, median")
    axes.legend()
    _save(figure, file)


def plot_lags(file: Path, title: str, rows: list[Row]) -> None:
    """Seconds from landing to visibility, by batch size: the median of tables and of views, and up to the 95th
    percentile."""
    lines: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        lines[row["models"]].append(row)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, (models, points) in enumerate(lines.items()):
        for kind, style in (("tables", "-"), ("views", "--")):
            median = [row[f"{kind} p50"] for row in points]
            axes.errorbar(
                [row["events of a batch"] for row in points],
                median,
                yerr=[[0.0] * len(points), [row[f"{kind} p95"] - low for row, low in zip(points, median, strict=True)]],
                label=f"{models}: {kind}",
                color=f"C{number}",
                linestyle=style,
                marker="o",
                capsize=3,
            )
    _finish(axes, title)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("events of a batch")
    axes.set_ylabel("seconds, p50 to p95")
    axes.legend()
    _save(figure, file)


def plot_phases(file: Path, title: str, rows: list[Row], phases: Sequence[str]) -> None:
    """One bar per run, divided into its phases."""
    figure = Figure(figsize=(9, 0.55 * len(rows) + 2), layout="constrained")
    axes = figure.subplots()
    names = [row["run"] for row in rows]
    ends = [0.0] * len(rows)
    for number, phase in enumerate(phases):
        seconds = [row[phase] for row in rows]
        axes.barh(names, seconds, left=ends, label=phase, color=f"C{number}")
        ends = [end + found for end, found in zip(ends, seconds, strict=True)]
    for name, end in zip(names, ends, strict=True):
        axes.annotate(f" {end:.1f} s", (end, name), va="center")
    axes.invert_yaxis()
    _finish(axes, title)
    axes.set_xlabel("seconds")
    axes.margins(x=0.1)
    figure.legend(loc="outside lower center", ncols=4, fontsize="small")
    _save(figure, file)


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)


def _save(figure: Figure, file: Path) -> None:
    with rc_context({"svg.hashsalt": "benchmarks"}):  # the same figures give the same file
        figure.savefig(file, metadata={"Date": None})
