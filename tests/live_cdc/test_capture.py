"""What wal2json says of a change, and what Debezium would write of it. The lines are PostgreSQL 15's."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.live_cdc.capture import _parsed, events_of, up_to_marker

ID = '{"name":"order_id","type":"bigint","value":%d}'
AMOUNT = '{"name":"amount","type":"numeric(12,2)","value":%s}'
NOTE = '{"name":"note","type":"text","value":%s}'
AT = '{"name":"updated_at","type":"timestamp with time zone","value":"2026-11-25 09:19:32.983543+00"}'
AT_ISO = "2026-11-25T09:19:32.983543Z"


def change(action: str, **images: list[str]) -> dict[str, Any]:
    parts = "".join(f',"{name}":[{",".join(columns)}]' for name, columns in images.items())
    return _parsed(
        f'{{"action":"{action}","xid":726,"lsn":"1/1526788","schema":"public","table":"orders"{parts}}}'
    )


def row(number: int, amount: str, note: str | None = None) -> dict[str, Any]:
    return {"order_id": number, "amount": amount, "note": note, "updated_at": AT_ISO}


BEFORE = [ID % 7, AMOUNT % "1.50", NOTE % "null", AT]


@pytest.mark.parametrize(
    ("found", "events"),
    [
        (change("I", columns=BEFORE), [("c", None, row(7, "1.50"))]),
        (change("D", identity=BEFORE), [("d", row(7, "1.50"), None)]),
        (change("T"), [("t", None, None)]),
        (
            change("U", identity=BEFORE, columns=[ID % 7, AMOUNT % "100000000.10", NOTE % '"ü"', AT]),
            [("u", row(7, "1.50"), row(7, "100000000.10", "ü"))],
        ),
        pytest.param(
            change("U", identity=[ID % 7, AMOUNT % "1.50", NOTE % '"long"', AT], columns=[ID % 7, AMOUNT % "2.00", AT]),
            [("u", row(7, "1.50", "long"), row(7, "2.00", "long"))],
            id="a long text that the update does not carry",
        ),
        pytest.param(
            change("U", identity=BEFORE, columns=[ID % 9, AMOUNT % "1.50", NOTE % "null", AT]),
            [("d", row(7, "1.50"), None), ("c", None, row(9, "1.50"))],
            id="another key",
        ),
        (change("B"), []),
        (change("C"), []),
    ],
)  # fmt: skip
def test_events(found: dict[str, Any], events: list[tuple[str, Any, Any]]) -> None:
    written = list(events_of(found))
    assert [(event["op"], event["before"], event["after"]) for event in written] == events
    assert {event["source"]["lsn"] for event in written} <= {(1 << 32) + 0x1526788}


def test_a_batch_ends_with_the_transaction_of_its_marker() -> None:
    other = {"action": "M", "prefix": "other", "content": "x"}
    marker = {"action": "M", "prefix": "live_cdc", "content": "{}"}
    end = {"action": "C", "nextlsn": "0/9"}
    first = [{"action": "I"}, other, {"action": "C", "nextlsn": "0/5"}]
    assert up_to_marker([*first, marker, end, {"action": "I"}]) == (first, marker, "0/9")
    with pytest.raises(RuntimeError, match="the marker is not in the changes"):
        up_to_marker(first)
