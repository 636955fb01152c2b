"""The page of a report: what needs attention, tables of figures, and plots next to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dbt.adapters.spark_clickhouse.cli import report_plots

Row = Mapping[str, Any]

NONE = "\N{EN DASH}"
MOST_PLOTS = 24  # tables with plots: those with the most rows
PARTS = ("stored rows", "change feed", "tombstones", "staged tables")
GOOD = ("success", "pass", "no-op", "skipped", "reused")
FEWEST_LATE = 20  # late changes in one run that are worth a look, if they are half of it
FEWEST_WAITING = 100_000  # the same for rows that wait for a merge
FAULTS = ("missing", "unexpected", "doubled", "different")


def page_of(data: Row, results: Row | None) -> str:
    """The page, as HTML.

    Args:
        data: the output of the operation `report_data`.
        results: what dbt wrote to `run_results.json`, or None.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {filter_.__name__: filter_ for filter_ in (bytes_of, count, duration, share, size)}
    built = [table for table in data["tables"] if table["is_built"]]
    plotted = sorted(built, key=lambda table: table["status"]["stored"], reverse=True)[:MOST_PLOTS]
    tests = tests_of(results)
    return environment.get_template("report.html.jinja").render(
        data=data,
        tables=built,
        plotted={table["name"] for table in plotted},
        attention=list(attention(data, tests)),
        tests=tests,
        faults=FAULTS,
        plots=report_plots,
        storage=[(table["name"], bytes_of(table, "bytes")) for table in plotted],
        parts=PARTS,
        views=[view | {"source": table["name"]} for table in built for view in table["views"]],
    )


def tests_of(results: Row | None) -> dict[str, Any] | None:
    """How the tests of dbt's last command went, and which of its nodes failed."""
    if results is None:
        return None
    nodes = [
        {
            "kind": result["unique_id"].partition(".")[0].replace("_", " "),
            "name": ".".join(result["unique_id"].split(".")[2:3]) or result["unique_id"],
            "status": result["status"],
            "message": result["message"] or "",
            "seconds": result["execution_time"],
        }
        for result in results["results"]
    ]
    tested = [node for node in nodes if node["kind"].endswith("test")]
    return {
        "command": f"dbt {results['args'].get('which', '')}",
        "at": str(results["metadata"]["generated_at"])[:19].replace("T", " "),
        "counts": sorted(Counter(node["status"] for node in tested).items()),
        "tested": sorted(tested, key=lambda node: node["name"]),
        "not_passed": [node for node in tested if node["status"] not in GOOD],
        # The lines in a quarantine are counted by table.
        "warned": [node for node in tested if node["status"] == "warn" and "quarantine_is_empty" not in node["name"]],
        "failed": [node for node in nodes if node["status"] not in (*GOOD, "warn")],
    }


def attention(data: Row, tests: Row | None) -> Iterator[tuple[str, str]]:
    """What needs attention: a sentence each, and the command that helps, or nothing."""
    for table in data["tables"]:
        model, name = table["model"], table["name"]
        if not table["is_built"]:
            yield f"{name} is not built.", f"dbt run --select {model}"
            continue
        if table["is_interrupted"]:
            yield (
                f"{name}: a run was interrupted while it published. The next one completes it.",
                f"dbt run --select {model}",
            )
        if unbalanced := table["status"]["unbalanced_keys"]:
            yield (
                f"{name}: {count(unbalanced)} unbalanced {'key' if unbalanced == 1 else 'keys'}.",
                f"dbt run-operation rebalance --args '{{model: {model}}}'",
            )
        if wrong := table["totals"]["not_adding_up"]:
            yield (
                f"{name}: {count(wrong)} {'run does' if wrong == 1 else 'runs do'} not account for every event.",
                f"dbt test --select {model}",
            )
        yield from _of_changes(table)
        for check in table["verifications"]:
            if found := sum(check[fault] for fault in FAULTS):
                keys = "key differs" if found == 1 else "keys differ"
                yield f"{name}: {count(found)} {keys} from {check['reference']}.", ""
        for view in table["views"]:
            if view["used"] < view["last"] or not view["fills"]:
                yield (f"{view['name']} lacks changes of {name}.", f"dbt run --select {view['model']}")
        if lines := sum(row["n"] for row in table["quarantined"] or ()):
            verb = "line is" if lines == 1 else "lines are"
            yield f"{name}: {count(lines)} {verb} in quarantine.", ""
    for node in tests["failed"] if tests else ():
        yield f"{node['kind']} {node['name']}: {node['status']}. {node['message']}", ""
    for node in tests["warned"] if tests else ():
        yield f"{node['kind']} {node['name']} warns. {node['message']}", f"dbt test --select {node['name']}"


def _of_changes(table: Row) -> Iterator[tuple[str, str]]:
    """What the changes that a table was given say about its source."""
    model, name, totals, status = table["model"], table["name"], table["totals"], table["status"]
    if conflicts := totals["conflicts"]:
        changes = "change had" if conflicts == 1 else "changes had"
        yield (
            f"{name}: {count(conflicts)} {changes} the version of a stored row and other values. The stored rows "
            "stayed as they were. Look for the cause at the source; to take the changes, rebuild the table.",
            table["rebuild"],
        )
    last = next((run for run in reversed(table["runs"]) if run["rows_read"]), None)
    if last and last["late"] >= FEWEST_LATE and last["late"] * 2 >= last["rows_read"]:
        yield (
            f"{name}: {count(last['late'])} of {count(last['rows_read'])} changes in the run of {last['ended_at']} "
            "were older than the stored rows. Check that the version grows with every change.",
            "",
        )
    if (lines := totals["quarantined"]) and not table["keeps_lines"]:
        verb = "line was" if lines == 1 else "lines were"
        yield f"{name}: {count(lines)} {verb} left out, and no model of quarantined_lines keeps them.", ""
    if status["waiting"] >= FEWEST_WAITING and status["waiting"] * 2 >= status["stored"]:
        yield (
            f"{name}: {count(status['waiting'])} of {count(status['stored'])} rows wait for a merge.",
            f"dbt run-operation compact --args '{{model: {model}}}'",
        )


def bytes_of(table: Row, kind: str) -> dict[str, int]:
    """What a table takes on disk, by purpose."""
    return {row["part"]: row[kind] for row in table["storage"]}


def count(number: float | None) -> str:
    """1,234,567; a dash for None."""
    return NONE if number is None else f"{number:,}"


def size(number: float | None) -> str:
    """Bytes: 1.2 MB."""
    if number is None:
        return NONE
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            break
        number /= 1000
    return f"{number:,.0f} {unit}" if unit == "B" else f"{number:,.1f} {unit}"


def duration(seconds: float | None) -> str:
    """1.2 s, 3.4 min, 5.6 h, 7.8 days."""
    if seconds is None:
        return NONE
    for unit, length in (("s", 60.0), ("min", 60.0), ("h", 24.0)):
        if abs(seconds) < length:
            return f"{seconds:.1f} {unit}"
        seconds /= length
    return f"{seconds:,.1f} days"


def share(part: float, whole: float) -> str:
    """A percentage; a dash if the whole is 0."""
    return f"{100 * part / whole:.0f} %" if whole else NONE
