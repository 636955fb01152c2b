"""The profile: one block for the project, one for each engine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from dbt.adapters.clickhouse.credentials import ClickHouseCredentials
from dbt.adapters.contracts.connection import Credentials
from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.dataclass_schema import StrEnum, ValidationError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, ENGINES, SPARK, Engine, validate_engine

ADAPTER_TYPE = "spark_clickhouse"
# How ClickHouse gets Spark's tables.
PULL, PUSH = "pull", "push"
HOME = "SPARK_CLICKHOUSE_HOME"
CONNECT_PORT = 15002
# With these, Spark skips rows of files that it cannot read, without an error.
LOSING_SETTINGS = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")
EMBEDDED, DRIVERS = "chdb", ("chdb", "http", "native")
_KEYS_OF_REMOTE = {"host", "port", "token", "use_ssl", "user"}


class SparkMethod(StrEnum):
    """The ways to connect to Spark: dbt-spark's own, and Spark Connect."""

    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"
    SESSION = "session"
    CONNECT = "connect"


@dataclass
class EmbeddedSparkCredentials(SparkCredentials):
    """dbt-spark's credentials, and where the embedded Spark keeps its data.

    ``remote`` is the URL of a Spark Connect server, instead of the separate keys that make it up. ``warehouse`` is the
    folder or URL of Spark's managed tables if that is not in ``home``; relative paths in Spark SQL start at
    ``project_root``.
    """

    method: SparkMethod = None  # type: ignore[assignment]  # as in dbt-spark
    query_retries: int = 0
    home: str = ""
    remote: str = ""
    warehouse: str = ""
    project_root: str = ""
    wait: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.query_retries:
            raise DbtRuntimeError(
                f"`query_retries` is {self.query_retries}: dbt-spark would send a statement again "
                "that the server may have taken before the connection was lost, and an insert "
                "would have its rows twice. Remove it; the next command goes on from there."
            )
        for name in LOSING_SETTINGS:
            if str(self.server_side_parameters.get(name, "false")).lower() != "false":
                raise DbtRuntimeError(
                    f"`{name}` is set in `server_side_parameters`: Spark would leave out rows of "
                    "files that it cannot read, without an error. Remove it."
                )

    @property
    def warehouse_location(self) -> str:
        """The folder or URL of Spark's managed tables; a relative path starts at the project."""
        if "://" in self.warehouse:
            return self.warehouse.rstrip("/")
        return str(Path(self.project_root, self.warehouse or Path(self.home, "warehouse")))

    @property
    def connect_url(self) -> str:
        """The URL of the Spark Connect server."""
        ssl = "true" if self.use_ssl else None
        options = {"use_ssl": ssl, "token": self.token, "user_id": self.user}
        given = (f";{name}={quote(value, safe='')}" for name, value in options.items() if value)
        return self.remote or f"sc://{self.host}:{self.port}/{''.join(given)}"


@dataclass
class EmbeddedClickHouseCredentials(ClickHouseCredentials):
    """dbt-clickhouse's credentials, and where the embedded ClickHouse keeps its data."""

    home: str = ""
    wait: int = 0


@dataclass
class SparkClickHouseCredentials(Credentials):
    """Credentials of both engines.

    ``database`` is the engine of nodes that name none. ``schema`` applies to both engines. ``home`` is the folder of
    the embedded stores; it defaults to the variable SPARK_CLICKHOUSE_HOME. ``wait`` is how many seconds a run waits for
    another process that uses them. ``s3_endpoint`` is the URL, as ClickHouse reaches it, of an S3 store other than
    Amazon's. ``hand_off`` says how ClickHouse gets Spark's tables: it reads their files ("pull"), or dbt sends them
    ("push"). ``spark`` and ``clickhouse`` are the blocks of a stock profile, without type, schema and threads.
    """

    database: str = CLICKHOUSE
    schema: str = "default"
    home: str = field(default_factory=lambda: os.environ.get(HOME, "") or ".spark_clickhouse")
    wait: int = 60
    s3_endpoint: str = ""
    hand_off: str = PULL
    spark: dict[str, Any] = field(default_factory=dict)
    clickhouse: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def __pre_deserialize__(cls, data: dict[Any, Any]) -> dict[Any, Any]:
        """Reject unknown keys, which dbt ignores: a host at the wrong level would go unnoticed."""
        unknown = sorted(set(data) - set(cls.__dataclass_fields__))
        if unknown:
            raise DbtRuntimeError(
                f"The profile has unknown keys: {', '.join(unknown)}. Keys of one engine go into "
                "its block, `spark` or `clickhouse`; outside the blocks it takes "
                "database, schema, home, wait, s3_endpoint and hand_off."
            )
        checked: dict[Any, Any] = super().__pre_deserialize__(data)  # type: ignore[no-untyped-call]
        return checked

    @classmethod
    def validate(cls, data: Any) -> None:
        """Name the key of a wrong value; dbt's own message describes only the value."""
        try:
            super().validate(data)
        except ValidationError as error:
            key = ".".join(map(str, error.path))
            raise DbtRuntimeError(f"The profile's key `{key}`: {error.message}") from error

    def __post_init__(self) -> None:
        self._validated: dict[str, tuple[EmbeddedSparkCredentials, EmbeddedClickHouseCredentials]] = {}
        validate_engine(self.database, "The profile")
        if self.hand_off not in (PULL, PUSH):
            raise DbtRuntimeError(f"The profile has `hand_off: {self.hand_off}`; it takes {PULL} or {PUSH}.")
        if self.wait < 0:
            raise DbtRuntimeError(f"The profile has `wait: {self.wait}`; it takes seconds from 0.")
        if self.s3_endpoint and not self.s3_endpoint.startswith(("http://", "https://")):
            raise DbtRuntimeError(
                f"The profile has `s3_endpoint: {self.s3_endpoint}`; it takes the URL of a store, "
                "such as https://minio.example.com:9000."
            )
        self.engine_credentials(Path.cwd())

    @property
    def type(self) -> str:
        """The type of the engine at work, or else the adapter's own.

        dbt uses it to look up the adapter and its macro packages, for `dispatch` and as `target.type`. So each node
        sees the macros of its own engine only.
        """
        return self._engine_at_work() or ADAPTER_TYPE

    def _engine_at_work(self) -> Engine | None:
        """The engine at work, if dbt has the adapter already: credentials are created before it."""
        adapter = private_api.registered_adapter(ADAPTER_TYPE)
        return adapter.context.engine if adapter is not None else None

    @property
    def unique_field(self) -> str:
        return f"{self.clickhouse.get('host', self.home)}/{self.spark.get('host', self.home)}"

    def _connection_keys(self) -> tuple[str, ...]:
        return ("database", "schema", "home")

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """What `dbt debug` prints and `target` holds.

        With an engine at work, this adds what the stock adapter's `target` holds; otherwise, what the profile says
        about each engine.
        """
        own = dict(super().connection_info(with_aliases=with_aliases))
        yield from own.items()
        engine = self._engine_at_work()
        blocks = dict(zip(ENGINES, self.engine_credentials(Path.cwd()), strict=True))
        if engine:
            info = blocks[engine].connection_info(with_aliases=with_aliases)
            yield from ((key, value) for key, value in info if key not in own)
        else:
            for name, given in self._engine_blocks().items():
                shown = {"method", "driver", *private_api.connection_keys(blocks[name])}
                yield from ((f"{name}.{key}", given[key]) for key in given if key in shown)

    def _engine_blocks(self) -> dict[Engine, dict[str, Any]]:
        """The profile's block for each engine; an engine without a host is embedded."""
        spark = {} if {"host", "remote"} & set(self.spark) else {"method": "session"}
        clickhouse = {} if "host" in self.clickhouse else {"driver": EMBEDDED}
        return {SPARK: {**spark, **self.spark}, CLICKHOUSE: {**clickhouse, **self.clickhouse}}

    def engine_credentials(self, project_root: Path) -> tuple[EmbeddedSparkCredentials, EmbeddedClickHouseCredentials]:
        """The credentials of Spark and of ClickHouse. A relative ``home`` starts at the project.

        Raises:
            DbtRuntimeError: a block lacks a key, or has one that the stock adapter does not know.
        """
        home = str(project_root / self.home)
        shared = {"schema": self.schema, "home": home, "wait": self.wait}
        blocks = self._engine_blocks()
        spark = blocks[SPARK]
        if spark.get("method") == "session":
            spark.setdefault("host", "localhost")  # dbt-spark requires one and does not use it
        if "remote" in spark:
            _require_remote(spark)
            spark["host"] = urlsplit(spark["remote"]).hostname or ""
        if spark.get("method") == "connect":
            spark.setdefault("port", CONNECT_PORT)
        _require_driver(blocks[CLICKHOUSE])
        spark_shared = {**shared, "project_root": str(project_root)}
        # dbt asks for every node, and validating a block takes a tenth of a second.
        known = json.dumps([blocks, spark_shared], sort_keys=True, default=str)
        if known not in self._validated:
            self._validated[known] = (
                _block(EmbeddedSparkCredentials, SPARK, spark, spark_shared),
                _block(EmbeddedClickHouseCredentials, CLICKHOUSE, blocks[CLICKHOUSE], shared),
            )
        return self._validated[known]


def _require_remote(spark: dict[str, Any]) -> None:
    remote, doubled = spark["remote"], sorted(_KEYS_OF_REMOTE & set(spark))
    if spark.get("method") != "connect":
        problem = "`remote` is for `method: connect`"
    elif not str(remote).startswith("sc://"):
        problem = f"`remote` is {remote!r} and must begin with sc://, as in sc://localhost:15002"
    elif doubled:
        problem = f"`remote` says all of the server: remove {', '.join(doubled)}"
    else:
        return
    raise DbtRuntimeError(f"The profile's `spark` block: {problem}.")


def _require_driver(clickhouse: dict[str, Any]) -> None:
    driver = clickhouse.get("driver")
    if driver not in (None, *DRIVERS):
        problem = f"`driver` is {driver!r}; it takes {', '.join(DRIVERS[:-1])} or {DRIVERS[-1]}"
    elif driver == EMBEDDED and "host" in clickhouse:
        problem = f"the driver {EMBEDDED} is embedded and has no `host`: remove one of the two"
    else:
        return
    raise DbtRuntimeError(f"The profile's `clickhouse` block: {problem}.")


def _block(credentials: type[Any], name: str, values: dict[str, Any], shared: dict[str, Any]) -> Any:
    set_elsewhere = sorted({"type", "database", *shared} & set(values))
    if set_elsewhere:
        raise DbtRuntimeError(
            f"The profile's `{name}` block sets {', '.join(set_elsewhere)}: these belong to the "
            "output above it and hold for both engines."
        )
    unknown = sorted(set(values) - set(credentials.__dataclass_fields__))
    if unknown:
        raise DbtRuntimeError(
            f"The profile's `{name}` block has unknown keys: {', '.join(unknown)}. It takes the "
            f"keys of a dbt-{name} profile."
        )
    try:
        credentials.validate({**values, **shared})
        return credentials.from_dict({**values, **shared})
    except (ValidationError, DbtRuntimeError) as error:
        if isinstance(error, ValidationError):
            reason = f"{'.'.join(map(str, error.path))}: {error.message}"
        else:
            reason = error.msg
        raise DbtRuntimeError(f"The profile's `{name}` block: {reason}") from error
