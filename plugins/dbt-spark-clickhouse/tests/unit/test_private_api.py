"""What the adapter uses from other packages without a promise that it stays: all of it exists, all of it is used in one
module, and a missing symbol is reported by an error."""

from __future__ import annotations

import ast
import inspect
import textwrap
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import dbt.cli.params
import dbt.context.providers
import dbt.events.logging
import dbt.parser.manifest
import dbt.task.runnable
import dbt_common.clients.jinja
import dbt_common.events.event_manager_client
import pyspark
import pyspark.cloudpickle
import pyspark.java_gateway
import pyspark.sql.connect.client.retries
import pytest
from dbt.adapters.clickhouse.dbclient import ChClientWrapper
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt.adapters.events.logging import AdapterLogger
from dbt.events.logging import setup_event_logger
from dbt.parser.manifest import ManifestLoader
from dbt_common.events.event_manager import EventManager
from py4j.protocol import Py4JError
from pyspark import SparkContext

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.private_api import SYMBOLS, EmbeddedClient, PrivateApiError, Symbol

SOURCES = Path(private_api.__file__).parent
PLUGIN = "dbt.adapters.spark_clickhouse"
JAVA = [symbol for symbol in SYMBOLS if symbol.place.startswith("org.")]
PYTHON = [symbol for symbol in SYMBOLS if symbol not in JAVA]
BY_TEXT = ("getattr", "setattr", "hasattr", "delattr")
# According to dbt's guide, each adapter defines it.
PROMISED = {"_connection_keys"}


def named(name: str) -> Symbol:
    (found,) = (symbol for symbol in SYMBOLS if symbol.name == name)
    return found


# Each exists


def assigned_in(scope: Any) -> set[str]:
    """The attributes that the functions of a class or module assign to objects."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(scope)))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}


def is_there(symbol: Symbol) -> bool:
    home = symbol.home()
    if hasattr(home, symbol.name):
        return True
    if inspect.ismodule(home):
        return symbol.name in assigned_in(home)
    return symbol.name in getattr(home, "__dataclass_fields__", {}) or any(
        symbol.name in assigned_in(cls) for cls in home.__mro__[:-1] if cls.__module__ not in ("abc", "typing")
    )


@pytest.mark.parametrize("symbol", [*PYTHON, *private_api.OPTIONAL_OF_NODES], ids=str)
def test_symbol_is_there_in_the_installed_version(symbol: Symbol) -> None:
    assert is_there(symbol)


@pytest.mark.parametrize("name", ["_gone", "_available"])
def test_symbol_that_is_not_there_is_noticed(name: str) -> None:
    assert not is_there(Symbol("dbt-adapters", "dbt.adapters.base.impl:BaseAdapter", name))


@pytest.fixture(scope="module")
def jars() -> dict[str, bytes]:
    """The compiled classes with the JVM methods among the symbols, by name."""
    files = {symbol.place.replace(".", "/") + ".class": symbol.place for symbol in JAVA}
    found = {}
    for path in (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"):
        with zipfile.ZipFile(path) as jar:
            for file in files.keys() & set(jar.namelist()):
                found[files[file]] = jar.read(file)
    return found


@pytest.mark.parametrize("symbol", JAVA, ids=str)
def test_method_of_the_jvm_is_there_in_the_installed_version(jars: dict[str, bytes], symbol: Symbol) -> None:
    # In a compiled class, a name follows its length.
    name = symbol.name.encode()
    assert len(name).to_bytes(2, "big") + name in jars[symbol.place]


def test_versions_of_the_advice_are_those_that_are_installed() -> None:
    assert {name: metadata.version(name) for name in private_api.TESTED_VERSIONS} == (private_api.TESTED_VERSIONS)
    assert {symbol.package for symbol in SYMBOLS} <= private_api.TESTED_VERSIONS.keys()


def test_pyspark_prints_its_errors_with_the_logger_that_is_silenced() -> None:
    source = inspect.getsource(import_module("pyspark.errors.exceptions.base"))
    assert f'getLogger("{private_api._ERROR_LOGGER}")' in source


def test_dbt_says_how_many_rows_it_wants_of_references_and_of_nothing_else() -> None:
    counts: dict[str, int] = {}
    for path in Path(str(import_module("dbt.compilation").__file__)).parent.rglob("*.py"):
        if "create_from(" not in (source := path.read_text()) or "adapters" in path.parts[-3:]:
            continue
        for scope in ast.walk(ast.parse(source)):
            if isinstance(scope, ast.ClassDef):
                counts[scope.name] = _limited(scope)
    # A ref means a node of this run or of another state.
    assert {name: count for name, count in counts.items() if count} == {
        "RuntimeRefResolver": 2,
        "RuntimeSourceResolver": 1,
        "RuntimeFunctionResolver": 1,
    }


def _limited(scope: ast.ClassDef) -> int:
    """How many calls of `create_from` in a class pass a limit."""
    return sum(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "create_from"
        and "limit" in {keyword.arg for keyword in call.keywords}
        for call in ast.walk(scope)
    )


# Each is guarded


class Lacking:
    """An object of Spark's JVM whose methods return the object itself, except for one that is missing. Its sequences
    have one item."""

    def __init__(self, missing: str) -> None:
        self._missing = missing

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*_: Any) -> Any:
            if name == self._missing:
                raise Py4JError(
                    f"An error occurred while calling o1.{name}. Trace:\n"
                    f"py4j.Py4JException: Method {name}([]) does not exist"
                )
            return {"size": 1, "isDefined": True, "isEmpty": True}.get(name, self)

        return call

    def __add__(self, _: Any) -> Any:
        return self


def use_spark(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask Spark everything that the adapter asks."""
    java = Lacking(missing)
    private_api.cancel_job_group(SimpleNamespace(_jsc=java), "group", "reason")
    monkeypatch.setattr(SparkContext, "_active_spark_context", SimpleNamespace(_jsc=java))
    assert len(private_api.stages_at_work()) == 1
    catalog = private_api.SparkCatalog(_as_session(java))
    assert len(catalog.parts("shop.orders")) == 1
    found = catalog.identifier(["shop", "orders"])
    assert catalog.has_table(found)
    assert catalog.default_location(found) is not None
    assert catalog.table(found).is_partitioned is False
    settings = SimpleNamespace(get=lambda _: "another.Class")
    configured = SimpleNamespace(conf=SimpleNamespace(Configuration=lambda _: settings))
    found_jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(hadoop=configured)))
    files: Any = SimpleNamespace(_jvm=found_jvm, sparkContext=SimpleNamespace(_jsc=java))
    private_api.set_local_files(files, "dbt.LocalFiles", "")
    counted: Any = SimpleNamespace(_jo=java, get={})
    assert private_api.observed(counted) == {}


@pytest.mark.parametrize("error", [Py4JError("no such class"), TypeError("'JavaPackage' object is not callable")])
def test_spark_starts_with_its_own_local_files_if_ours_cannot_be_compiled(error: Exception) -> None:
    tried: list[str] = []

    def compiler() -> Any:
        tried.append("compiler")
        raise error

    hadoop = SimpleNamespace(conf=SimpleNamespace(Configuration=lambda _: {}))
    janino = SimpleNamespace(janino=SimpleNamespace(SimpleCompiler=compiler))
    java = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(hadoop=hadoop), codehaus=janino))
    session: Any = SimpleNamespace(_jvm=java, sparkContext=SimpleNamespace(_jsc=Lacking("nothing")))
    private_api.set_local_files(session, "dbt.LocalFiles", "")
    assert tried == ["compiler"]


def _as_session(java: Any) -> Any:
    return SimpleNamespace(_jsparkSession=java)


@pytest.mark.parametrize("symbol", JAVA, ids=str)
def test_method_that_the_jvm_lacks_is_an_error_that_names_it(symbol: Symbol, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PrivateApiError) as error:
        use_spark(symbol.name, monkeypatch)
    assert error.value.msg == symbol.missing().msg


def test_jvm_that_lacks_nothing_is_asked_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    use_spark("nothing", monkeypatch)


def test_other_errors_of_the_jvm_stay_as_they_are() -> None:
    def fail(*_: Any) -> Any:
        raise Py4JError("The table does not exist")

    with pytest.raises(Py4JError, match="The table does not exist"):
        named("tableExists").call(SimpleNamespace(tableExists=fail))


class Nothing:
    """Has no attributes."""


class WithRows:
    """A session with rows but without a description of them."""

    def fetchall(self) -> list[Any]:
        return []


def _client(**attributes: Any) -> Any:
    client = EmbeddedClient.__new__(EmbeddedClient)
    vars(client).update(attributes)
    return client


Use = Callable[[pytest.MonkeyPatch], object]


def _without(owner: Any, name: str, use: Callable[[], object]) -> Use:
    """Uses what needs the attribute of ``owner`` while the attribute is removed from it and its base classes."""

    def used(monkeypatch: pytest.MonkeyPatch) -> object:
        for cls in owner.__mro__ if isinstance(owner, type) else (owner,):
            if name in vars(cls):
                monkeypatch.delattr(cls, name)
        return use()

    return used


def _lacking(use: Callable[[], object]) -> Use:
    return lambda _: use()


def _check_state_without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManifestLoader, "build_manifest_state_check", lambda loader: None)
    private_api.keep_parsed_despite(frozenset())
    loader: Any = SimpleNamespace(root_project=Nothing())
    ManifestLoader.build_manifest_state_check(loader)


def _without_task_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbt.parser.manifest, "write_manifest", lambda: None)
    monkeypatch.delattr(dbt.task.runnable, "GraphRunnableTask")
    private_api.keep_written_manifest(frozenset())


def _log_without_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AdapterLogger, "debug", lambda *_: None)
    private_api.log_only_what_is_read()
    monkeypatch.delattr(dbt.events.logging, "track_behavior_change_warn")
    AdapterLogger("test").debug("one statement")


USES: dict[str, Use] = {
    "_available_": _lacking(lambda: private_api.offering(Nothing)(Nothing)),  # type: ignore[arg-type,type-var]
    "_parse_replacements_": _lacking(
        lambda: private_api.offering(type("Partly", (), {"_available_": frozenset()}))(
            type("Partly", (), {"_available_": frozenset()})
        )
    ),
    "_connection_keys": _lacking(lambda: private_api.connection_keys(Nothing())),  # type: ignore[arg-type]
    "dbt_created": _lacking(lambda: private_api.was_built(Nothing())),  # type: ignore[arg-type]
    "introspect": _without(dbt.cli.params, "introspect", lambda: private_api.may_introspect(None)),
    "RuntimeConfigObject": _without(
        dbt.context.providers, "RuntimeConfigObject", lambda: private_api.node_config(None)
    ),
    "build_manifest_state_check": _without(
        ManifestLoader, "build_manifest_state_check", lambda: private_api.keep_parsed_despite(frozenset())
    ),
    "cli_vars": _check_state_without_variables,
    "write_manifest": _without(
        dbt.parser.manifest, "write_manifest", lambda: private_api.keep_written_manifest(frozenset())
    ),
    "GraphRunnableTask": _without_task_of_nodes,
    "compile": _without(
        dbt_common.clients.jinja.MacroFuzzEnvironment,
        "compile",
        lambda: private_api.keep_compiled(cast(Any, None)),
    ),
    "track_behavior_change_warn": _log_without_callback,
    "debug": _without(AdapterLogger, "debug", private_api.log_only_what_is_read),
    "register_pickle_by_value": _without(
        pyspark.cloudpickle, "register_pickle_by_value", lambda: private_api.pickle_by_value(pyspark)
    ),
    "unregister_pickle_by_value": _without(
        pyspark.cloudpickle, "unregister_pickle_by_value", lambda: private_api.stop_pickling_by_value(pyspark)
    ),
    "DefaultPolicy": _without(
        pyspark.sql.connect.client.retries,
        "DefaultPolicy",
        lambda: private_api.set_reconnects(None, 1),  # type: ignore[arg-type]
    ),
    "_create_client": _without(ChHttpClient, "_create_client", lambda: EmbeddedClient(None)),
    "_ensure_database": _without(ChHttpClient, "_ensure_database", lambda: EmbeddedClient(None)),
    "_conn_settings": _lacking(lambda: _client()._create_client(None)),
    "_set_client_database": _without(
        ChHttpClient,
        "_set_client_database",
        lambda: _client(database="shop", create_database=str)._ensure_database(None, None),
    ),
    "_client": _lacking(lambda: private_api.client_of(cast(Any, Nothing()))),
    "server_tz": _lacking(lambda: private_api.set_server_zone(Nothing(), "UTC")),
    "_fix_binding": _lacking(lambda: private_api.set_session_literals(Nothing(), str)),
    "fetchall": _lacking(lambda: private_api.set_session_rows(Nothing(), lambda _, row: row)),
    "description": _lacking(lambda: private_api.set_session_rows(WithRows(), lambda _, row: row)),
    "_active_spark_context": _without(SparkContext, "_active_spark_context", private_api.is_spark_running),
    "_jo": _lacking(lambda: private_api.observed(Nothing())),  # type: ignore[arg-type]
    "_jsc": _lacking(lambda: private_api.cancel_job_group(Nothing(), "group", "reason")),
    "_df": _lacking(lambda: private_api.set_frame(Nothing(), None)),
    "_jvm": _lacking(lambda: private_api.jvm(Nothing())),  # type: ignore[arg-type]
    "_jsparkSession": _lacking(lambda: private_api.SparkCatalog(Nothing())),  # type: ignore[arg-type]
    "launch_gateway": _without(
        pyspark.java_gateway,
        "launch_gateway",
        lambda: private_api.launch_gateway(None),  # type: ignore[arg-type]
    ),
    "proc": _lacking(lambda: private_api.end_gateway(SimpleNamespace(shutdown=str))),
    "thread_connections": _lacking(
        lambda: private_api.connections_of_others(
            SimpleNamespace(get_if_exists=str, lock=memoryview(b""))  # type: ignore[arg-type]
        )
    ),
    "lock": _lacking(
        lambda: private_api.connections_of_others(SimpleNamespace(get_if_exists=str))  # type: ignore[arg-type]
    ),
}
# The registry of dbt, which is a single object, and the keywords that dbt passes.
OTHERWISE_TESTED = {"adapters", "limit", "event_time_filter"}


@pytest.mark.parametrize("name", USES)
def test_symbol_that_is_missing_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with pytest.raises(PrivateApiError) as error:
        USES[name](monkeypatch)
    assert error.value.msg == named(name).missing().msg


def test_registry_that_has_no_adapters_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_api, "FACTORY", Nothing())
    with pytest.raises(PrivateApiError, match=r"FACTORY\.adapters"):
        private_api.register_adapter(None, "spark")
    with pytest.raises(PrivateApiError, match=r"FACTORY\.adapters"):
        private_api.registered_adapter("spark")


def test_every_symbol_is_missed_in_a_test() -> None:
    assert {symbol.name for symbol in PYTHON} == USES.keys() | OTHERWISE_TESTED


def test_error_says_what_is_missing_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"dbt-spark": "1.12.0", "dbt-spark-clickhouse": "0.1.0"}
    monkeypatch.setattr(private_api.metadata, "version", versions.__getitem__)
    assert named("_fix_binding").missing().msg == (
        "dbt-spark-clickhouse 0.1.0 does not work with dbt-spark 1.12.0, which has no "
        "SessionConnectionWrapper._fix_binding. Install the version that it was tested with, "
        "pip install 'dbt-spark==1.11.0', or a newer dbt-spark-clickhouse."
    )


def test_module_that_is_missing_is_an_error_too() -> None:
    with pytest.raises(PrivateApiError, match=r"which has no Gone\.name\. Install"):
        Symbol("dbt-core", "dbt.gone:Gone", "name").home()


@pytest.mark.parametrize(
    "text",
    [
        'def model(): pass\ndf.write.saveAsTable("shop.orders")',
        "# --- Autogenerated dbt materialization code. --- #\ndf.write.save()",
    ],
)
def test_python_models_that_dbt_spark_writes_otherwise_are_an_error(text: str) -> None:
    with pytest.raises(PrivateApiError, match=r"has no dbt\.include\.spark\.py_write_table"):
        private_api.of_python_model(text)


# What the guarded functions do


def test_replacing_needs_something_to_replace() -> None:
    handle = SimpleNamespace(_fix_binding=str)
    private_api.set_session_literals(handle, repr)
    assert handle._fix_binding is repr


def test_rows_are_converted_by_the_types_of_their_columns() -> None:
    class Session:
        description = (("id", "bigint"), ("at", "timestamp"))

        def fetchall(self) -> list[Any]:
            return [[1, 2]]

    session = Session()
    private_api.set_session_rows(session, lambda types, row: (*types, *row))
    assert session.fetchall() == [("bigint", "timestamp", 1, 2)]


class Counted:
    """An observation."""

    def __init__(self, is_told: bool, found: dict[str, int] | Exception) -> None:
        self._jo = SimpleNamespace(future=lambda: SimpleNamespace(isCompleted=lambda: is_told))
        self._found = found

    @property
    def get(self) -> dict[str, int]:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (Counted(True, {"rows": 2}), {"rows": 2}),
        (Counted(False, {"rows": 2}), {}),
        (Counted(True, Py4JError("an empty row")), {}),
    ],
    ids=["told", "not told", "told wrongly"],
)
def test_what_spark_does_not_tell_of_a_job_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, counted: Any, expected: dict[str, int]
) -> None:
    monkeypatch.setattr(private_api, "TOLD_WITHIN", 0.01)
    assert private_api.observed(counted) == expected


def test_connections_of_others_are_all_but_that_of_the_thread() -> None:
    own, other = object(), object()
    found = private_api.connections_of_others(
        SimpleNamespace(  # type: ignore[arg-type]
            lock=memoryview(b""), thread_connections={1: own, 2: other}, get_if_exists=lambda: own
        )
    )
    assert found == [other]


@pytest.mark.parametrize(
    ("flags", "expected"), [(None, True), (SimpleNamespace(INTROSPECT=False), False), (SimpleNamespace(), True)]
)
def test_dbt_may_introspect_unless_it_was_told_not_to(flags: Any, expected: bool) -> None:
    assert private_api.may_introspect(SimpleNamespace(args=flags)) is expected


def test_settings_of_the_stock_client_reach_the_embedded_one() -> None:
    seen: list[Any] = []
    client = _client(_conn_settings={"mutations_sync": "3"}, connect=lambda *given: seen.append(given))
    client._create_client("credentials")
    assert seen == [("credentials", {"mutations_sync": "3"})]


def test_profile_without_a_schema_creates_no_database() -> None:
    client = _client(database=None, create_database=pytest.fail)
    assert client._ensure_database(None, None) is None


# No other module uses one


def is_private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and not name.endswith("__")


def own_names(tree: ast.Module) -> set[str]:
    """The names that the classes of a module define, and those that they assign on instances."""
    found = set()
    for cls in ast.walk(tree):
        if isinstance(cls, ast.ClassDef):
            found |= set(defined_in(cls))
            found |= {
                node.attr
                for node in ast.walk(cls)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own_object(node.value)
            }
    return found


def defined_in(cls: ast.ClassDef) -> Iterator[str]:
    """The names that the body of a class defines."""
    for node in cls.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            if isinstance(target, ast.Name):
                yield target.id


def is_own_object(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private_uses(source: str) -> set[str]:
    """The private names of others that a module uses: as attributes, by import, or as text."""
    tree = ast.parse(source)
    own = own_names(tree)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if not (is_own_object(node.value) and node.attr in own):
                found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
            found |= {name for name in names if is_private(name)}
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
            found |= {name for name in names if is_private(name)}
        elif isinstance(node, ast.keyword) and is_private(node.arg):
            found.add(str(node.arg))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in BY_TEXT:
            constants = [each.value for each in node.args if isinstance(each, ast.Constant)]
            found |= {str(name) for name in constants if is_private(name)}
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("context._jsc.sc()", {"_jsc"}),
        ("handle._fix_binding = literal", {"_fix_binding"}),
        ("from dbt.adapters import _private", {"_private"}),
        ("from dbt._private import name", {"_private"}),
        ("import dbt._private", {"_private"}),
        ("getattr(session, '_jvm', None)", {"_jvm"}),
        ("Response(_message='done')", {"_message"}),
        ("class Own(Stock):\n  def run(self): return self._of_stock", {"_of_stock"}),
        ("class Own(Stock):\n  def run(self): return super()._of_stock()", {"_of_stock"}),
        ("class Own:\n  def __init__(self): self._a = other._a", {"_a"}),
        ("class Own:\n  def __init__(self): self._a = 1\n  def run(self): return self._a", set()),
        ("class Own:\n  _a: int = 1\n  def run(self): return self._a + self._run()\n  def _run(self): 1", set()),
        ("from __future__ import annotations\n_own = 1\n_own.name.__class__", set()),
    ],
)
def test_use_of_a_private_name_of_others_is_found(source: str, expected: set[str]) -> None:
    assert private_uses(source) == expected


def modules() -> list[Path]:
    found = sorted(path for path in SOURCES.rglob("*.py") if path.name not in ("__init__.py", "__main__.py"))
    assert len(found) > 10
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_private_names_of_others_are_used_in_one_module_only(path: Path) -> None:
    uses = private_uses(path.read_text())
    known = {symbol.name for symbol in SYMBOLS}
    assert uses <= known if path.stem == "private_api" else uses == set()


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_private_names_of_others_are_overridden_in_one_module_only(path: Path) -> None:
    module = import_module(".".join((PLUGIN, *path.relative_to(SOURCES).with_suffix("").parts)))
    overridden = {
        name
        for cls in ast.walk(ast.parse(path.read_text()))
        if isinstance(cls, ast.ClassDef) and hasattr(module, cls.name)
        for name in defined_in(cls)
        if is_private(name) and name not in PROMISED
        for base in getattr(module, cls.name).__mro__[1:]
        if name in vars(base) and not base.__module__.startswith(PLUGIN)
    }
    expected = {"_create_client", "_ensure_database"} if path.stem == "private_api" else set()
    assert overridden == expected


LAYERS = ("private_api", "core", "landing", "clickhouse", "spark", "hand_off", "router", "impl", "cli")


def test_each_folder_imports_only_those_before_it() -> None:
    for path in modules():
        own, *_ = path.relative_to(SOURCES).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PLUGIN):
                rest = (node.module or "").removeprefix(PLUGIN).strip(".")
                for name in [rest] if rest else [alias.name for alias in node.names if alias.name != "__version__"]:
                    assert LAYERS.index(name.partition(".")[0]) <= LAYERS.index(own), f"{path}: {name}"


def test_client_of_dbt_clickhouse_is_abstract_where_the_embedded_one_fills_in() -> None:
    assert ChClientWrapper.__abstractmethods__ >= {"_create_client", "_set_client_database"}


@pytest.mark.parametrize(
    ("owner", "name", "replace"),
    [
        (ManifestLoader, "build_manifest_state_check", lambda: private_api.keep_parsed_despite(frozenset())),
        (dbt.parser.manifest, "write_manifest", lambda: private_api.keep_written_manifest(frozenset())),
        (
            dbt_common.clients.jinja.MacroFuzzEnvironment,
            "compile",
            lambda: private_api.keep_compiled(cast(Any, None)),
        ),
        (AdapterLogger, "debug", private_api.log_only_what_is_read),
    ],
)
def test_a_function_of_dbt_is_replaced_once(
    owner: Any, name: str, replace: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process makes many adapters."""

    def stock() -> None:
        pass

    monkeypatch.setattr(owner, name, stock)
    replace()
    replaced = getattr(owner, name)
    assert replaced is not stock
    replace()
    assert getattr(owner, name) is replaced


@pytest.mark.parametrize("level", ["debug", "info", "warn"])
@pytest.mark.parametrize("is_called_back", [True, False])
def test_a_debug_message_is_made_if_somebody_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str, is_called_back: bool
) -> None:
    monkeypatch.setattr(AdapterLogger, "debug", vars(AdapterLogger)["debug"])
    made: list[str] = []
    monkeypatch.setattr(AdapterLogger, "debug", lambda _, message: made.append(message))
    private_api.log_only_what_is_read()
    monkeypatch.setattr(dbt_common.events.event_manager_client, "_EVENT_MANAGER", EventManager())
    flags = {
        "LOG_PATH": str(tmp_path),
        "LOG_LEVEL_FILE": level,
        "LOG_LEVEL": "info",
        "LOG_FORMAT": "text",
        "LOG_FORMAT_FILE": "text",
        "QUIET": True,
        "USE_COLORS": False,
        "USE_COLORS_FILE": False,
        "LOG_CACHE_EVENTS": False,
        "DEBUG": False,
        "LOG_FILE_MAX_BYTES": 0,
    }
    setup_event_logger(cast(Any, SimpleNamespace(**flags)), [lambda _: None] if is_called_back else [])
    AdapterLogger("test").debug("one statement")
    assert made == (["one statement"] if level == "debug" or is_called_back else [])
