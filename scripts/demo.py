"""The main job on the shipped change stream: three runs, what each applied, and the result."""

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
COUNTS = ("states", "cancels", "deletes", "duplicates", "late", "conflicts", "tombstoned", "rebalanced")

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


def print_ledger(since: float) -> None:
    """Print the ledger's rows for applies that ended after ``since``."""
    rows = query(
        f"""
        select model, length(batches), rows_read, {", ".join(COUNTS)}, milliseconds
        from shop.versioned_collapsing_ledger
        where status = 'applied' and at >= fromUnixTimestamp64Milli(toInt64({since * 1000:.0f}))
        order by model
        """
    )
    if rows:
        print("\nApplied, as the ledger has it:\n")
        print_table(["model", "batches", "changes", *COUNTS, "ms"], rows)
    else:
        print("\nEvery batch had been applied before: nothing to do, and nothing was changed.\n")


def print_result() -> None:
    """Print the live rows next to those of PostgreSQL, and the revenue computed in four ways."""
    reference = json.loads((ROOT / "data/expected/batch_20/summary.json").read_text())
    rows = query(
        " union all ".join(
            f"select '{table}', count(), sum(_sign), (select sum(_sign) from shop.{table} final) from shop.{table}"
            for table in reference["tables"]
        )
    )
    print("Rows that are live, by sums of sign and by FINAL, beside PostgreSQL's:\n")
    print_table(
        ["table", "rows stored", "sum of signs", "FINAL", "PostgreSQL"],
        [(*row, reference["tables"][row[0]]["live_rows"]) for row in rows],
    )
    (revenue,) = query(
        """
        select
          (select sum(amount * _sign) from shop.orders),
          (select sum(revenue) from shop.revenue_by_region_and_month),
          (select sum(revenue) from shop.revenue_by_region_and_month_live),
          (select sum(revenue) from shop.revenue_by_customer_region_and_tier_live)
        """
    )
    print("Revenue, computed in four ways, beside PostgreSQL's:\n")
    print_table(
        ["table", "dbt view", "stored sums", "sums of a join", "PostgreSQL"],
        [(*revenue, reference["orders"]["sum_amount"])],
    )


def main() -> None:
    """Run the demo."""
    os.chdir(ROOT)
    started = time.time()
    run("seed")
    for through_batch in THROUGH_BATCHES:
        since = time.time()
        run("run", "--vars", json.dumps({"through_batch": through_batch}))
        print_ledger(since)
    print_result()
    print(f"That took {time.time() - started:.0f} s. To go on:\n")
    print("  source .venv/bin/activate")
    print("  dbt run                          # all is applied: changes nothing, and says so")
    print("  dbt test")
    print("  dbt show --inline \"select * from {{ ref('revenue_by_region_and_month') }}\"")
    print("  dbt docs generate && dbt docs serve")


if __name__ == "__main__":
    main()
