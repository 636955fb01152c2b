"""What is known about the embedded Spark's metastore while no Spark runs."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.spark import engine, session
from dbt.adapters.spark_clickhouse.spark.metastore import is_own
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord

VIEW = "create or replace view `shop`.`stg_orders`\n  as select value from text.`/landing/orders`"
SETTINGS = "as they are"
TABLE: dict[str, Any] = {"identifier": "orders_changes", "type": "table"}


def write_metastore(home: Path, text: str = "1") -> None:
    (home / "metastore" / "log").mkdir(parents=True, exist_ok=True)
    (home / "metastore" / "log" / "log1.dat").write_text(text)


def recorded(home: Path, *statements: str) -> MetastoreRecord:
    """The record after a run of these statements, as the next process reads it."""
    write_metastore(home)
    record = MetastoreRecord(home, SETTINGS)
    record.note_schema("Shop")
    for statement in statements:
        record.before(statement)
        record.after(statement)
    record.capture(lambda: ["default", "shop"], lambda _: [TABLE])
    record.write()
    return MetastoreRecord(home, SETTINGS)


def test_the_next_run_knows_what_is_there(tmp_path: Path) -> None:
    record = recorded(tmp_path, VIEW)
    assert record.schemas() == ["default", "shop"]
    assert record.relations("SHOP") == [TABLE]
    assert record.relations("default") is None  # nothing has asked for it
    assert record.relations("other") == []
    assert record.is_made(VIEW)
    assert record.is_made(f"/* dbt */ {VIEW}") is False
    assert record.is_made(VIEW.replace("value", "1")) is False
    assert record.view_statement("shop", "stg_orders")
    assert record.view_statement("shop", "other") == ""


def test_no_record_is_kept_of_what_is_changing(tmp_path: Path) -> None:
    record = recorded(tmp_path, VIEW)
    record.before("/* dbt */ select 1")
    assert record.schemas() is not None
    record.before("/* dbt */\n-- a comment\ncreate table shop.x as select 1")
    assert record.schemas() is None
    assert MetastoreRecord(tmp_path, SETTINGS).schemas() is None


def test_a_metastore_that_somebody_else_opened_has_no_record(tmp_path: Path) -> None:
    record = recorded(tmp_path, VIEW)
    write_metastore(tmp_path, "22")
    assert record.schemas() is None
    assert not record.is_made(VIEW)


@pytest.mark.parametrize(
    ("statement", "is_made"),
    [
        ("drop table if exists `shop`.`other` purge", True),
        ("create table shop.orders_changes using parquet as select 1", True),
        ("drop view if exists `shop`.`stg_orders`", False),
        ("alter view shop.stg_orders as select 1", False),
        ("alter view `shop`.`STG_ORDERS` rename to shop.x", False),
        ("drop schema if exists text cascade", False),
        ("do something", False),
        ("set spark.sql.session.timeZone = Asia/Kolkata", False),
        (VIEW.replace("value", "1"), False),
    ],
)
def test_views_are_made_again_after(tmp_path: Path, statement: str, is_made: bool) -> None:
    assert recorded(tmp_path, VIEW, statement).is_made(VIEW) is is_made


@pytest.mark.parametrize(
    ("select", "is_made"),
    [
        ("select * from binaryFile.`/landing`", True),
        ("select * from `shop`.`orders_changes`", True),
        ("select * from json.`/landing/orders`", False),
        ("select * from PARQUET . `s3a://landing/orders`", False),
        ("select * from `json`.`landing`", False),
        ("select * from delta.`/landing/orders`", False),
        ("select * from text.`/a` union all select * from csv.`/b`", False),
    ],
)
def test_views_of_files_with_columns_of_their_own_are_made_again(tmp_path: Path, select: str, is_made: bool) -> None:
    view = f"create or replace view shop.v as {select}"
    assert recorded(tmp_path, view).is_made(view) is is_made


def test_a_view_is_made_again_when_a_table_that_it_reads_is(tmp_path: Path) -> None:
    view = "create or replace view shop.v as select * from `shop`.`base`"
    assert recorded(tmp_path, view).is_made(view)
    assert not recorded(tmp_path, view, "create table `shop`.`base` as select 1").is_made(view)
    assert recorded(tmp_path, view, "create table `shop`.`database` as select 1").is_made(view)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("spark.driver.memory", True),
        ("spark.hadoop.javax.jdo.option.ConnectionURL", False),
        ("spark.sql.catalogImplementation", False),
        ("spark.sql.catalog.spark_catalog", False),
        ("spark.sql.hive.metastore.version", False),
        ("spark.hadoop.hive.metastore.uris", False),
        ("spark.hive.metastore.uris", False),
    ],
)
def test_a_metastore_of_the_users_has_no_record(setting: str, expected: bool) -> None:
    assert is_own([setting]) is expected


COLUMNS: list[dict[str, Any]] = [{"column": "value", "dtype": "string"}]


@pytest.mark.parametrize(
    ("statement", "is_kept"),
    [
        ("create table shop.other as select 1", True),
        ("create or replace table `shop`.`orders` as select 1", False),
        ("alter table shop.ORDERS add column x int", False),
        ("drop schema shop cascade", False),
        ("do something", False),
    ],
)
def test_columns_are_kept_until_their_table_changes(tmp_path: Path, statement: str, is_kept: bool) -> None:
    write_metastore(tmp_path)
    record = MetastoreRecord(tmp_path, SETTINGS)
    record.keep_columns("shop", "orders", COLUMNS, is_view=False)
    record.before(statement)
    assert record.columns("Shop", "Orders") == (COLUMNS if is_kept else None)
    record.capture(list, lambda _: [])
    record.write()
    assert MetastoreRecord(tmp_path, SETTINGS).columns("shop", "orders") == (COLUMNS if is_kept else None)


def test_a_view_of_what_may_change_unseen_keeps_no_columns(tmp_path: Path) -> None:
    record = MetastoreRecord(tmp_path, SETTINGS)
    record.keep_columns("shop", "stg_orders", COLUMNS, is_view=True)
    assert record.columns("shop", "stg_orders") is None
    record.after(VIEW)
    record.keep_columns("shop", "stg_orders", COLUMNS, is_view=True)
    assert record.columns("shop", "stg_orders") == COLUMNS


def test_a_record_under_other_settings_is_none(tmp_path: Path) -> None:
    recorded(tmp_path, VIEW)
    record = MetastoreRecord(tmp_path, "others")
    assert record.schemas() is None
    assert not record.is_made(VIEW)


def test_a_schema_that_is_asked_for_later_is_added(tmp_path: Path) -> None:
    record = recorded(tmp_path, VIEW)
    record.note_schema("default")
    record.capture(lambda: pytest.fail("The schemas are known."), lambda _: [])
    record.write()
    later = MetastoreRecord(tmp_path, SETTINGS)
    assert later.relations("default") == []
    assert later.relations("shop") == [TABLE]


def test_no_record_is_written_of_a_metastore_that_is_not_there(tmp_path: Path) -> None:
    record = MetastoreRecord(tmp_path, SETTINGS)
    record.capture(lambda: ["shop"], lambda _: [])
    record.write()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ['"columns"', ""])
def test_a_record_of_another_version_or_of_a_power_cut_is_none(tmp_path: Path, content: str) -> None:
    recorded(tmp_path, VIEW)
    file = tmp_path / "metastore.json"
    file.write_text(file.read_text().replace(content, '"fields"') if content else "")
    assert MetastoreRecord(tmp_path, SETTINGS).schemas() is None


def test_what_changes_while_it_is_looked_up_is_unknown(tmp_path: Path) -> None:
    record = recorded(tmp_path, VIEW)
    record.before("drop table shop.x")

    def ask(_: str) -> list[dict[str, Any]]:
        record.before("drop table shop.orders_changes")
        return [TABLE]

    record.note_schema("shop")
    record.capture(lambda: ["default", "shop"], ask)
    assert record.relations("shop") is None
    record.capture(lambda: ["default", "shop"], lambda _: [])
    assert record.relations("shop") == []


@pytest.mark.parametrize("changes", [False, True])
def test_a_resident_run_forgets_all_if_a_python_model_changes_the_metastore(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: bool
) -> None:
    write_metastore(tmp_path)
    record = MetastoreRecord(tmp_path, SETTINGS)
    record.after(VIEW)
    monkeypatch.setattr(engine, "record_for", lambda _: record)
    monkeypatch.setattr(engine, "is_metastore_recorded", lambda: True)
    adapter: Any = SimpleNamespace(config=SimpleNamespace(credentials=None))
    with engine.RoutedSparkAdapter._noting_changes(adapter):
        if changes:
            write_metastore(tmp_path)
    assert record.is_made(VIEW) is not changes


@pytest.mark.parametrize(
    ("is_running", "is_resident", "is_recorded", "is_sure"),
    [
        (False, False, False, True),
        (True, True, True, True),
        (True, False, True, False),
        (True, True, False, False),
    ],
    ids=["no Spark", "a resident run", "a program that may use Spark itself", "a metastore of others"],
)
def test_listings_come_from_the_record_if_nothing_else_changes_the_metastore(
    monkeypatch: pytest.MonkeyPatch, is_running: bool, is_resident: bool, is_recorded: bool, is_sure: bool
) -> None:
    monkeypatch.setattr(private_api, "is_spark_running", lambda: is_running)
    monkeypatch.setattr(session, "_recorded", [object()] if is_recorded else [])
    monkeypatch.setattr(session, "_resident", Event())
    if is_resident:
        session.stay()
    assert engine._is_record_sure() is is_sure
