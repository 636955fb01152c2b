"""The page that `report` writes: its figures are those of the engine, and everybody can read it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.cli import report
from tests.support.collapsing_project import CollapsingProject, OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.html_page import Page
from tests.support.shop import REPOSITORY

STRUCTURE = "id Int64, part UInt8, amount Int64, _version Int64, _is_deleted Bool"
# A name that HTML, SVG, matplotlib or SQL could misread.
HOSTILE = "_$x_1$ & <img src=x onerror=alert(1)> 'q'"
KEYS = 30


def rows(version: int, *keys: int) -> list[Row]:
    return [(key, key % 3, key * version, version, False) for key in keys or range(KEYS)]


def write(project: CollapsingProject, *arguments: str) -> int:
    """Write the report of a project. Return the exit code."""
    folder = str(project.folder)
    return report.main([*arguments, "--project-dir", folder, "--profiles-dir", folder])


def read(project: CollapsingProject) -> Page:
    return Page((project.folder / "target" / "report.html").read_text())


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    """Two tables and a view; three runs, one of which the view lacks; a test that fails; a comparison that finds a key;
    and a table that is not built."""
    project = make_project("reported")
    project.add_model("orders", {"unique_key": "id", "partition_by": "part"}, "select * from changes")
    project.add_model(
        "hostile",
        {"unique_key": "name", "alias": HOSTILE},
        "select '<b>bold</b>' as name, toInt64(1) as _version union all select 'plain', 1",
    )
    project.add_model("unbuilt", {"unique_key": "id"}, "select * from changes")
    project.add_model(
        "sums",
        {"materialized": "versioned_collapsing_view", "order_by": "part"},
        "select part, {{ versioned_collapsing.signed_sum('amount') }} as total, "
        "{{ versioned_collapsing.signed_count() }} as n from {{ ref('orders') }} group by part",
    )
    tested = {"name": "orders", "columns": [{"name": "part", "data_tests": ["not_null", "unique"]}]}
    project.add_properties("orders", {"models": [tested]})
    for selected, changes in (
        (("orders", "sums", "hostile"), rows(1)),
        (("orders", "sums"), rows(2, 1, 2, 3, 4)),
        (("orders",), [*rows(3, 1, 100), (5, 2, 0, 3, True)]),
    ):
        project.replace_rows("changes", STRUCTURE, changes)
        project.build("--select", *selected)
    project.command("system stop merges")
    project.dbt("test", "--select", "orders")
    with pytest.raises(OperationError, match="1 unexpected"):
        project.operation(
            "reconcile", model="hostile", reference="(select 'plain' as name, toInt64(1) as _version)", ranges=1
        )
    assert write(project) == 0
    return project


@pytest.fixture(scope="module")
def page(project: CollapsingProject) -> Page:
    return read(project)


def test_everybody_can_read_it(page: Page) -> None:
    """It is well formed, refers to nothing outside, runs no script, and describes its plots in words."""
    assert page.problems() == []
    assert len(page.root.all("svg")) >= 6


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_figures_are_those_of_the_engine(project: CollapsingProject, page: Page) -> None:
    tables = page.tables()
    (orders,) = [row for row in tables["Rows of each table, and its last run"] if row["table"] == "reported.orders"]
    ((live, stored),) = project.query("select sum(_sign), count() from orders")
    assert (number(orders["live"]), number(orders["stored"])) == (live, stored) == (KEYS, 42)
    assert number(orders["waiting"]) == stored - live
    assert orders["unbalanced keys"] == "0"
    assert {
        (row["partition"], number(row["stored"]), number(row["waiting"]), number(row["parts"]))
        for row in tables["Rows by partition"]
    } == set(
        project.query(
            "select _partition_id, count(), toInt64(count()) - sum(_sign), uniqExact(_part) "
            "from orders group by 1 having count() > sum(_sign)"
        )
    )
    ledger = project.query(
        "select formatDateTime(at, '%F %T'), rows_read, states, cancels, deletes from versioned_collapsing_ledger "
        "where model = 'orders' and status = 'applied' order by at desc"
    )
    assert [
        (run["ended"], *(number(run[name]) for name in ("rows read", "states", "cancels", "deletes")))
        for run in tables["Runs of reported.orders, the last one first"]
    ] == ledger
    assert [row[2:] for row in ledger] == [(2, 2, 1), (4, 4, 0), (30, 0, 0)]
    (cost,) = [
        row
        for row in tables["Bytes on disk, and rows written for the changes of all runs"]
        if row["table"] == "reported.orders"
    ]
    ((size,),) = project.query(
        "select sum(bytes_on_disk) from system.parts where active and database = 'reported' and table = 'orders'"
    )
    assert cost["stored rows"] == f"{size / 1000:,.1f} kB"
    assert (cost["changes"], cost["rows written"], cost["rows of a change"]) == ("37", "42", "1.14")
    labels = [svg.attributes["aria-label"] for svg in page.root.all("svg")]
    assert any(text.startswith("reported.orders: 36 state rows and 6 cancel rows written in 3 runs") for text in labels)


def test_what_needs_attention(page: Page) -> None:
    (section,) = [each for each in page.root.all("section") if each.attributes["id"] == "attention"]
    said = [item.text for item in section.all("li")]
    assert len(said) == 4
    assert f"reported.{HOSTILE}: 1 key differs from (…)." in said[0]
    assert said[1] == "reported.sums lacks changes of reported.orders. dbt run --select sums"
    assert said[2] == "reported.unbuilt is not built. dbt run --select unbuilt"
    assert said[3].startswith("test unique_orders_part: fail. Got 3 results")


def test_views_tests_and_comparisons(page: Page) -> None:
    tables = page.tables()
    assert tables["How far each view is, by the number of the last apply to its table"] == [
        {"view": "reported.sums", "table": "reported.orders", "has used": "2", "last apply": "3", "state": "behind"}
    ]
    assert [(row["test"], row["status"]) for row in tables["Results of the tests"]] == [
        ("not_null_orders_part", "pass"),
        ("unique_orders_part", "fail"),
    ]
    assert [row["test"] for row in tables["Tests that did not pass"]] == ["unique_orders_part"]
    (found,) = tables["Keys of the table beside those of its source"]
    assert found["ranges"] == "1 of 1"
    assert (found["compared"], found["missing"], found["unexpected"]) == ("2", "0", "1")
    assert found["some keys that differ"] == "unexpected ('<b>bold</b>')"


def test_a_name_is_nothing_but_a_name(page: Page) -> None:
    assert f"reported.{HOSTILE}" in page.text
    assert [element.tag for element in page.elements if element.tag in ("img", "b")] == []
    assert any("reported._$x_1$ & <img src=x" in svg.text for svg in page.root.all("svg"))


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb according to WCAG."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_colours_have_contrast(page: Page, mode: int) -> None:
    """WCAG requires 4.5 for text, and 3 for graphics."""
    blocks = re.findall(r":root \{(.*?)\}", page.source, re.DOTALL)
    assert len(blocks) == 2
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", blocks[mode]))
    assert re.findall(r"#[0-9a-f]{6}", page.source[page.source.index("</style>") :]) == []
    for name in ("ink", "muted", "link", "good", "bad"):
        assert contrast(colours[name], colours["page"]) >= 4.5, name
        assert contrast(colours[name], colours["panel"]) >= 4.5, name
    for name in (name for name in colours if name.startswith("series-")):
        assert contrast(colours[name], colours["panel"]) >= 3, name


def with_quarantine(data: Any, lines: list[tuple[str, str, str, int]]) -> Any:
    quarantined = [dict(zip(("day", "source", "why", "n"), line, strict=True)) for line in lines]
    tables = [
        {**table, "quarantined": quarantined if table["model"] == "hostile" else None} for table in data["tables"]
    ]
    return {**data, "tables": tables}


def test_changes_that_need_attention(make_project: MakeProject, tmp_path: Path) -> None:
    """Conflicts are read from the ledger. The other figures are those of a table with much trouble."""
    project = make_project("report_of_trouble")
    project.replace_rows("changes", STRUCTURE, [(7, 1, 1, 1, False), (7, 1, 2, 1, False)])
    project.add_model("troubled", {"unique_key": "id"}, "select * from changes")
    project.build("--select", "troubled")
    assert write(project) == 0
    once = "1 change had the version of a stored row and other values."
    rebuild = "to take the changes, rebuild the table. dbt run --full-refresh --select troubled"
    assert f"report_of_trouble.troubled: {once} The stored rows stayed as they were." in read(project).text
    assert rebuild in read(project).text
    data = report.read_data(["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)])
    (table,) = data["tables"]
    assert table["keeps_lines"] is False
    table["totals"]["quarantined"] = 3
    table["runs"][-1] |= {"rows_read": 40, "late": 25, "ended_at": "2026-01-05 10:00:00"}
    table["status"] |= {"stored": 400_000, "waiting": 300_000}
    (tmp_path / "data.json").write_text(json.dumps(data | {"tables": [table]}))
    warned = [
        {"unique_id": f"test.shop.{name}.1", "status": "warn", "message": "Got 1 result", "execution_time": 1}
        for name in ("unknown_fields_stg_orders", "quarantine_is_empty_quarantine")
    ]
    (tmp_path / "results.json").write_text(
        json.dumps(
            {"results": warned, "args": {"which": "build"}, "metadata": {"generated_at": "2026-01-05T10:00:00Z"}}
        )
    )
    given = ["--data", str(tmp_path / "data.json"), "--output", str(tmp_path / "page.html")]
    assert report.main([*given, "--run-results", str(tmp_path / "results.json")]) == 0
    (section, *_) = Page((tmp_path / "page.html").read_text()).root.all("section")
    assert [item.text.removeprefix("report_of_trouble.troubled: ") for item in section.all("li")][1:] == [
        "25 of 40 changes in the run of 2026-01-05 10:00:00 were older than the stored rows. Check that the version "
        "grows with every change.",
        "3 lines were left out, and no model of quarantined_lines keeps them.",
        "300,000 of 400,000 rows wait for a merge. dbt run-operation compact --args '{model: troubled}'",
        "test unknown_fields_stg_orders warns. Got 1 result dbt test --select unknown_fields_stg_orders",
    ]


def test_it_can_be_written_from_what_the_operation_printed(project: CollapsingProject, tmp_path: Path) -> None:
    """One plot has room for many reasons."""
    printed = report.read_data(["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)])
    lines = [("2026-01-0" + str(n % 3 + 1), "orders", f"<i>reason</i> {n} $^$", n) for n in range(1, 10)]
    data, output = tmp_path / "data.json", tmp_path / "deep" / "page.html"
    data.write_text(json.dumps(with_quarantine(printed, lines)))
    given = ["--data", str(data), "--output", str(output), "--run-results", str(tmp_path / "no")]
    assert report.main(given) == 0
    page = Page(output.read_text())
    assert page.problems() == []
    shown = page.tables()[f"Lines in reported.{HOSTILE}"]
    assert {(row["day"], row["reason"], row["lines"]) for row in shown} == {
        (day, why, str(n)) for day, _, why, n in lines
    }
    assert "45 lines are in quarantine." in page.text
    assert "There are no results. Run dbt test" in page.text


class TestNothingToShow:
    def test_no_table(self, make_project: MakeProject) -> None:
        project = make_project("report_of_nothing")
        assert write(project) == 0
        page = read(project)
        assert page.problems() == []
        assert "This project has no model with materialized: versioned_collapsing." in page.text
        project.add_model("orders", {"unique_key": "id"}, "select 1 as id, 1 as _version")
        assert write(project) == 0
        page = read(project)
        assert page.problems() == []
        assert "No table is built yet. Run dbt run, and this command again." in page.text

    def test_no_connection(self, project: CollapsingProject, capsys: pytest.CaptureFixture[str]) -> None:
        assert write(project, "--target", "nowhere") == 1
        assert "does not have a target named 'nowhere'" in capsys.readouterr().err

    def test_no_package(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        profile = {"type": "clickhouse", "schema": "x"}
        (tmp_path / "profiles.yml").write_text(json.dumps({"host": {"target": "a", "outputs": {"a": profile}}}))
        (tmp_path / "dbt_project.yml").write_text(json.dumps({"name": "host", "profile": "host"}))
        folder = str(tmp_path)
        assert report.main(["--project-dir", folder, "--profiles-dir", folder]) == 1
        assert "Install the package" in capsys.readouterr().err

    def test_no_matplotlib(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        package = sys.modules["dbt.adapters.spark_clickhouse.cli"]
        for name in ("report_page", "report_plots"):
            monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
            monkeypatch.delattr(package, name, raising=False)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert report.main([]) == 1
        assert "is missing. Install it: pip install 'matplotlib>=3.10'" in capsys.readouterr().err

    def test_results_that_are_no_json(
        self, project: CollapsingProject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "results.json").write_text("{")
        assert write(project, "--run-results", str(tmp_path / "results.json")) == 1
        printed = capsys.readouterr().err
        assert "results.json is no JSON" in printed
        assert "Run dbt test again." in printed


DASHBOARD = json.loads((REPOSITORY / "monitoring" / "grafana_dashboard.json").read_text())
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"]}


class TestMonitoring:
    """The queries of Grafana and Prometheus, on a ledger with a landed batch, a view that is behind, and a dead run."""

    @pytest.fixture(scope="class")
    @classmethod
    def watched(cls, project: CollapsingProject) -> CollapsingProject:
        """The ledger of `orders` as if the batches of its change sets had landed five seconds earlier."""
        ledger = "versioned_collapsing_ledger"
        project.command(f"create table landed as {ledger}")
        project.command(
            "insert into landed select * replace (if(model = 'orders', [at - toIntervalSecond(5)], []) as landed_at, "
            "if(model = 'orders', 2, 0) as duplicates) "
            f"from {ledger}"
        )
        project.command(
            "insert into landed select * replace ('died' as model, 'started' as status, "
            f"generateUUIDv4() as target_uuid) from {ledger} as l where l.model = 'hostile' limit 1"
        )
        project.command(f"exchange tables landed and {ledger}")
        project.command("drop table landed")
        return project

    def ask(self, project: CollapsingProject, sql: str) -> list[dict[str, Any]]:
        """The rows of a dashboard query, with Grafana's macros and variables replaced as by its data source."""
        for pattern, text in (
            (r"\$__timeFilter\((.*?)\)", r"\1 >= toDateTime(0) AND \1 <= toDateTime(4000000000)"),
            (r"\$__timeInterval\((.*?)\)", r"toStartOfInterval(toDateTime(\1), INTERVAL 60 second)"),
            (r"\$\{database\}", project.schema),
            (r"\$\{model:singlequote\}", "'orders','hostile','died'"),
        ):
            sql = re.sub(pattern, text, sql)
        assert "$" not in sql
        return list(project.client.query(sql).named_results())

    @pytest.mark.parametrize("title", PANELS)
    def test_panel(self, watched: CollapsingProject, title: str) -> None:
        panel = PANELS[title]
        (target,) = panel["targets"]
        found = self.ask(watched, target["rawSql"])
        assert found
        is_series = panel["type"] == "timeseries"
        assert (target["queryType"], target["format"]) == (("timeseries", 0) if is_series else ("table", 1))
        if is_series:
            times, names, values = zip(*(row.values() for row in found), strict=True)
            assert next(iter(found[0])) == "time"
            assert list(times) == sorted(times)
            assert {type(name) for name in names} == {str}
            assert all(isinstance(value, int | float) for value in values)

    def test_variables(self, watched: CollapsingProject) -> None:
        source, *variables = DASHBOARD["templating"]["list"]
        assert source["query"] == PANELS["Views"]["datasource"]["type"]
        database, model = (self.ask(watched, variable["query"]) for variable in variables)
        assert {"database": "reported"} in database
        assert [row["model"] for row in model] == ["died", "hostile", "orders", "sums"]

    def test_values(self, watched: CollapsingProject) -> None:
        answers = {title: self.ask(watched, panel["targets"][0]["rawSql"]) for title, panel in PANELS.items()}
        assert [row["lag"] for row in answers["Landed to visible"]] == [5, 5, 5]
        live = [row["live"] for row in answers["Live rows"] if row["model"] == "orders"]
        assert live == [30, 30, KEYS]
        (view,) = answers["Views"]
        assert (view["view"], view["has_used"], view["last_apply"], view["is_behind"]) == (("sums", 2, 3, 1))
        last = {row["model"]: row["last_status"] for row in answers["Last applies"]}
        assert last == {"died": "started", "hostile": "applied", "orders": "applied"}
        (compared,) = answers["Comparisons with the source"]
        assert (compared["verified_ranges"], compared["unexpected_keys"]) == ("1 of 1", 1)

    def test_prometheus(self, watched: CollapsingProject) -> None:
        sql = (REPOSITORY / "monitoring" / "prometheus.sql").read_text()
        text = watched.client.raw_query(sql, parameters={"database": watched.schema}).decode()
        kinds = dict(re.findall(r"^# TYPE (\w+) (gauge|counter)$", text, re.MULTILINE))
        found = dict(re.findall(r"^versioned_collapsing_(\S+) (\S+)$", text, re.MULTILINE))
        assert len(kinds) == 14
        assert {name for name, kind in kinds.items() if kind == "counter"} == {
            name for name in kinds if name.endswith("_total")
        }
        orders = '{database="reported",model="orders"}'
        assert (found[f"states_total{orders}"], found[f"cancels_total{orders}"]) == ("36", "6")
        assert found[f"landed_to_visible_seconds{orders}"] == "5"
        interrupted = {name: value for name, value in found.items() if "is_interrupted" in name}
        assert sorted(interrupted.values()) == ["0", "0", "1"]
        assert interrupted['is_interrupted{database="reported",model="died"}'] == "1"
