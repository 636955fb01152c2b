"""`chunks`: applied in chunks of the keys; every key in exactly one."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject

ODD = ["", "\x00", "a'b", "a\\'", "ä", "\n", "%s", "{{ x }}", "\xff"]
KEYS: dict[str, tuple[str, list[Any]]] = {
    "negative": ("Int64", [-(2**63), -5, -1, 0, 1, 7, 2**63 - 1]),
    "text": ("String", ODD),
    "low_cardinality": ("LowCardinality(String)", ODD),
    "fixed": ("FixedString(3)", ["a\x00b", "\x00\x00\x00", "'''", "abc"]),
    "decimal": ("Decimal(20, 4)", [Decimal("-1.5"), Decimal("0.0001"), Decimal(10**12)]),
    "uuid": ("UUID", [UUID(int=n) for n in (0, 1, 2**64, 2**127, 2**128 - 1)]),
    "time": ("DateTime64(6, 'UTC')", [datetime(1960, 1, 1), datetime(2025, 1, 1, 0, 0, 0, 1)]),
    "enum": ("Enum8('b' = 1, 'a' = 2)", ["b", "a"]),
    "big": ("UInt256", [0, 2**200, 2**255]),
    "no_key": ("Int64", []),
    "one_key": ("Int64", [3]),
}


def build(project: CollapsingProject, *names: str) -> None:
    outcomes = project.run("--select", *names)
    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    """A model for each kind of key; of text also for each number of chunks; applied twice."""
    project = make_project("chunks")
    for version in (1, 2):
        for name, (kind, keys) in KEYS.items():
            project.replace_rows(
                f"changes_{name}",
                f"id {kind}, tenant UInt8, x UInt64, _version UInt64",
                [(key, tenant, tenant, version) for key in keys for tenant in (1, 2)],
            )
        if version == 1:
            for name in KEYS:
                config: dict[str, Any] = {"unique_key": ["id", "tenant"], "chunks": 3}
                project.add_model(name, config, f"select * from changes_{name}")
            for chunks in range(1, 8):
                project.add_model(
                    f"text_{chunks}",
                    {"unique_key": ["tenant", "id"], "order_by": ["id", "tenant"], "chunks": chunks},
                    "select * from changes_text",
                )
        build(project, *KEYS, *(f"text_{chunks}" for chunks in range(1, 8)))
    return project


@pytest.mark.parametrize("name", [*KEYS, *(f"text_{chunks}" for chunks in range(1, 8))])
def test_every_key_is_applied_once(project: CollapsingProject, name: str) -> None:
    keys = len(KEYS[name.split("_", maxsplit=1)[0] if name.startswith("text_") else name][1]) * 2
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
    project = make_project("chunks_conflict")
    config = {"unique_key": "id", "chunks": 3, "on_conflict": "error"}
    project.add_model("target", config, "select * from changes")
    structure = "id Int64, x Int64, _version Int64"
    rows: list[Row] = [(key, 0, 1) for key in range(9)]
    project.replace_rows("changes", structure, rows)
    build(project, "target")
    project.replace_rows("changes", structure, [*((key, 1, 2) for key in range(8)), (8, 1, 1)])
    outcome = project.run()["target"]
    assert "1 change has the same version as a stored row" in outcome.message
    assert project.query("select count(), sum(x) from target") == [(9, 0)]


def test_a_fold_is_chunked_by_key(make_project: MakeProject) -> None:
    """Several changes of a key stay in one chunk."""
    project = make_project("chunks_fold")
    config = {"unique_key": "id", "chunks": 4, "combine": {"x": "greatest"}}
    project.add_model(
        "target",
        config,
        "select intDiv(number, 50) as id, toInt64(number % 50) as x, 100 - number % 50 as _version from numbers(250)",
    )
    build(project, "target")
    assert project.query("select id, x, _version from target order by id") == [(key, 49, 100) for key in range(5)]


def test_chunks_save_memory_where_keys_repeat(make_project: MakeProject) -> None:
    """Nothing holds all rows of the change set at once: not what counts the rows that repeat others, either."""
    project = make_project("chunks_memory")
    changes = (
        "select number % 500000 as id, id % 500 as shop, repeat('x', 40) as note, "
        "{version} + intDiv(number, 500000) as _version from numbers(501000)"
    )
    config = {"unique_key": "id", "chunks": 8}
    project.add_model("target", config, changes.format(version=1))
    build(project, "target")
    project.add_model("target", config, changes.format(version=3))
    project.set_profile(custom_settings={"max_memory_usage": 75_000_000})
    message = project.run("--select", "target")["target"].message
    assert message.startswith("501000 rows: 500000 states, 500000 cancels"), message
    assert project.query("select count(), sum(_version) from target final where _sign = 1") == [
        (500_000, 3 * 499_000 + 4 * 1_000)
    ]
