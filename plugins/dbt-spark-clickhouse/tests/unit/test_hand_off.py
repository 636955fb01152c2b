"""How nodes of one engine see nodes of the other, while neither engine runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.clickhouse.impl import ClickHouseAdapter
from dbt.context.providers import RuntimeConfigObject
from dbt_common.exceptions import DbtRuntimeError
from pyarrow import parquet

from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK, Engine
from dbt.adapters.spark_clickhouse.hand_off.files import LocalFiles
from dbt.adapters.spark_clickhouse.hand_off.receipt import Receipt
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter

Node = Callable[..., Any]
Ref = Callable[..., BaseRelation]


@pytest.fixture
def ref(adapter: SparkClickHouseAdapter) -> Ref:
    """Makes the relation that `ref` or `source` returns in a node of ``reader``."""

    def make(target: Any, reader: Engine | None, limit: int | None = None) -> BaseRelation:
        of_kind: dict[str, dict[str, Any]] = {"nodes": {}, "sources": {}}
        of_kind["sources" if target.resource_type == "source" else "nodes"] = {target.unique_id: target}
        adapter.set_macro_resolver(SimpleNamespace(**of_kind))
        with adapter.context.on_engine(reader):
            relation: BaseRelation = adapter.Relation.create_from(adapter.config, target, limit=limit)
        return relation

    return make


def source(node: Node, location: str | None, file_format: str | None) -> Any:
    external = SimpleNamespace(location=location, file_format=file_format)
    return node("source", "lines", SPARK, external=external)


def test_own_nodes_are_read_by_name(node: Node, ref: Ref) -> None:
    assert str(ref(node("model", "orders", SPARK), SPARK)) == "shop.orders"
    assert str(ref(node("model", "orders", CLICKHOUSE), CLICKHOUSE)) == "`shop`.`orders`"


@pytest.mark.parametrize("engine", [SPARK, CLICKHOUSE])
def test_nothing_is_looked_up_while_the_project_is_parsed(node: Node, ref: Ref, engine: Engine) -> None:
    view = node("model", "orders", engine, config={"materialized": "view"})
    assert "orders" in str(ref(view, None))


def test_spark_cannot_read_what_clickhouse_owns(node: Node, ref: Ref) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        ref(node("model", "orders", CLICKHOUSE), SPARK)
    assert error.value.msg == (
        "Spark cannot read `shop`.`orders`, which ClickHouse owns. Data goes from Spark to "
        "ClickHouse: put the model that needs it on ClickHouse (`+database: clickhouse`), or what "
        "it needs on Spark."
    )


@pytest.mark.parametrize(
    ("schema", "config", "folder"),
    [
        ("shop", {}, "{home}/warehouse/shop.db/orders"),
        ("Shop", {}, "{home}/warehouse/shop.db/orders"),
        ("default", {}, "{home}/warehouse/orders"),
        ("shop", {"location_root": "lake"}, "{home}/warehouse/shop.db/lake/Orders"),
        ("shop", {"location_root": "/mnt/lake"}, "/mnt/lake/Orders"),
        ("shop", {"partition_by": ["day"]}, "{home}/warehouse/shop.db/orders"),
    ],
)
def test_clickhouse_reads_the_files_of_a_spark_table(
    adapter: SparkClickHouseAdapter, node: Node, ref: Ref, schema: str, config: dict[str, Any], folder: str
) -> None:
    model = node("model", "Orders", SPARK, config=config)
    model.schema = schema
    location = folder.format(home=adapter.home)
    assert str(ref(model, CLICKHOUSE)) == f"file('{location}/*.parquet', 'Parquet')"


def test_clickhouse_reads_what_spark_keeps_in_s3(node: Node, ref: Ref) -> None:
    model = node("model", "orders", SPARK, config={"location_root": "s3a://lake/shop"})
    read = "s3('s3://lake/shop/orders/*.parquet', 'Parquet')"
    assert str(ref(model, CLICKHOUSE)) == read
    assert str(ref(source(node, "s3://lake/shop/orders", "parquet"), CLICKHOUSE)) == read


def test_clickhouse_reads_lake_tables(adapter: SparkClickHouseAdapter, node: Node, ref: Ref) -> None:
    folder = f"{adapter.home}/warehouse/shop.db/orders"
    for file_format, function in (("delta", "deltaLakeLocal"), ("iceberg", "icebergLocal")):
        model = node("model", "orders", SPARK, config={"file_format": file_format})
        assert str(ref(model, CLICKHOUSE)) == f"{function}('{folder}')"


def test_clickhouse_reads_a_sample_when_dbt_wants_one(adapter: SparkClickHouseAdapter, node: Node, ref: Ref) -> None:
    file = f"file('{adapter.home}/warehouse/shop.db/orders/*.parquet', 'Parquet')"
    empty = ref(node("model", "orders", SPARK), CLICKHOUSE, limit=0)
    assert str(empty) == f"(select * from {file} where false limit 0)"


def test_spark_reads_files_of_a_source_in_place(node: Node, ref: Ref, tmp_path: Path) -> None:
    text = source(node, "landing/lines", "text")
    assert str(ref(text, SPARK)) == f"text.`{tmp_path}/landing/lines`"
    assert str(ref(text, SPARK, limit=0)) == (f"(select * from text.`{tmp_path}/landing/lines` where false limit 0)")
    assert str(ref(source(node, "s3a://lake/lines", "text"), SPARK)) == "text.`s3a://lake/lines`"
    assert str(ref(source(node, "/mnt/lines", "csv"), SPARK)) == "csv.`/mnt/lines`"
    assert str(ref(source(node, None, None), SPARK)) == "shop.lines"


def test_path_of_the_machine_is_not_in_what_parsing_keeps(node: Node, ref: Ref) -> None:
    assert str(ref(source(node, "landing/lines", "text"), None)) == "text.`landing/lines`"


@pytest.mark.parametrize(
    ("config", "obstacle"),
    [
        ({"materialized": "view"}, "it is a view of Spark's, which has no files: materialize it as a table."),
        ({"file_format": "orc"}, "its file format is orc: set `file_format` to parquet or delta or iceberg."),
        (
            {"location_root": "hdfs://lake"},
            "it is at hdfs://lake, but only folders of this machine and s3:// can be read.",
        ),
    ],
)
def test_spark_node_that_clickhouse_cannot_read_says_what_to_change(
    node: Node, ref: Ref, config: dict[str, Any], obstacle: str
) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        ref(node("model", "orders", SPARK, config=config), CLICKHOUSE)
    assert error.value.msg == (f"ClickHouse cannot read shop.orders, which Spark owns: {obstacle}")


@pytest.mark.parametrize(
    ("location", "file_format", "message"),
    [
        (
            "/mnt/lines",
            "text",
            "ClickHouse cannot read text.`/mnt/lines`, which Spark owns: it is a folder of text "
            "files: read it in a Spark model, and that model on ClickHouse.",
        ),
        (
            "hdfs://lake/lines",
            "parquet",
            "ClickHouse cannot read parquet.`hdfs://lake/lines`, which Spark owns: it is at "
            "hdfs://lake/lines, but only folders of this machine and s3:// can be read.",
        ),
    ],
)
def test_spark_source_that_clickhouse_cannot_read_says_what_to_change(
    node: Node, ref: Ref, location: str, file_format: str, message: str
) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        ref(source(node, location, file_format), CLICKHOUSE)
    assert error.value.msg == message


def test_source_that_is_not_there_says_where_it_was_looked_for(
    adapter: SparkClickHouseAdapter, node: Node, ref: Ref, tmp_path: Path
) -> None:
    missing = source(node, "landing/lines", "parquet")
    assert "landing/lines/*.parquet" in str(ref(missing, CLICKHOUSE))
    adapter.set_macro_resolver(SimpleNamespace(nodes={}, sources={missing.unique_id: missing}))
    with pytest.raises(DbtRuntimeError) as error, adapter.context.on_engine(CLICKHOUSE):
        adapter.hand_offs.verify_parents(node("model", "reader", CLICKHOUSE, missing))
    assert error.value.msg == (
        f"ClickHouse cannot read parquet.`{tmp_path}/landing/lines`, which Spark owns: there is no "
        f"folder {tmp_path}/landing/lines. If it is a table, set `warehouse` in the profile's "
        "`spark` block to the folder of Spark's managed tables (spark.sql.warehouse.dir); if it is "
        "a source of files, correct its `location`."
    )


def test_table_that_a_clickhouse_node_reads_is_checked_before_it_runs(
    adapter: SparkClickHouseAdapter, node: Node
) -> None:
    parent = node("model", "orders", SPARK)
    adapter.set_macro_resolver(SimpleNamespace(nodes={parent.unique_id: parent}, sources={}))
    for resource_type in ("model", "snapshot", "test"):
        reader = node(resource_type, "reader", CLICKHOUSE, parent)
        with pytest.raises(DbtRuntimeError, match="no receipt"), adapter.context.on_engine(CLICKHOUSE):
            adapter.pre_model_hook(RuntimeConfigObject(reader))


def test_a_table_that_is_built_again_is_counted_again(
    adapter: SparkClickHouseAdapter, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = node("model", "orders", SPARK)
    reader = node("model", "reader", CLICKHOUSE, parent)
    adapter.set_macro_resolver(SimpleNamespace(nodes={parent.unique_id: parent}, sources={}))
    monkeypatch.setattr(adapter.hand_offs, "_row", lambda *_: (3,))
    folder = adapter.home / "warehouse" / "shop.db" / "orders"
    folder.mkdir(parents=True)
    for rows, fails in ((3, False), (3, False), (4, True)):
        (folder / "part-0.parquet").write_bytes(b"x" * rows)
        Receipt(rows, {"id": "bigint"}, {}, {"part-0.parquet": rows}).save(LocalFiles(str(folder), "parquet"))
        with (
            pytest.raises(DbtRuntimeError, match="Spark wrote 4 rows, and ClickHouse reads 3")
            if fails
            else nullcontext(),
            adapter.context.on_engine(CLICKHOUSE),
        ):
            adapter.hand_offs.verify_parents(reader)


@pytest.mark.parametrize("engine", [SPARK, CLICKHOUSE])
@pytest.mark.parametrize(
    ("resource_type", "is_compiled", "is_checked"),
    [("model", True, True), ("unit_test", True, False), ("model", False, False)],
    ids=["a model", "a unit test, which reads no table", "a clone, which reads no parents"],
)
def test_tables_are_checked_before_a_node_that_reads_them_and_no_other(
    adapter: SparkClickHouseAdapter,
    node: Node,
    monkeypatch: pytest.MonkeyPatch,
    engine: Engine,
    resource_type: str,
    is_compiled: bool,
    is_checked: bool,
) -> None:
    checked: list[tuple[str, Any]] = []
    checks: dict[Engine, tuple[object, str]] = {
        CLICKHOUSE: (adapter.hand_offs, "verify_parents"),
        SPARK: (adapter.lost_tables, "require_parents"),
    }
    for of, (owner, check) in checks.items():
        monkeypatch.setattr(owner, check, lambda reader, of=of: checked.append((of, reader)))
    parent = node("model", "orders", SPARK)
    adapter.set_macro_resolver(SimpleNamespace(nodes={parent.unique_id: parent}, sources={}))
    config = {"location_root": "/lake"}  # nothing looks for its files
    reader = node(resource_type, "reader", engine, parent, compiled=is_compiled, config=config)
    with adapter.context.on_engine(engine):
        adapter.pre_model_hook(RuntimeConfigObject(reader))
    assert checked == ([(engine, reader)] if is_checked else [])


@pytest.mark.parametrize(("is_deferred", "checked"), [(True, "prod.orders"), (False, "shop.orders")])
def test_table_that_dbt_defers_to_is_the_one_that_is_checked(
    adapter: SparkClickHouseAdapter, node: Node, ref: Ref, is_deferred: bool, checked: str
) -> None:
    in_state = node("model", "orders", SPARK)
    in_state.schema = "prod"
    parent = node("model", "orders", SPARK, defer_relation=in_state)
    folder = f"{adapter.home}/warehouse/{checked.replace('.', '.db/')}"
    assert f"'{folder}/*.parquet'" in str(ref(in_state if is_deferred else parent, CLICKHOUSE))
    adapter.set_macro_resolver(SimpleNamespace(nodes={parent.unique_id: parent}, sources={}))
    with pytest.raises(DbtRuntimeError, match=f"table {checked}: there is no receipt"):
        adapter.hand_offs.verify_parents(node("model", "reader", CLICKHOUSE, parent))


@pytest.mark.parametrize(
    ("engine", "more", "message"),
    [
        (
            engine,
            {"config": {"grants": {"select": ["reader"]}}},
            f"The embedded {engine} has no users to grant anything to. Leave `grants` out where "
            "the profile names no server.",
        )
        for engine in (SPARK, CLICKHOUSE)
    ],
)
def test_what_an_embedded_engine_lacks_is_an_error_before_the_node_runs(
    adapter: SparkClickHouseAdapter, node: Node, engine: Engine, more: Any, message: str
) -> None:
    adapter.set_macro_resolver(SimpleNamespace(nodes={}, sources={}))
    needy = node("snapshot", "orders", engine, **more)
    with pytest.raises(DbtRuntimeError) as error, adapter.context.on_engine(engine):
        adapter.pre_model_hook(RuntimeConfigObject(needy))
    assert error.value.msg == message


def test_python_models_need_an_embedded_spark_or_spark_connect(
    make_adapter: Callable[..., SparkClickHouseAdapter], node: Node
) -> None:
    adapter = make_adapter(spark={"method": "thrift", "host": "spark", "port": 10000})
    adapter.set_macro_resolver(SimpleNamespace(nodes={}, sources={}))
    python = node("model", "sessions", SPARK, language="python")
    with pytest.raises(DbtRuntimeError) as error, adapter.context.on_engine(SPARK):
        adapter.pre_model_hook(RuntimeConfigObject(python))
    assert error.value.msg == (
        "Python models need the embedded Spark or Spark Connect, and this profile has `method: "
        "thrift`. Use a target without `host` in its `spark` block or with `method: connect`, or "
        "write the model in SQL."
    )


def test_server_has_users_and_grants_are_left_to_the_stock_adapter(
    adapter: SparkClickHouseAdapter, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter.set_macro_resolver(SimpleNamespace(nodes={}, sources={}))
    monkeypatch.setattr(adapter.engines[CLICKHOUSE].config.credentials, "driver", "http")
    hooked: list[Any] = []
    monkeypatch.setattr(ClickHouseAdapter, "pre_model_hook", lambda _, config: hooked.append(config))
    granted = node("snapshot", "orders", CLICKHOUSE, config={"grants": {"select": ["reader"]}})
    config = RuntimeConfigObject(granted)
    with adapter.context.on_engine(CLICKHOUSE):
        adapter.pre_model_hook(config)
    assert hooked == [config]


def test_columns_of_a_table_that_was_never_built_say_what_to_build(adapter: SparkClickHouseAdapter, node: Node) -> None:
    model = node("model", "orders", SPARK)
    adapter.set_macro_resolver(SimpleNamespace(nodes={model.unique_id: model}, sources={}))
    own = adapter.Relation.create_from(adapter.config, model)
    with pytest.raises(DbtRuntimeError) as error, adapter.context.on_engine(CLICKHOUSE):
        adapter.get_columns_in_relation(own)
    assert error.value.msg.startswith(
        "ClickHouse cannot read the Spark table shop.orders: there is no receipt in "
        f"{adapter.home}/warehouse/shop.db/orders."
    )
    assert error.value.msg.endswith("Build it first: dbt build --select orders")


@pytest.mark.parametrize(
    ("known", "has_files", "config", "is_lost"),
    [
        ("table", False, {}, True),
        ("table", True, {}, False),
        ("view", False, {}, False),
        (None, False, {}, False),
        ("table", False, {"location_root": "/lake"}, False),
    ],
    ids=["lost", "there", "a view", "never built", "a place of the user's"],
)
def test_table_whose_files_are_gone_is_built_anew_and_not_read(
    adapter: SparkClickHouseAdapter,
    node: Node,
    monkeypatch: pytest.MonkeyPatch,
    known: Any,
    has_files: bool,
    config: dict[str, Any],
    is_lost: bool,
) -> None:
    orders = node("model", "orders", SPARK, config=config)
    view = node("model", "view", SPARK, orders, config={"materialized": "view"})
    reader = node("model", "reader", SPARK, view)
    nodes = {made.unique_id: made for made in (orders, view, reader)}
    adapter.set_macro_resolver(SimpleNamespace(nodes=nodes, sources={}))
    if has_files:
        (adapter.home / "warehouse" / "shop.db" / "orders").mkdir(parents=True)
    dropped: list[Any] = []
    spark = adapter.engines[SPARK]
    found = adapter.Relation.create(schema="shop", identifier="orders", database=SPARK, type=known)
    monkeypatch.setattr(spark, "get_relation", lambda _, schema, name: found if known and name == "orders" else None)
    monkeypatch.setattr(spark, "drop_relation", dropped.append)
    with adapter.context.on_engine(SPARK):
        adapter.lost_tables.drop(orders)
        assert dropped == ([found] if is_lost else [])
        if is_lost:
            with pytest.raises(DbtRuntimeError) as error:
                adapter.lost_tables.require_parents(reader)
            assert error.value.msg == (
                "The files of the Spark table shop.orders no longer exist. Spark would read no rows. "
                "Build it again: dbt build --select orders"
            )
        else:
            adapter.lost_tables.require_parents(reader)


def test_what_a_killed_run_was_replacing_is_put_back_before_it_is_looked_at(
    adapter: SparkClickHouseAdapter, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = node("model", "orders", SPARK)
    reader = node("test", "reader", SPARK, orders)
    adapter.set_macro_resolver(SimpleNamespace(nodes={each.unique_id: each for each in (orders, reader)}, sources={}))
    folder = adapter.home / "warehouse" / "shop.db" / "orders"
    folder.mkdir(parents=True)
    (adapter.home / "undo" / "shop.orders").mkdir(parents=True)

    def start() -> None:
        (folder / "_emptied").touch()

    monkeypatch.setattr(adapter.engines[SPARK], "connect", start)
    monkeypatch.setattr(adapter.engines[SPARK], "get_relation", lambda *_: None)
    with adapter.context.on_engine(SPARK), pytest.raises(DbtRuntimeError) as error:
        adapter.lost_tables.require_parents(reader)
    assert error.value.msg == (
        "A run has emptied the Spark table shop.orders and did not fill it again. Spark would read no rows. "
        "Build it again: dbt build --select orders"
    )


def written_manifest(adapter: SparkClickHouseAdapter) -> LocalFiles:
    """A table of one file, without a receipt."""
    folder = adapter.home / "warehouse" / "shop.db" / "orders__manifest"
    folder.mkdir(parents=True)
    parquet.write_table(pyarrow.table({"batch": [1]}), folder / "part-0.parquet")
    return LocalFiles(str(folder), "parquet")


@pytest.mark.parametrize(
    ("columns", "others", "is_replaced"),
    [
        ({"batch": "bigint"}, {}, True),
        ({"batch": "string"}, {}, False),
        ({"batch": "bigint"}, {"_delta_log/0.json": 8}, False),
        (None, {}, False),
    ],
    ids=["as it was", "another column", "another format", "no receipt"],
)
def test_rows_are_replaced_in_a_table_with_a_receipt_of_the_same_columns(
    adapter: SparkClickHouseAdapter,
    monkeypatch: pytest.MonkeyPatch,
    columns: dict[str, str] | None,
    others: dict[str, int],
    is_replaced: bool,
) -> None:
    said: list[str] = []
    files = written_manifest(adapter)
    before = files.sizes()
    if columns:
        Receipt(1, columns, {}, before | others).save(files)
    rows = [{"batch": 2}, {"batch": 3}]
    with monkeypatch.context() as patched:
        patched.setattr(adapter, "call_named_engine", lambda engine, name, sql: said.append(sql))
        assert adapter.replace_rows("shop", "orders__manifest", {"batch": "bigint"}, rows) is is_replaced
    if is_replaced:
        assert Receipt.load(files) == Receipt(2, {"batch": "bigint"}, {}, files.sizes())
        assert parquet.read_table(files.folder).to_pylist() == rows
        assert said == ["refresh table `shop`.`orders__manifest`"]
    else:
        assert (files.sizes(), said) == (before, [])


def test_spark_is_told_of_a_file_that_is_gone_even_if_the_disk_is_full(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    files = written_manifest(adapter)
    Receipt(1, {"batch": "bigint"}, {}, files.sizes()).save(files)

    def rename(*_: Any) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(adapter, "call_named_engine", lambda engine, name, sql: said.append(sql))
        patched.setattr(Path, "replace", rename)
        with pytest.raises(OSError, match="No space left"):
            adapter.replace_rows("shop", "orders__manifest", {"batch": "bigint"}, [{"batch": 2}])
    assert said == ["refresh table `shop`.`orders__manifest`"]
    assert not adapter.has_receipt("shop", "orders__manifest")


def test_table_is_emptied_where_it_is(adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    files = written_manifest(adapter)
    (files.folder / ".part-0.parquet.crc").write_text("")
    assert not adapter.is_emptied("shop", "orders__manifest")
    with monkeypatch.context() as patched:
        patched.setattr(adapter.engines[SPARK], "connect", lambda: None)
        assert adapter.empty_table("shop", "orders__manifest")
        assert adapter.is_emptied("shop", "orders__manifest")
        assert list(files.sizes()) == []
        assert [path.name for path in files.folder.iterdir()] == ["_emptied"]
        # There is nothing that shows that the table is here.
        assert not adapter.empty_table("shop", "orders__manifest")
    assert not adapter.is_emptied("shop", "elsewhere")


def test_table_is_not_emptied_if_spark_does_not_start(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise DbtRuntimeError("no Java")

    files = written_manifest(adapter)
    before = files.sizes()
    with monkeypatch.context() as patched:
        patched.setattr(adapter.engines[SPARK], "connect", fail)
        with pytest.raises(DbtRuntimeError, match="no Java"):
            adapter.empty_table("shop", "orders__manifest")
    assert files.sizes() == before
    assert not adapter.is_emptied("shop", "orders__manifest")


@pytest.mark.parametrize("place", ["day=1", "elsewhere", "another disk"])
def test_table_is_not_emptied_if_a_death_could_leave_a_part(
    adapter: SparkClickHouseAdapter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
) -> None:
    files = written_manifest(adapter)
    if place == "elsewhere":
        monkeypatch.setattr(adapter, "home", adapter.home / place)
    elif place == "another disk":
        warehouse = adapter.home / "warehouse"
        warehouse.rename(tmp_path / place)
        warehouse.symlink_to(tmp_path / place)
    else:
        (files.folder / place).mkdir()
        (files.folder / "part-0.parquet").rename(files.folder / place / "part-0.parquet")
    before = files.sizes()
    monkeypatch.setattr(adapter.engines[SPARK], "connect", lambda: None)
    assert not adapter.empty_table("shop", "orders__manifest")
    assert files.sizes() == before


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"_dbt_rows": 1, "lines": 1}, {"lines": 1}),
        ({"_dbt_rows": 2, "lines": 2}, {}),  # a task ran twice
        ({}, {}),  # Spark did not tell
        (None, None),  # other columns
    ],
)
def test_counts_of_a_job_are_taken_if_they_are_sure(
    adapter: SparkClickHouseAdapter,
    monkeypatch: pytest.MonkeyPatch,
    found: dict[str, int] | None,
    expected: dict[str, int] | None,
) -> None:
    written_manifest(adapter)
    with monkeypatch.context() as patched:
        patched.setattr(adapter, "call_named_engine", lambda *_: found)
        assert adapter.refill("shop", "orders__manifest", "select 1 as batch", {"lines": "count(*)"}) == expected
