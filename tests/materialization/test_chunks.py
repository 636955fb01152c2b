"""`chunks`: the change set is applied in chunks of keys, and every key is in exactly one."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

ODD = ["", "\x00", "a'b", "a\\'", "ä", "\n", "%s", "{{ x }}", "\xff"]
KEYS: dict[str, tuple[str, list[Any]]] = {
    "negative": ("Int64", [-(2**63), -5, -1, 0, 1, 7, 2**63 - 1]),
    "text": ("String", ODD),
    "fixed": ("FixedString(3)", ["a\x00b", "\x00\x00\x00", "'''", "abc"]),
    "decimal": ("Decimal(20, 4)", [Decimal("-1.5"), Decimal("0.0001"), Decimal(10**12)]),
    "uuid": ("UUID", [UUID(int=n) for n in (0, 1, 2**64, 2**127, 2**128 - 1)]),
    "time": ("DateTime64(6, 'UTC')", [datetime(1960, 1, 1), datetime(2025, 1, 1, 0, 0, 0, 1)]),
    "no_key": ("Int64", []),
}


TEXTS = {"text_7": 7}


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    """A model for each kind of key, and for text keys with other numbers of chunks; applied twice."""
    project = make_project("chunks")
    for name in KEYS:
        config: dict[str, Any] = {"unique_key": ["id", "tenant"], "chunks": 3}
        project.add_model(name, config, f"select * from changes_{name}")
    for name, chunks in TEXTS.items():
        config = {"unique_key": ["tenant", "id"], "order_by": ["id", "tenant"], "chunks": chunks}
        project.add_model(name, config, "select * from changes_text")
    for version in (1, 2):
        for name, (kind, keys) in KEYS.items():
            columns = f"id {kind}, tenant UInt8, x UInt64, _version UInt64"
            rows = [(key, tenant, tenant, version) for key in keys for tenant in (1, 2)]
            project.replace_rows(f"changes_{name}", columns, rows)
        project.build()
    return project


@pytest.mark.parametrize("name", [*KEYS, *TEXTS])
def test_every_key_is_applied_once(project: CollapsingProject, name: str) -> None:
    keys = 2 * len(KEYS["text" if name in TEXTS else name][1])
    live = project.query(
        f"select count(), uniqExact(id, tenant), min(_version), sum(x = tenant) from {name} final where _sign = 1"
    )
    assert live == [(keys, keys, 2 if keys else 0, keys)]
    assert project.query(f"select sum(_sign) from {name}") == [(keys,)]
    counts = project.query(
        f"select keys, states, cancels from versioned_collapsing_ledger where model = '{name}' and status = 'applied' order by at"
    )
    assert counts == ([(keys, keys, 0), (keys, keys, keys)] if keys else [])


def test_a_conflict_in_the_last_chunk_leaves_all_untouched(make_project: MakeProject) -> None:
    table = Table(make_project("chunks_conflict"), chunks=3, on_conflict="error")
    table.apply([(key, 0, 1) for key in range(9)])
    message = table.fail([*((key, 1, 2) for key in range(8)), (8, 1, 1)])
    assert "1 change has the same version as a stored row" in message
    table.check([(key, 0, 1) for key in range(9)])


def test_a_fold_is_chunked_by_key(make_project: MakeProject) -> None:
    """All changes of a key stay in one chunk."""
    table = Table(make_project("chunks_fold"), chunks=4, combine={"x": "greatest"})
    table.apply([(number // 50, number % 50, 100 - number % 50) for number in range(250)])
    table.check([(key, 49, 100) for key in range(5)])


def test_chunks_save_memory_where_keys_repeat(make_project: MakeProject) -> None:
    """Nothing holds all rows of the change set at once, not even the count of repeated rows."""
    changes = (
        "select number % 500000 as id, id % 500 as shop, repeat('x', 40) as note, "
        "{version} + intDiv(number, 500000) as _version from numbers(501000)"
    )
    table = Table(make_project("chunks_memory"), select=changes.format(version=1), chunks=8)
    table.apply()
    table.configure(changes.format(version=3), chunks=8)
    table.project.set_profile(custom_settings={"max_memory_usage": 75_000_000})
    message = table.apply()
    assert message.startswith("501000 rows: 500000 states, 500000 cancels"), message
    live = "select count(), sum(_version) from target final where _sign = 1"
    assert table.query(live) == [(500_000, 3 * 499_000 + 4 * 1_000)]
