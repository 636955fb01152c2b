"""Writes one HTML page on the state of the tables: rows, runs, quarantine, views, tests, storage.

dbt-spark-clickhouse report [--output target/report.html]

The operation `report_data` of the package reads the figures through dbt's own connection, so it works with any adapter
that the package supports. The page needs no network and no other file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

OPERATION = "versioned_collapsing.report_data"


class ReportError(Exception):
    """There is no report; the text says why, and what to do."""


def read_data(dbt: Sequence[str]) -> dict[str, Any]:
    """The output of the operation.

    Args:
        dbt: arguments of `dbt run-operation`.

    Raises:
        ReportError: the operation failed.
    """
    printed: list[str] = []

    def keep(event: Any) -> None:
        if event.info.name == "PrintEvent":
            printed.append(event.info.msg)

    with contextlib.redirect_stdout(io.StringIO()) as said:
        # Otherwise the operation would overwrite the results of the tests.
        arguments = ["--quiet", "run-operation", OPERATION, "--no-write-json", *dbt]
        outcome = dbtRunner(callbacks=[keep]).invoke(arguments)
    if not outcome.success or not printed:
        reason = str(outcome.exception or said.getvalue()).strip()
        if "could not find a macro" in reason:
            reason += " Install the package: docs/your_project.md of versioned_collapsing says how."
        raise ReportError(reason)
    data: dict[str, Any] = json.loads(printed[-1])
    return data


def read_results(path: Path) -> dict[str, Any] | None:
    """What dbt's last command wrote to `run_results.json`; None if there is no such file."""
    try:
        results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ReportError(f"{path} is no JSON: {error}. Run dbt test again.") from error
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page. Return 0, or print the reason and return 1."""
    parser = argparse.ArgumentParser(
        prog="dbt-spark-clickhouse report",
        description="Write a page on the state of the tables. Other options are those of dbt.",
        allow_abbrev=False,
    )
    target = Path(os.environ.get("DBT_TARGET_PATH", "target"))
    parser.add_argument("--output", type=Path, help="file to write [target/report.html]")
    parser.add_argument("--data", type=Path, help="file with the output of report_data")
    parser.add_argument("--run-results", type=Path, help="file with the results of dbt test")
    parser.add_argument("--project-dir", type=Path, default=Path(), help="as in dbt")
    given, dbt = parser.parse_known_args(arguments)
    results = given.run_results or given.project_dir / target / "run_results.json"
    output: Path = given.output or given.project_dir / target / "report.html"
    try:
        # Imported late: in an environment without matplotlib, the report says what to install.
        from dbt.adapters.spark_clickhouse.cli.report_page import page_of

        data = (
            json.loads(given.data.read_text(encoding="utf-8"))
            if given.data
            else read_data([*dbt, "--project-dir", str(given.project_dir)])
        )
        page = page_of(data, read_results(results))
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, encoding="utf-8")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        sys.stderr.write(
            "report: matplotlib, which draws the plots, is missing. Install it: pip install 'matplotlib>=3.10'\n"
        )
        return 1
    except (ReportError, OSError, ValueError) as error:
        sys.stderr.write(f"report: {error}\n")
        return 1
    sys.stdout.write(f"Wrote {output}\n")
    return 0
