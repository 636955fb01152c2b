"""A remote Spark, through Spark Connect: no JVM runs in this process.

Each dbt connection has its own session on the server, as with the Thrift server.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.session import Connection, Cursor, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.spark_errors import UNKNOWN, without_stack
from dbt.adapters.spark_clickhouse.spark.session import SESSION_SETTINGS

if TYPE_CHECKING:
    from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials

# They take about a minute. After a reconnect, Spark's client goes on reading where it was; it does not send a statement
# again that the server may have received.
_RECONNECTS = 6
_STATUS = re.compile(r"status = StatusCode\.(\w+)")
_DETAILS = re.compile(r'details = "(.*?)"\n', re.DOTALL)

# The error itself says so, with advice.
warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")


class RemoteSession(SessionConnectionWrapper):
    """A connection of dbt-spark whose statements go to a session on the server at ``place``."""

    def __init__(self, session: SparkSession, place: str) -> None:
        super().__init__(RemoteConnection(session))
        self.session = session
        self._place = place
        self._is_cancelled = False

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        """Run a statement."""
        if self._is_cancelled:
            raise DbtRuntimeError("dbt was interrupted before this node began. Run it again.")
        with advising(self._place):
            super().execute(sql, bindings)

    def fetchall(self) -> Any:
        """The rows that the statement returned."""
        with advising(self._place):
            return super().fetchall()

    @property
    def description(self) -> Any:
        """The columns that the statement returned."""
        with advising(self._place):
            return super().description

    def cancel(self) -> None:
        """Cancel what the session is doing, and what it would do next."""
        self._is_cancelled = True
        self.session.interruptAll()

    def close(self) -> None:
        """End the session. If the server does not answer, the session is left to time out there."""
        private_api.set_reconnects(self.session, 0)
        self.session.stop()


class RemoteConnection(Connection):
    """Creates the cursors of a session."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self._session = session

    def cursor(self) -> Cursor:
        """A new cursor."""
        return RemoteCursor(self._session)


class RemoteCursor(Cursor):
    """dbt-spark's cursor, on a session of its own instead of the session of the process."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self._session = session

    def execute(self, sql: str, *parameters: Any) -> None:
        """Run a statement."""
        private_api.set_frame(self, self._session.sql(sql % parameters if parameters else sql))


def connect(credentials: EmbeddedSparkCredentials) -> RemoteSession:
    """Open a session on the server, with the settings of the profile.

    Raises:
        FailedToConnectError: the server does not answer, or refuses the token or a setting.
    """
    url = credentials.connect_url
    place = urlsplit(url).netloc
    private_api.silence_errors()
    try:
        with advising(place, is_connected=False):
            session = SparkSession.builder.remote(url).create()
            private_api.set_reconnects(session, credentials.connect_retries, credentials.connect_timeout)
            settings = {**SESSION_SETTINGS, **credentials.server_side_parameters}
            try:
                for name, value in settings.items():
                    session.conf.set(name, value)
            except PySparkException:
                session.stop()
                raise
            private_api.set_reconnects(session, _RECONNECTS)
    except DbtRuntimeError as error:
        raise FailedToConnectError(error.msg) from error
    return RemoteSession(session, place)


@contextmanager
def advising(place: str, is_connected: bool = True) -> Iterator[None]:
    """Add advice to errors of Spark, or of the connection to it at ``place``."""
    try:
        yield
    except PySparkException as error:
        message = without_stack(str(error))
        raise DbtRuntimeError(_advice(error, message, place, is_connected) or message) from error


def _advice(error: PySparkException, message: str, place: str, is_connected: bool) -> str:
    condition = error.getCondition() or ""
    status = _STATUS.search(message)
    details = _DETAILS.search(message)
    said = " ".join(details[1].split()) if details else message
    if condition.startswith("CANNOT_MODIFY"):
        return (
            f"{message.splitlines()[0]} Remove it from `server_side_parameters` in the profile's "
            "`spark` block, and give it to the server when that starts."
        )
    if condition.startswith(("INVALID_HANDLE", "RESPONSE_ALREADY_RECEIVED")):
        return f"Spark Connect at {place} no longer has dbt's session ({condition}). {UNKNOWN}"
    if status and status[1] == "UNAUTHENTICATED":
        return (
            f"Spark Connect at {place} refuses the connection: {said}. Correct `token` in the profile's `spark` block."
        )
    if status and is_connected:
        return f"The connection to Spark Connect at {place} is lost: {said}. {UNKNOWN}"
    if status:
        return (
            f"Spark Connect at {place} does not answer: {said}. Start the server, or correct the "
            "profile's `spark` block: `host` and `port` or `remote`, and `use_ssl`."
        )
    return ""
