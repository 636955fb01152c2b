"""Everything that ClickHouse stores of the shop, to compare two targets."""

from __future__ import annotations

from clickhouse_connect.driver.client import Client

from tests.support.cluster_values import texts
from tests.support.shop import Row, query

# These depend on the run, not on what it applied. Spark gives the landing time in milliseconds, Python in microseconds.
_OF_THE_RUN = [
    "_applied_at",
    "_remembered_at",
    "at",
    "change_set",
    "definition",
    "invocation_id",
    "known_from",
    "known_to",
    "landed_at",
    "milliseconds",
    "run_id",
    "source_uuid",
    "taken_at",
    "target_uuid",
]
# What the target `cluster` lacks: a Python model and what depends on it, and the state of PostgreSQL.
_OF_OTHERS = "order_wishes|orders_by_wish|postgresql"


def stored(client: Client) -> dict[str, list[Row]]:
    """The rows of every table and view; for collapsing tables those that FINAL leaves. Copies of Spark tables that are
    sent to a server are excluded."""
    tables = query(
        client,
        f"select name, engine from system.tables where database = 'shop' and not match(name, '__dbt_|__pushed_|{_OF_OTHERS}')",
    )
    rows = {}
    for table, engine in tables:
        columns = query(
            client,
            f"select name from system.columns where database = 'shop' and table = '{table}' and name not in {_OF_THE_RUN}",
        )
        names = ", ".join(f"`{name}`" for (name,) in columns)
        is_merged = "Collapsing" in engine or "Summing" in engine or "Aggregating" in engine
        final = "final" if is_merged else ""
        where = f"where status = 'applied' and not match(model, '{_OF_OTHERS}')"
        where = where if table == "versioned_collapsing_ledger" else ""
        rows[table] = texts(client, f"select {names} from shop.{table} {final} {where}")
    return rows


def differences(found: dict[str, list[Row]], expected: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """For each table, the first row that only one side has; empty if one side lacks the table."""
    different = {}
    for table in found.keys() | expected.keys():
        if found.get(table) != expected.get(table):
            rows = set(found.get(table, [])) ^ set(expected.get(table, []))
            different[table] = sorted(rows, key=repr)[:2]
    return different
