"""dbt's docs site, the report and the documentation site, as a browser shows them; run by `make browser`.

Chromium opens each page, runs its scripts, and returns the resulting page. The screenshots in target/browser are for
people.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.test_shop import assert_all_succeeded
from tests.support.commands import dbt, variables
from tests.support.shop import REPOSITORY

PICTURES = REPOSITORY / "target" / "browser"
SITE = REPOSITORY / "target" / "site"
WIDE, NARROW = (1440, 900), (390, 844)
PREFIX = "versioned_collapsing"
# Types into the search of dbt's site.
SEARCH = """
setTimeout(() => {
  const input = document.querySelector('input[type=search]');
  input.value = 'revenue';
  input.dispatchEvent(new Event('input'));
  input.dispatchEvent(new Event('change'));
}, 3000);
"""
# Records how much wider than the window the page is.
OVERFLOW = """
setTimeout(() => {
  const root = document.documentElement;
  root.dataset.overflow = root.scrollWidth - root.clientWidth;
}, 3000);
"""


def chromium(page: str, *options: str, size: tuple[int, int] = WIDE) -> str:
    """Chromium's output after the page has had 10 s of its own clock."""
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--virtual-time-budget=10000", "--window-size={},{}".format(*size), *options, page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


def look(page: Path, name: str, fragment: str = "", size: tuple[int, int] = WIDE) -> str:
    """The page after its scripts have run. Its screenshot is saved under this name."""
    address = page.as_uri() + fragment
    PICTURES.mkdir(parents=True, exist_ok=True)
    chromium(address, f"--screenshot={PICTURES / name}-{size[0]}.png", size=size)
    return chromium(address, "--dump-dom", size=size)


def with_script(page: Path, script: str) -> Path:
    """A copy, next to the page, that also runs a script."""
    copy = page.with_name(f"browser_{page.name}")
    copy.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    return copy


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stores of the shop after three batches, of which some orders come before their customers."""
    home = tmp_path_factory.mktemp("browser") / "home"
    three = variables(through_batch=3)
    build = ["build", "--exclude", "test_name:relationships", *three]
    assert_all_succeeded(dbt(home, build, ["docs", "generate", "--static", *three]))
    return home


@pytest.fixture(scope="module")
def docs(home: Path) -> Path:
    """dbt's site, in a single file."""
    return home / "target" / "static_index.html"


@pytest.fixture(scope="module")
def report(home: Path) -> Path:
    page = home / "report.html"
    command = [sys.executable, "-m", "dbt.adapters.spark_clickhouse", "report", "--output", str(page)]
    stores = {"SPARK_CLICKHOUSE_HOME": str(home), "DBT_TARGET_PATH": str(home / "target")}
    subprocess.run(command, cwd=REPOSITORY, env={**os.environ, **stores}, check=True)
    return page


def test_overview(docs: Path) -> None:
    """Other projects show it beside their own, where the demo's models and pictures are not."""
    page = look(docs, "overview", f"#!/overview/{PREFIX}")
    assert "Spark is brown, ClickHouse is blue" in page
    assert "<img" not in page.split("Rows that change")[1].split("Each")[0]


@pytest.mark.parametrize(
    ("model", "engine", "shown"),
    [
        ("stg_shop__orders", "spark", ["_reason", "line_number"]),
        ("orders_changes", "spark", ["_duplicates"]),
        ("orders", "clickhouse", ["Decimal(12, 2)"]),
        ("revenue_by_region_and_month_live", "clickhouse", ["revenue"]),
    ],
)
def test_model(docs: Path, model: str, engine: str, shown: list[str]) -> None:
    page = look(docs, model, f"#!/model/model.{PREFIX}.{model}")
    assert f"<title>{model}" in page or f">{model}<" in page
    assert engine in page.lower()
    assert [text for text in shown if text not in page] == []


def test_exposure(docs: Path) -> None:
    page = look(docs, "exposure", f"#!/exposure/exposure.{PREFIX}.shop_overview")
    assert "Shop analytics" in page
    assert "order_funnel" in page


def test_lineage(docs: Path) -> None:
    page = look(docs, "lineage", f"#!/model/model.{PREFIX}.orders?g_v=1")
    assert "<canvas" in page


def test_search(docs: Path) -> None:
    page = look(with_script(docs, SEARCH), "search", f"#!/overview/{PREFIX}")
    assert "revenue_by_region_and_month" in page
    assert "Search results" in page or "search results" in page.lower()


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_report(report: Path, size: tuple[int, int]) -> None:
    page = look(with_script(report, OVERFLOW), "report", size=size)
    assert 'data-overflow="0"' in page
    assert [name for name in ("orders", "customers", "order_items") if name not in page] == []
    assert "<svg" in page


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize(
    "name", ["README.html", "docs/how_a_run_works.html", "docs/versioned_collapsing.html", "docs/which_engine.html"]
)
def test_site(name: str, size: tuple[int, int]) -> None:
    page = SITE / ("index.html" if name == "README.html" else name)
    copy = with_script(page, OVERFLOW)
    try:
        shown = look(copy, f"site-{Path(name).stem}", size=size)
    finally:
        copy.unlink()
    assert 'data-overflow="0"' in shown
