"""Measures of dbt's semantic models over signed rows: mistakes are found, and the forms that the messages advise are
correct."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlfluff_plugin_versioned_collapsing.compiled import lint_manifest
from tests.support.collapsing_project import CollapsingProject
from tests.support.shop import REPOSITORY

ORDERS = "{{ ref('orders') }}"
MODELS = {
    "orders": "{{ config(materialized='versioned_collapsing', unique_key='id', sign='state') }} select * from changes",
    "items": "{{ config(materialized='versioned_collapsing', unique_key='id') }} select * from changes",
    "orders_view": f"{{{{ config(materialized='view') }}}} select id, made_at, amount as value, state as s from {ORDERS}",
    "without_sign": f"{{{{ config(materialized='view') }}}} select id, made_at, amount from {ORDERS}",
    "joined": "{{ config(materialized='view') }} select o.id, o.made_at, o.amount, o.state, i._sign as item_sign "
    f"from {ORDERS} as o inner join {{{{ ref('items') }}}} as i on i.id = o.id",
    "live": f"{{{{ config(materialized='view') }}}} select id, made_at, amount from "
    f"{{{{ versioned_collapsing.live_rows({ORDERS[3:-3]}, 'state') }}}}",
    "days": "select cast('2026-01-01' as Date) as day",
}
TIME_SPINE = {
    "name": "days",
    "time_spine": {"standard_granularity_column": "day"},
    "columns": [{"name": "day", "granularity": "day"}],
}
RATIO = "divide them in a metric of the type ratio."
LIVE = "Base a semantic model on the live rows for it: on a model that reads live_rows(…)."
COUNTED = "case when amount is not null then state else 0 end"

# Measures by semantic model, each with its message, if any.
WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "orders": [({"agg": "sum", "expr": "amount"}, "Write `expr: amount * state`."), ({"name": "amount", "agg": "sum"},
        "Write `expr: amount * state`."), ({"agg": "sum", "expr": "amount - fee"},
        "Write `expr: (amount - fee) * state`."), ({"agg": "sum", "expr": "1"}, "Write `expr: state`."), ({"agg": "sum",
        "expr": 1}, "Write `expr: state`."), ({"agg": "sum", "expr": "case when status = 'paid' then amount end"},
        "Write `expr: (case when status = 'paid' then amount end) * state`."), ({"agg": "sum",
        "expr": "amount * state + 1"}, "Multiply the whole expression by state once, with `agg: sum`."), ({"agg": "sum",
        "expr": "if(state = 1, amount, 0)"}, "Multiply the whole expression by state once, with `agg: sum`."),
        ({"agg": "count", "expr": "amount"}, f"Write `agg: sum` and `expr: {COUNTED}`."), ({"agg": "count",
        "expr": "1"}, "Write `agg: sum` and `expr: state`."), ({"agg": "sum_boolean", "expr": "amount > 5"},
        "Write `agg: sum` and `expr: case when amount > 5 then state else 0 end`."), ({"agg": "average",
        "expr": "amount"}, "Write two measures with `agg: sum`, of `expr: amount * state` and of "
        f"`expr: {COUNTED}`, and {RATIO}"), ({"agg": "min", "expr": "amount"}, f"No sign can make it right. {LIVE}"),
        ({"agg": "max", "expr": "amount * state"}, f"No sign can make it right. {LIVE}"), ({"agg": "median",
        "expr": "amount"}, f"No sign can make it right. {LIVE}"), ({"agg": "percentile", "expr": "amount",
        "agg_params": {"percentile": 0.9}}, f"No sign can make it right. {LIVE}"), ({"agg": "count_distinct",
        "expr": "status"}, f"No sign can make it right. {LIVE}"), ({"agg": "sum", "expr": "bytes * state"},
        "bytes is UInt64"), ({"agg": "sum", "expr": "(amount * state"}, "cannot be parsed"), ({"agg": "sum",
        "expr": "amount * state", "non_additive_dimension": {"name": "made_at", "window_choice": "max"}},
        f"its non_additive_dimension made_at has the values of cancelled rows too. {LIVE}")],
    "orders_view": [({"agg": "sum", "expr": "value"}, "Write `expr: value * s`.")],
    "without_sign": [({"agg": "sum", "expr": "amount"}, "The model does not pass the sign on.")],
    "joined": [({"agg": "sum", "expr": "amount * state"}, "Multiply the whole expression by"),
        ({"agg": "count", "expr": "1"}, "Write `agg: sum` and `expr: state * item_sign`.")],
}  # fmt: skip
RIGHT: dict[str, list[dict[str, Any]]] = {
    "orders": [
        {"agg": "sum", "expr": "amount * state"},
        {"agg": "sum", "expr": "state"},
        {"agg": "sum", "expr": "toInt128(bytes) * state"},
        {"agg": "sum", "expr": "case when status = 'paid' then amount * state else 0 end"},
    ],
    "orders_view": [{"agg": "sum", "expr": "value * s"}],
    "joined": [{"agg": "sum", "expr": "amount * state * item_sign"}],
    "live": [
        {"agg": agg, "expr": "amount"} for agg in ("sum", "count", "average", "min", "count_distinct")
    ],
}  # fmt: skip


def _semantic_model(model: str, measures: list[dict[str, Any]], entity: str = "foreign") -> dict[str, Any]:
    return {
        "name": model,
        "model": f"ref('{model}')",
        "defaults": {"agg_time_dimension": "made_at"},
        "primary_entity": None if entity == "primary" else model,
        "entities": [{"name": "order", "type": entity, "expr": "id"}],
        "dimensions": [{"name": "made_at", "type": "time", "type_params": {"time_granularity": "day"}}],
        "measures": measures,
    }


def _named(model: str, measures: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{"name": f"{model}_{kind}_{n}", **measure} for n, measure in enumerate(measures)]


@pytest.fixture(scope="module")
def project(make_project: Callable[[str], CollapsingProject]) -> CollapsingProject:
    """Models that pass on signed rows, and models that do not."""
    project = make_project("semantics")
    for name, sql in MODELS.items():
        (project.folder / "models" / f"{name}.sql").write_text(sql)
    columns = [{"name": "bytes", "data_type": "UInt64"}]
    project.add_properties("orders", {"models": [{"name": "orders", "columns": columns}, TIME_SPINE]})
    return project


def _found(project: CollapsingProject, *semantic_models: dict[str, Any]) -> dict[str, str]:
    """The message for each measure or entity."""
    project.add_properties("semantic_models", {"semantic_models": list(semantic_models)})
    project.dbt("compile")
    manifest = project.folder / "target" / "manifest.json"
    assert len(json.loads(manifest.read_text())["semantic_models"]) == len(semantic_models)
    found = {}
    for finding in lint_manifest(manifest):
        if finding.code == "VC08":
            what, _, reason = finding.description.partition(": ")
            found[what] = reason
    return found


def test_each_wrong_measure_is_found_with_the_form_that_works(project: CollapsingProject) -> None:
    expected, models = {}, []
    for model in {*WRONG, *RIGHT}:
        wrong = _named(model, [measure for measure, _ in WRONG.get(model, [])], "wrong")
        models.append(_semantic_model(model, [*wrong, *_named(model, RIGHT.get(model, []), "right")]))
        for measure, (_, said) in zip(wrong, WRONG.get(model, []), strict=True):
            expected[f"measure {measure['name']}"] = said
    found = _found(project, *models)
    assert found.keys() == expected.keys()
    assert {what: found[what] for what, said in expected.items() if said not in found[what]} == {}


def test_the_form_of_the_message_is_right(project: CollapsingProject) -> None:
    models = []
    for model, measures in WRONG.items():
        forms = [form for _, said in measures for form in re.findall(r"`expr: ([^`]*)`", said)]
        if forms:
            rewritten = [{"agg": "sum", "expr": form} for form in forms]
            models.append(_semantic_model(model, _named(model, rewritten, "form")))
    assert sum(len(model["measures"]) for model in models) > 12
    assert _found(project, *models) == {}


def test_a_signed_model_has_no_unique_key_to_join_by(project: CollapsingProject) -> None:
    right = [{"name": "amounts", "agg": "sum", "expr": "amount * state"}]
    others = [{"name": "counts", "agg": "sum", "expr": "_sign"}]
    primary = _found(project, _semantic_model("orders", right, "primary"), _semantic_model("items", others))
    assert primary.keys() == {"entity order"}
    assert "measures of items count more than once" in primary["entity order"]
    assert "Declare it as `foreign`" in primary["entity order"]
    foreign = _found(project, _semantic_model("orders", right), _semantic_model("items", others))
    assert foreign == {}
    live = [{"name": "amounts", "agg": "sum", "expr": "amount"}]
    of_live = _found(project, _semantic_model("live", live, "primary"), _semantic_model("items", others))
    assert of_live == {}


def test_metrics_that_sum_rows_without_a_measure_are_seen(project: CollapsingProject, tmp_path: Path) -> None:
    _found(project, _semantic_model("orders", []))
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text())
    for name, expr in {"wrong": "amount", "right": "amount * state"}.items():
        params = {"semantic_model": "orders", "agg": "sum", "expr": expr}
        manifest["metrics"][f"metric.p.{name}"] = {"name": name, "type_params": {"metric_aggregation_params": params}}
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest))
    (found,) = [finding for finding in lint_manifest(path) if finding.code == "VC08"]
    assert found.description == ("metric wrong: sum of amount over signed rows. Write `expr: amount * state`.")
    assert found.node == "semantic_model.versioned_collapsing.orders"


def test_the_metrics_of_the_documentation(make_project: Callable[[str], CollapsingProject]) -> None:
    """They parse, no rule finds anything, and their sums over stored rows equal those over live rows."""
    project = make_project("metrics")
    project.add_model("orders", {"unique_key": "order_id"}, "select * from changes")
    days = project.folder / "models" / "days.sql"
    days.write_text(MODELS["days"])
    document = (REPOSITORY / "docs" / "querying.md").read_text()
    (recipe,) = re.findall(r"```yaml\n(semantic_models:.*?)```", document, re.DOTALL)
    project.add_properties("orders", {"models": [TIME_SPINE], **yaml.safe_load(recipe)})
    structure = (
        "order_id Int64, customer_id Int64, status String, amount Decimal(12, 2), _version Int64, _is_deleted Bool"
    )
    inserts = [(i, i % 3, "new", Decimal(i) / 4, 1, False) for i in range(1, 31)]
    changes = [(i, i % 3, "paid", Decimal(i), 2, i % 5 == 0) for i in range(1, 31, 2)]
    for rows in (inserts, changes):
        project.replace_rows("changes", structure, rows)
        assert project.run("--select", "orders")["orders"].status == "success"
    project.dbt("compile")
    manifest = json.loads((project.folder / "target" / "semantic_manifest.json").read_text())
    assert [metric["name"] for metric in manifest["metrics"]] == ["revenue", "orders", "revenue_per_order"]
    assert lint_manifest(project.folder / "target" / "manifest.json") == []
    (model,) = manifest["semantic_models"]
    measures = [f"{each['agg']}({each['expr']})" for each in model["measures"]]
    for group in ("status", "customer_id"):
        found = project.query(f"select {group}, {', '.join(measures)} from orders group by all order by all")
        live = "from orders final where _sign = 1 group by all order by all"
        assert found == project.query(f"select {group}, sum(amount), count() {live}")
    ((stored, live_rows),) = project.query("select count(), sum(_sign) from orders")
    assert stored > live_rows  # Cancelled rows are stored, and do not count.
