"""The shop as other tools land it: after each part of the stream, the rows are those of PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.landed_shop import LandedShop, key_of, read_events
from tests.support.shop import expected_rows, position

KNOWN = (10, 20)  # after these batches, PostgreSQL's state is available


def stream(table: str) -> Iterator[Row]:
    """Batch, op, the position in the order of commits as an LSN, and the row."""
    events = list(read_events(table))
    places = sorted({position(event) for _, event in events})
    lsns = {place: 1000 * lsn for lsn, place in enumerate(places, 1)}
    for batch, event in events:
        image = event["after"] or {key_of(table): event["before"][key_of(table)]}
        yield batch, event["op"], lsns[position(event)], json.dumps(image)


def assert_rows(landed: LandedShop, condition: str, batch: int | None = None) -> None:
    for name, bridge in landed.bridges.items():
        found = landed.live_rows(name)
        assert found == landed.expected_rows(condition, is_airbyte=bridge.is_airbyte), name
        if batch and not bridge.is_airbyte:
            table = "orders" if landed.key == "order_id" else "customers"
            assert [tuple(map(str, row)) for row in found] == [
                tuple(map(str, row)) for row in sorted(expected_rows(table, batch), key=lambda row: row[0])
            ], (name, batch)


def run(landed: LandedShop) -> dict[str, str]:
    outcomes = landed.project.run()
    failed = {name: node.message for name, node in outcomes.items() if node.status != "success"}
    assert not failed
    return {name: node.message for name, node in outcomes.items()}


def landed_by(end: int) -> str:
    """What has landed when a run follows batch ``end``. Part of the last three batches lands later, except for known
    states.

    All tools land their first snapshot before any change.
    """
    if end in KNOWN:
        return f"batch <= {end}"
    known = max((batch for batch in KNOWN if batch < end), default=0)
    return f"batch <= {end} and not (batch > {max(end - 3, known)} and n % 7 = 0 and op <> 'r')"


@pytest.mark.timeout(4 * 3600)  # as long as `make soak` may take
def test_every_prefix_equals_postgresql(make_project: MakeProject, is_exhaustive: bool) -> None:
    """Between the runs, rows land late in a range that was read, and landing tables are merged."""
    table = "orders" if is_exhaustive else "customers"
    landed = LandedShop(make_project(f"bridges_{table}"), table)
    landed.deliver(list(stream(table)))
    before = "false"
    for end in range(1, 21) if is_exhaustive else (9, 20):
        landed.land(f"({landed_by(end)}) and not ({before})")
        run(landed)
        before = landed_by(end)
        assert_rows(landed, before, end if end in KNOWN else None)
        landed.merge()
