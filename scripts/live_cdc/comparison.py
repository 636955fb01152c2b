"""What ClickHouse holds after an apply, next to what PostgreSQL held at the same LSN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clickhouse_connect.driver.client import Client

from scripts.shop.capture import Batch, Figures

# The same figures as in `shop/capture.py`.
FIGURES = {
    "customers": (
        "credit_limit",
        "arrayStringConcat(arrayFilter(x -> isNotNull(x), [toNullable(toString(customer_id)), name, email, region, "
        "tier, toString(toInt64(credit_limit * 100))]), '|')",
    ),
    "orders": (
        "amount",
        "arrayStringConcat(arrayFilter(x -> isNotNull(x), [toNullable(toString(order_id)), toString(customer_id), "
        "region, status, toString(toInt64(amount * 100)), toString(items), note]), '|')",
    ),
    "order_items": (
        "quantity * unit_price",
        "arrayStringConcat([toString(order_id), toString(line_no), sku, toString(quantity), "
        "toString(toInt64(unit_price * 100))], '|')",
    ),
}
APPLIES = """
select
  model,
  arrayMax(batches.batch),
  max(apply) over (partition by model order by at),
  (toUnixTimestamp64Micro(at) - toUnixTimestamp64Micro(arrayMin(landed_at))) / 1000000
from shop.versioned_collapsing_ledger
where status = 'applied' and notEmpty(batches) and model in ('customers', 'orders', 'order_items')
order by at
"""


@dataclass(frozen=True)
class Comparison:
    """A table after an apply: the last batch that it includes completely, and what both sides hold at that point.

    `lag`: seconds from the landing of the apply's first batch until its rows were visible.
    """

    table: str
    batch: int
    lsn: int
    lag: float
    postgres: Figures
    clickhouse: Figures

    @property
    def is_equal(self) -> bool:
        return self.postgres == self.clickhouse


class Comparer:
    """Compares each apply once.

    Args:
        client: ClickHouse.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._done: set[tuple[str, int]] = set()

    def new(self, landed: dict[int, Batch]) -> Iterator[Comparison]:
        """The comparisons for the applies that have ended since the last call."""
        if not self._client.command("exists shop.versioned_collapsing_ledger"):
            return
        for table, number, apply, lag in self._client.query(APPLIES).result_rows:
            if (table, number) in self._done:
                continue
            batch = landed[number]
            self._done.add((table, number))
            yield Comparison(table, number, batch.lsn, lag, batch.figures[table], self._figures(table, apply))

    def _figures(self, table: str, apply: int) -> Figures:
        """What the table held after an apply, computed from its change feed."""
        amount, text = FIGURES[table]
        number = f"reinterpretAsUInt32(reverse(substring(MD5({text}), 1, 4)))"
        found = self._client.query(
            f"select sum(_sign), sum(({amount}) * _sign), sum(toInt64({number}) * _sign) "
            f"from shop.{table}__feed where _apply <= {apply}"
        )
        ((rows, total, fingerprint),) = found.result_rows
        return Figures(rows, total, fingerprint)
