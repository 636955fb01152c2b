"""The plots of a report, as SVG elements that take their colours from the page around them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, StrMethodFormatter

Row = Mapping[str, Any]

SVG = "http://www.w3.org/2000/svg"
# Placeholders for variables of the page's style, which differ in dark mode.
INK, GRID = "#000a01", "#000a02"
SERIES = tuple(f"#000b{number:02d}" for number in range(1, 7))
VARIABLES = {INK: "--ink", GRID: "--grid"} | {colour: f"--series-{number}" for number, colour in enumerate(SERIES, 1)}
STYLE: Any = {
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 11.5,
    "grid.color": GRID,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
WIDTH = 4.6  # inches; a phone shows it at about three quarters of its size
WAITING_HATCH = "////"


def growth(name: str, runs: Sequence[Row]) -> Markup:
    """State rows and cancel rows written since the first run."""
    with _figure(2.6) as figure:
        axes = figure.subplots()
        times = [_time(run) for run in runs]
        for key, label, colour, style in (
            ("states_written", "state rows", SERIES[0], "-"),
            ("cancels_written", "cancel rows", SERIES[1], "--"),
        ):
            axes.plot(
                times,
                [run[key] for run in runs],
                style,
                color=colour,
                label=label,
                marker="o",
                markersize=3,
                drawstyle="steps-post",
            )
        last = runs[-1]
        axes.set_ylim(0, max(last["states_written"], last["cancels_written"], 1) * 1.08)
        _count_axis(axes)
        _time_axis(axes)
        figure.legend(loc="outside upper center", ncols=2)
        return _inline(
            figure,
            f"{name}: {last['states_written']:,} state rows and {last['cancels_written']:,} cancel "
            f"rows written in {len(runs)} runs up to {last['ended_at']}",
        )


def backlog(name: str, partitions: Sequence[Row]) -> Markup:
    """The stored rows of each partition: those that stay, and those that wait for a merge."""
    with _figure(0.7 + 0.32 * len(partitions)) as figure:
        axes = figure.subplots()
        names = [str(row["partition_id"])[:16] for row in partitions]
        stay = [row["stored"] - row["waiting"] for row in partitions]
        places = range(len(names))
        axes.barh(places, stay, color=SERIES[0], label="stay")
        axes.barh(
            places,
            [row["waiting"] for row in partitions],
            left=stay,
            color=SERIES[1],
            hatch=WAITING_HATCH,
            edgecolor=INK,
            linewidth=0.3,
            label="wait for a merge",
        )
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        figure.legend(loc="outside upper center", ncols=2)
        first = partitions[0]
        return _inline(
            figure,
            f"{name}, rows by partition: most wait in {first['partition_id']}, "
            f"{first['waiting']:,} of {first['stored']:,}",
        )


def runs_over_time(name: str, runs: Sequence[Row]) -> Markup:
    """How long each run took, and how old its oldest batch was when its rows became visible."""
    with _figure(3.2) as figure:
        above, below = figure.subplots(2, sharex=True)
        landed = [run for run in runs if run["lag_seconds"] is not None]
        for axes, shown, key, title, style in (
            (above, runs, "seconds", "seconds of a run", {"marker": "o", "color": SERIES[0]}),
            (below, landed, "lag_seconds", "seconds from landed to visible", {"marker": "D", "color": SERIES[2]}),
        ):
            values = _values(shown, key)
            axes.plot([_time(run) for run in shown], values, markersize=4, linestyle="", **style)
            axes.set_ylim(0, max([*values, 0.1]) * 1.15)
            axes.set_title(title, loc="left", fontsize="medium")
            axes.yaxis.set_major_locator(MaxNLocator(4))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        _time_axis(below)
        longest = max(_values(runs, "seconds"))
        text = f"{name}, {len(runs)} runs: the longest took {longest:,.1f} seconds"
        if landed:
            longest = max(_values(landed, "lag_seconds"))
            text += f"; the longest time from landed to visible was {longest:,.0f} seconds"
        return _inline(figure, text)


def _values(runs: Sequence[Row], key: str) -> list[float]:
    return [run[key] for run in runs]


def quarantined(rows: Sequence[Row]) -> Markup:
    """Quarantined lines, by day and by reason."""
    days = sorted({row["day"] for row in rows})
    reasons = sorted({row["why"] for row in rows})
    shown, rest = reasons[: len(SERIES) - 1], reasons[len(SERIES) - 1 :]
    groups = [(reason, {reason}) for reason in shown]
    if rest:
        groups.append((f"{len(rest)} other reasons", set(rest)))
    with _figure(2.6 + 0.22 * len(groups)) as figure:
        axes = figure.subplots()
        below = [0] * len(days)
        for number, (label, members) in enumerate(groups):
            counts = [sum(row["n"] for row in rows if row["day"] == day and row["why"] in members) for day in days]
            axes.bar(
                range(len(days)),
                counts,
                bottom=below,
                color=SERIES[number],
                label=_literal(label[:60]),
                hatch=("", "////", "....", "xxxx", "\\\\\\\\", "++++")[number],
                edgecolor=INK,
                linewidth=0.3,
            )
            below = [low + count for low, count in zip(below, counts, strict=True)]
        step = max(1, len(days) // 6)
        axes.set_xticks(range(0, len(days), step), days[::step])
        axes.grid(axis="x", visible=False)
        _count_axis(axes)
        figure.legend(loc="outside lower left")
        total = sum(row["n"] for row in rows)
        return _inline(figure, f"{total:,} lines in quarantine, by day and {len(reasons)} reasons")


def storage(rows: Sequence[tuple[str, Mapping[str, int]]], parts: Sequence[str]) -> Markup:
    """Bytes on disk of each table, by purpose."""
    with _figure(1.0 + 0.32 * len(rows)) as figure:
        axes = figure.subplots()
        places = range(len(rows))
        left = [0] * len(rows)
        for number, part in enumerate(parts):
            sizes = [sizes.get(part, 0) for _, sizes in rows]
            axes.barh(
                places,
                sizes,
                left=left,
                color=SERIES[number],
                label=part,
                hatch=("", WAITING_HATCH, "....", "xxxx")[number],
                edgecolor=INK,
                linewidth=0.3,
            )
            left = [begin + size for begin, size in zip(left, sizes, strict=True)]
        axes.set_yticks(places, [_literal(name[:28]) for name, _ in rows])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_formatter(EngFormatter(unit="B"))
        axes.xaxis.set_major_locator(MaxNLocator(4))
        figure.legend(loc="outside upper center", ncols=2)
        return _inline(figure, f"Bytes on disk of {len(rows)} tables: {sum(left):,} in all, by what they hold")


@contextmanager
def _figure(height: float) -> Iterator[Figure]:
    with rc_context(STYLE):
        yield Figure(figsize=(WIDTH, height), layout="constrained")


def _time(run: Row) -> float:
    """When a run ended, as matplotlib's number of days."""
    ended = datetime.strptime(run["ended_at"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return float(date2num(ended))


def _time_axis(axes: Axes) -> None:
    locator = AutoDateLocator(maxticks=5)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def _count_axis(axes: Axes) -> None:
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_formatter(EngFormatter())


def _literal(text: str) -> str:
    """A text that matplotlib takes literally: no formula, and shown even if it begins with _."""
    escaped = text.replace("\\", "\\\\").replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def _inline(figure: Figure, label: str) -> Markup:
    """The figure as an element of a page, with a text for readers who do not see it."""
    text = io.StringIO()
    with rc_context({"svg.hashsalt": label}):  # ids that differ between figures but not between runs
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(text.getvalue())
    referenced = set(re.findall(r'(?:url\(|href=")#([^")]+)', text.getvalue()))
    for element in root.iter():
        if element.get("id") not in referenced:
            element.attrib.pop("id", None)
        link = element.attrib.pop("{http://www.w3.org/1999/xlink}href", None)
        if link:
            element.set("href", link)
        style = element.attrib.pop("style", "")
        fill = element.attrib.pop("fill", "")  # of a hatched bar; an attribute cannot use variables
        style = _with_variables(f"fill: {fill}; {style}" if fill else style)
        if style:
            element.set("style", style)
        for child in list(element):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                element.remove(child)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"class": "plot", "role": "img", "aria-label": label}
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _with_variables(style: str) -> str:
    for colour, variable in VARIABLES.items():
        style = style.replace(colour, f"var({variable})")
    return re.sub(r"font: ([\d.]+px) [^;]+", r"font-size: \1", style)
