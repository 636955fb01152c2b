"""Views over joins of two and three tables: their runs after an apply, compared with other ways to keep such sums."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchmarks.engine import Engine
from benchmarks.measure import Arm, Figures, interleaved
from benchmarks.upsert import PARTITIONS, SETTINGS

Row = dict[str, Any]
CUSTOMERS = "id UInt32, region LowCardinality(String), tier UInt8, _version UInt64"
PRODUCTS = "id UInt32, category LowCardinality(String), _version UInt64"
ORDERS = "id UInt32, customer_id UInt32, product_id UInt32, month Date, amount Decimal(18, 2), _version UInt64"
SUMS = (
    "select c.region as region, o.month as month, {amount} as amount, {count} as orders "
    "from {orders} as o inner join {customers} as c on c.id = o.customer_id group by region, month"
)
SUMS_OF_THREE = (
    "select c.region as region, p.category as category, {amount} as amount, {count} as orders from {orders} as o "
    "inner join {customers} as c on c.id = o.customer_id inner join {products} as p on p.id = o.product_id "
    "group by region, category"
)
SIGNED = {"amount": "sum(o.amount * o._sign * c._sign)", "count": "sum(o._sign * c._sign)"}
SIGNED_OF_THREE = {name: sql.replace("c._sign", "c._sign * p._sign") for name, sql in SIGNED.items()}
LIVE = {"amount": "sum(o.amount)", "count": "count()"}
LIVE_ROWS = (
    "(select * except (_sign) from {} final where _sign = 1 settings do_not_merge_across_partitions_select_final = 1)"
)


class Views:
    """Orders, customers and products: `rows` orders, a tenth as many customers, a thousandth as many products."""

    def __init__(self, engine: Engine, rows: int) -> None:
        self.engine, self.rows, self.version = engine, rows, 1
        self.customers, self.products = rows // 10, rows // 1000
        engine.empty()
        self._make_table("products", PRODUCTS, self._product("number", 1), self.products)
        self._make_table("customers", CUSTOMERS, self._customer("number", 1), self.customers)
        self._make_table("orders", ORDERS, self._order("number", 1), rows)
        refs = {name: f"{{{{ ref('{name}') }}}}" for name in ("orders", "customers", "products")}
        config = {"materialized": "versioned_collapsing_view", "order_by": ["region", "month"]}
        engine.add_model("by_region", config, SUMS.format(**SIGNED, **refs))
        config = {**config, "order_by": ["region", "category"]}
        engine.add_model("by_category", config, SUMS_OF_THREE.format(**SIGNED_OF_THREE, **refs))

    def _customer(self, number: str, version: int) -> str:
        return (
            f"toUInt32({number}) as id, toLowCardinality(concat('region ', toString(cityHash64(id, {version}) % 20))) as region, "
            f"toUInt8(cityHash64(id, {version}, 1) % 3) as tier, toUInt64({version}) as _version"
        )

    def _product(self, number: str, version: int) -> str:
        return (
            f"toUInt32({number}) as id, toLowCardinality(concat('category ', toString(cityHash64(id, {version}) % 50))) as category, "
            f"toUInt64({version}) as _version"
        )

    def _order(self, number: str, version: int) -> str:
        moved = f"if(cityHash64(id, {version}) % 7 = 0 and {version} > 1, {version}, 0)"
        return (
            f"toUInt32({number}) as id, toUInt32(cityHash64(id, {moved}) % {self.customers}) as customer_id, "
            f"toUInt32(cityHash64(id, 2) % {self.products}) as product_id, "
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

    def apply(self, orders: int) -> float:
        """Change this many scattered orders, and the same share of the other tables. Return the seconds of all
        applies."""
        self.version += 1
        version, seconds = self.version, 0.0
        selects = {
            "orders": (self._order, self.rows),
            "customers": (self._customer, self.customers),
            "products": (self._product, self.products),
        }
        for name, (select, rows) in selects.items():
            count = max(orders * rows // self.rows, 1)
            number = f"(number * {rows // count} + cityHash64(number, {version}) % {rows // count})"
            self._add_model(name, f"select {select(number, version)} from numbers({count})")
            seconds += self.engine.dbt("run", "--select", name)
        return seconds

    def refresh(self, view: str = "by_region") -> float:
        """The run of a view."""
        return self.engine.dbt("run", "--select", view)

    def recompute(self, values: dict[str, str], source: str, sums: str = SUMS, view: str = "by_region") -> float:
        """Compute the sums from the tables, and write them to a table."""
        sources = {name: source.format(name) for name in ("orders", "customers", "products")}
        self.engine.command(f"create or replace table recomputed as {view}")
        return self.engine.seconds(f"insert into recomputed {sums.format(**values, **sources)}")

    def materialized(self, name: str) -> float:
        """What a materialized view of the join adds to inserting an apply's rows into one of the tables."""
        other = {"orders": "customers", "customers": "orders"}[name]
        sources = {name: "inserted", other: other}
        self.engine.command("drop view if exists inserted_mv")
        columns = ORDERS if name == "orders" else CUSTOMERS
        self.engine.command(f"create or replace table inserted ({columns}, _sign Int8) engine = Null")
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
            f"insert into inserted select * except (_apply, _applied_at, _changed_version) from {name}__feed "
            f"where _apply = (select max(_apply) from {name}__feed) settings max_insert_threads = 1"
        )
        self.engine.command("drop view inserted_mv")
        return seconds

    def check(self) -> None:
        """The views agree with the tables.

        Raises:
            RuntimeError: one does not.
        """
        sources = {name: name for name in ("orders", "customers", "products")}
        total = "select sum(amount), sum(orders), sum(cityHash64({}) % 1000 * orders) from {}"
        selects = {
            "by_region": SUMS.format(**SIGNED, **sources),
            "by_category": SUMS_OF_THREE.format(**SIGNED_OF_THREE, **sources),
        }
        for view, select in selects.items():
            group = "region, category" if view == "by_category" else "region, month"
            found = self.engine.query(total.format(group, view))
            expected = self.engine.query(total.format(group, f"({select})"))
            if found != expected:
                raise RuntimeError(f"{view} has {found} and not {expected}")


def measure_views(engine: Engine, rows: int, changes: Collection[int], trials: int, slow_trials: int) -> list[Row]:
    """The seconds of each way after this many orders and a tenth as many customers have changed."""
    views = Views(engine, rows)
    for view in ("by_region", "by_category"):
        print(f"  {view} filled in {views.refresh(view):.2f} s", flush=True)
    table = []
    for count in changes:
        applies = Figures()

        def after_an_apply(count: int = count, applies: Figures = applies) -> float:
            applies.seconds.append(views.apply(count))
            return views.refresh()

        arms = [
            Arm("versioned_collapsing_view", after_an_apply),
            Arm("versioned_collapsing_view of three tables", lambda: views.refresh("by_category")),
            Arm("recomputed by signs", lambda: views.recompute(SIGNED, "{}"), slow_trials),
            Arm("recomputed with FINAL", lambda: views.recompute(LIVE, LIVE_ROWS), slow_trials),
            Arm("materialized view on orders", lambda: views.materialized("orders"), slow_trials),
            Arm("materialized view on customers", lambda: views.materialized("customers"), slow_trials),
            Arm(
                "three tables recomputed by signs",
                lambda: views.recompute(SIGNED_OF_THREE, "{}", sums=SUMS_OF_THREE, view="by_category"),
                slow_trials,
            ),
        ]
        figures = interleaved(arms, trials)
        views.check()
        views.apply(count)
        peaks = {
            name: views.engine.peak_memory("run", "--select", view)
            for name, view in (
                ("versioned_collapsing_view", "by_region"),
                ("versioned_collapsing_view of three tables", "by_category"),
            )
        }
        slowest = figures["recomputed by signs"].median
        apply = sorted(applies.seconds)[len(applies.seconds) // 2]
        table += [
            {
                "changed orders": count,
                "way": name,
                **found.as_row(),
                "times recomputed by signs": round(found.median / slowest, 3),
                "times the applies": round(found.median / apply, 3),
                "peak MiB": round(peaks[name]) if name in peaks else "",
            }
            for name, found in figures.items()
        ]
    return table
