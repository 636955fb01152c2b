"""The shop's kept marts after any batch: as stored, and as they should be according to the events that have landed."""

from __future__ import annotations

import gzip
import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.support.shop import LANDING, position

Figures = dict[tuple[str, ...], tuple[Decimal, ...]]
Event = dict[str, Any]
Rows = dict[tuple[int, ...], Event]

KEYS = {"customers": ("customer_id",), "orders": ("order_id",), "order_items": ("order_id", "line_no")}
# The groups and figures of each mart. The first figure is 0 in a group without live rows.
MARTS: dict[str, tuple[str, list[str]]] = {
    "customers_by_region_and_tier_live": ("region, tier", ["sum(customers)", "sum(credit_limit)"]),
    "orders_by_status_live": ("status", ["sum(orders)", "sum(amount)", "sum(items)"]),
    "revenue_by_region_and_month_live": ("region, formatDateTime(month, '%Y-%m')", ["sum(orders)", "sum(revenue)"]),
    "revenue_by_customer_region_and_tier_live": ("region, tier", ["sum(orders)", "sum(revenue)"]),
    "items_by_order_status_live": ("status", ["sum(order_lines)", "sum(quantity)", "sum(amount)"]),
    # The mean of two amounts has three decimals.
    "order_funnel": (
        "status",
        ["sum(orders)", "sum(total_amount)", "round(sum(median_amount), 3)", "sum(largest_amount)"],
    ),
}
MARTS_SQL = " union all ".join(
    f"select '{mart}' as mart, [{groups}] as groups, [toString({'), toString('.join(figures)})] as figures "
    f"from shop.{mart} group by {groups} having {figures[0]} <> 0"
    for mart, (groups, figures) in MARTS.items()
)


def kept_marts(rows: Iterable[tuple[str, Iterable[str], Iterable[str]]]) -> Figures:
    """The stored marts, from the rows of MARTS_SQL."""
    return {(mart, *groups): tuple(Decimal(figure) for figure in figures) for mart, groups, figures in rows}


def expected_marts(batch: int, landing: Path = LANDING) -> Figures:
    """The marts after the batches up to ``batch``, computed from plain rows."""
    customers, orders, items = (landed_rows(table, batch, landing) for table in KEYS)
    homes = {key: (customers[key]["region"], customers[key]["tier"]) for key in customers}
    ordered = [(order, homes.get((order["customer_id"],))) for order in orders.values()]
    lines = [(item, orders.get(key[:1])) for key, item in items.items()]
    return {
        **_figures(
            "customers_by_region_and_tier_live",
            ((homes[key], customer) for key, customer in customers.items()),
            lambda rows: [_total(rows, "credit_limit")],
        ),
        **_figures(
            "orders_by_status_live",
            (((order["status"],), order) for order in orders.values()),
            lambda rows: [_total(rows, "amount"), _total(rows, "items")],
        ),
        **_figures(
            "revenue_by_region_and_month_live",
            (((order["region"], order["created_at"][:7]), order) for order in orders.values()),
            lambda rows: [_total(rows, "amount")],
        ),
        **_figures(
            "revenue_by_customer_region_and_tier_live",
            ((home, order) for order, home in ordered if home is not None),
            lambda rows: [_total(rows, "amount")],
        ),
        **_figures(
            "items_by_order_status_live",
            (((order["status"],), item) for item, order in lines if order is not None),
            lambda rows: [_total(rows, "quantity"), _total(rows, "quantity", "unit_price")],
        ),
        **_figures(
            "order_funnel",
            (((order["status"],), order) for order in orders.values()),
            lambda rows: [
                _total(rows, "amount"),
                statistics.median(Decimal(row["amount"]) for row in rows),
                max(Decimal(row["amount"]) for row in rows),
            ],
        ),
    }


def landed_rows(table: str, batch: int, landing: Path = LANDING) -> Rows:
    """The rows of ``table`` as parsed JSON: the last event of each key."""
    last: dict[tuple[int, ...], Event] = {}
    for number in range(1, batch + 1):
        for file in (landing / table / f"batch={number:06}").glob("*.json.gz"):
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                for event in map(json.loads, lines):
                    if event["source"]["table"] != table:
                        continue
                    row = event["after"] or event["before"]
                    key = tuple(row[name] for name in KEYS[table])
                    if key not in last or position(event) > position(last[key]):
                        last[key] = event
    return {key: event["after"] for key, event in last.items() if event["after"] is not None}


def _figures(
    mart: str, rows: Iterable[tuple[tuple[str, ...], Event]], get_figures: Callable[[list[Event]], list[Decimal]]
) -> Figures:
    groups = defaultdict(list)
    for group, row in rows:
        groups[(mart, *group)].append(row)
    return {group: (Decimal(len(members)), *get_figures(members)) for group, members in groups.items()}


def _total(rows: list[Event], column: str, times: str | None = None) -> Decimal:
    return sum((Decimal(row[column]) * (Decimal(row[times]) if times else 1) for row in rows), Decimal())
