"""The starter for a landing table in ClickHouse: what it writes builds at once on stock dbt-clickhouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.spark_clickhouse.cli.start import FILES, KINDS, main
from sqlfluff_plugin_versioned_collapsing.compiled import lint_manifest
from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.landed_shop import BRIDGES

ODD = (
    "`Order-ID` UInt64, `line no` UInt16, `select` Nullable(String), `it's` Decimal(18, 4), day Nullable(Date32), "
    "`größe` LowCardinality(String), `Changed At` DateTime64(3, 'UTC'), gone UInt8"
)


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    project = make_project("started")
    project.command(f"create table `land-ing` ({ODD}) engine = MergeTree order by tuple()")
    project.command("create table whole (op String, before String, after String, source String) engine = Memory")
    project.command("create table raw (_airbyte_ab_id String, _airbyte_data String) engine = Memory")
    project.command(
        "insert into `land-ing` values (1, 1, 'a', 1.5, '2025-01-01', 'x', '2025-01-01 10:00:00', 0), "
        "(1, 2, null, 2.25, null, 'y', '2025-01-01 10:00:00', 0), (1, 1, 'b', 2.5, null, 'x', '2025-01-02 10:00:00', 0)"
    )
    return project


def start(project: CollapsingProject, *arguments: str) -> int:
    folder = str(project.folder)
    return main([*arguments, "--project-dir", folder, "--package", "../versioned_collapsing"])


OPTIONS = ("--kind", "clickhouse", "--table", "started.land-ing", "--key", "Order-ID,line no")


def test_a_landing_table_with_odd_names(project: CollapsingProject, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--version", "Changed At", "--is-deleted", "gone")
    assert start(project, "items", *OPTIONS, *more) == 0
    said = capsys.readouterr().out
    assert said.startswith("items: key Order-ID, line no; version Changed At\n  Order-ID ")  # and not dbt's own output
    assert "dbt build --select items+" in said
    (project.folder / "packages.yml").unlink()  # This project has the macros in its own folder.
    for text, live in (
        ("", [(1, 1, "b"), (1, 2, None)]),
        ("(1, 2, null, 2.25, null, 'y', '2025-01-03 10:00:00', 1)", [(1, 1, "b")]),
    ):
        if text:
            project.command(f"insert into `land-ing` values {text}")
        built = project.dbt("build")
        assert {node.status for node in built.values()} == {"success", "pass"}
        query = "select `Order-ID`, `line no`, `select` from items final where _sign = 1 order by all"
        assert project.query(query) == live
    project.dbt("compile")
    assert lint_manifest(project.folder / "target" / "manifest.json") == []


OF_TOOLS = {
    "peerdb_with_raw": ("peerdb", "--beside", "peerdb_raw"),
    "airbyte_appended": ("airbyte", "--version", "_airbyte_extracted_at"),
    "altinity": ("altinity",),
    "kafka_sink": ("kafka_connect", "--version", "_version"),
    "kafka_envelopes": ("kafka_connect", "--column", "id:Int64", "--column", "name:String"),
    "dlt": ("dlt", "--beside", "dlt_loads", "--version", "lsn"),
}


def test_tables_that_tools_land(make_project: MakeProject) -> None:
    project = make_project("of_tools")
    project.command(
        "create table events (n UInt64, batch UInt32, op String, lsn UInt64, image String, id Int64, name String, "
        "landed_at DateTime64(6, 'UTC')) engine = MergeTree order by n"
    )
    for n, (op, key, name) in enumerate([("c", 1, "a"), ("c", 2, "b"), ("u", 1, "c"), ("d", 2, "b")]):
        image = f'{{"id": {key}, "name": "{name}"}}'
        project.command(
            f"insert into events values ({n}, {n + 1}, '{op}', {n + 1}, '{image}', {key}, '{name}', "
            f"'2025-10-10 00:00:0{n}')"
        )
    assert {kind for kind, *_ in OF_TOOLS.values()} == KINDS.keys() - {*FILES, "clickhouse"}
    for tool, options in OF_TOOLS.items():
        bridge = BRIDGES[tool]
        for landing, create, select in [
            (tool, bridge.create, f"{bridge.select} from events"),
            *((name, *more) for name, more in bridge.more.items()),
        ]:
            structure = create.format(columns="id Int64, name String", key="id")
            project.command(f"create table {landing} {structure}")
            columns = select.format(columns="id, name", names="")
            project.command(f"insert into {landing} select {columns}")
        arguments = ("--kind", *options, "--table", f"of_tools.{tool}", "--key", "id")
        assert start(project, f"{tool}_now", *arguments) == 0
        (project.folder / "packages.yml").unlink()
    built = project.dbt("build")
    assert {node.status for node in built.values()} == {"success", "pass"}
    for tool in OF_TOOLS:
        query = f"select id, name from {tool}_now final where _sign = 1"
        assert (tool, project.query(query)) == (tool, [(1, "c")])
    assert lint_manifest(project.folder / "target" / "manifest.json") == []


def test_what_is_there_stays(project: CollapsingProject, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--version", "Changed At")
    start(project, "kept", *OPTIONS, *more)
    files = {path: path.read_text() for path in project.folder.rglob("*") if _is_source(path)}
    assert start(project, "kept", *OPTIONS, *more) == 2
    assert "models/current/kept.sql" in (said := capsys.readouterr().err)
    assert "there already. Nothing was written." in said
    assert {path: path.read_text() for path in files} == files
    for path in (project.folder / "models" / "current").glob("kept.*"):
        path.unlink()
    (project.folder / "packages.yml").unlink()


def _is_source(path: Path) -> bool:
    return path.suffix in (".sql", ".yml") and "target" not in path.parts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kind", "clickhouse"), "--table is missing. Which table does it land in?"),
        ((*OPTIONS, "--version", "at"), "the sample has no column at. It has Order-ID, line no,"),
        (("--kind", "clickhouse", "--table", "started.none", "--key", "id", "--version", "v"),
            "ClickHouse has no table started.none"),
        (("--kind", "clickhouse", "--table", "none", "--key", "id", "--version", "v"),
            "--table is none. Write it as database.table."),
        (("--kind", "airbyte", "--table", "started.land-ing", "--key", "Order-ID", "--beside", "raw"),
            "--beside is not for the kind airbyte. Remove it."),
        (("--kind", "dlt", "--table", "started.land-ing", "--key", "Order-ID"),
            "--beside is missing. Which table has the loads, _dlt_loads?"),
        (("--kind", "kafka_connect", "--table", "started.whole", "--key", "id", "--column", "name:String"),
            "started.whole has whole events. Name each column of the row with its type in ClickHouse, also id: "
            "--column id:UInt64"),
        (("--kind", "airbyte", "--table", "started.raw", "--key", "id"),
            "started.raw has each row as JSON in _airbyte_data, as version 1 of Airbyte's destination lands it. "
            "Make a view that selects its fields,"),
        (("--kind", "debezium", "--landing", "nowhere"), "--key is missing. Which columns identify a row?"),
        (("--kind", "upserts", "--landing", "nowhere", "--key", "id", "--version", "v"),
            "nowhere is no folder. It is where the folders batch=N are."),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(
    project: CollapsingProject, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert start(project, "wrong", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not [*project.folder.rglob("wrong*")]
