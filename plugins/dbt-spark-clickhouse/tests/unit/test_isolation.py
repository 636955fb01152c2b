"""No node gets a macro of the other engine. The macro names are those of the installed packages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.factory import FACTORY, get_adapter, register_adapter
from dbt.cli.flags import Flags
from dbt.cli.types import Command
from dbt.clients.jinja import MacroGenerator
from dbt.config.runtime import RuntimeConfig
from dbt.context.providers import generate_runtime_model_context
from dbt.mp_context import get_mp_context
from dbt.parser.manifest import ManifestLoader
from dbt_common.context import get_invocation_context, set_invocation_context
from dbt_common.events.contextvars import log_contextvars
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt import flags, tracking
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, ENGINES, SPARK, Engine
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter

PROJECT = Path(__file__).parents[1] / "functional" / "project"
PACKAGE: dict[Engine, str] = {SPARK: "dbt_spark", CLICKHOUSE: "dbt_clickhouse"}
OWN = "dbt_spark_clickhouse"
ROOT = "mixed"  # the project
TOOL = "tool"  # a package that comes before dbt in the project's `dispatch`

Macros = dict[str, str]  # unique ids by name


@dataclass(frozen=True)
class Parsed:
    """The project of the functional tests, as dbt has loaded it."""

    config: RuntimeConfig
    adapter: SparkClickHouseAdapter
    manifest: Any

    def macros(self, *packages: str) -> Macros:
        """The macros of ``packages``; later packages override earlier ones."""
        return {
            macro.name: macro.unique_id
            for package in packages
            for macro in self.manifest.macros.values()
            if macro.package_name == package
        }

    def seen_on(self, engine: Engine) -> Macros:
        """The macros that a node of the project on ``engine`` must see: those that stock dbt shows it."""
        return self.macros("dbt", PACKAGE[engine], ROOT)

    def names(self) -> set[str]:
        return {macro.name for macro in self.manifest.macros.values()}

    def working_on(self, node: Any) -> AbstractContextManager[None]:
        """Work as dbt does on ``node``, or without one: hooks and operations."""
        named = self.adapter.connection_named("it", node)
        assert isinstance(named, AbstractContextManager)
        return named

    def context(self, node: Any) -> Mapping[str, Any]:
        return generate_runtime_model_context(node, self.config, self.manifest)


def ids(namespace: Mapping[str, Any]) -> Macros:
    generators: dict[str, Any] = {name: value for name, value in namespace.items() if isinstance(value, MacroGenerator)}
    return {name: value.macro.unique_id for name, value in generators.items()}


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parsed]:
    root = tmp_path_factory.mktemp("isolation") / "project"
    shutil.copytree(PROJECT, root)
    set_invocation_context({"SPARK_CLICKHOUSE_HOME": str(root / "home")})
    arguments = Flags.from_dict(Command.PARSE, {"project_dir": root, "profiles_dir": root})
    flags.set_flags(arguments)
    tracking.disable_tracking()
    FACTORY.reset_adapters()
    config = RuntimeConfig.from_args(arguments)
    get_invocation_context().uses_adapter(config.credentials.type)
    register_adapter(config, get_mp_context())
    adapter: Any = get_adapter(config)
    manifest = ManifestLoader.get_full_manifest(config)
    adapter.set_macro_resolver(manifest)
    yield Parsed(config, adapter, manifest)
    FACTORY.reset_adapters()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.param
    return found


def nodes_of(parsed: Parsed, engine: Engine) -> list[Any]:
    """All nodes of the project on ``engine``."""
    return [node for node in parsed.manifest.nodes.values() if parsed.adapter.engine_of(node) == engine]


@pytest.fixture
def node(parsed: Parsed, engine: Engine) -> Any:
    name = {SPARK: "spark_orders", CLICKHOUSE: "ch_orders"}[engine]
    return parsed.manifest.nodes[f"model.{ROOT}.{name}"]


def test_packages_clash_so_that_there_is_something_to_keep_apart(parsed: Parsed) -> None:
    of_both = set(parsed.macros("dbt_spark")) & set(parsed.macros("dbt_clickhouse"))
    assert "partition_cols" in of_both
    assert "is_incremental" in parsed.macros("dbt").keys() & parsed.macros("dbt_clickhouse").keys()


def test_every_node_sees_the_macros_of_its_engine_as_with_the_stock_adapter(parsed: Parsed, engine: Engine) -> None:
    nodes = nodes_of(parsed, engine)
    assert {"model", "test", "seed"} <= {str(node.resource_type) for node in nodes}
    for node in nodes:
        with parsed.working_on(node):
            context = parsed.context(node)
        seen = ids(context)
        assert {name: seen.get(name) for name in parsed.names()} == {
            name: parsed.seen_on(engine).get(name) for name in parsed.names()
        }
        assert ids(context["dbt"]) == parsed.macros("dbt", PACKAGE[engine])


def test_node_sees_the_same_macros_where_dbt_opens_no_connection(parsed: Parsed, engine: Engine, node: Any) -> None:
    with log_contextvars(node_info=node.node_info):
        context = parsed.context(node)
    seen = ids(context)
    assert seen["partition_cols"] == f"macro.{PACKAGE[engine]}.partition_cols"
    assert {name: seen.get(name) for name in parsed.names()} == {
        name: parsed.seen_on(engine).get(name) for name in parsed.names()
    }
    assert context["target"]["type"] == engine


@pytest.mark.parametrize("namespace", [None, "dbt", TOOL])
def test_dispatch_finds_the_engines_own_macro_or_the_default_one(
    parsed: Parsed, engine: Engine, node: Any, namespace: str | None
) -> None:
    # The order of `dispatch` in dbt_project.yml, or dbt's default.
    scopes = {
        None: [parsed.seen_on(engine)],
        "dbt": [parsed.macros(ROOT), parsed.macros(TOOL), parsed.macros("dbt", PACKAGE[engine])],
        TOOL: [parsed.macros(ROOT), parsed.macros(TOOL)],
    }[namespace]
    dispatched = {name.partition("__")[2] for name in parsed.names() if "__" in name}
    with parsed.working_on(node):
        dispatch = parsed.context(node)["adapter"].dispatch
        for name in sorted(dispatched - {""}):
            candidates = [f"{engine}__{name}", f"default__{name}"]
            expected = [scope[candidate] for scope in scopes for candidate in candidates if candidate in scope]
            if expected:
                assert dispatch(name, namespace).macro.unique_id == expected[0]
            else:
                with pytest.raises(CompilationError, match="No macro named"):
                    dispatch(name, namespace)


def test_materialization_is_the_engines_own_or_dbts_default(parsed: Parsed, engine: Engine, node: Any) -> None:
    prefix = "materialization_"
    defined = {name.removeprefix(prefix) for name in parsed.names() if name.startswith(prefix)}
    names = {name.rpartition("_")[0] for name in defined}
    assert {"table", "incremental", "snapshot", "seed", "dictionary"} <= names
    for name in sorted(names):
        with parsed.working_on(node):
            found = parsed.manifest.find_materialization_macro_by_name(ROOT, name, parsed.adapter.type())
        seen = parsed.seen_on(engine) | parsed.macros("dbt_spark_clickhouse")
        expected = seen.get(f"{prefix}{name}_{engine}") or seen.get(f"{prefix}{name}_default")
        assert (found and found.unique_id) == expected


def test_macro_that_an_adapter_runs_by_name_is_its_own_or_dbts(parsed: Parsed, engine: Engine) -> None:
    found: list[str] = []

    def record(macro: Any, *arguments: Any) -> Any:
        found.append(macro.unique_id)
        raise LookupError

    parsed.adapter.set_macro_context_generator(record)
    expected = parsed.macros(OWN, PACKAGE[engine], "dbt", TOOL, ROOT)  # the order that dbt uses
    for at_work in ENGINES:
        with parsed.working_on(nodes_of(parsed, at_work)[0]):
            for name in sorted(parsed.names()):
                with pytest.raises(LookupError if name in expected else DbtRuntimeError):
                    parsed.adapter.call_named_engine(engine, "execute_macro", name)
                assert found == ([expected[name]] if name in expected else [])
                found.clear()


@pytest.mark.parametrize("default", ENGINES)
def test_hooks_and_operations_see_the_macros_of_the_profiles_engine(
    parsed: Parsed, monkeypatch: pytest.MonkeyPatch, default: Engine
) -> None:
    monkeypatch.setattr(parsed.adapter, "default_engine", default)
    hooks = [node for node in parsed.manifest.nodes.values() if node.resource_type == "operation"]
    assert hooks
    for hook in hooks:
        with parsed.working_on(None):
            context = parsed.context(hook)
        seen = ids(context)
        assert {name: seen.get(name) for name in parsed.names()} == {
            name: parsed.seen_on(default).get(name) for name in parsed.names()
        }
        assert context["target"]["type"] == default
