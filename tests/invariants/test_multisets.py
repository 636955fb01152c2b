"""The macros over counts by value give what SQL gives over the live rows, whatever the history was."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from tests.support.collapsing_project import CollapsingProject, Row

KEYS, RUNS = 60, 6
STRUCTURE = (
    "id Int64, region String, amount Nullable(Decimal(12, 2)), status String, updated_at DateTime, "
    "_version UInt64, _is_deleted Bool"
)
COLUMNS = {
    "id": "Int64",
    "region": "String",
    "amount": "Nullable(Decimal(12, 2))",
    "status": "String",
    "updated_at": "DateTime",
}
LEVELS = (0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1)

# The macro, and its equivalent over live rows.
OF_AMOUNTS = {
    "multiset_min('amount')": "min(amount)",
    "multiset_max('amount')": "max(amount)",
    "multiset_max('-amount')": "max(-amount)",
    "multiset_count_distinct('amount')": "uniqExact(amount)",
    "multiset_median('amount')": "quantileExactInclusive(0.5)(toFloat64(amount))",
    **{
        f"multiset_percentile_cont('amount', {level})": f"quantileExactInclusive({level})(toFloat64(amount))"
        for level in LEVELS
    },
    # The sign macros accept the count as a sign.
    "signed_count('live_rows')": "toInt64(count())",
    "signed_count_non_null('amount', 'live_rows')": "toInt64(count(amount))",
    "signed_sum('amount', 'live_rows')": "sum(amount)",
    "signed_avg('amount', 'live_rows', is_nullable=true)": "sum(amount) / nullIf(count(amount), 0)",
}
DISCRETE = [f"multiset_percentile_disc('amount', {level})" for level in LEVELS]
SPELLED = {
    "multiset_min('amount', 'n')": "minIf(amount, n > 0)",
    "multiset_max_by('status', 'updated_at')": "argMaxIf(status, updated_at, live_rows > 0)",
    "multiset_min_by('status', 'updated_at')": "argMinIf(status, updated_at, live_rows > 0)",
    "multiset_percentile_disc('at', 0.9, 'my count')": 'quantileExactWeightedIf(0.9)(at, toUInt64("my count"), "my count" > 0)',
    "multiset_median('amount')": "quantileExactWeightedInterpolatedIf(0.5)(toFloat64(amount), toUInt64(live_rows), live_rows > 0)",
    "multiset_top_k('status', 2)": "tupleElement(groupArraySortedIf(2)((-live_rows, status), live_rows > 0 and status is not null), 2)",
}
TYPES = {
    "Int64": ("-5", "7"),
    "UInt8": ("0", "255"),
    "Float64": ("-0.5", "7.25"),
    "Decimal(38, 2)": ("'-5.25'", "'7.75'"),
    "Bool": ("false", "true"),
    "Date": ("'2026-01-01'", "'2026-02-01'"),
    "Date32": ("'1926-01-01'", "'2026-02-01'"),
    "DateTime": ("'2026-01-01 00:00:00'", "'2026-02-01 00:00:00'"),
    "DateTime64(3)": ("'2026-01-01 00:00:00.5'", "'2026-01-01 00:00:00.75'"),
    "String": ("'a'", "'b'"),
    "FixedString(2)": ("'ab'", "'b'"),
    "LowCardinality(String)": ("'a'", "'b'"),
    "Nullable(String)": ("'a'", "'b'"),
    "Enum8('b' = 1, 'a' = 2)": ("'b'", "'a'"),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000002'"),
    "IPv4": ("'1.0.0.1'", "'9.0.0.1'"),
}
RANKED = ("Int64", "UInt8", "Float64", "Decimal(38, 2)", "Bool", "Date", "DateTime", "DateTime64(3)")
# Where each query reads the counts: a table that follows, a view, the signed table itself.
SOURCES = {
    "kept": ("ref('kept_counts')", "live_rows"),
    "seen": ("ref('seen_counts')", "live_rows"),
    "own": ("ref('orders')", "_sign"),
}


def _histories(seed: int) -> tuple[list[list[Row]], dict[int, Row]]:
    """The change sets of several runs, and the rows that are live after them. No row of XX is."""
    chance, live, versions = random.Random(seed), dict[int, Row](), Counter[int]()
    runs: list[list[Row]] = []
    start = datetime(2026, 1, 1)
    for run in range(RUNS):
        changes = []
        for key in chance.sample(range(KEYS), KEYS if run == 0 else KEYS // 2):
            versions[key] += 1
            is_last = run == RUNS - 1
            is_deleted = key in live and chance.random() < 0.3
            amount = Decimal(chance.randint(-4, 4)) / 2 if chance.random() < 0.8 else None
            if chance.random() < 0.1:
                amount = Decimal(chance.choice((-9999999999, 9999999999)))
            row = (
                key,
                chance.choice(["EU", "US", "AP"] + ["XX"] * (not is_last)),
                None if key % 7 == 0 else amount,
                chance.choice(("new", "paid", "sent", "lost")),
                start + timedelta(seconds=1000 * versions[key] + key),
            )
            changes.append((*row, versions[key], is_deleted))
            live.pop(key, None)
            if not is_deleted:
                live[key] = row
        runs.append(changes)
    gone = [key for key, row in live.items() if row[1] == "XX"]
    runs.append([(*live.pop(key), versions[key] + 1, True) for key in gone])
    return runs, live


@pytest.fixture(scope="module")
def built(make_project: Callable[[str], CollapsingProject]) -> tuple[CollapsingProject, dict[int, Row]]:
    """A table and its counts by value, without merges, and the live rows."""
    project = make_project("multisets")
    columns = [{"name": name, "data_type": kind} for name, kind in COLUMNS.items()]
    counted = {"group_by": ["region", "amount"], "sums": [], "count": "live_rows"}
    agrees = {"aggregate_agrees": {"arguments": {"aggregate": "ref('kept_counts')", **counted}}}
    properties = {"name": "orders", "columns": columns, "data_tests": [agrees]}
    project.add_properties("orders", {"models": [properties]})
    (project.folder / "models" / "orders.sql").write_text(
        "{{ config(materialized='versioned_collapsing', unique_key='id', projections=["
        "versioned_collapsing.signed_projection('by_amount', ['region', 'amount'], [])]) }} select * from changes"
    )
    groups = "['region', 'amount', 'status', 'updated_at']"
    kept = (
        "{{ config(materialized='versioned_collapsing_view', order_by=" + groups + ", "
        "settings={'allow_nullable_key': 1}) }}\n"
    )
    counts = f"{{{{ versioned_collapsing.signed_sums(ref('orders'), {groups}, []) }}}}"
    models = {"kept_counts": kept + counts, "seen_counts": counts}
    for name, (relation, count) in SOURCES.items():
        called = [
            macro.replace("'live_rows'", f"'{count}'") if "live_rows" in macro else f"{macro[:-1]}, count='{count}')"
            for macro in (*OF_AMOUNTS, *DISCRETE)
        ]
        aggregates = ", ".join(f"{{{{ versioned_collapsing.{m} }}}} as c{i}" for i, m in enumerate(called))
        models[f"all_{name}"] = (
            f"select {aggregates} from {{{{ versioned_collapsing.multiset({relation}, 'amount', '{count}') }}}}"
        )
        models[f"by_region_{name}"] = (
            f"select region, {aggregates} from {{{{ versioned_collapsing.multiset({relation}, "
            f"['region', 'amount'], '{count}') }}}} group by region"
        )
        models[f"states_{name}"] = (
            f"select region, {{{{ versioned_collapsing.multiset_top_k('status', 2, '{count}') }}}} as frequent "
            f"from {{{{ versioned_collapsing.multiset({relation}, ['region', 'status'], '{count}') }}}} group by region"
        )
        models[f"latest_{name}"] = (
            f"select region, {{{{ versioned_collapsing.multiset_max_by('status', 'updated_at', '{count}') }}}} as latest, "
            f"{{{{ versioned_collapsing.multiset_min_by('status', 'updated_at', '{count}') }}}} as earliest from "
            f"{{{{ versioned_collapsing.multiset({relation}, ['region', 'status', 'updated_at'], '{count}') }}}} group by region"
        )
    for name, sql in models.items():
        (project.folder / "models" / f"{name}.sql").write_text(sql)
    runs, live = _histories(0)
    for number, changes in enumerate(runs):
        project.replace_rows("changes", STRUCTURE, changes)
        project.build("--select", "orders", "kept_counts")
        if number == 0:
            project.command("system stop merges orders")
            project.command("system stop merges kept_counts")
    outcomes = project.run("--exclude", "orders", "kept_counts")
    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
    return project, live


def _same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, float):  # two ways to interpolate
        return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, rel_tol=1e-12)
    return left == right


def test_what_is_not_merged_is_there(built: tuple[CollapsingProject, dict[int, Row]]) -> None:
    project, live = built
    (counts,) = project.query(
        "select count(), countIf(live_rows < 0), countIf(live_rows > 1), uniqExact(region, amount, status, updated_at) "
        "from kept_counts"
    )
    assert counts[1] > 0
    assert counts[0] > counts[3]
    several = "select max(n) from (select sum(_sign) as n from orders group by region, amount)"
    assert project.query(several) > [(2,)]
    assert project.query("select count() from orders where region = 'XX'") > [(0,)]
    assert len(live) > KEYS // 4


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("group", ["all", "by_region"])
def test_values_are_those_of_the_live_rows(
    built: tuple[CollapsingProject, dict[int, Row]], group: str, name: str
) -> None:
    project, live = built
    plain = ", ".join(OF_AMOUNTS.values())
    key, grouped = ("region, ", "group by region") if group == "by_region" else ("", "")
    order = "order by region" if grouped else ""
    expected = project.query(f"select {key}{plain} from orders final where _sign = 1 {grouped} {order}")
    found = project.query(f"select * from {group}_{name} {order}")
    assert len(found) == len(expected) == (3 if grouped else 1)
    named = [*(["region"] if grouped else []), *OF_AMOUNTS]
    for row, true in zip(found, expected, strict=True):
        pairs = zip(named, row, true, strict=False)
        assert {n: (a, b) for n, a, b in pairs if not _same(a, b)} == {}
        values = sorted(r[2] for r in live.values() if r[2] is not None and (not grouped or r[1] == row[0]))
        ranks = [max(math.ceil(level * len(values) - 1e-9), 1) for level in LEVELS]
        assert list(row[-len(LEVELS) :]) == [values[rank - 1] for rank in ranks]


@pytest.mark.parametrize("name", SOURCES)
def test_the_most_frequent_and_the_latest_are_those_of_the_live_rows(
    built: tuple[CollapsingProject, dict[int, Row]], name: str
) -> None:
    project, live = built
    frequent, latest = {}, {}
    for region in {row[1] for row in live.values()}:
        rows = [row for row in live.values() if row[1] == region]
        counted = Counter(row[3] for row in rows)
        frequent[region] = sorted(counted, key=lambda status: (-counted[status], status))[:2]
        ordered = sorted(rows, key=lambda row: row[4])
        latest[region] = (ordered[-1][3], ordered[0][3])
    assert dict(project.query(f"select region, frequent from states_{name}")) == frequent
    found = project.query(f"select region, latest, earliest from latest_{name}")
    assert {region: (last, first) for region, last, first in found} == latest


def test_the_counts_are_those_of_the_table(built: tuple[CollapsingProject, dict[int, Row]]) -> None:
    project, _ = built
    outcomes = project.dbt("test", "--select", "orders")
    assert [outcome.status for outcome in outcomes.values()] == ["pass"], outcomes


def test_only_live_values_are_there(built: tuple[CollapsingProject, dict[int, Row]]) -> None:
    project, live = built
    inline = "select * from {{ versioned_collapsing.multiset(ref('kept_counts'), ['region', 'amount']) }}"
    (project.folder / "models" / "values.sql").write_text(inline)
    project.run("--select", "values")
    found = {(region, amount): n for region, amount, n in project.query("select * from values")}
    assert found == Counter((row[1], row[2]) for row in live.values())


def test_of_no_rows_they_give_what_the_functions_give(built: tuple[CollapsingProject, dict[int, Row]]) -> None:
    project, _ = built
    called = ", ".join(f"{{{{ versioned_collapsing.{macro} }}}}" for macro in OF_AMOUNTS)
    nothing = "(select * from seen_counts where region = 'XX')"
    (project.folder / "models" / "nothing.sql").write_text(
        f"select tuple({called}) as found from {{{{ versioned_collapsing.multiset(\"{nothing}\", 'amount') }}}}"
    )
    project.run("--select", "nothing")
    plain = ", ".join(OF_AMOUNTS.values())
    ((found,),) = project.query("select found from nothing")
    ((expected,),) = project.query(f"select tuple({plain}) from orders final where false")
    pairs = zip(OF_AMOUNTS, found, expected, strict=True)
    assert {n: (a, b) for n, a, b in pairs if not _same(a, b)} == {}


def test_the_spelling(built: tuple[CollapsingProject, dict[int, Row]]) -> None:
    project, _ = built
    texts = ", ".join(f"'{macro.replace(chr(39), chr(39) * 2)}'" for macro in SPELLED)
    spelled = ", ".join(f"$${{{{ versioned_collapsing.{macro} }}}}$$" for macro in SPELLED)
    (project.folder / "models" / "spellings.sql").write_text(
        f"select arrayJoin(arrayZip([{texts}], [{spelled}])) as spelling"
    )
    project.run("--select", "spellings")
    assert dict(s for (s,) in project.query("select * from spellings")) == SPELLED


def test_values_may_be_of_any_type(make_project: Callable[[str], CollapsingProject]) -> None:
    project = make_project("multisets_of_types")
    expected = {}
    for number, (type_name, values) in enumerate(TYPES.items()):
        low, high = (f"cast({value} as {type_name})" for value in values)
        project.command(
            f"create table of_{number} (value {type_name}, live_rows Int64) engine = MergeTree order by value "
            "settings allow_nullable_key = 1"
        )
        for value, count in {low: 3, high: 2}.items():  # Each count is the sum of two rows.
            project.command(f"insert into of_{number} select {value}, {count} - 7")
            project.command(f"insert into of_{number} select {value}, 7")
        macros = {
            "multiset_min('value')": low,
            "multiset_max('value')": high,
            "multiset_max_by('value', 'value')": high,
            "multiset_count_distinct('value')": "2",
            "multiset_top_k('value', 2)": f"[{low}, {high}]",
        }
        if type_name in RANKED:
            macros["multiset_percentile_disc('value', 0.6)"] = low
            macros["multiset_percentile_disc('value', 0.7)"] = high
        called = ", ".join(
            f"toString({{{{ versioned_collapsing.{macro} }}}}) = toString({true}) as c{i}"
            for i, (macro, true) in enumerate(macros.items())
        )
        (project.folder / "models" / f"typed_{number}.sql").write_text(
            f"select {called} from {{{{ versioned_collapsing.multiset('of_{number}', 'value') }}}}"
        )
        expected[type_name] = dict.fromkeys(macros, 1)
    project.build()
    found = {}
    for number, type_name in enumerate(TYPES):
        (row,) = project.query(f"select * from typed_{number}")
        found[type_name] = dict(zip(expected[type_name], row, strict=True))
    assert found == expected


def test_a_projection_answers_for_the_table_itself(built: tuple[CollapsingProject, dict[int, Row]]) -> None:
    project, _ = built
    forced = "settings force_optimize_projection_name = 'by_amount', force_optimize_projection = 1"
    answered = f"select * from by_region_own order by region {forced}"
    assert project.query(answered) == project.query("select * from by_region_seen order by region")
