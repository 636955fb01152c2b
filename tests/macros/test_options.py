"""One macro reads the options, from the config of a model or from its `meta`, and they mean the same in both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from dbt.context.providers import RuntimeConfigObject
from dbt_common.contracts.config import base
from dbt_common.exceptions import CompilationError
from jinja2 import nodes

from tests.macros.conftest import VARIABLES, Sent
from tests.macros.harness import Project, Recording, in_short, parsed_project
from tests.macros.scenarios import SCENARIOS, Scenario
from tests.support.macro_sources import environment
from tests.support.shop import REPOSITORY

# Every option of the materialization, each with a value other than its default.
EVERY_OPTION: Mapping[str, Any] = {
    "unique_key": ["id"],
    "version": "lsn",
    "sign": "_s",
    "is_deleted": "gone",
    "order_by": ["id", "region"],
    "primary_key": ["id"],
    "partition_by": ["region"],
    "ttl": "at + interval 1 year",
    "settings": {"index_granularity": 1024},
    "indexes": [{"name": "by_x", "definition": "x type minmax"}],
    "projections": [{"name": "p", "query": "select region, count() group by region"}],
    "old_state": "stream",
    "delete_version": "ignore",
    "remember_deletes": "30 days",
    "combine": {"x": "greatest"},
    "on_conflict": "error",
    "on_schema_change": "append_new_columns",
    "publish": "journal",
    "chunks": 4,
    "change_feed": True,
}
# Options that dbt or the stock adapters also read, and only from the config.
OPTIONS_OF_OTHERS = {
    "contract", "file_format", "grants", "location_root", "materialized", "meta", "persist_docs",
    "post-hook", "pre-hook", "where",
}  # fmt: skip


def _model(**config: Any) -> str:
    given = "".join(f", {name}={value!r}" for name, value in config.items())
    return f"{{{{ config(materialized='versioned_collapsing'{given}) }}}}\nselect 1 as id\n"


HALF = {name: EVERY_OPTION[name] for name in list(EVERY_OPTION)[::2]}
REST = {name: value for name, value in EVERY_OPTION.items() if name not in HALF}
MODELS = {
    "in_config": _model(**EVERY_OPTION),
    "in_meta": _model(meta=EVERY_OPTION),
    "in_both": _model(**EVERY_OPTION, meta=EVERY_OPTION),
    "in_either": _model(**HALF, meta=REST),
    "in_properties": _model(),
    "defaults": _model(unique_key="id"),
    "defaults_by_null": _model(unique_key="id", chunks=None, meta={"publish": None, "sign": None}),
    "of_the_user": _model(unique_key="id", meta={"owner": "a", "model_version": 2, "tier": 1}),
    "given_twice": _model(
        unique_key="id", chunks=2, on_schema_change="ignore",
        meta={"chunks": 4, "on_schema_change": "fail", "sign": None}, sign="s",
    ),
    "misspelled": _model(unique_key="id", meta={"chunk": 2, "orderby": "id", "change-feed": True}),
    "meaningless": _model(unique_key="id", meta={"shards": 2, "merge_update_columns": ["x"]}),
    "no_value": _model(unique_key="id", meta={"publish": "direct", "settings": "fast", "combine": "greatest", "version": 1.2}),
    "no_policy": _model(unique_key="id", alias="a`b", combine={"x": "newest"}),
    **{name: sql for scenario in SCENARIOS for name, sql in scenario.models(in_meta=True).items()},
}  # fmt: skip
PROPERTIES = {"models": [{"name": "in_properties", "config": {"meta": dict(EVERY_OPTION)}}]}


@pytest.fixture(scope="module")
def in_meta(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("options")
    with parsed_project(folder, MODELS, variables=VARIABLES, properties=PROPERTIES) as found:
        yield found


@pytest.fixture(autouse=True)
def no_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """dbt would warn about a macro that asks the config for an option in `meta`."""

    def fail(event: Any) -> None:
        pytest.fail(event.message())

    monkeypatch.setattr(base, "fire_event", fail)


def _options(project: Project, name: str, is_running: bool = False) -> Any:
    """The options according to the materialization, or according to a macro that finds the model in the graph."""
    node = project.manifest.nodes[f"model.versioned_collapsing.{name}"]
    found = project.adapter.execute_macro(
        "get_versioned_collapsing_options",
        kwargs={
            "config": RuntimeConfigObject(node) if is_running else node.to_dict()["config"],
            "model": node.to_dict(),
        },
        project="versioned_collapsing",
    )
    return json.loads(json.dumps(found))


def _problems(project: Project, name: str) -> str:
    node = project.manifest.nodes[f"model.versioned_collapsing.{name}"]
    with pytest.raises(CompilationError) as raised:
        project.rendered("validate_versioned_collapsing_options", model=node.to_dict(), options=_options(project, name))
    return str(raised.value)


@pytest.mark.parametrize("name", ["in_config", "in_meta", "in_both", "in_either", "in_properties"])
@pytest.mark.parametrize("is_running", [False, True])
def test_every_option_is_read(in_meta: Project, name: str, is_running: bool) -> None:
    assert _options(in_meta, name, is_running) == EVERY_OPTION


def test_these_are_all_options(in_meta: Project) -> None:
    defaults = _options(in_meta, "defaults")
    assert set(defaults) == set(EVERY_OPTION)
    assert [name for name in defaults if defaults[name] == EVERY_OPTION[name]] == ["unique_key"]


def test_null_is_the_default(in_meta: Project) -> None:
    assert _options(in_meta, "defaults_by_null") == _options(in_meta, "defaults")


@pytest.mark.parametrize("name", ["defaults", "of_the_user"])
def test_names_of_the_user_in_meta_are_no_problem(in_meta: Project, name: str) -> None:
    node = in_meta.manifest.nodes[f"model.versioned_collapsing.{name}"].to_dict()
    in_meta.rendered("validate_versioned_collapsing_options", model=node, options=_options(in_meta, name))


@pytest.mark.parametrize(
    ("name", "problems"),
    [
        ("given_twice", [
            "chunks is 2 in the config and 4 in `meta`. Give it in one place.",
            "on_schema_change is ignore in the config and fail in `meta`. Give it in one place.",
            "sign is s in the config and None in `meta`. Give it in one place.",
        ]),
        ("misspelled", [
            "meta.chunk: there is no such option. Did you mean chunks? If it is your own, give it another name.",
            "meta.orderby: there is no such option. Did you mean order_by?",
            "meta.change-feed: there is no such option. Did you mean change_feed?",
        ]),
        ("meaningless", [
            "meta.shards has no meaning for this materialization. It is called chunks.",
            "meta.merge_update_columns has no meaning for this materialization. The option combine says",
        ]),
        ("no_value", [
            "publish is 'direct'; it takes 'auto', 'atomic' or 'journal'.",
            "settings is fast; it takes a mapping of table settings to values.",
            "combine is greatest; it takes a mapping of columns to policies.",
            "version is '1.2'; it takes the name of a column.",
        ]),
        ("no_policy", [
            "alias is a`b, but dbt cannot quote a name that contains a backtick or a backslash. Use another.",
            "combine: x has the policy 'newest'; a column takes one of 'latest', 'greatest', 'least",
        ]),
    ],
)  # fmt: skip
def test_problems_with_options_in_meta(in_meta: Project, name: str, problems: list[str]) -> None:
    error = _problems(in_meta, name)
    assert [problem for problem in problems if problem not in error] == [], error
    assert error.count("\n    - ") + error.count("\n  - ") == len(problems), error


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_an_apply_is_the_same(in_meta: Project, scenario: Scenario) -> None:
    """The statements equal those recorded with options in the config."""
    sent = [in_short(sql) for sql in Sent(in_meta)(scenario)]
    assert sent == Recording.load(scenario.path).statements


@pytest.mark.parametrize(
    ("meta", "problem"),
    [
        ({"file_format": "delta"}, "meta.file_format: dbt-spark reads this option in the config only. Move it out of `meta`."),
        ({"on_changed_batches": "reprocess"}, "meta.on_changed_batches: there is no such option. Did you mean on_changed_batch?"),
    ],
)  # fmt: skip
def test_problems_of_a_change_set(in_meta: Project, meta: dict[str, Any], problem: str) -> None:
    model = {"unique_id": "model.shop.orders_changes", "config": {"meta": meta}}
    with pytest.raises(CompilationError) as raised:
        in_meta.rendered("validate_change_set_options", model=model)
    assert problem in str(raised.value)


def config_reads(template: nodes.Template) -> Iterator[str]:
    """The options that a template reads from a config: `config.get('x')`, `node.config.x`, `model.config['x']`."""
    for call in template.find_all(nodes.Call):
        match call:
            case nodes.Call(node=nodes.Getattr(node=config), args=[nodes.Const(value=name), *_]):
                if _is_config(config):
                    yield str(name)
    for found in template.find_all(nodes.Getattr):
        is_of_node = isinstance(found.node, nodes.Getattr) and _is_config(found.node)
        if is_of_node and found.attr not in ("get", "items"):
            yield found.attr
    for item in template.find_all(nodes.Getitem):
        if _is_config(item.node) and isinstance(item.arg, nodes.Const):
            yield str(item.arg.value)


def _is_config(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Name):
        return node.name == "config"
    return isinstance(node, nodes.Getattr) and node.attr == "config"


def test_only_options_of_others_are_read_elsewhere() -> None:
    found = {
        f"{path.relative_to(REPOSITORY)}: {name}"
        for folder in ("macros", "tests/generic")
        for path in (REPOSITORY / folder).rglob("*.sql")
        for name in config_reads(environment.parse(path.read_text(encoding="utf-8")))
        if name not in OPTIONS_OF_OTHERS
    }
    assert found == set()


@pytest.mark.parametrize(
    "text",
    ["{{ config.get('x', 1) }}", "{{ node.config.x }}", "{{ model.config['x'] }}", "{% if a.config.get('x') %}{% endif %}"],
)  # fmt: skip
def test_reads_of_a_config_are_found(text: str) -> None:
    assert list(config_reads(environment.parse(text))) == ["x"]
