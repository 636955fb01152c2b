"""dbt's semantic models over signed rows: no linter sees the SQL of their measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlfluff.core.errors import SQLBaseError

from sqlfluff_plugin_versioned_collapsing.analysis import rows_of
from sqlfluff_plugin_versioned_collapsing.relations import Relation, Relations
from sqlfluff_plugin_versioned_collapsing.rows import Rows

Lint = Callable[[str], list[SQLBaseError]]

# What MetricFlow computes from the expression of a measure.
_CALLS = {
    "average": "avg({})",
    "count": "count({})",
    "count_distinct": "count(distinct {})",
    "max": "max({})",
    "median": "median({})",
    "min": "min({})",
    "percentile": "quantile({})",
    "sum": "sum({})",
    "sum_boolean": "sum(case when {} then 1 else 0 end)",
}
_LIVE = "Base a semantic model on the live rows for it: on a model that reads live_rows(…)."
_OPERAND = re.compile(r"[\w.]+(\([^()]*\))?$")
_UNIQUE = ("primary", "unique", "natural")


@dataclass(frozen=True)
class Measure:
    """What a semantic model or a metric sums.

    Args:
        kind: its kind in YAML.
        name: its name.
        agg: how its values are aggregated.
        expr: the expression of its values.
        dimension: the dimension over which it does not add up, if there is one.
    """

    kind: str
    name: str
    agg: str
    expr: str
    dimension: str


@dataclass(frozen=True)
class _Signed:
    """A semantic model over signed rows.

    Args:
        unique_id: its key in the manifest.
        node: the semantic model.
        relation: what it reads.
        sign: the name of the sign, or the product of several; empty if it is not passed on.
    """

    unique_id: str
    node: Mapping[str, Any]
    relation: Relation
    sign: str


def semantic_problems(manifest: Mapping[str, Any], relations: Relations, lint: Lint) -> Iterator[tuple[str, str]]:
    """The semantic models that are wrong for signed rows, each with the reason.

    Args:
        manifest: dbt's, as `dbt parse` writes it.
        relations: what is known about its relations.
        lint: returns what the rules find in some SQL.
    """
    nodes: Mapping[str, Mapping[str, Any]] = manifest.get("semantic_models") or {}
    metrics = list((manifest.get("metrics") or {}).values())
    for unique_id, node in sorted(nodes.items()):
        signed = _signed(unique_id, node, relations)
        if signed is not None:
            for measure in (*_measures(node), *_measures_of_metrics(node, metrics)):
                for reason in _reasons(measure, signed, lint):
                    yield unique_id, f"{measure.kind} {measure.name}: {reason}"
            yield from ((unique_id, reason) for reason in _joins(signed, nodes))


def _signed(unique_id: str, node: Mapping[str, Any], relations: Relations) -> _Signed | None:
    place = node.get("node_relation") or {}
    relation = relations.find([str(place.get("schema_name")), str(place.get("alias"))])
    if relation is None:
        return None
    rows = rows_of(relation, relations)
    return _Signed(unique_id, node, relation, _sign_of(rows)) if rows.signs else None


def _sign_of(rows: Rows) -> str:
    """The columns whose product counts a row; empty if one is missing."""
    names: dict[frozenset[int], str] = {}
    for columns in rows.others:
        name = columns.relation.sign if columns.relation else None
        if columns.sign is not None and name and name not in columns.excluded:
            names[frozenset({columns.sign})] = name
    names |= {value.signs: name for name, value in rows.named.items() if value.is_bare}
    if rows.signs in names:
        return names[rows.signs]
    single = [name for signs, name in names.items() if len(signs) == 1 and signs <= rows.signs]
    return " * ".join(single) if len(single) == len(rows.signs) else ""


def _measures(node: Mapping[str, Any]) -> Iterator[Measure]:
    for measure in node.get("measures") or ():
        yield _measure("measure", str(measure.get("name")), measure)


def _measures_of_metrics(node: Mapping[str, Any], metrics: list[Mapping[str, Any]]) -> Iterator[Measure]:
    """Metrics that sum the rows of a semantic model directly, without a measure."""
    for metric in metrics:
        found = (metric.get("type_params") or {}).get("metric_aggregation_params")
        if found and found.get("semantic_model") == node.get("name"):
            expr = found.get("expr") or (metric.get("type_params") or {}).get("expr")
            yield _measure("metric", str(metric.get("name")), {**found, "expr": expr})


def _measure(kind: str, name: str, given: Mapping[str, Any]) -> Measure:
    dimension = (given.get("non_additive_dimension") or {}).get("name")
    expr = given.get("expr")
    return Measure(
        kind, name, str(given.get("agg") or "").lower(), name if expr is None else str(expr), str(dimension or "")
    )


def _reasons(measure: Measure, signed: _Signed, lint: Lint) -> Iterator[str]:
    call = _CALLS.get(measure.agg)
    if call is None:
        yield f"the aggregation {measure.agg} is not known here."
        return
    place = f"`{signed.relation.schema}`.`{signed.relation.name}`"
    found = lint(f"select {call.format(measure.expr)}\nfrom {place}\n")
    codes = {violation.rule_code().rpartition("_")[2] for violation in found}
    if "PRS" in codes:
        yield f"{measure.expr} cannot be parsed, so it is not known whether it has the sign."
    elif codes & {"VC01", "VC02", "VC07"}:
        yield f"{measure.agg} of {measure.expr} over signed rows. {_advice(measure, signed.sign)}"
    else:
        yield from (violation.desc() for violation in found)
    if measure.dimension:
        yield (f"its non_additive_dimension {measure.dimension} has the values of cancelled rows too. {_LIVE}")


def _advice(measure: Measure, sign: str) -> str:
    """A form that works."""
    expr = measure.expr.strip()
    if measure.agg not in ("average", "count", "sum", "sum_boolean"):
        return f"No sign can make it right. {_LIVE}"
    if not sign:
        return f"The model does not pass the sign on. Let it return the sign. {_LIVE}"
    counted = sign if _is_constant(expr) else f"case when {expr} is not null then {sign} else 0 end"
    summed = sign if expr == "1" else f"{_operand(expr)} * {sign}"
    if measure.agg == "count":
        return f"Write `agg: sum` and `expr: {counted}`."
    if measure.agg == "sum_boolean":
        return f"Write `agg: sum` and `expr: case when {expr} then {sign} else 0 end`."
    if re.search(rf"\b({'|'.join(map(re.escape, sign.split(' * ')))})\b", expr):
        return f"Multiply the whole expression by {sign} once, with `agg: sum`."
    if measure.agg == "average":
        return (
            f"Write two measures with `agg: sum`, of `expr: {summed}` and of `expr: {counted}`, "
            "and divide them in a metric of the type ratio."
        )
    return f"Write `expr: {summed}`."


def _is_constant(expr: str) -> bool:
    return re.fullmatch(r"\d+|'[^']*'", expr) is not None


def _operand(expr: str) -> str:
    return expr if _OPERAND.match(expr) else f"({expr})"


def _joins(signed: _Signed, nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Entities that join its rows to the measures of others as if the rows were unique."""
    if not signed.node.get("dimensions"):
        return
    for entity in signed.node.get("entities") or ():
        joined = [
            str(other.get("name"))
            for unique_id, other in sorted(nodes.items())
            if unique_id != signed.unique_id
            and other.get("measures")
            and any(e.get("name") == entity.get("name") for e in other.get("entities") or ())
        ]
        if joined and str(entity.get("type")) in _UNIQUE:
            yield (
                f"entity {entity.get('name')}: it is {entity.get('type')}, but a key has all the "
                "rows that are stored of it. When these are joined to them, measures of "
                f"{' and '.join(joined)} count more than once. Declare it as `foreign` here, "
                "beside a `primary_entity`. For the dimensions, base another semantic model on the "
                "live rows."
            )
