"""Change sets from the change feeds of lake tables, applied to ClickHouse: `make formats`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.formats.formats import DELTA, FORMATS, ICEBERG
from tests.support.lake_project import COLUMNS, History, Lake, LakeProject, assert_equal, looked

FEW = {"spark.sql.shuffle.partitions": "2"}
LAKES = {
    "delta": Lake(
        "delta",
        FORMATS["delta"].spark,
        FORMATS["delta"].packages,
        {
            **DELTA,
            **FEW,
            "spark.databricks.delta.snapshotPartitions": "2",
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        },
        "tblproperties (delta.enableChangeDataFeed = true)",
    ),
    "iceberg": Lake("iceberg", FORMATS["iceberg"].spark, FORMATS["iceberg"].packages, {**ICEBERG, **FEW}, ""),
}
COMPACT = {
    "delta": "optimize shop.orders",
    "iceberg": (
        "call spark_catalog.system.rewrite_data_files(table => 'shop.orders', options => map('rewrite-all', 'true'))"
    ),
}
MANY = 20_000


@pytest.mark.parametrize("name", LAKES)
def test_live_rows_are_those_of_the_lake(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    appends = {"on_schema_change": "append_new_columns"}
    project = LakeProject(
        tmp_path,
        LAKES[name],
        {
            "orders_found": ("'orders', key=['id']", appends),
            "orders_signed": ("'orders', key=['id'], version='ver'", {"old_state": "stream"}),
        },
        {"orders_second": "orders_found_changes"},
    )
    tables = ("orders_found", "orders_signed", "orders_second")
    history = History("shop.orders", 1, 60)
    looks = []
    # The first run begins with the current table, whatever the feed has.
    project.commit("create schema if not exists shop", LAKES[name].create("shop.orders"), history.merge(30))
    project.commit(history.merge(30))
    project.run()
    looks.append(project.look("shop.orders", *tables))
    # The run dies when the change sets exist but nothing is applied; more is committed.
    project.commit(history.merge(30), history.move_key(), history.delete())
    project.run("--select", "config.materialized:change_set")
    project.commit(COMPACT[name], history.merge(40), history.merge(40))
    project.run()
    looks.append(project.look("shop.orders", *tables))
    # Every row is rewritten unchanged, except for those that are deleted.
    project.commit(
        "insert overwrite shop.orders select * from shop.orders where id % 7 <> 0",
        "alter table shop.orders add columns (extra string)",
        "update shop.orders set extra = 'more', ver = ver + 1000 where id % 5 = 0",
        f"insert into shop.orders select id + 100000, 'new', 1.5, 5000L, date'2025-01-01', null from range({MANY})",
    )
    # Signed rows accept no new columns: the table is rebuilt.
    project.run("--exclude", "orders_signed_changes+")
    project.run("--full-refresh", "--select", "orders_signed_changes+")
    wider = (*COLUMNS, "extra")
    looks.append(project.look("shop.orders", *tables, columns=wider))
    project.commit(
        "update shop.orders set amount = amount + 1, ver = ver + 1 where id >= 100000",
        "delete from shop.orders where id % 3 = 0 and id < 100000",
    )
    timed = project.run()
    looks.append(project.look("shop.orders", *tables, columns=wider))
    # One of two tables is gone: the change set begins with the current lake table, for both.
    project.commit("drop table shop.orders_second sync", engine="clickhouse")
    project.commit("delete from shop.orders where id % 3 = 1 and id < 100000")
    project.run()
    looks.append(project.look("shop.orders", *tables, columns=wider))
    nothing = project.run()
    project.run("--full-refresh")
    looks.append(project.look("shop.orders", *tables, columns=wider))

    outcomes = project.go()
    assert [outcome.failures() or outcome.output for outcome in outcomes if not outcome.success] == []
    for look in looks:
        assert assert_equal(outcomes[look], *tables) > 20
    assert len(looked(outcomes[looks[-1]])["lake"]) > MANY
    assert {node.message for node in outcomes[nothing].nodes.values()} == {
        "no new batches",
        "no new batches: nothing to change",
    }
    seconds = outcomes[timed].seconds
    with capsys.disabled():
        sys.stdout.write(f"\n{name}, {MANY} updates, seconds:\n")
        for table in tables[:2]:
            on_spark, on_clickhouse = seconds[f"{table}_changes"], seconds[table]
            sys.stdout.write(f"  {table}: {on_spark:.1f} on Spark, {on_clickhouse:.1f} on ClickHouse\n")


def _rows(table: str, *rows: str) -> str:
    return f"insert into shop.{table} values {', '.join(rows)}"


@pytest.mark.parametrize("name", LAKES)
def test_what_cannot_be_told_stops_the_change_set(name: str, tmp_path: Path) -> None:
    lake = LAKES[name]
    is_delta = name == "delta"
    looked_up = ("plain", "twice", "lost", "quiet", "swept")
    project = LakeProject(
        tmp_path,
        lake,
        {
            **{f"{table}_now": (f"'{table}', key=['id']", {}) for table in looked_up},
            "still_now": ("'still', key=['id'], version='ver'", {"old_state": "stream"}),
            "text_now": ("'still', key=['id'], version='status'", {"old_state": "stream"}),
            "absent_now": ("'absent', key=['id']", {}),
        },
    )
    row = "(1, 'new', 1.5, 1L, date'2025-01-01')"
    other = "(2, 'new', 1.5, 1L, date'2025-01-01')"
    project.commit("create schema if not exists shop")
    # Iceberg's change feed is always on. It cannot read a table that is merged on read.
    quiet = "" if is_delta else "tblproperties ('write.update.mode' = 'merge-on-read')"
    project.commit(
        lake.create("shop.plain").replace(f"using {name}", "using parquet").replace(lake.properties, ""),
        *(lake.create(f"shop.{table}") for table in ("twice", "lost", "swept", "still")),
        lake.create("shop.quiet", quiet),
        *(_rows(table, row, other) for table in ("plain", "twice", "lost", "swept", "still", "quiet")),
    )
    first = project.run()
    changes = [
        *[_rows("twice", row.replace("(1", "(3"))] * 2,
        "update shop.still set status = 'paid' where id = 1",
        "update shop.swept set status = 'paid' where id = 1",
        _rows("lost", "(3, 'new', 1.5, 1L, date'2025-01-01')"),
    ]
    if is_delta:
        # A table of the same name; vacuumed changes, together with the rows that they left.
        project.commit(
            *changes,
            "drop table shop.lost",
            lake.create("shop.lost"),
            _rows("lost", other),
            "vacuum shop.swept retain 0 hours",
        )
    else:
        # A replaced table; expired snapshots.
        project.commit(
            *changes,
            "update shop.quiet set status = 'paid' where id = 1",
            "call spark_catalog.system.expire_snapshots(table => 'shop.swept', "
            "older_than => timestamp'2099-01-01', retain_last => 1)",
            "delete from shop.swept where id = 2",
            "call spark_catalog.system.expire_snapshots(table => 'shop.swept', "
            "older_than => timestamp'2099-01-01', retain_last => 1)",
            "create or replace table shop.lost using iceberg partitioned by (day) as "
            "select * from shop.lost where id = 2",
        )
    second = project.run()
    again = ["lost", "swept"]
    third = project.run("--full-refresh", "--select", *(f"{table}_now_changes+" for table in again))
    looks = [project.look(f"shop.{table}", f"{table}_now") for table in again]

    outcomes = project.go()
    expected = {
        first: {
            "plain": f"shop.plain is a table of the format parquet; the macro takes a table of {name.title()}. "
            f"Create it with file_format: {name}. Spark needs the jars and settings",
            "text": "version: status is string, but a version must be an integer, a date or a timestamp.",
            "absent": "shop.absent does not exist, or Spark cannot read it. Create it before the change set.",
        },
        second: {
            "twice": 'The lake table has more than one row of the key {"id":3}. A change feed needs a key that is '
            "unique in the lake table",
            "still": 'The row of the key {"id":1} changes and its ver does not grow: 1 before, 1 after. '
            "Signed rows need a version that grows with every change.",
            "lost": "the history of shop.lost has neither commit ",
        },
    }
    if is_delta:
        expected[first]["quiet"] = (
            "shop.quiet has no change data feed, so its changes are unknown. Enable it: alter table shop.quiet set "
            "tblproperties (delta.enableChangeDataFeed = true)."
        )
        expected[second]["swept"] = "it was vacuumed, or its snapshot has expired. A full refresh"
    else:
        expected[second]["quiet"] = "snapshots of shop.quiet have delete files (merge-on-read)"
        expected[second]["swept"] = "the history of shop.swept has neither commit "
    for run, problems in expected.items():
        failures = outcomes[run].failures()
        for table, text in problems.items():
            assert text in failures[f"{table}_now_changes"], (table, failures)
    told = {f"{table}_now_changes" for table in (*expected[first], *expected[second])}
    wrong = {
        name: message
        for run in expected
        for name, message in outcomes[run].failures().items()
        if name.endswith("_changes") and name not in told
    }
    assert wrong == {}
    assert outcomes[third].failures() == {}
    assert [assert_equal(outcomes[look], f"{table}_now") for look, table in zip(looks, again, strict=True)] == [
        1,
        2 if is_delta else 1,
    ]
