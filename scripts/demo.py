"""The main job on the shipped change stream: three runs, and their result."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import clickhouse_connect
from dbt.cli.main import dbtRunner

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / os.environ.get("SPARK_CLICKHOUSE_HOME", ".spark_clickhouse")
THROUGH_BATCHES = (7, 10, 20)

Rows = Sequence[Sequence[object]]


def query(sql: str) -> Rows:
    """The rows of ``sql`` in the embedded ClickHouse, while dbt does not run."""
    client = clickhouse_connect.get_client(
        interface="chdb", path=str(HOME / "clickhouse"), settings={"session_timezone": "UTC"}
    )
    try:
        return client.query(sql).result_rows
    finally:
        client.close()


def print_table(header: Sequence[str], rows: Rows) -> None:
    """Print rows in columns, numbers aligned to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    is_number = [all(not isinstance(row[i], str) for row in rows) for i in range(len(header))]
    for line in [list(header), ["-" * width for width in widths], *cells]:
        columns = zip(line, widths, is_number, strict=True)
        print("  " + "  ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in columns).rstrip())
    print()


def run(*command: str) -> None:
    """Print and run a dbt command.

    Raises:
        SystemExit: the command failed; dbt has printed why.
    """
    print(f"$ dbt {shlex.join(command)}\n", flush=True)
    if not dbtRunner().invoke(list(command)).success:
        sys.exit("That failed; dbt says why above.")


def print_result() -> None:
    """Print the live rows next to those of PostgreSQL, and the revenue with and without the sign."""
    reference = json.loads((ROOT / "data/expected/batch_20/summary.json").read_text())
    rows = query(
        " union all ".join(f"select '{table}', count(), sum(_sign) from shop.{table}" for table in reference["tables"])
    )
    print("\nThe tables beside PostgreSQL's:\n")
    print_table(
        ["table", "rows stored", "live rows", "PostgreSQL"],
        [(*row, reference["tables"][row[0]]["live_rows"]) for row in rows],
    )
    (revenue,) = query(
        """
        select sum(amount), sum(amount * _sign), (select sum(revenue) from shop.revenue_by_region_and_month_live)
        from shop.orders
        """
    )
    print("Revenue. Without the sign, an order counts again with each of its changes:\n")
    print_table(
        ["sum(amount)", "sum(amount * _sign)", "a view of sums", "PostgreSQL"],
        [(*revenue, reference["orders"]["sum_amount"])],
    )


def main() -> None:
    """Run the demo."""
    os.chdir(ROOT)
    started = time.time()
    run("seed")
    for through_batch in THROUGH_BATCHES:
        run("run", "--vars", json.dumps({"through_batch": through_batch}))
    print_result()
    print(f"That took {time.time() - started:.0f} s. To go on:\n")
    print("  source .venv/bin/activate")
    print("  dbt run                          # all is applied: changes nothing, and says so")
    print("  dbt test")
    print("  dbt show --inline \"select * from {{ ref('revenue_by_region_and_month') }}\"")
    print("  dbt docs generate && dbt docs serve")


if __name__ == "__main__":
    main()
