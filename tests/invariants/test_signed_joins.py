"""The sign macros over joins of signed tables: a list of signs, each of which is multiplied in once."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal

import pytest

from tests.support.collapsing_project import CollapsingProject, Row

SIGNS = "['o._sign', 'c.state', 'i._sign']"
# The macro, and its spelling.
# fmt: off
SPELLED = {
    "signed_count(['o._sign', 'c.state'])": "sum(o._sign * c.state)",
    "signed_count(['_sign'])": "sum(_sign)",
    "signed_count(['o._sign', 'my sign'])": 'sum(o._sign * "my sign")',
    "signed_count_if(\"status = 'paid'\", ['o._sign', 'c.state'])": "sumIf(o._sign * c.state, status = 'paid')",
    "signed_count_non_null('o.discount', ['o._sign', 'c.state'])": "sumIf(o._sign * c.state, o.discount is not null)",
    "signed_sum('o.amount', ['o._sign', 'c.state'])": "sum(o.amount * o._sign * c.state)",
    "signed_sum('o.amount - 1', ['o._sign', 'c.state'])": "sum((o.amount - 1) * o._sign * c.state)",
    "signed_sum('amount', ['_sign'])": "sum(amount * _sign)",
    "signed_sum_if('o.amount', 'i.line > 1', ['o._sign', 'i._sign'])": "sumIf(o.amount * o._sign * i._sign, i.line > 1)",
    "signed_avg('o.amount', ['o._sign', 'c.state'])": "(sum(o.amount * o._sign * c.state) / nullIf(sum(o._sign * c.state), 0))",
    "signed_avg('x', ['a', 'b'], is_nullable=true)": "(sum(x * a * b) / nullIf(sumIf(a * b, x is not null), 0))",
    "signed_avg_if('x', 'y', ['a', 'b'])": "(sumIf(x * a * b, y) / nullIf(sumIf(a * b, y), 0))",
    "having_live(['o._sign', 'c.state'])": "having sum(o._sign * c.state) <> 0",
}
# fmt: on
# The macro without its last argument, and the equivalent over live rows.
AGGREGATES = {
    "signed_count(": "toInt64(count())",
    "signed_count_if(\"o.status = 'paid'\"": "toInt64(countIf(o.status = 'paid'))",
    "signed_count_non_null('o.discount'": "toInt64(count(o.discount))",
    "signed_sum('o.amount'": "sum(o.amount)",
    "signed_sum('i.price * i.quantity'": "sum(i.price * i.quantity)",
    "signed_sum('c.credit'": "sum(c.credit)",
    "signed_sum('coalesce(o.discount, 0)'": "sum(coalesce(o.discount, 0))",
    "signed_sum_if('i.price', \"o.status = 'paid' or i.quantity > 2\"": "sumIf(i.price, o.status = 'paid' or i.quantity > 2)",
    "signed_avg('o.amount'": "sum(o.amount) / count()",
    "signed_avg_if('i.price', 'i.quantity > 1'": "sumIf(i.price, i.quantity > 1) / nullIf(countIf(i.quantity > 1), 0)",
}
TABLES = {
    "orders": ("id", "customer_id Int64, status String, amount Decimal(12, 2), discount Nullable(Int64)"),
    "customers": ("id", "region String, credit Decimal(12, 2)"),
    "items": ("order_id, line", "price Decimal(12, 2), quantity Int64"),
}  # fmt: skip
# The greatest and least value of each type that a single sign leaves unchanged.
EDGES = {
    "Int8": ("-128", "127"),
    "UInt8": ("255",),
    "Int16": ("-32768",),
    "Int32": ("-2147483648",),
    "UInt32": ("4294967295",),
    "Int64": ("-9223372036854775808", "9223372036854775807"),
    "UInt64": ("9223372036854775807", "18446744073709551615"),
    "Int128": ("'170141183460469231731687303715884105727'",),
    "UInt128": ("'340282366920938463463374607431768211455'",),
    "Int256": ("'57896044618658097711785492504343953926634992332820282019728792003956564819967'",),
    "Float32": ("0.1", "-3.4e38"),
    "Float64": ("0.1", "-1.7e308"),
    "BFloat16": ("0.5",),
    "Decimal(9, 2)": ("'9999999.99'", "'-9999999.99'"),
    "Decimal(18, 2)": ("'9999999999999999.99'", "'-9999999999999999.99'"),
    "Decimal(38, 2)": (f"'{'9' * 36}.99'", f"'-{'9' * 36}.99'"),
    "Decimal(38, 38)": (f"'0.{'9' * 38}'",),
    "Decimal(76, 10)": (f"'{'9' * 66}.{'9' * 10}'",),
    "Nullable(Int64)": ("null", "9223372036854775807"),
    "Nullable(UInt64)": ("null", "1"),
    "Nullable(Decimal(18, 2))": ("null", "'9999999999999999.99'"),
    "Bool": ("true",),
}


def _row(chance: random.Random, table: str, key: tuple[int, ...]) -> Row:
    price = Decimal(chance.randint(-999, 9999)) / 100
    if table == "orders":
        discount = chance.choice((None, 1, 2))
        return (*key, chance.randint(1, 8), chance.choice(("new", "paid")), price, discount)
    if table == "customers":
        return (*key, chance.choice(("EU", "US")) if key != (8,) else "XX", price)
    return (*key, price, chance.randint(1, 4))


@pytest.fixture(scope="module")
def project(make_project: Callable[[str], CollapsingProject]) -> CollapsingProject:
    """Three tables with changed and deleted rows, without any merge."""
    project = make_project("signed_joins")
    chance = random.Random(3)
    keys: dict[str, list[tuple[int, ...]]] = {
        "orders": [(i,) for i in range(1, 21)],
        "customers": [(i,) for i in range(1, 11)],
        "items": [(i, line) for i in range(1, 21) for line in range(1, 4)],
    }
    for table, (key, _) in TABLES.items():
        config: dict[str, object] = {"unique_key": key.split(", ")}
        if table == "customers":
            config["sign"] = "state"
        project.add_model(table, config, f"select * from changes_of_{table}")
    for version in (1, 2, 3):
        for table, (key, structure) in TABLES.items():
            names = ", ".join(f"{name} Int64" for name in key.split(", "))
            chosen = [k for k in keys[table] if version == 1 or chance.random() < 0.6]
            rows = [
                (*_row(chance, table, k), version, version > 1 and (k == (8,) or chance.random() < 0.3)) for k in chosen
            ]
            project.replace_rows(
                f"changes_of_{table}", f"{names}, {structure}, _version UInt64, _is_deleted Bool", rows
            )
        project.build("--select", *TABLES)
        for table in TABLES:
            project.command(f"system stop merges {table}")
    macros = [f"{macro}{', ' if macro[-1] != '(' else ''}{SIGNS})" for macro in AGGREGATES]
    signed = ", ".join(f"{{{{ versioned_collapsing.{m} }}}} as c{i}" for i, m in enumerate(macros))
    plain = ", ".join(f"{sql} as c{i}" for i, sql in enumerate(AGGREGATES.values()))
    joined = (
        "from {orders} as o inner join {customers} as c on c.id = o.customer_id "
        "inner join {items} as i on i.order_id = o.id group by c.region"
    )
    stored = joined.format(**{table: f"{{{{ ref('{table}') }}}}" for table in TABLES})
    live = {
        table: f"{{{{ versioned_collapsing.live_rows(ref('{table}'), '{sign}') }}}}"
        for table, sign in {"orders": "_sign", "customers": "state", "items": "_sign"}.items()
    }
    of_relation = stored.removeprefix("from ").removesuffix(" group by c.region")
    texts = ", ".join(f"'{macro.replace(chr(39), chr(39) * 2)}'" for macro in SPELLED)
    spelled = ", ".join(f"$${{{{ versioned_collapsing.{macro} }}}}$$" for macro in SPELLED)
    models = {
        "signed": f"select c.region as region, {signed} {stored} {{{{ versioned_collapsing.having_live({SIGNS}) }}}}",
        "plain": f"select c.region as region, {plain} {joined.format(**live)}",
        "sums": "{% set joined %}" + of_relation + "{% endset %}"
        "{{ versioned_collapsing.signed_sums(joined, {'region': 'c.region'}, "
        f"{{'amount': 'o.amount', 'price': 'i.price'}}, sign={SIGNS}) }}}}",
        "spellings": f"select arrayJoin(arrayZip([{texts}], [{spelled}])) as spelling",
        # A left row without a partner counts once, so the other side is read live.
        "outer_signed": "select c.region as region, {{ versioned_collapsing.signed_sum('c.credit', 'c.state') }} as credit, "
        "{{ versioned_collapsing.signed_count('c.state') }} as n from {{ ref('customers') }} as c left join "
        "{{ versioned_collapsing.live_rows(ref('orders')) }} as o on o.customer_id = c.id group by c.region "
        "{{ versioned_collapsing.having_live('c.state') }}",
        "outer_plain": "select c.region as region, sum(c.credit) as credit, toInt64(count()) as n from "
        f"{live['customers']} as c left join {live['orders']} as o on o.customer_id = c.id group by c.region",
    }
    for name, sql in models.items():
        (project.folder / "models" / f"{name}.sql").write_text(sql)
    project.build("--select", *models)
    return project


def test_the_spelling(project: CollapsingProject) -> None:
    assert dict(s for (s,) in project.query("select * from spellings")) == SPELLED


def test_joined_signed_rows_give_what_joined_live_rows_give(project: CollapsingProject) -> None:
    for table, sign in {"orders": "_sign", "customers": "state", "items": "_sign"}.items():
        assert project.query(f"select count() - sum({sign}) from {table}") > [(0,)]
    signed = project.query("select * from signed order by region")
    assert signed == project.query("select * from plain order by region")
    assert [region for region, *_ in signed] == ["EU", "US"]


def test_sums_of_a_join_have_its_signs(project: CollapsingProject) -> None:
    sums = project.query("select * from sums where live_rows <> 0 order by region")
    columns = [*AGGREGATES]
    taken = [columns.index("signed_sum('o.amount'"), columns.index("signed_count(")]
    expected = project.query(f"select region, c{taken[0]}, c{taken[1]} from plain order by region")
    assert [(region, amount, n) for region, amount, _, n in sums] == expected


def test_an_outer_join_takes_the_live_rows_of_its_other_side(project: CollapsingProject) -> None:
    signed = project.query("select * from outer_signed order by region")
    assert signed == project.query("select * from outer_plain order by region")
    # With both signs, only rows with a partner count, as in an inner join.
    ((both,),) = project.query(
        "select sum(c.state * o._sign) from customers as c left join orders as o on o.customer_id = c.id"
    )
    assert sum(n for _, _, n in signed) > both


@pytest.mark.parametrize("type_name", EDGES)
def test_more_signs_change_no_type_and_no_value(project: CollapsingProject, type_name: str) -> None:
    for edge in EDGES[type_name]:
        rows = (
            f"(select cast({edge} as {type_name}) as x, cast(s as Int8) as a, cast(1 as Int8) as b, "
            f"cast(-1 as Int8) as c from (select arrayJoin([1, 1, -1]) as s))"
        )
        one, three = "sum(x * a)", "sum(x * a * b * c * c)"
        ((types_differ, values_differ),) = project.query(
            f"select toTypeName({one}) <> toTypeName({three}), toString({one}) is distinct from toString({three}) "
            f"from {rows}"
        )
        assert (types_differ, values_differ) == (0, 0), edge
    ((count, conditional),) = project.query(
        "select toTypeName(sum(s * s * s)), toTypeName(sumIf(s * s, s > 0)) from (select cast(-1 as Int8) as s)"
    )
    assert (count, conditional) == ("Int64", "Int64")
