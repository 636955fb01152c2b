"""Columns may have any name: those that the SQL of tests, macros and operations itself uses, and any that need quotes.

ClickHouse reads `alias."x"` as a part of a column called `alias`: a Tuple's element, a JSON path, `.size` of a String.
The names are read from the sources, so that new ones are tried too. The columns have every kind of type that has parts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, OperationError
from tests.support.commands import Node
from tests.support.macro_sources import sources
from tests.support.sql_aliases import aliases_of, as_columns, unreserved

FOLDERS = (
    "tests/generic",
    "macros/invariants",
    "macros/signed",
    "macros/operations",
    "macros/materializations/versioned_collapsing_view",
)
ALIASES = aliases_of(sources(*FOLDERS))
# Names that only our own Jinja reads, never next to a user's column: in queries of system tables and over names of
# ours. Those of `no_unknown_fields` are included.
OUTERMOST = {
    *("unbalanced_keys", "live", "stored", "waiting", "partition_id", "parts"),
    *("n", "broken_keys", "states", "cancels", "undecided_keys"),
    *("ended_at", "seconds_ago", "last_status", "last_batch", "rows", "states_written", "ms"),
    *("cancels_written", "keys_rebalanced"),
    *("batch", "field", "lines", "problem"),
    *("batches", "failing_condition", "adds_up"),  # of the ledger
    *("source", "last", "fills", "used"),  # of the ledger, for a view
    *("cycle", "ranges", "verified", "position", "first_at", "last_at"),  # of reconcile
    *("compared", "differing_keys", "is_version", "is_truncated", "timezone", "reference", "number"),
    *("ended", "last_", "last_batches", "last_landed_at", "last_milliseconds"),  # of report_data
    *("seconds", "lag_seconds", "rows_read", "not_adding_up", "status"),
    *("part", "bytes", "uncompressed_bytes", "version", "now", "why", "day"),
    *("applied", "applied_change_set", "deletes", "history", "is_old", "is_restarted", "known", "numbered", "time"),
    *("truncate_version", "uuid", "state"),
    *("blocks", "columns", "database_engine", "definition", "dependent", "formatted", "longest", "most", "place"),  # of
    *("select_query", "shards", "source_database", "source_table", "staged_uuid", "tables", "taken"),  # system tables
    *("target_database", "target_table", "view_name", "view_schema", "views", "_dbt"),
    *("a", "an", "also", "they", "its", "well"),  # words in messages
}
# Names that SQL defines or that need quotes, and names of the parts of types.
MORE = [
    *("signed", "by_final", "stored_version", "reference", "kept", "both", "from_table", "net", "name"),
    *("failures", "should_warn", "dbt_internal_test", "dbt_subquery", "size", "null", "keys", "size0"),
    *("it's", "a b", 'a"b', "a`b", "a\\b", "a.b", "from", "sum", "Ünï"),
]  # fmt: skip
NAMES = sorted({*as_columns(ALIASES), *MORE})
PARTS = ("amount", "part", "id", "size", "keys", "_version", "_sign", "failing_condition")
JSON_TEXT = json.dumps(dict.fromkeys(PARTS, 7)).replace('"', '\\"')
TYPES = {
    "Tuple": (f"Tuple({', '.join(f'`{part}` Int64' for part in PARTS)})", f"tuple({', '.join('7' for _ in PARTS)})"),
    "JSON": ("JSON", f"'{JSON_TEXT}'::JSON"),
    "Map": ("Map(String, Int64)", "map('amount', 7, 'null', 7)"),
    "Nullable": ("Nullable(Int64)", "null"),
    "String": ("String", "'text'"),
    "Variant": ("Variant(Int64, String)", "7::Variant(Int64, String)"),
    "Dynamic": ("Dynamic", "7::Dynamic"),
}
# part, key, version, amount, sign
CONFORMING = [(0, 1, 1, 5, 1), (0, 1, 1, 5, -1), (1, 1, 2, 6, 1), (0, 2, 1, 5, 1)]
LIVE = [(1, 1, 2, 6), (0, 2, 1, 5)]
VIOLATING = [
    *CONFORMING,
    *[(0, 3, 1, 5, 1), (0, 3, 1, 5, 1)],  # twice
    *[(0, 4, 1, 5, 1), (0, 4, 2, 5, 1)],  # two live rows
    *[(0, 5, 1, 5, 1), (0, 5, 1, 6, -1)],  # a cancel row with a different amount
    *[(0, 6, 1, 5, 1), (1, 6, 1, 5, -1)],  # in another partition
    *[(0, 7, 1, 5, 1), (0, 7, 2, 5, 1), (0, 7, 2, 5, -1)],  # an old version is live
    (0, 8, 1, 5, -1),  # no state row
    (0, 9, 1, 5, 2),  # no sign
]


def quoted(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


@dataclass(frozen=True)
class Layout:
    """The names of key, version and sign, and the types of the other columns."""

    name: str
    key: str
    version: str
    sign: str
    types: tuple[str, ...]

    @property
    def places(self) -> list[str]:
        return ["part", self.key, self.version, "amount"]

    @property
    def others(self) -> dict[str, tuple[str, str]]:
        """Type and value of the other columns."""
        names = [name for name in NAMES if name not in (*self.places, self.sign)]
        return {name: TYPES[self.types[i % len(self.types)]] for i, name in enumerate(names)}

    def create(self, project: CollapsingProject) -> None:
        columns = ["Int64"] * 4
        columns[2] = "UInt64"
        typed = [
            *(f"{quoted(n)} {t}" for n, t in zip(self.places, columns, strict=True)),
            *(f"{quoted(name)} {kind}" for name, (kind, _) in self.others.items()),
        ]
        values = ", ".join(value for _, value in self.others.values())
        for table, rows in (("good", CONFORMING), ("bad", VIOLATING), ("reference", LIVE)):
            name = f"{self.name}_{table}"
            sign = "" if table == "reference" else f", {quoted(self.sign)} Int8"
            engine = (
                "Memory"
                if table == "reference"
                else f"VersionedCollapsingMergeTree({quoted(self.sign)}, {quoted(self.version)}) "
                f"partition by part order by {quoted(self.key)}"
            )
            project.command(f"create table {name} ({', '.join(typed)}{sign}) engine = {engine}")
            if table != "reference":
                project.command(f"system stop merges {name}")
            project.command(
                f"insert into {name} select p, k, v, a, {values}{', s' if sign else ''} "
                f"from values('p Int64, k Int64, v UInt64, a Int64{', s Int8' if sign else ''}', "
                f"{', '.join(map(str, rows))}) settings optimize_on_insert = 0"
            )
        project.command(
            f"create table {self.name}_sums (`uncollapsed rows` Int64, `net` Int64, `surplus` Int64) engine = Memory"
        )
        project.command(f"insert into {self.name}_sums values (0, 5, 1), (1, 6, 1)")

    @property
    def tests(self) -> dict[str, dict[str, Any]]:
        key = {"unique_key": self.key}
        return {
            "sign_is_unit": {},
            "net_sign_is_zero_or_one": {},
            "one_live_row_per_key": key,
            "cancel_rows_match_state_rows": {},
            "pairs_share_a_partition": key,
            "live_version_is_the_highest": key,
            "final_equals_signed_sums": {},
            "rows_waiting_to_collapse_below": {"rows": 4},
            "live_rows_equal": {"reference": f"names.{self.name}_reference", **key},
            "aggregate_agrees": {
                "aggregate": f"names.{self.name}_sums",
                "group_by": {"uncollapsed rows": "part"},
                "sums": {"net": "amount"},
                "count": "surplus",
            },
        }

    def described(self, table: str) -> dict[str, Any]:
        return {
            "name": f"{self.name}_{table}",
            "data_tests": [
                {test: {"name": f"{test}_{self.name}_{table}", "arguments": arguments}}
                for test, arguments in self.tests.items()
            ],
        }


LAYOUTS = [
    Layout("paths", "live_rows", "failing_condition", "it's", ("JSON", "Tuple", "Dynamic")),
    Layout("sizes", "my key", 'my "version"', "my `sign, x)", ("Map", "Nullable", "String", "Variant")),
]  # fmt: skip
TESTS = list(LAYOUTS[0].tests)


def test_names_beside_columns_are_reserved() -> None:
    """So no name in an apply's SQL is mistaken for a part of a user's column, whatever the columns are called."""
    of_an_apply = aliases_of(sources("macros/materializations/versioned_collapsing", "macros/clickhouse"))
    assert set(unreserved({**ALIASES, **of_an_apply})) - OUTERMOST == set()
    assert len(NAMES) > 80


@pytest.fixture(scope="module")
def project(make_project: Callable[[str], CollapsingProject]) -> CollapsingProject:
    project = make_project("names")
    project.client.set_client_setting("allow_suspicious_variant_types", 1)
    described = []
    models = project.folder / "models"
    for layout in LAYOUTS:
        layout.create(project)
        described += [layout.described("good"), layout.described("bad")]
        for kind in ("good", "bad"):
            config = {
                "unique_key": layout.key,
                "version": layout.version,
                "sign": layout.sign,
                "partition_by": "part",
                "alias": f"{layout.name}_{kind}",
            }
            project.add_model(f"{layout.name}_{kind}", config, "select 1")
        sign = json.dumps(layout.sign)
        relation = f"source('elsewhere', '{layout.name}_good')"
        table = "{{ config(materialized='table') }}"
        (models / f"{layout.name}_sum.sql").write_text(
            f"{table} {{{{ versioned_collapsing.signed_sums({relation}, {{'live': 'part'}}, {{'stored': 'amount'}}, 'kept', {sign}) }}}}"
        )
        (models / f"{layout.name}_live.sql").write_text(
            f"{table} select amount, part from {{{{ versioned_collapsing.live_rows({relation}, {sign}) }}}}"
        )
        (models / f"{layout.name}_average.sql").write_text(
            f"{table} select {{{{ versioned_collapsing.signed_avg('amount', {sign}) }}}} as a, "
            f"{{{{ versioned_collapsing.signed_count_if('part = 0', {sign}) }}}} as b "
            f"from {{{{ {relation} }}}} {{{{ versioned_collapsing.having_live({sign}) }}}}"
        )
    source = {"name": "elsewhere", "schema": "names", "tables": described}
    (models / "sources.yml").write_text(json.dumps({"sources": [source]}))
    return project


@pytest.fixture(scope="module")
def outcomes(project: CollapsingProject) -> dict[str, Node]:
    # FINAL for a whole profile must not hide what a test looks for.
    project.set_profile(custom_settings={"final": 1})
    found = project.dbt("test")
    project.set_profile()
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("test", TESTS)
def test_generic_tests(outcomes: dict[str, Node], layout: Layout, test: str) -> None:
    for table, status in (("good", "pass"), ("bad", "fail")):
        outcome = outcomes[f"{test}_{layout.name}_{table}"]
        assert outcome.status == status, outcome.message


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_operations(project: CollapsingProject, layout: Layout) -> None:
    good, bad, reference = (f"{layout.name}_{table}" for table in ("good", "bad", "reference"))
    assert "agrees with" in project.operation("reconcile", model=good, reference=f"names.{reference}")
    with pytest.raises(OperationError, match="0 keys missing, 7 unexpected, 0 doubled, 0 with other values"):
        project.operation("reconcile", model=bad, reference=f"names.{reference}")
    assert "0 keys to repair" in project.operation("rebalance", model=good)
    with pytest.raises(OperationError, match=r"\d keys to repair"):
        project.operation("rebalance", model=bad)
    status = project.operation("collapse_status", model=good)
    assert "2 live rows of 4 stored; 2 rows waiting for a merge; 0 unbalanced keys" in status
    assert " unbalanced keys\n  repair: dbt run-operation" in project.operation("collapse_status", model=bad)


def test_sign_aware_macros(project: CollapsingProject) -> None:
    models = [f"{layout.name}_{kind}" for layout in LAYOUTS for kind in ("sum", "live", "average")]
    project.build("--select", *models)
    for layout in LAYOUTS:
        rows = project.query(f"select live, stored, kept from {layout.name}_sum order by live")
        assert rows == [(0, 5, 1), (1, 6, 1)]
        assert project.query(f"select * from {layout.name}_live order by all") == [(5, 0), (6, 1)]
        assert project.query(f"select * from {layout.name}_average") == [(5.5, 1)]
