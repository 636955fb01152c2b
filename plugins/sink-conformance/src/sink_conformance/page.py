"""Reports as text and as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sink_conformance.histories import HISTORIES

Report = Mapping[str, Any]
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums }
th:first-child, td:first-child { text-align: left }
.wrong { background: #fbe3e0 } .right { background: #e6f3e6 }
pre { background: #f5f5f5; padding: .7rem; overflow-x: auto; font-size: 12px }
"""
COLUMNS = ("wrong rows per million", "torn reads", "freshness, s", "apply, s", "killed", "failed")


def cells(figures: Mapping[str, Any]) -> list[str]:
    """The figures of a class of histories, in the order of COLUMNS."""
    texts = [figures["wrong_per_million"], f"{figures['torn']:,} of {figures['reads']:,}"]
    texts += [figures["freshness"], figures["seconds"], figures["kills"], figures["failed"]]
    return ["" if text is None else f"{text:,}" if isinstance(text, int) else str(text) for text in texts]


def summary(report: Report) -> str:
    """A table for the terminal."""
    rows = [("history", *COLUMNS), *((name, *cells(found)) for name, found in report["histories"].items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = "  ".join(["{:<" + str(widths[0]) + "}", *("{:>" + str(width) + "}" for width in widths[1:])])
    return "\n".join(form.format(*row) for row in rows)


def page(reports: Sequence[Report]) -> str:
    """An HTML page that needs nothing else: all sinks beside each other, then each with examples of wrong rows."""
    title = "Sinks and the rows of their source"
    body = [f"<h1>{title}</h1>", _overview(reports)]
    for report in reports:
        body += [f"<h2>{escape(report['sink'])}</h2>", _table(report)]
        body += [_examples(name, found["examples"]) for name, found in report["histories"].items() if found["examples"]]
    body += ["<h2>The histories</h2>", "<ul>"]
    body += [f"<li><b>{name}</b>: {escape(history.shows)}</li>" for name, history in HISTORIES.items()]
    content = "\n".join([*body, "</ul>"])
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    head += f"<style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{content}</body></html>\n'


def _overview(reports: Sequence[Report]) -> str:
    rows = [
        (report["sink"], [(f"{found['wrong_per_million']:,}", found["wrong"]) for found in _found(report)])
        for report in reports
    ]
    return "<p>Wrong rows per million, by class of histories:</p>" + _html(list(HISTORIES), rows)


def _found(report: Report) -> list[Mapping[str, Any]]:
    none = {"wrong_per_million": 0, "wrong": 0}
    return [report["histories"].get(name, none) for name in HISTORIES]


def _table(report: Report) -> str:
    rows = []
    for name, found in report["histories"].items():
        faults = (found["wrong"], found["torn"], 0, 0, 0, found["failed"])
        rows.append((name, list(zip(cells(found), faults, strict=True))))
    return _html(COLUMNS, rows)


def _html(names: Sequence[str], rows: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
    lines = "".join(
        f"<tr><td>{escape(name)}</td>"
        + "".join(f'<td class="{"wrong" if fault else "right"}">{text}</td>' for text, fault in found)
        + "</tr>"
        for name, found in rows
    )
    return f"<table><tr>{head}</tr>{lines}</table>"


def _examples(name: str, examples: Sequence[Any]) -> str:
    texts = "\n\n".join("\n".join(f"{field}: {_lines(value)}" for field, value in each.items()) for each in examples)
    return f"<details><summary>{escape(name)}: examples</summary><pre>{escape(texts)}</pre></details>"


def _lines(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "".join(f"\n  {json.dumps(line)}" for line in value)
    return value if isinstance(value, str) else json.dumps(value)
