"""The sign-aware macros: their spelling, and that they give for signed rows what SQL gives for live rows."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.support.collapsing_project import CollapsingProject

# The macro, its spelling, and the equivalent over live rows.
# fmt: off
AGGREGATES = [
    ("signed_count()", "sum(_sign)", "count()"),
    ("signed_count(sign='s')", "sum(s)", None),
    ("signed_count_if(\"status = 'paid'\")", "sumIf(_sign, status = 'paid')", "countIf(status = 'paid')"),
    ("signed_count_non_null('discount')", "sumIf(_sign, discount is not null)", "count(discount)"),
    ("signed_sum('amount')", "sum(amount * _sign)", "sum(amount)"),
    ("signed_sum('o.amount', 's')", "sum(o.amount * s)", None),
    ("signed_sum('abs(amount)')", "sum(abs(amount) * _sign)", "sum(abs(amount))"),
    ("signed_sum('amount - 1')", "sum((amount - 1) * _sign)", "sum(amount - 1)"),
    ("signed_sum('(amount) - (1)')", "sum(((amount) - (1)) * _sign)", "sum(amount - 1)"),
    ("signed_sum('discount')", "sum(discount * _sign)", "sum(discount)"),
    ("signed_sum_if('amount', \"status = 'paid'\")", "sumIf(amount * _sign, status = 'paid')", "sumIf(amount, status = 'paid')"),
    ("signed_avg('amount')", "(sum(amount * _sign) / nullIf(sum(_sign), 0))", "sum(amount) / count()"),
    ("signed_avg('discount', is_nullable=true)", "(sum(discount * _sign) / nullIf(sumIf(_sign, discount is not null), 0))", "sum(discount) / count(discount)"),
    ("signed_avg_if('amount', \"status = 'paid'\")", "(sumIf(amount * _sign, status = 'paid') / nullIf(sumIf(_sign, status = 'paid'), 0))", "sumIf(amount, status = 'paid') / nullIf(countIf(status = 'paid'), 0)"),
    ("signed_avg_if('discount', \"status = 'paid'\", is_nullable=true)", "(sumIf(discount * _sign, status = 'paid') / nullIf(sumIf(_sign, (status = 'paid') and discount is not null), 0))", "sumIf(discount, status = 'paid') / nullIf(countIf(status = 'paid' and discount is not null), 0)"),
    ("signed_count_non_null('not discount')", "sumIf(_sign, (not discount) is not null)", "count(not discount)"),
    ("signed_sum('not(discount)')", "sum((not(discount)) * _sign)", "sum(not(discount))"),
    ("signed_sum('amount', 'my sign')", "sum(amount * \"my sign\")", None),
    ("signed_sum('amount', '`my sign`')", "sum(amount * `my sign`)", None),
    ("having_live()", "having sum(_sign) <> 0", None),
]
# fmt: on
# Arguments that bind less tightly than what is put next to them, and the plain SQL over live rows.
EXPRESSIONS = (
    "amount",
    "amount - 1",
    "discount",
    "-discount",
    "not discount",
    "discount is null or amount > 3",
    "amount > 3 ? discount : null",
    "case when amount > 3 then 1 else 2 end",
    "discount::Nullable(Float64)",
)
CONDITIONS = ("status = 'paid'", "status = 'paid' or amount > 20", "not status = 'paid'", "amount > 3 ? true : false")
COMPOSED = [
    ("signed_count()", "count()"),
    *((f'signed_count_if("{c}")', f"countIf({c})") for c in CONDITIONS),
    *((f"signed_count_non_null('{e}')", f"count({e})") for e in EXPRESSIONS),
    *((f"signed_sum('{e}')", f"sum({e})") for e in EXPRESSIONS),
    *((f"signed_avg('{e}', is_nullable=true)", f"(sum({e}) / nullIf(count({e}), 0))") for e in EXPRESSIONS),
    ("signed_avg('amount')", "(sum(amount) / nullIf(count(), 0))"),
    *((f"""signed_sum_if('{e}', "{c}")""", f"sumIf({e}, {c})") for e in EXPRESSIONS for c in CONDITIONS[:2]),
    *(
        (
            f"""signed_avg_if('{e}', "{c}", is_nullable=true)""",
            f"(sumIf({e}, {c}) / nullIf(countIf(({c}) and ({e}) is not null), 0))",
        )
        for e in EXPRESSIONS
        for c in CONDITIONS[:2]
    ),
    (
        """signed_avg_if('amount', "status = 'paid'")""",
        "(sumIf(amount, status = 'paid') / nullIf(countIf(status = 'paid'), 0))",
    ),
]
CONTEXTS = (
    "100e0 / {}",
    "{} / 7",
    "{} * 2 - {}",
    "-{}",
    "{} % 7",
    "not {} <> 3",
    "{} > 1 and {} < 50",
    "{} is null or {} <> 0",
    "{} > 1 ? 1 : -{}",
    "{} between 0 and 10",
    "{}::Nullable(Float64)",
    "{} + 1 in (1, 2)",
)
COMPUTED = [(macro, plain) for macro, _, plain in AGGREGATES if plain]
PROJECTION = "versioned_collapsing.signed_projection('by_region', {'region': 'lower(region)'}, ['amount'])"


@pytest.fixture(scope="module")
def project(make_project: Callable[[str], CollapsingProject]) -> CollapsingProject:
    """A table with unmerged pairs, and models that use each macro."""
    project = make_project("sign_aware")
    structure = (
        "id Int64, region String, status String, amount Decimal(12, 2), discount Nullable(Int64), "
        "_version UInt64, _is_deleted Bool"
    )
    first = [(i, f"R{i % 3}", "new", Decimal(i), None if i % 2 else i, 1, False) for i in range(30)]
    second = [
        *((i, f"R{i % 3}", "paid", Decimal(i + 5), i, 2, False) for i in range(0, 30, 4)),
        *((i, f"R{i % 3}", "new", Decimal(0), None, 2, True) for i in range(2, 30, 3)),
    ]
    (project.folder / "models" / "orders.sql").write_text(
        "{{ config(materialized='versioned_collapsing', unique_key='id', projections=["
        + PROJECTION
        + "]) }} select * from changes"
    )
    texts = ", ".join(f"'{macro.replace(chr(39), chr(39) * 2)}'" for macro, _, _ in AGGREGATES)
    spelled = ", ".join(f"$${{{{ versioned_collapsing.{macro} }}}}$$" for macro, _, _ in AGGREGATES)
    columns = ",\n".join(f"{{{{ versioned_collapsing.{macro} }}}} as c{i}" for i, (macro, _) in enumerate(COMPUTED))
    plain = ",\n".join(f"{sql} as c{i}" for i, (_, sql) in enumerate(COMPUTED))
    composed = [
        [
            f"toFloat64({context.replace('{}', text)}) as c{i}_{j}"
            for i, text in enumerate(texts)
            for j, context in enumerate(CONTEXTS)
        ]
        for texts in (
            [f"{{{{ versioned_collapsing.{macro} }}}}" for macro, _ in COMPOSED],
            [sql for _, sql in COMPOSED],
        )
    ]
    models = {
        "composed": f"select region, {', '.join(composed[0])} from {{{{ ref('orders') }}}} group by region "
        "{{ versioned_collapsing.having_live() }}",
        "composed_plain": f"select region, {', '.join(composed[1])} "
        "from {{ versioned_collapsing.live_rows(ref('orders')) }} group by region",
        "sums_of_summed": "{{ versioned_collapsing.signed_sums(ref('orders'), {'status': 'upper(status)', 'is_large': 'amount > 7'}, "
        "{'amount': 'amount', 'net': 'amount - coalesce(discount, 0)', 'region': 'length(status)'}, 'id') }}",
        "sums_of_all": "{{ versioned_collapsing.signed_sums(ref('orders'), [], ['amount']) }}",
        "spellings": f"select arrayJoin(arrayZip([{texts}], [{spelled}])) as spelling",
        "signed": f"select region, {columns} from {{{{ ref('orders') }}}} group by region "
        "{{ versioned_collapsing.having_live() }}",
        "plain": f"select region, {plain} from {{{{ versioned_collapsing.live_rows(ref('orders')) }}}} group by region",
        "sums": "{{ versioned_collapsing.signed_sums(ref('orders'), {'region': 'lower(region)'}, ['amount']) }}",
        "sums_kept": "{{ config(materialized='versioned_collapsing_view', order_by='region') }}"
        "{{ versioned_collapsing.signed_sums(ref('orders'), {'region': 'lower(region)'}, {'revenue': 'amount'}, 'orders') }}",
    }
    for name, sql in models.items():
        (project.folder / "models" / f"{name}.sql").write_text(sql)
    for rows in (first, second):
        project.replace_rows("changes", structure, rows)
        project.build()
        project.command("system stop merges orders")
    assert project.query("select count() - sum(_sign) from orders") > [(0,)]
    return project


def test_the_spelling_is_fixed(project: CollapsingProject) -> None:
    spelled = dict(spelling for (spelling,) in project.query("select * from spellings"))
    assert spelled == {macro: text for macro, text, _ in AGGREGATES}


def test_signed_rows_give_what_live_rows_give(project: CollapsingProject) -> None:
    signed = project.query("select * from signed order by region")
    assert signed == project.query("select * from plain order by region")
    assert [region for region, *_ in signed] == ["R0", "R1"]


def test_a_dead_group_has_no_average(project: CollapsingProject) -> None:
    dead = "select sum(amount * _sign) / nullIf(sum(_sign), 0) from orders where region = 'R2'"
    assert project.query(dead) == [(None,)]


def test_live_rows_are_those_of_final(project: CollapsingProject) -> None:
    assert project.query("select count() from plain") == [(2,)]
    columns = "id, region, status, amount, discount, _version"
    (sql,) = (project.folder / "target").glob("compiled/**/plain.sql")
    live = sql.read_text().split(" from ", 1)[1].rsplit(" group by ", 1)[0]
    rows = project.query(f"select {columns} from {live} order by id")
    assert rows == project.query(f"select {columns} from orders group by {columns} having sum(_sign) = 1 order by id")


def test_the_sums_are_answered_from_the_projection(project: CollapsingProject) -> None:
    forced = "settings force_optimize_projection_name = 'by_region', force_optimize_projection = 1"
    sums = project.query(f"select * from sums where live_rows <> 0 order by region {forced}")
    assert sums == project.query(
        "select lower(region), sum(amount), toInt64(count()) from orders final where _sign = 1 group by 1 order by 1"
    )
    with pytest.raises(DatabaseError, match="force_optimize_projection"):
        project.query(f"select region, sum(_sign * amount) from orders group by region {forced}")


def test_a_summing_view_keeps_the_same_sums(project: CollapsingProject) -> None:
    kept = "select region, sum(revenue), sum(orders) from sums_kept group by region having sum(orders) <> 0 order by region"
    assert project.query(kept) == project.query("select * from sums where live_rows <> 0 order by region")


def test_macros_can_stand_in_any_expression(project: CollapsingProject) -> None:
    signed = project.query("select * from composed order by region")
    plain = project.query("select * from composed_plain order by region")
    names = [f"{context} of {macro}" for macro, _ in COMPOSED for context in CONTEXTS]
    assert len(signed) == len(plain) == 2
    for with_signs, without in zip(signed, plain, strict=True):
        differing = {
            name: (a, b)
            for name, a, b in zip(names, with_signs[1:], without[1:], strict=True)
            if a != b and not (a != a and b != b)
        }
        assert differing == {}
        assert sum(value is not None for value in with_signs) > len(names) / 2


def test_sums_may_have_the_names_of_what_they_are_made_of(project: CollapsingProject) -> None:
    of_live = (
        "select upper(status), amount > 7, sum(amount), sum(amount - coalesce(discount, 0)), "
        "toInt64(sum(length(status))), toInt64(count()) from orders final where _sign = 1 group by 1, 2 order by 1, 2"
    )
    sums = "select * from sums_of_summed where id <> 0 order by status, is_large"
    assert project.query(sums) == project.query(of_live)


def test_sums_without_groups_are_of_the_whole_table(project: CollapsingProject) -> None:
    of_live = "select sum(amount), toInt64(count()) from orders final where _sign = 1"
    assert project.query("select * from sums_of_all") == project.query(of_live)
