"""Stock dbt-spark, plus an embedded Spark for its session method."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import agate
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core import store
from dbt.adapters.spark_clickhouse.core.credentials import SparkMethod
from dbt.adapters.spark_clickhouse.core.engine import EngineAdapter, EngineConnectionManager
from dbt.adapters.spark_clickhouse.core.literals import spark_literal
from dbt.adapters.spark_clickhouse.core.routing import SPARK
from dbt.adapters.spark_clickhouse.core.spark_errors import (
    causes,
    lost_connection,
    no_connection,
    with_advice,
    without_stack,
)
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord
from dbt.adapters.spark_clickhouse.spark.progress import Progress, terminal_for
from dbt.adapters.spark_clickhouse.spark.python_models import view_of_model
from dbt.adapters.spark_clickhouse.spark.session import (
    SESSION_SETTINGS,
    cancel_jobs,
    is_metastore_recorded,
    join_job_group,
    own_record,
    running_session,
    start_session,
)
from dbt.adapters.spark_clickhouse.spark.table_folders import TableFolders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = AdapterLogger("spark_clickhouse")

Answer = tuple[AdapterResponse, agate.Table]


def in_utc(kinds: list[str], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of a session with its timestamps in UTC: PySpark returns local times."""
    return tuple(map(_in_utc, kinds, row))


def _in_utc(kind: str, value: Any) -> Any:
    if kind != "timestamp" or value is None:
        return value
    return value.astimezone(UTC).replace(tzinfo=None)


def record_for(credentials: Any) -> MetastoreRecord | None:
    """The record of the embedded Spark's metastore; None if other processes may change the metastore. While no Spark
    runs, this process holds the embedded stores, so that the record stays true."""
    if credentials.method != SparkMethod.SESSION or own_record(credentials) is None:
        return None
    if not private_api.is_spark_running():
        store.hold(Path(credentials.home), credentials.wait)
    return own_record(credentials)


def _is_record_sure() -> bool:
    return not private_api.is_spark_running() or is_metastore_recorded()


def _columns(frame: DataFrame) -> list[tuple[str, str]]:
    """The names and types of the columns. Whether a value may be null is left out: a table does not keep it."""
    return [(field.name, field.dataType.simpleString()) for field in frame.schema]


ALL_ROWS = "_dbt_rows"  # what `refill` calls the number of rows

_LISTINGS = 10  # tries


def _remote_session(credentials: Any) -> Any:
    try:
        from dbt.adapters.spark_clickhouse.spark.connect import connect
    except ImportError as error:
        raise FailedToConnectError(
            "Spark Connect needs packages that are not installed: "
            f"pip install 'dbt-spark-clickhouse[connect]' ({error})"
        ) from error
    return connect(credentials)


def _settings_of_thrift(given: dict[str, str]) -> dict[str, str]:
    """The settings of a session under two names each: the one that Spark's own Thrift server understands, and the one
    that other servers do. dbt-spark sends only the latter."""
    settings = {**SESSION_SETTINGS, **given}
    return {**settings, **{f"set:hiveconf:{name}": value for name, value in settings.items()}}


# The methods of a Thrift server, which understands either name.
_BY_THRIFT = (SparkMethod.THRIFT, SparkMethod.HTTP)


class RoutedSparkConnectionManager(EngineConnectionManager, SparkConnectionManager):
    """dbt-spark's connections; the session method starts the embedded Spark."""

    before_opening: ClassVar[Callable[[], None]] = staticmethod(lambda: None)
    _progress: ClassVar[list[Progress]] = []  # at most one
    _showing: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection, in this process or to a cluster, depending on the credentials."""
        credentials = connection.credentials
        is_session = credentials.method in (SparkMethod.SESSION, SparkMethod.CONNECT)
        is_new_session = is_session and connection.state != "open"
        cls.before_opening()
        if credentials.method in _BY_THRIFT:
            settings = _settings_of_thrift(credentials.server_side_parameters)
            connection.credentials = replace(credentials, server_side_parameters=settings)
        if is_new_session and credentials.method == SparkMethod.SESSION:
            start_session(credentials, credentials.wait)
        with cls.opening(connection):
            if is_new_session and credentials.method == SparkMethod.CONNECT:
                connection.handle = _remote_session(credentials)
                connection.state = ConnectionState.OPEN
            else:
                connection = cls._open_stock(connection)
            if is_new_session:
                private_api.set_session_rows(connection.handle, in_utc)
                private_api.set_session_literals(connection.handle, spark_literal)
            if is_new_session and credentials.method == SparkMethod.SESSION:
                connection.handle.job_group = join_job_group()
            return connection

    @classmethod
    def _open_stock(cls, connection: Connection) -> Connection:
        try:
            return super().open(connection)
        except FailedToConnectError as error:
            credentials = connection.credentials
            if credentials.method not in _BY_THRIFT:
                raise
            place = f"{credentials.host}:{credentials.port}"
            raise FailedToConnectError(no_connection(error, place)) from error

    @classmethod
    def close(cls, connection: Connection) -> Connection:
        """Close a connection. A lost connection is not an error here; the statement that lost it already raised one."""
        try:
            return super().close(connection)
        except Exception as error:
            if lost_connection(error, "") is None:
                raise
            logger.debug(f"The connection '{connection.name}' could not be closed: {error}")
            connection.state = ConnectionState.CLOSED
            return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Strip Java's stack trace, which goes to dbt's log, from Spark's errors. Add advice to errors of the
        connection to a Thrift server."""
        try:
            with self._telling_of_lost_connection(), super().exception_handler(sql):
                yield
        except DbtRuntimeError as error:
            logger.debug(error.msg)
            error.msg = with_advice(without_stack(error.msg))
            raise

    @contextmanager
    def _telling_of_lost_connection(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            credentials: Any = self.profile.credentials
            is_open = not any(isinstance(cause, FailedToConnectError) for cause in causes(error))
            if credentials.method in _BY_THRIFT and is_open:
                place = f"{credentials.host}:{credentials.port}"
                if message := lost_connection(error, place):
                    raise DbtRuntimeError(message) from error
            raise

    def execute(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        """Run a statement, unless it makes a view that exists and was made by the same statement."""
        record = record_for(self.profile.credentials)
        if record and record.is_made(sql):
            logger.debug(f"The view has not changed: {sql}")
            return AdapterResponse("OK"), agate.Table([])
        try:
            found = super().execute(sql, *args, **kwargs)
        except DbtRuntimeError:
            raise
        except Exception:  # while fetching the rows, which is when the embedded Spark reads them
            with self.exception_handler(sql):
                raise
        if record:
            record.after(sql)
        return found

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        """Run a statement. On the embedded Spark, a statement that dies can be run again, wherever it was."""
        connection = self.get_thread_connection()
        if connection.credentials.method != SparkMethod.SESSION:
            return self._send(sql, *args, **kwargs)
        _ = connection.handle  # opens it
        self._show_progress()
        record = record_for(connection.credentials)
        if record:
            record.before(sql)
        try:
            with TableFolders(Path(connection.credentials.home)).executing(sql):
                return self._send(sql, *args, **kwargs)
        finally:
            if record:
                record.before(sql)

    def _send(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        """Run a statement. A listing runs again if a temporary view in it was dropped meanwhile: dbt-spark would take
        the error for an empty schema."""
        for _ in range(_LISTINGS):
            try:
                return super().add_query(sql, *args, **kwargs)
            except DbtRuntimeError as error:
                if "show table extended" not in sql or "TABLE_OR_VIEW_NOT_FOUND" not in str(error):
                    raise
        return super().add_query(sql, *args, **kwargs)

    def _show_progress(self) -> None:
        """Show on the terminal what Spark is doing, if somebody watches."""
        with self._showing:
            if not self._progress and (terminal := terminal_for(self.profile)):
                self._progress.append(Progress(terminal))

    def cleanup_all(self) -> None:
        """Close all connections."""
        while self._progress:
            self._progress.pop().end()
        super().cleanup_all()

    def cancel(self, connection: Connection) -> None:
        """Cancel what the connection's thread is doing, and what it would do next."""
        super().cancel(connection)
        if job_group := getattr(connection.handle, "job_group", None):
            cancel_jobs(job_group)


class RoutedSparkAdapter(EngineAdapter, SparkAdapter):
    """dbt-spark as one of two engines."""

    engine = SPARK
    stock = SparkAdapter
    ConnectionManager = RoutedSparkConnectionManager
    connections: RoutedSparkConnectionManager

    @property
    def is_embedded(self) -> bool:
        """Whether Spark runs on this machine, in a JVM of this process."""
        return bool(self.config.credentials.method == SparkMethod.SESSION)

    def pre_model_hook(self, config: Any) -> Any:
        """Do what the stock adapter does before it runs a node.

        Raises:
            DbtRuntimeError: the node needs a feature that this Spark does not have.
        """
        method = self.config.credentials.method
        runs_python = method in (SparkMethod.SESSION, SparkMethod.CONNECT)
        if not runs_python and getattr(config.model, "language", None) == "python":
            raise DbtRuntimeError(
                f"Python models need the embedded Spark or Spark Connect, and this profile has "
                f"`method: {method}`. Use a target without `host` in its `spark` block or with "
                "`method: connect`, or write the model in SQL."
            )
        self.hold_schema(config.model.schema)
        return super().pre_model_hook(config)

    def hold_schema(self, schema: str) -> None:
        """Keep other processes out of a schema of a server until the command has ended.

        Raises:
                DbtRuntimeError: another process creates or reads tables in it.
        """
        credentials: Any = self.config.credentials
        if not self.is_embedded:
            server = f"{credentials.host}:{credentials.port}"
            store.hold_schema(Path(credentials.home), server, schema, credentials.wait)

    def submit_python_job(self, parsed_model: dict[str, Any], compiled_code: str) -> Any:
        """Run a Python model in this process. A statement of dbt-spark writes its result to the table, with file
        format, partitions and location as for a SQL model."""
        handle = self.connections.get_thread_connection().handle
        session = getattr(handle, "session", None) or running_session()
        code, written = private_api.of_python_model(compiled_code)
        root = Path(self.config.credentials.project_root)
        model = view_of_model(session, parsed_model, code, root)
        with ExitStack() as stack:
            with self._noting_changes():
                view = stack.enter_context(model)  # runs it
            self.execute(f"drop table if exists {written}")
            self.execute(self._create_table_sql(parsed_model, written, f"select * from {view}"))
        return AdapterResponse("OK")

    def types_of_columns(self, relation: str) -> dict[str, str]:
        """Spark's types of the columns of a table or view, by name."""
        query = f"select * from {relation}"
        if self.is_embedded:
            return dict(_columns(self._analyzed(query)))
        # A connection names types in its own way, such as BIGINT_TYPE, which is not always Spark's.
        _, found = self.execute(f"describe query {query}", fetch=True)
        return {row["col_name"]: row["data_type"] for row in found.rows}

    def connect(self) -> None:
        """Open the connection of this thread, which starts the embedded Spark."""
        _ = self.connections.get_thread_connection().handle

    def refill(self, own: BaseRelation, sql: str, counts: Mapping[str, str]) -> dict[str, Any] | None:
        """Replace the rows of a table of the embedded Spark by those of a query.

        Args:
            own: the table.
            sql: the query.
            counts: aggregates over its columns, by name.

        Returns:
            The aggregates by name, and the number of rows as ``ALL_ROWS``; an empty dict if there are no aggregates, or
            if Spark does not tell them. None if the columns of the query are not those of the table; then nothing was
            done.
        """
        from py4j.protocol import Py4JError
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        table = own.quote(schema=True, identifier=True).render()
        logger.debug(f"The rows of {table}: {sql}")
        rows = self._analyzed(sql)
        if _columns(rows) != _columns(self._analyzed(f"select * from {table}")):
            return None
        counted = Observation()
        view = f"dbt_rows_{uuid.uuid4().hex}"
        with self.connections.exception_handler(sql):
            if counts:
                aggregates = [f.expr(aggregate).alias(name) for name, aggregate in counts.items()]
                rows = rows.observe(counted, f.count("*").alias(ALL_ROWS), *aggregates)
            rows.createOrReplaceTempView(view)
        try:
            self.execute(f"insert overwrite table {table} select * from {view}")
        finally:
            with suppress(Py4JError, OSError):  # the JVM is gone, as the statement's own error says
                running_session().catalog.dropTempView(view)
        return private_api.observed(counted) if counts else {}

    def _analyzed(self, sql: str) -> DataFrame:
        """What a query on the embedded Spark returns, not computed yet."""
        from pyspark.errors import AnalysisException

        self.connect()
        with self.connections.exception_handler(sql):
            try:
                return running_session().sql(sql)
            except AnalysisException as error:  # as dbt-spark's cursor does
                raise DbtRuntimeError(str(error)) from error

    @contextmanager
    def _noting_changes(self) -> Iterator[None]:
        """Note the changes that the block, which runs arbitrary code, makes to the metastore. In a resident process,
        any change makes all that is known invalid, because listing the metastore before each block costs more."""
        record = record_for(self.config.credentials)
        if record is None:
            yield
            return
        is_recorded = is_metastore_recorded()
        before = None if is_recorded else self._relations_now()
        record.before_any()
        since, stamp = record.changes(), record.settled_stamp() if is_recorded else {}
        changed = {""}
        try:
            yield
        finally:
            try:
                if stamp and record.stamp() == stamp:
                    changed = set()
                elif before is not None:
                    after = self._relations_now()
                    both = before.keys() | after.keys()
                    changed = {name for name in both if before.get(name) != after.get(name)}
                    changed -= record.changed_since(since)  # statements have noted theirs
            finally:
                record.after_any(changed)

    def _relations_now(self) -> dict[str, list[Any]]:
        """What Spark's metastore says about each relation, by name, in whatever schema."""
        found: dict[str, list[Any]] = {}
        for schema in self._list_schemas():
            for relation in self._describe(schema):
                found.setdefault(relation["identifier"], []).append((schema, relation))
        return found

    def _create_table_sql(self, node: dict[str, Any], table: str, query: str) -> str:
        own = self.Relation.create(schema=node["schema"], identifier=node["alias"])
        if table != str(own):  # the temporary table with the rows that an incremental model adds
            return f"create table {table} as {query}"
        config = private_api.node_config(self.node_at_work)
        return str(
            self.execute_macro(
                "create_table_as",
                context_override={"config": config, "model": node},
                kwargs={"temporary": False, "relation": own, "compiled_code": query},
            )
        )

    def list_schemas(self, database: str) -> list[str]:
        """The schemas: from the record if it is sure to know them, else from Spark's metastore."""
        record = record_for(self.config.credentials) if _is_record_sure() else None
        known = record.schemas() if record else None
        return list(super().list_schemas(database)) if known is None else known

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """The relations of a schema: from the record if it is sure to know them, else from Spark's metastore."""
        schema = str(schema_relation.schema)
        if record := record_for(self.config.credentials):
            known = record.relations(schema) if _is_record_sure() else None
            if known is not None:
                return [self.Relation.create(schema=schema, **found) for found in known]
            record.note_schema(schema)
        return list(super().list_relations_without_caching(schema_relation))

    def get_columns_in_relation(self, relation: BaseRelation) -> list[Any]:
        """The columns of a relation. They are remembered until the relation changes."""
        record = record_for(self.config.credentials)
        schema, name = str(relation.schema), str(relation.identifier)
        known = record.columns(schema, name) if record else None
        if known is not None:
            return [self.Column(**column) for column in known]
        columns = list(super().get_columns_in_relation(relation))
        if record and columns:
            found = self.get_relation("", schema, name)
            if found is not None:
                record.keep_columns(schema, name, list(map(asdict, columns)), found.is_view)
        return columns

    def capture_metastore(self) -> None:
        """While Spark runs, look up what the next run may ask of its metastore."""
        if not private_api.is_spark_running():
            return
        if record := record_for(self.config.credentials):
            with self.connection_named("metastore"):
                record.capture(self._list_schemas, self._describe)

    def _list_schemas(self) -> list[str]:
        return list(super().list_schemas(""))

    def _describe(self, schema: str) -> list[dict[str, Any]]:
        relations = super().list_relations_without_caching(self.Relation.create(schema=schema))
        names = ("identifier", "type", "information", "is_delta", "is_hudi", "is_iceberg")
        return [
            {name: getattr(relation, name) for name in names}
            for relation in relations
            if relation.schema  # temporary views have none
        ]
