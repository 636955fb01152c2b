"""The accounts of applies: what became of every line and event, according to ledger and manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.shop import Row

OUTCOMES = (
    "superseded + truncates + states + deletes + duplicates + late + conflicts + tombstoned + rebalanced + forgotten"
)


def assert_ledger_adds_up(query: Callable[[str], list[Row]], schema: str) -> None:
    """Every apply in a ledger accounts for all its lines and events, except applies of signed rows.

    Raises:
        AssertionError: one does not.
    """
    ledger = f"{schema}.versioned_collapsing_ledger"
    if not query(f"exists table {ledger}")[0][0]:
        return
    wrong = query(
        "select model, status, chunks, lines, blank, quarantined, ignored, events, synthetic, rows_read, keys, "
        f"{OUTCOMES.replace(' +', ',')} from {ledger} "
        "where status in ('applied', 'partial') and publish <> 'stream' and (events is null "
        "or lines is not null and ifNull(lines <> blank + quarantined + ignored + events, true) "
        f"or events + synthetic <> {OUTCOMES})"
    )
    assert not wrong, wrong


COUNTS = (
    "events", "synthetic", "truncates", "keys", "states", "cancels", "deletes", "duplicates", "late", "conflicts",
    "tombstoned", "superseded",
)  # fmt: skip


def counts_of_last_apply(query: Callable[[str], list[Row]], schema: str, model: str) -> Counter[str]:
    """The ledger's counts of a model's last apply, without zeros, named as in the oracle."""
    ((*found,),) = query(
        f"select {', '.join(COUNTS)} from {schema}.versioned_collapsing_ledger "
        f"where model = '{model}' and status = 'applied' order by at desc limit 1"
    )
    return +Counter(dict(zip(COUNTS, found, strict=True)))


def assert_manifest_adds_up(batches: Sequence[Mapping[str, Any]]) -> None:
    """Every line of a manifest's batches is counted exactly once.

    Raises:
        AssertionError: one is not.
    """
    names = ("blank", "quarantined", "ignored", "events")
    wrong = [batch for batch in batches if batch["lines"] != sum(batch[name] for name in names)]
    assert batches
    assert not wrong, wrong
