"""Everything that the adapter uses from other packages without a promise that it stays.

That is a private name (``_jsc``), an undocumented attribute, a method of Spark's JVM: a minor version may rename it.
Only this module touches such names. Each is listed in ``SYMBOLS`` and guarded: if one is missing, ``PrivateApiError``
names the package, its version and the symbol, instead of letting something go wrong silently.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dbt.adapters.base.connections import BaseConnectionManager
from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt.adapters.contracts.connection import Connection, Credentials
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.factory import FACTORY
from dbt.flags import get_flags
from dbt_common.events.base_types import EventLevel
from dbt_common.events.event_manager_client import get_event_manager
from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import Observation, SparkSession

logger = AdapterLogger("spark_clickhouse")

OWN_PACKAGE = "dbt-spark-clickhouse"
# The versions with which the adapter is tested.
TESTED_VERSIONS = {
    "clickhouse-connect": "1.12.0",
    "dbt-adapters": "1.24.5",
    "dbt-clickhouse": "1.10.3",
    "dbt-common": "1.39.0",
    "dbt-core": "1.11.16",
    "dbt-spark": "1.11.0",
    "pyspark": "4.3.0",
}

AnyAdapter = TypeVar("AnyAdapter", bound=type[BaseAdapter])


class PrivateApiError(DbtRuntimeError):
    """Another package differs from what the adapter expects."""


@dataclass(frozen=True)
class Symbol:
    """A name that another package may change.

    Args:
        package: the distribution that contains it.
        place: the module and the class or object that has it as an attribute; for a method of the JVM, its Java class.
        name: the attribute.
    """

    package: str
    place: str
    name: str

    def __str__(self) -> str:
        return f"{self.place.rpartition(':')[2]}.{self.name}"

    def of(self, owner: Any) -> Any:
        """The attribute of ``owner``.

        Raises:
                PrivateApiError: ``owner`` has no such attribute.
        """
        try:
            return getattr(owner, self.name)
        except AttributeError as error:
            raise self.missing() from error

    def replace(self, owner: Any, value: Any) -> None:
        """Replace the attribute of ``owner``, which must exist, with ``value``."""
        self.of(owner)
        setattr(owner, self.name, value)

    def wrap_once(self, wrap: Callable[[Any], Callable[..., Any]]) -> None:
        """Replace the function at home with what ``wrap`` makes of it, unless that has been done before."""
        home = self.home()
        stock = self.of(home)
        if not getattr(stock, "is_of_adapter", False):
            wrapped = wrap(stock)
            vars(wrapped)["is_of_adapter"] = True
            self.replace(home, wrapped)

    def call(self, java_object: Any, *arguments: Any) -> Any:
        """Call a method of an object in Spark's JVM. Whether the method exists shows only in the call."""
        from py4j.protocol import Py4JError

        try:
            return self.of(java_object)(*arguments)
        except Py4JError as error:
            if f"Method {self.name}(" in str(error) and "does not exist" in str(error):
                raise self.missing() from error
            raise

    def home(self) -> Any:
        """The class, module or object that has the attribute.

        Raises:
            PrivateApiError: it does not exist.
        """
        module, _, path = self.place.partition(":")
        try:
            found: Any = import_module(module)
            for part in filter(None, path.split(".")):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise self.missing() from error
        return found

    def missing(self) -> PrivateApiError:
        """The error for a missing symbol, which says what to do."""
        return PrivateApiError(f"{_has(self.package)} no {self}. {_advice(self.package)}")


def _has(package: str) -> str:
    own, other = metadata.version(OWN_PACKAGE), metadata.version(package)
    return f"{OWN_PACKAGE} {own} does not work with {package} {other}, which has"


def _advice(package: str) -> str:
    return (
        f"Install the version that it was tested with, pip install "
        f"'{package}=={TESTED_VERSIONS[package]}', or a newer {OWN_PACKAGE}."
    )


def new_method(adapter: type[BaseAdapter], name: str) -> PrivateApiError:
    """The error if dbt calls a method of a stock adapter that this version does not know."""
    owner = next(cls for cls in adapter.__mro__ if name in vars(cls))
    stock = owner.__module__.removeprefix("dbt.adapters.").partition(".")[0]
    package = {"spark": "dbt-spark", "clickhouse": "dbt-clickhouse"}.get(stock, "dbt-adapters")
    return PrivateApiError(
        f"{_has(package)} a new method adapter.{name}(). It is not known whether the method is for "
        f"one engine or for both. {_advice(package)}"
    )


# dbt-adapters and dbt-core

_AVAILABLE = Symbol("dbt-adapters", "dbt.adapters.base.impl:BaseAdapter", "_available_")
_REPLACEMENTS = Symbol("dbt-adapters", "dbt.adapters.base.impl:BaseAdapter", "_parse_replacements_")
_ADAPTERS = Symbol("dbt-adapters", "dbt.adapters.factory:FACTORY", "adapters")
_DEBUG = Symbol("dbt-adapters", "dbt.adapters.events.logging:AdapterLogger", "debug")
_CONNECTION_KEYS = Symbol("dbt-adapters", "dbt.adapters.contracts.connection:Credentials", "_connection_keys")
_MANAGER = "dbt.adapters.base.connections:BaseConnectionManager"
_CONNECTIONS = Symbol("dbt-adapters", _MANAGER, "thread_connections")
_CONNECTIONS_LOCK = Symbol("dbt-adapters", _MANAGER, "lock")
_RELATION = "dbt.adapters.base.relation:BaseRelation"
_LIMIT = Symbol("dbt-adapters", _RELATION, "limit")
_EVENT_TIME_FILTER = Symbol("dbt-adapters", _RELATION, "event_time_filter")
_DBT_CREATED = Symbol("dbt-adapters", _RELATION, "dbt_created")
_CALLBACK = Symbol("dbt-core", "dbt.events.logging", "track_behavior_change_warn")
_INTROSPECT = Symbol("dbt-core", "dbt.cli.params", "introspect")
_NODE_CONFIG = Symbol("dbt-core", "dbt.context.providers", "RuntimeConfigObject")
_STATE_CHECK = Symbol("dbt-core", "dbt.parser.manifest:ManifestLoader", "build_manifest_state_check")
_VARIABLES = Symbol("dbt-core", "dbt.config:RuntimeConfig", "cli_vars")
_WRITE_MANIFEST = Symbol("dbt-core", "dbt.parser.manifest", "write_manifest")
_TASK_OF_NODES = Symbol("dbt-core", "dbt.task.runnable", "GraphRunnableTask")
_COMPILE = Symbol("dbt-common", "dbt_common.clients.jinja:MacroFuzzEnvironment", "compile")


def offering(*stock_adapters: type[BaseAdapter]) -> Callable[[AnyAdapter], AnyAdapter]:
    """Let macros call on an adapter class whatever they may call on ``stock_adapters``, with the same stand-ins
    while dbt parses."""

    def offer(adapter: AnyAdapter) -> AnyAdapter:
        classes = (*stock_adapters, adapter)
        names = frozenset().union(*(_AVAILABLE.of(each) for each in classes))
        stand_ins = {name: stand_in for each in classes for name, stand_in in _REPLACEMENTS.of(each).items()}
        _AVAILABLE.replace(adapter, names)
        _REPLACEMENTS.replace(adapter, stand_ins)
        return adapter

    return offer


def register_adapter(adapter: Any, *types: str) -> None:
    """Register ``adapter`` with dbt under each of ``types``.

    dbt holds the registry's lock while it creates an adapter.
    """
    _ADAPTERS.of(FACTORY).update(dict.fromkeys(types, adapter))


def registered_adapter(type_: str) -> Any:
    """The adapter that is registered with dbt under ``type_``, or None."""
    return _ADAPTERS.of(FACTORY).get(type_)


def connection_keys(credentials: Credentials) -> tuple[str, ...]:
    """The keys of a stock profile that `dbt debug` prints."""
    keys: tuple[str, ...] = _CONNECTION_KEYS.of(credentials)()
    return keys


def connections_of_others(manager: BaseConnectionManager) -> list[Connection]:
    """The named connections of all other threads."""
    own = manager.get_if_exists()
    with _CONNECTIONS_LOCK.of(manager):
        connections = list(_CONNECTIONS.of(manager).values())
    return [connection for connection in connections if connection is not own]


def is_reference(options: Mapping[str, Any]) -> bool:
    """Whether dbt calls ``Relation.create_from`` for a `ref` or `source`. Only then does it pass a number of rows,
    which can mean all."""
    return _LIMIT.name in options


def reference_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a `ref` or `source` that its relation keeps: the number of rows and the time range."""
    names = (_LIMIT.name, _EVENT_TIME_FILTER.name)
    return {name: options[name] for name in names if name in options}


def was_built(relation: BaseRelation) -> bool:
    """Whether ``relation`` is in dbt's cache because a node has built it."""
    return bool(_DBT_CREATED.of(relation))


def may_introspect(config: Any) -> bool:
    """Whether dbt may ask the engines which relations exist; `--no-introspect` forbids it."""
    _INTROSPECT.of(_INTROSPECT.home())
    return bool(getattr(getattr(config, "args", None), _INTROSPECT.name.upper(), True))


def node_config(node: Any) -> Any:
    """The `config` of a node, as its macros see it."""
    return _NODE_CONFIG.of(_NODE_CONFIG.home())(node)


def keep_parsed_despite(variables: frozenset[str]) -> None:
    """Let dbt parse the project anew only if other variables than these have changed on the command line."""

    def wrap(stock: Any) -> Callable[[Any], Any]:
        def state_check(self: Any) -> Any:
            config = self.root_project
            given = _VARIABLES.of(config)
            _VARIABLES.replace(config, {name: value for name, value in given.items() if name not in variables})
            try:
                return stock(self)
            finally:
                _VARIABLES.replace(config, given)

        return state_check

    _STATE_CHECK.wrap_once(wrap)


def keep_written_manifest(commands: frozenset[str]) -> None:
    """Let the given commands of dbt, which write `manifest.json` when they end, not write it before they begin as well
    if it is already that of the project as dbt has parsed it."""
    _TASK_OF_NODES.of(_TASK_OF_NODES.home())  # imports the stock function, with which it writes at the end

    def wrap(stock: Any) -> Callable[..., None]:
        def write_unless_written(manifest: Any, target_path: str, *arguments: Any, **options: Any) -> None:
            if get_flags().WHICH not in commands or not _is_written(Path(target_path)):
                stock(manifest, target_path, *arguments, **options)

        return write_unless_written

    _WRITE_MANIFEST.wrap_once(wrap)


def _is_written(target: Path) -> bool:
    """Whether `manifest.json` is at least as new as what dbt keeps of its last parsing. dbt leaves that alone while
    the project stays as it is."""
    try:
        written, parsed = ((target / name).stat().st_mtime_ns for name in ("manifest.json", "partial_parse.msgpack"))
    except FileNotFoundError:
        return False
    return written >= parsed


class CompiledTexts(Protocol):
    """Texts of Jinja and their code."""

    def get(self, kind: str, text: str) -> CodeType | None:
        """The code of a text; None if it is unknown."""

    def keep(self, kind: str, text: str, code: CodeType) -> None:
        """Keep the code of a text."""


def keep_compiled(known: CompiledTexts) -> None:
    """Let dbt compile only those texts of Jinja that ``known`` lacks, and keep their code there."""

    def wrap(stock: Any) -> Callable[..., Any]:
        def compile_unknown(self: Any, source: Any, *arguments: Any, **options: Any) -> Any:
            if arguments or options or not isinstance(source, str):
                return stock(self, source, *arguments, **options)
            kind = type(self).__name__
            code = known.get(kind, source)
            if code is None:
                code = stock(self, source)
                known.keep(kind, source, code)
            return code

        return compile_unknown

    _COMPILE.wrap_once(wrap)


def log_only_what_is_read() -> None:
    """Let adapters make an event of a debug message only if a log or a callback takes it. dbt makes an event of each
    statement, and then looks at the level. Its own callback, which is always there, takes no such events."""

    def wrap(stock: Any) -> Callable[..., None]:
        def debug(self: Any, message: Any, *arguments: Any) -> None:
            manager = get_event_manager()
            own = _CALLBACK.of(_CALLBACK.home())
            is_called = any(callback is not own for callback in manager.callbacks)
            if is_called or any(map(_takes_debug_messages, manager.loggers)):
                stock(self, message, *arguments)

        return debug

    _DEBUG.wrap_once(wrap)


def _takes_debug_messages(log: Any) -> bool:
    return getattr(log, "level", EventLevel.DEBUG) in (EventLevel.DEBUG, EventLevel.TEST)


# dbt-clickhouse and clickhouse-connect

_CLIENT = "dbt.adapters.clickhouse.dbclient:ChClientWrapper"
_CREATE_CLIENT = Symbol("dbt-clickhouse", _CLIENT, "_create_client")
_ENSURE_DATABASE = Symbol("dbt-clickhouse", _CLIENT, "_ensure_database")
_SET_DATABASE = Symbol("dbt-clickhouse", _CLIENT, "_set_client_database")
_CONNECTION_SETTINGS = Symbol("dbt-clickhouse", _CLIENT, "_conn_settings")
_OWN_CLIENT = Symbol("dbt-clickhouse", _CLIENT, "_client")
_SERVER_ZONE = Symbol("clickhouse-connect", "clickhouse_connect.driver.client:Client", "server_tz")


class EmbeddedClient(ChHttpClient):
    """dbt-clickhouse's client, over whatever ``connect`` opens instead of a server."""

    def __init__(self, credentials: Any) -> None:
        for hook in (_CREATE_CLIENT, _ENSURE_DATABASE):
            hook.of(ChHttpClient)
        super().__init__(credentials)

    def connect(self, credentials: Any, settings: dict[str, Any]) -> Any:
        """Open a client of clickhouse-connect with the settings of each statement."""
        raise NotImplementedError

    def create_database(self, database: str) -> None:
        """Create the profile's database if it does not exist.

        The stock client remembers for the whole process, across data folders, which databases exist.
        """
        raise NotImplementedError

    def _create_client(self, credentials: Any) -> Any:
        return self.connect(credentials, _CONNECTION_SETTINGS.of(self))

    def _ensure_database(self, database_engine: str | None, cluster_name: str | None) -> None:
        if self.database:
            self.create_database(self.database)
            _SET_DATABASE.of(self)()


def client_of(handle: ChHttpClient) -> Any:
    """The client of clickhouse-connect inside that of dbt-clickhouse."""
    return _OWN_CLIENT.of(handle)


def set_server_zone(client: Any, zone: Any) -> None:
    """Set the time zone that a client of clickhouse-connect assumes for its server."""
    _SERVER_ZONE.replace(client, zone)


# dbt-spark

_SESSION = "dbt.adapters.spark.session:SessionConnectionWrapper"
_FIX_BINDING = Symbol("dbt-spark", _SESSION, "_fix_binding")
_FETCHALL = Symbol("dbt-spark", _SESSION, "fetchall")
_DESCRIPTION = Symbol("dbt-spark", _SESSION, "description")
_FRAME = Symbol("dbt-spark", "dbt.adapters.spark.session:Cursor", "_df")

Row = tuple[Any, ...]


def of_python_model(text: str) -> tuple[str, str]:
    """Split the text that dbt-spark's macro `py_write_table` makes: into the code of the Python model, with dbt's
    own, and the table that dbt-spark would write."""
    code, mark, end = text.partition("# --- Autogenerated dbt materialization code. --- #")
    written = re.search(r'\.saveAsTable\("(.+)"\)\s*$', end)
    if not mark or written is None:
        raise Symbol("dbt-spark", "dbt.include.spark", "py_write_table").missing()
    return code, written[1]


def set_session_literals(handle: Any, literal: Callable[[Any], str]) -> None:
    """Make a session of dbt-spark write the values of seeds with ``literal``."""
    _FIX_BINDING.replace(handle, literal)


def set_session_rows(handle: Any, convert: Callable[[list[str], Row], Row]) -> None:
    """Make a session of dbt-spark pass each row through ``convert``, which takes the types of the columns and
    the row."""
    fetchall = _FETCHALL.of(handle)
    _DESCRIPTION.of(type(handle))

    def fetchall_converted() -> list[Row]:
        types = [column[1] for column in _DESCRIPTION.of(handle)]
        return [convert(types, tuple(row)) for row in fetchall() or ()]

    _FETCHALL.replace(handle, fetchall_converted)


def set_frame(cursor: Any, frame: Any) -> None:
    """Make a cursor of a dbt-spark session return the rows of ``frame``."""
    _FRAME.replace(cursor, frame)


# PySpark

_CONTEXT = "pyspark:SparkContext"
TOLD_WITHIN = 10.0  # seconds
_OBSERVATION = Symbol("pyspark", "pyspark.sql:Observation", "_jo")
_OBSERVED = Symbol("pyspark", "org.apache.spark.sql.Observation", "future")
_ACTIVE_CONTEXT = Symbol("pyspark", _CONTEXT, "_active_spark_context")
_JAVA_CONTEXT = Symbol("pyspark", _CONTEXT, "_jsc")
_JVM = Symbol("pyspark", "pyspark.sql:SparkSession", "_jvm")
_JAVA_SESSION = Symbol("pyspark", "pyspark.sql:SparkSession", "_jsparkSession")
_LAUNCH_GATEWAY = Symbol("pyspark", "pyspark.java_gateway", "launch_gateway")
_GATEWAY_PROCESS = Symbol("pyspark", "pyspark.java_gateway", "proc")
_ERROR_LOGGER = "SQLQueryContextLogger"
_PICKLE = Symbol("pyspark", "pyspark.cloudpickle", "register_pickle_by_value")
_RECONNECTS = Symbol("pyspark", "pyspark.sql.connect.client.retries", "DefaultPolicy")
_NO_PICKLE = Symbol("pyspark", "pyspark.cloudpickle", "unregister_pickle_by_value")


def observed(observation: Observation) -> dict[str, Any]:
    """What an observation has counted in a statement that has ended, by name; empty if Spark does not tell. It tells a
    moment later, and PySpark would wait forever."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    end = time.monotonic() + TOLD_WITHIN
    try:
        future = _OBSERVED.call(_OBSERVATION.of(observation))
        while not future.isCompleted():
            if time.monotonic() > end:
                return {}
            time.sleep(0.001)
        return observation.get
    except (Py4JError, PySparkException) as error:  # the statement has done its work
        logger.debug(f"Spark does not tell what it has counted: {error!r}")
        return {}


def is_spark_running() -> bool:
    """Whether this process runs a Spark."""
    return _ACTIVE_CONTEXT.of(_ACTIVE_CONTEXT.home()) is not None


def launch_gateway(conf: SparkConf, **process: Any) -> Any:
    """Start a JVM for Spark; the keywords are those of ``Popen``."""
    return _LAUNCH_GATEWAY.of(_LAUNCH_GATEWAY.home())(conf, popen_kwargs=process)


def end_gateway(gateway: Any) -> None:
    """End a JVM, and wait until it is gone."""
    process = _GATEWAY_PROCESS.of(gateway)
    gateway.shutdown()
    process.stdin.close()
    process.wait()


def silence_errors() -> None:
    """Stop PySpark from logging every error as JSON, including those that dbt-spark handles."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger(_ERROR_LOGGER).disabled = True


def pickle_by_value(module: ModuleType) -> None:
    """Make PySpark send the functions of ``module`` by value: no other process can import it."""
    _PICKLE.of(_PICKLE.home())(module)


def stop_pickling_by_value(module: ModuleType) -> None:
    """Undo ``pickle_by_value``."""
    _NO_PICKLE.of(_NO_PICKLE.home())(module)


def set_reconnects(session: SparkSession, count: int, pause: int | None = None) -> None:
    """Make the Spark Connect client retry a lost connection ``count`` times, with ``pause`` seconds in between, or
    with growing pauses."""
    times = {} if pause is None else {"initial_backoff": pause * 1000, "backoff_multiplier": 1.0}
    policy = _RECONNECTS.of(_RECONNECTS.home())(max_retries=count, **times)
    session.client.set_retry_policies([policy])


def jvm(session: SparkSession) -> Any:
    """The root of Java's packages."""
    return _JVM.of(session)


# Spark's JVM

_CATALYST = "org.apache.spark.sql.catalyst"
_HADOOP = Symbol("pyspark", "org.apache.spark.api.java.JavaSparkContext", "hadoopConfiguration")
_SCALA_CONTEXT = Symbol("pyspark", "org.apache.spark.api.java.JavaSparkContext", "sc")
_CANCEL = Symbol("pyspark", "org.apache.spark.SparkContext", "cancelJobGroupAndFutureJobs")
_STATE = Symbol("pyspark", "org.apache.spark.sql.classic.SparkSession", "sessionState")
_CATALOG = Symbol("pyspark", "org.apache.spark.sql.internal.SessionState", "catalog")
_PARSER = Symbol("pyspark", "org.apache.spark.sql.internal.SessionState", "sqlParser")
_PARSE_NAME = Symbol("pyspark", f"{_CATALYST}.parser.ParserInterface", "parseMultipartIdentifier")
_PARSE_TABLE = Symbol("pyspark", f"{_CATALYST}.parser.ParserInterface", "parseTableIdentifier")
_TABLE_EXISTS = Symbol("pyspark", f"{_CATALYST}.catalog.SessionCatalog", "tableExists")
_DATABASE_EXISTS = Symbol("pyspark", f"{_CATALYST}.catalog.SessionCatalog", "databaseExists")
_QUALIFY = Symbol("pyspark", f"{_CATALYST}.catalog.SessionCatalog", "qualifyIdentifier")
_DEFAULT_PATH = Symbol("pyspark", f"{_CATALYST}.catalog.SessionCatalog", "defaultTablePath")
_TABLE_METADATA = Symbol("pyspark", f"{_CATALYST}.catalog.SessionCatalog", "getTableMetadata")
_STORAGE = Symbol("pyspark", f"{_CATALYST}.catalog.CatalogTable", "storage")
_LOCATION = Symbol("pyspark", f"{_CATALYST}.catalog.CatalogStorageFormat", "locationUri")
_PROVIDER = Symbol("pyspark", f"{_CATALYST}.catalog.CatalogTable", "provider")
_IDENTIFIER = Symbol("pyspark", f"{_CATALYST}.catalog.CatalogTable", "identifier")
_PARTITION_COLUMNS = Symbol("pyspark", f"{_CATALYST}.catalog.CatalogTable", "partitionColumnNames")
_DATABASE = Symbol("pyspark", f"{_CATALYST}.TableIdentifier", "database")
_QUOTED = Symbol("pyspark", f"{_CATALYST}.TableIdentifier", "quotedString")
_UNQUOTED = Symbol("pyspark", f"{_CATALYST}.TableIdentifier", "unquotedString")


_LOCAL_FILES = "fs.file.impl"


def set_local_files(session: SparkSession, class_name: str, source: str) -> None:
    """Compile a Java class and make Spark reach local files through it, unless a setting names another class. If that
    fails, Spark works as without it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    java = jvm(session)
    configured = _HADOOP.call(_JAVA_CONTEXT.of(session.sparkContext))
    try:
        settings = java.org.apache.hadoop.conf.Configuration(configured)
        if settings.get(_LOCAL_FILES):
            return
        compiler = java.org.codehaus.janino.SimpleCompiler()
        compiler.cook(source)
        settings.set(_LOCAL_FILES, class_name)
        settings.setClassLoader(compiler.getClassLoader())
        # Hadoop keeps one object for all local files, and reads the setting only once.
        files, root = java.org.apache.hadoop.fs.FileSystem, java.java.net.URI("file:///")
        files.get(root, settings).close()
        files.get(root, settings)
    except (Py4JError, PySparkException, TypeError) as error:  # of type TypeError if a class is missing
        logger.debug(f"Spark does not take {class_name}: {error!r}")


def cancel_job_group(context: Any, group: str, reason: str) -> None:
    """Cancel the jobs of a group, and those that it would start next."""
    _CANCEL.call(_SCALA_CONTEXT.call(_JAVA_CONTEXT.of(context)), group, reason)


@dataclass(frozen=True)
class SparkTable:
    """A table in Spark's own catalog. ``name`` is its schema and name, ``quoted`` the same in SQL; ``location`` is a
    URI, ``provider`` the format."""

    name: str
    quoted: str
    location: str | None
    provider: str | None
    is_partitioned: bool


class SparkCatalog:
    """Spark's own catalog, of which PySpark exposes little. Identifiers are JVM objects."""

    def __init__(self, session: SparkSession) -> None:
        state = _STATE.call(_JAVA_SESSION.of(session))
        self._catalog = _CATALOG.call(state)
        self._parser = _PARSER.call(state)

    def parts(self, name: str) -> list[str]:
        """The parts of a table's name, split as Spark does."""
        parts = _PARSE_NAME.call(self._parser, name)
        return [parts.apply(i) for i in range(parts.size())]

    def identifier(self, parts: list[str]) -> Any:
        """The identifier of the table with these parts: a name, or a schema and a name."""
        quoted = ".".join(f"`{part.replace('`', '``')}`" for part in parts)
        return _PARSE_TABLE.call(self._parser, quoted)

    def has_table(self, identifier: Any) -> bool:
        """Whether the table exists."""
        return bool(_TABLE_EXISTS.call(self._catalog, identifier))

    def default_location(self, identifier: Any) -> str | None:
        """The URI at which Spark would create the table; None if its schema does not exist."""
        qualified = _QUALIFY.call(self._catalog, identifier)
        if not _DATABASE_EXISTS.call(self._catalog, _DATABASE.call(qualified).get()):
            return None
        return str(_DEFAULT_PATH.call(self._catalog, identifier).toString())

    def table(self, identifier: Any) -> SparkTable:
        """The table, which must exist."""
        found = _TABLE_METADATA.call(self._catalog, identifier)
        location = _LOCATION.call(_STORAGE.call(found))
        provider = _PROVIDER.call(found)
        return SparkTable(
            name=_name_of(found),
            quoted=str(_QUOTED.call(identifier)),
            location=str(location.get().toString()) if location.isDefined() else None,
            provider=str(provider.get()).lower() if provider.isDefined() else None,
            is_partitioned=not _PARTITION_COLUMNS.call(found).isEmpty(),
        )


def _each(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def _name_of(table: Any) -> str:
    return str(_UNQUOTED.call(_IDENTIFIER.call(table))).removeprefix("spark_catalog.")


_STATUS_STORE = Symbol("pyspark", "org.apache.spark.SparkContext", "statusStore")
_ACTIVE_STAGES = Symbol("pyspark", "org.apache.spark.status.AppStatusStore", "activeStages")
_STAGE = "org.apache.spark.status.api.v1.StageData"
_STAGE_NUMBER = Symbol("pyspark", _STAGE, "stageId")
_STAGE_TASKS = Symbol("pyspark", _STAGE, "numTasks")
_STAGE_DONE = Symbol("pyspark", _STAGE, "numCompleteTasks")
_STAGE_INPUT = Symbol("pyspark", _STAGE, "inputRecords")
_STAGE_SHUFFLED = Symbol("pyspark", _STAGE, "shuffleReadRecords")


@dataclass(frozen=True)
class StageAtWork:
    """A running stage of Spark: its tasks, how many of them are done, and the rows it has read."""

    number: int
    tasks: int
    done: int
    rows: int


def stages_at_work() -> list[StageAtWork]:
    """The running stages of this process's Spark; empty without a Spark."""
    from py4j.protocol import Py4JError

    context = _ACTIVE_CONTEXT.of(_ACTIVE_CONTEXT.home())
    try:
        java_context = context and _JAVA_CONTEXT.of(context)
        if java_context is None:
            return []
        store = _STATUS_STORE.call(_SCALA_CONTEXT.call(java_context))
        return [
            StageAtWork(
                number=_STAGE_NUMBER.call(stage),
                tasks=_STAGE_TASKS.call(stage),
                done=_STAGE_DONE.call(stage),
                rows=_STAGE_INPUT.call(stage) + _STAGE_SHUFFLED.call(stage),
            )
            for stage in _each(_ACTIVE_STAGES.call(store))
        ]
    except (Py4JError, OSError):  # Spark is shutting down
        return []


SYMBOLS = tuple(found for found in list(vars().values()) if isinstance(found, Symbol))

# Public attributes of dbt's nodes that not every node has: where they are read, a missing one is no error. A test
# notices when dbt renames one.
_NODES = "dbt.contracts.graph.nodes"
OPTIONAL_OF_NODES = tuple(
    Symbol("dbt-core", f"{_NODES}:{node}", name)
    for node, names in {
        "ModelNode": (
            "compiled",
            "database",
            "defer_relation",
            "depends_on",
            "depends_on_nodes",
            "identifier",
            "is_ephemeral_model",
            "language",
            "resource_type",
        ),
        "SourceDefinition": ("external",),
        "UnitTestNode": ("tested_node_unique_id",),
    }.items()
    for name in names
)
