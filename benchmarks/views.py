"""A view over a join of two tables: its run after an apply, beside everything else that keeps such sums."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchmarks.engine import Engine
from benchmarks.measure import Arm, Figures, interleaved
from benchmarks.upsert import PARTITIONS, SETTINGS

Row = dict[str, Any]
CUSTOMERS = "id UInt32, region LowCardinality(String), tier UInt8, _version UInt64"
ORDERS = "id UInt32, customer_id UInt32, month Date, amount Decimal(18, 2), _version UInt64"
SUMS = (
    "select c.region as region, o.month as month, {amount} as amount, {count} as orders "
    "from {orders} as o inner join {customers} as c on c.id = o.customer_id group by region, month"
)
SIGNED = {"amount": "sum(o.amount * o._sign * c._sign)", "count": "sum(o._sign * c._sign)"}
LIVE = {"amount": "sum(o.amount)", "count": "count()"}
LIVE_ROWS = (
    "(select * except (_sign) from {} final where _sign = 1 "
    "settings do_not_merge_across_partitions_select_final = 1)"
)


class Views:
    """Orders and customers; `rows` orders, a tenth as many customers."""

    def __init__(self, engine: Engine, rows: int) -> None:
        self.engine, self.rows, self.customers, self.version = engine, rows, rows // 10, 1
        engine.empty()
        self._make_table("customers", CUSTOMERS, self._customer("number", 1), self.customers)
        self._make_table("orders", ORDERS, self._order("number", 1), rows)
        refs = {"orders": "{{ ref('orders') }}", "customers": "{{ ref('customers') }}"}
        config = {"materialized": "versioned_collapsing_view", "order_by": ["region", "month"]}
        engine.add_model("by_region", config, SUMS.format(**SIGNED, **refs))

    def _customer(self, number: str, version: int) -> str:
        return (
            f"toUInt32({number}) as id, toLowCardinality(concat('region ', toString(cityHash64(id, {version}) % 20))) as region, "
            f"toUInt8(cityHash64(id, {version}, 1) % 3) as tier, toUInt64({version}) as _version"
        )

    def _order(self, number: str, version: int) -> str:
        moved = f"if(cityHash64(id, {version}) % 7 = 0 and {version} > 1, {version}, 0)"
        return (
            f"toUInt32({number}) as id, toUInt32(cityHash64(id, {moved}) % {self.customers}) as customer_id, "
            "toDate('2020-01-01') + interval (id % 60) month as month, "
            f"toDecimal64(cityHash64(id, {version}) % 100000 / 100, 2) as amount, toUInt64({version}) as _version"
        )

    def _make_table(self, name: str, columns: str, select: str, rows: int) -> None:
        settings = ", ".join(f"{setting} = {value}" for setting, value in SETTINGS.items())
        self.engine.command(
            f"create table {name} ({columns}, _sign Int8) "
            f"engine = VersionedCollapsingMergeTree(_sign, _version) partition by id % {PARTITIONS} order by id "
            f"settings {settings}"
        )
        self.engine.command(
            f"insert into {name} select {select}, 1 from numbers({rows}) "
            "settings max_partitions_per_insert_block = 0, max_insert_threads = 2"
        )
        self.engine.command(f"optimize table {name} final")
        self._add_model(name, f"select {select} from numbers(0)")
        self.engine.dbt("run-operation", "adopt_table", "--args", f"{{model: {name}}}")

    def _add_model(self, name: str, sql: str) -> None:
        config = {
            "materialized": "versioned_collapsing",
            "unique_key": "id",
            "partition_by": f"id % {PARTITIONS}",
            "settings": SETTINGS,
        }
        self.engine.add_model(name, config, sql)

    def apply(self, orders: int, customers: int) -> float:
        """Change so many scattered orders and customers; the seconds of both applies."""
        self.version += 1
        version, seconds = self.version, 0.0
        counts = {"orders": (orders, self.rows), "customers": (customers, self.customers)}
        for name, (count, rows) in counts.items():
            number = f"(number * {rows // count} + cityHash64(number, {version}) % {rows // count})"
            select = self._order if name == "orders" else self._customer
            self._add_model(name, f"select {select(number, version)} from numbers({count})")
            seconds += self.engine.dbt("run", "--select", name)
        return seconds

    def refresh(self) -> float:
        """The run of the view."""
        return self.engine.dbt("run", "--select", "by_region")

    def recompute(self, values: dict[str, str], source: str) -> float:
        """The sums from the tables, written to a table."""
        sources = {name: source.format(name) for name in ("orders", "customers")}
        self.engine.command("create or replace table recomputed as by_region")
        return self.engine.seconds(f"insert into recomputed {SUMS.format(**values, **sources)}")

    def materialized(self, name: str) -> float:
        """What a materialized view of the join adds to the insert of an apply's rows into one of the tables."""
        other = {"orders": "customers", "customers": "orders"}[name]
        sources = {name: "inserted", other: other}
        self.engine.command("drop view if exists inserted_mv")
        columns = ORDERS if name == "orders" else CUSTOMERS
        self.engine.command(
            f"create or replace table inserted ({columns}, _sign Int8) engine = Null"
        )
        self.engine.command("create or replace table inserted_sums as by_region")
        first = SUMS.replace(
            "{orders} as o inner join {customers} as c",
            "{orders} as o inner join {customers} as c"
            if name == "orders"
            else "{customers} as c inner join {orders} as o",
        )
        self.engine.command(
            f"create materialized view inserted_mv to inserted_sums as {first.format(**SIGNED, **sources)}"
        )
        seconds = self.engine.seconds(
            f"insert into inserted select * except (_apply, _applied_at, _changed_version) from {name}__changes "
            f"where _apply = (select max(_apply) from {name}__changes) settings max_insert_threads = 1"
        )
        self.engine.command("drop view inserted_mv")
        return seconds

    def check(self) -> None:
        """The view has what the tables come to.

        Raises:
            RuntimeError: it has not.
        """
        sources = {"orders": "orders", "customers": "customers"}
        total = "select sum(amount), sum(orders), sum(cityHash64(region) % 1000 * orders) from {}"
        kept = self.engine.query(total.format("by_region"))
        expected = self.engine.query(total.format(f"({SUMS.format(**SIGNED, **sources)})"))
        if kept != expected:
            raise RuntimeError(f"the view has {kept} and not {expected}")


def measure_views(
    engine: Engine, rows: int, changes: Collection[int], trials: int, slow_trials: int
) -> list[Row]:
    """Seconds of each way after so many orders and a tenth as many customers have changed."""
    views = Views(engine, rows)
    filled = views.refresh()
    print(f"  filled in {filled:.2f} s", flush=True)
    table = []
    for count in changes:
        applies = Figures()

        def after_an_apply(count: int = count, applies: Figures = applies) -> float:
            applies.seconds.append(views.apply(count, max(count // 10, 1)))
            return views.refresh()

        arms = [
            Arm("versioned_collapsing_view", after_an_apply),
            Arm("recomputed by signs", lambda: views.recompute(SIGNED, "{}"), slow_trials),
            Arm("recomputed with FINAL", lambda: views.recompute(LIVE, LIVE_ROWS), slow_trials),
            Arm("materialized view on orders", lambda: views.materialized("orders"), slow_trials),
            Arm(
                "materialized view on customers",
                lambda: views.materialized("customers"),
                slow_trials,
            ),
        ]
        figures = interleaved(arms, trials)
        views.check()
        views.apply(count, max(count // 10, 1))
        peak = views.engine.peak_memory("run", "--select", "by_region")
        slowest = figures["recomputed by signs"].median
        apply = sorted(applies.seconds)[len(applies.seconds) // 2]
        table += [
            {
                "changed orders": count,
                "way": name,
                **found.as_row(),
                "times recomputed by signs": round(found.median / slowest, 3),
                "times the applies": round(found.median / apply, 3),
                "peak MiB": round(peak) if name == "versioned_collapsing_view" else "",
            }
            for name, found in figures.items()
        ]
    return table
