"""Every generic test passes on conforming rows, and fails on rows that violate its claim, naming them and the
reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from tests.support.collapsing_project import CollapsingProject
from tests.support.commands import Node
from tests.support.shop import REPOSITORY

SEEDS = REPOSITORY / "tests" / "invariants" / "seeds"
GENERIC_TESTS = (
    "aggregate_agrees",
    "cancel_rows_match_state_rows",
    "final_equals_signed_sums",
    "live_rows_equal",
    "live_version_is_the_highest",
    "net_sign_is_zero_or_one",
    "one_live_row_per_key",
    "pairs_share_a_partition",
    "rows_waiting_to_collapse_below",
    "sign_is_unit",
)
NOT_SIGNED = ("true_orders", "live_rows_equal", "orders_by_region", "aggregate_agrees")
# Tests that need a version, which the engine may not have.
UNVERSIONED = ("live_version_is_the_highest", "live_rows_equal")
KEY = {"unique_key": "order_id"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "one_live_row_per_key": KEY,
    "pairs_share_a_partition": KEY,
    "live_version_is_the_highest": KEY,
    "rows_waiting_to_collapse_below": {"rows": 5},
    "live_rows_equal": {"reference": "ref('true_orders')", **KEY},
    "aggregate_agrees": {"aggregate": "ref('orders_by_region')", "group_by": "region", "sums": "amount",
        "count": "orders"},
    "sums_equal": {"reference": "ref('true_orders')", "group_by": "region", "sums": "amount", "count": "orders"},
}  # fmt: skip
OTHER_SUMS = [
    "the view has other values: amount",
    "the view has the group, but the reference does not",
    "the reference has the group, but the view does not",
]


@dataclass(frozen=True)
class Case:
    """A generic test on a relation, and the conditions that its failing rows name."""

    name: str
    test: str
    relation: str
    conditions: list[str] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def as_yaml(self) -> dict[str, Any]:
        arguments = {**ARGUMENTS.get(self.test, {}), **self.arguments}
        config = {"store_failures": True, "schema": "failures", **self.config}
        return {self.test: {"name": self.name, "arguments": arguments, "config": config}}


@dataclass(frozen=True)
class Misuse:
    """A generic test with meaningless arguments, and its error message."""

    name: str
    test: str
    relation: str
    error: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def as_yaml(self) -> dict[str, Any]:
        return {self.test: {"name": self.name, "arguments": self.arguments}}


def violations(test: str, *conditions: str, **arguments: Any) -> Case:
    relation = "signed_orders" if test in NOT_SIGNED else test
    return Case(f"{test}_fails", test, relation, list(conditions), arguments)


VIOLATIONS = [
    violations("sign_is_unit", "the sign is neither 1 nor -1"),
    violations("net_sign_is_zero_or_one", "the state row is stored more than once", "more cancel rows than state rows"),
    violations("one_live_row_per_key", "more than one live row"),
    violations("cancel_rows_match_state_rows", "the cancel row differs from the state row in amount"),
    Case("cancel_row_without_state_row", "cancel_rows_match_state_rows", "net_sign_is_zero_or_one",
        ["the cancel row has no state row"]),
    violations("pairs_share_a_partition", "a state row in partition 202412 and its cancel row in 202501"),
    violations("live_version_is_the_highest", "a stored version is above the version of the live row"),
    violations("final_equals_signed_sums", "FINAL returns the row, but signed sums do not",
        "signed sums return the row, but FINAL does not"),
    violations("rows_waiting_to_collapse_below", "4 of 5 rows are waiting for a merge", rows=4),
    Case("share_waits_to_collapse", "rows_waiting_to_collapse_below", "rows_waiting_to_collapse_below",
        ["4 of 5 rows are waiting for a merge"], {"rows": None, "share": 0.5}),
    violations("live_rows_equal", "in the reference, but not live", "live, but not in the reference",
        "other values than in the reference: status", reference="ref('live_rows_equal')"),
    Case("live_rows_equal_in_some_columns", "live_rows_equal", "signed_orders",
        ["in the reference, but not live", "live, but not in the reference"],
        {"reference": "ref('live_rows_equal')", "columns": ["order_id", "region"]}),
    violations("aggregate_agrees", "the aggregate has other values: amount",
        "the aggregate has the group, but the table does not", "the table has the group, but the aggregate does not",
        aggregate="ref('aggregate_agrees')"),
    Case("projection_that_is_not_filled", "aggregate_agrees", "projected",
        ["the table has the group, but the aggregate does not"] * 3, {"aggregate": None, "projection": "later"}),
]  # fmt: skip
CASES = [
    *(Case(f"{test}_passes", test, "signed_orders") for test in GENERIC_TESTS),
    *(Case(f"{test}_passes_on_foreign", test, "foreign",
        arguments={"version": "_version"} if test in UNVERSIONED else {}) for test in GENERIC_TESTS),
    Case("projection_agrees", "aggregate_agrees", "projected",
        arguments={"aggregate": None, "projection": "by_region"}),
    Case("sums_equal_passes", "sums_equal", "orders_by_region"),
    Case("sums_equal_those_of_a_join", "sums_equal", "orders_by_region",
        arguments={"reference": "{{ ref('true_orders') }} as o inner join {{ ref('orders_by_region') }} as r "
        "on o.region = r.region and r.amount <> 7.5", "group_by": {"region": "o.region"},
        "sums": {"amount": "o.amount"}}),
    Case("sums_equal_fails", "sums_equal", "aggregate_agrees", OTHER_SUMS),
    Case("sums_of_all_equal_fails", "sums_equal", "aggregate_agrees", ["the view has other values: amount"],
        {"group_by": []}),
    Case("sums_equal_where", "sums_equal", "aggregate_agrees", OTHER_SUMS[:1],
        config={"where": "region in ('US', 'EU')"}),
    Case("quarantine_has_lines", "quarantine_is_empty", "quarantine_is_empty",
        ["malformed JSON", "price is missing"], config={"severity": "error"}),
    Case("quarantine_has_none_where", "quarantine_is_empty", "quarantine_is_empty", config={"where": "batch > 2"}),
    *VIOLATIONS,
    # Parts of a table: violations outside a part are not seen, those inside are.
    *(Case(f"{name}_where", name, name, config={"where": "region <> 'US'"}) for name in ("sign_is_unit",
        "one_live_row_per_key", "cancel_rows_match_state_rows", "pairs_share_a_partition",
        "live_version_is_the_highest", "final_equals_signed_sums", "rows_waiting_to_collapse_below")),
    *(Case(f"{name}_recent", name, name, arguments={"recent_partitions": 1}) for name in ("sign_is_unit",
        "net_sign_is_zero_or_one", "one_live_row_per_key", "cancel_rows_match_state_rows", "pairs_share_a_partition",
        "live_version_is_the_highest", "final_equals_signed_sums", "rows_waiting_to_collapse_below")),
    *(Case(f"{case.name}_in_a_sample_of_all", case.test, case.relation, case.conditions,
        {**case.arguments, "sample": 1}) for case in VIOLATIONS[::5]),
    *(Case(f"{case.name}_in_a_sample_of_none", case.test, case.relation, [],
        {**case.arguments, "sample": 1_000_003}) for case in VIOLATIONS),
    Case("violation_where", "one_live_row_per_key", "one_live_row_per_key", ["more than one live row"],
        config={"where": "region = 'US'"}),
    Case("violation_in_recent_partitions", "one_live_row_per_key", "one_live_row_per_key", ["more than one live row"],
        {"recent_partitions": 2}),
    Case("equal_where", "live_rows_equal", "signed_orders", arguments={"reference": "ref('live_rows_equal')"},
        config={"where": "region = 'EU'"}),
    Case("equal_in_recent_partitions", "live_rows_equal", "signed_orders", ["live, but not in the reference"],
        {"reference": "ref('live_rows_equal')", "recent_partitions": 1}),
    Case("agrees_where", "aggregate_agrees", "signed_orders", ["the aggregate has other values: amount"],
        {"aggregate": "ref('aggregate_agrees')"}, {"where": "region in ('US', 'EU')"}),
    Case("agrees_in_recent_partitions", "aggregate_agrees", "signed_orders",
        ["the table has the group, but the aggregate does not"],
        {"aggregate": "ref('aggregate_agrees')", "recent_partitions": 1}),
]  # fmt: skip

MISUSES = [
    Misuse("no_sign", "sign_is_unit", "orders_by_region",
        "has the engine MergeTree, which has no sign. Use the test on a CollapsingMergeTree"),
    Misuse("no_version", "live_version_is_the_highest", "foreign",
        "has no version. Name the version column in the argument `version`.", KEY),
    Misuse("no_such_column", "live_rows_equal", "signed_orders",
        "columns: `invariants`.`signed_orders` lacks price. It has order_id,",
        {**KEY, "reference": "ref('true_orders')", "columns": ["price"]}),
    Misuse("no_reference", "sums_equal", "orders_by_region", "sums_equal: ClickHouse cannot parse `reference`",
        {"reference": "orders as as o", "group_by": "region", "sums": "amount"}),
]  # fmt: skip


def data_tests_of(relation: str) -> list[dict[str, Any]]:
    known: list[Case | Misuse] = [*CASES, *MISUSES]
    return [case.as_yaml for case in known if case.relation == relation]


class Ran:
    """The project with all seeds and cases, built once."""

    def __init__(self, project: CollapsingProject) -> None:
        self.project = project
        folder = project.folder
        shutil.copytree(SEEDS, folder / "seeds")
        (folder / "seeds" / "_seeds.yml").write_text(json.dumps({"seeds": self._seeds()}))
        project.command(
            "create table foreign_orders (order_id Int64, region LowCardinality(String), status String, "
            "amount Nullable(Decimal(12, 2)), updated_at Date, _version UInt64, state Int8) "
            "engine = CollapsingMergeTree(state) partition by toYYYYMM(updated_at) order by (region, order_id)"
        )
        project.command(
            "create table projected (order_id Int64, region LowCardinality(String), status String, "
            "amount Decimal(12, 2), updated_at Date, _version UInt64, _sign Int8, "
            "projection by_region (select region, sum(amount * _sign), sum(_sign) group by region), "
            ") engine = VersionedCollapsingMergeTree(_sign, _version) order by order_id "
            "settings deduplicate_merge_projection_mode = 'rebuild'"
        )
        (folder / "models" / "sources.yml").write_text(json.dumps({"sources": self._sources()}))

    def _seeds(self) -> list[dict[str, Any]]:
        """The seeds as the project describes them, each with its cases."""
        described: list[dict[str, Any]] = yaml.safe_load((SEEDS / "_seeds.yml").read_text())["seeds"]
        return [{**seed, "data_tests": data_tests_of(seed["name"])} for seed in described]

    def _sources(self) -> list[dict[str, Any]]:
        foreign = {"name": "foreign", "identifier": "foreign_orders", "data_tests": data_tests_of("foreign")}
        projected = {"name": "projected", "data_tests": data_tests_of("projected")}
        return [{"name": "elsewhere", "schema": self.project.schema, "tables": [foreign, projected]}]

    def fill_from_seed(self) -> None:
        rows = "order_id, region, status, amount, updated_at, _version, _sign from signed_orders"
        self.project.command("system stop merges foreign_orders")
        for sign in (1, -1):
            self.project.command(f"insert into foreign_orders select {rows} where _sign = {sign}")
        self.project.command(
            "insert into projected select order_id, region, status, coalesce(amount, 1), updated_at, _version, _sign "
            "from signed_orders"
        )
        self.project.command(
            "alter table projected add projection later "
            "(select region, sum(amount * _sign), sum(_sign) group by region)"
        )

    def test(self) -> dict[str, Node]:
        return self.project.dbt("test")

    def conditions(self, case: Case) -> list[str]:
        rows = self.project.query(f"select failing_condition from {self.project.schema}_failures.{case.name}")
        return sorted(condition for (condition,) in rows)


@pytest.fixture(scope="module")
def ran(make_project: Callable[[str], CollapsingProject]) -> Ran:
    ran = Ran(make_project("invariants"))
    seeded = ran.project.dbt("seed")
    assert {outcome.status for outcome in seeded.values()} == {"success"}, seeded
    ran.fill_from_seed()
    return ran


@pytest.fixture(scope="module")
def outcomes(ran: Ran) -> dict[str, Node]:
    return ran.test()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(ran: Ran, outcomes: dict[str, Node], case: Case) -> None:
    outcome = outcomes[case.name]
    assert outcome.status == ("fail" if case.conditions else "pass"), outcome.message
    assert ran.conditions(case) == sorted(case.conditions)


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda misuse: misuse.name)
def test_misuse(outcomes: dict[str, Node], misuse: Misuse) -> None:
    assert outcomes[misuse.name].status == "error"
    assert misuse.error in " ".join(outcomes[misuse.name].message.split())


def test_every_generic_test_is_shown_to_fail() -> None:
    """Here, or in the tests of the subject: those of the ledger and of change sets."""
    elsewhere = {
        "every_event_is_accounted_for": "tests/materialization/test_balance.py",
        "feed_agrees": "tests/materialization/test_feed.py",
        "no_unknown_fields": "tests/support/change_set_project.py",
    }
    shown = {case.test for case in CASES if case.conditions}
    assert shown == {*GENERIC_TESTS, "sums_equal", "quarantine_is_empty"}
    names = {path.stem for path in (REPOSITORY / "tests" / "generic").glob("*.sql")}
    assert names == shown | elsewhere.keys()
    for name, path in elsewhere.items():
        assert f'"{name}"' in (REPOSITORY / path).read_text()
