"""How dbt prints Spark's errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOST: tuple[type[Exception], ...] = (ConnectionError, EOFError)
try:
    from thrift.transport.TTransport import TTransportException

    _LOST = (*_LOST, TTransportException)
except ImportError:
    pass  # without the Thrift client there is no connection to lose

UNKNOWN = (
    "dbt does not know whether the statement was completed and does not repeat it: run the command "
    "again when the server answers."
)
# The server has ended the session, or has been restarted since.
_ENDED = "Invalid SessionHandle"

_PLAN = re.compile(r"(SQLSTATE: \w{5}|; line \d+ pos \d+);\n.*", re.DOTALL)
_OF_SPARK_CONNECT = re.compile(r"\n\nJVM stacktrace:\n[\w.$]+$", re.MULTILINE)
_OF_A_STACK = re.compile(r"\s+at \S+\(.*\)|\s+\.\.\. \d+ more|Driver stacktrace:|JVM stacktrace:")

_MORE_MEMORY = (
    "Give it more memory in the profile, under `spark`: "
    "`server_side_parameters: {spark.driver.memory: 8g}`. Or give it less at once: a lower "
    "`threads`, smaller batches."
)
# An embedded Spark stops its context when one of its threads runs out of memory.
_STOPPED = f"Spark has stopped, most likely because it ran out of memory. {_MORE_MEMORY}"
_FROM_THE_TABLE = (
    "A full refresh of the change set and its tables begins with the lake table as it is now: "
    "dbt run --full-refresh --select <change set>+"
)
# Part of an error message, and the advice for it.
_ADVICE = {
    "[DELTA_MISSING_CHANGE_DATA]": f"The feed lacks changes. {_FROM_THE_TABLE}",
    "[FAILED_READ_FILE.FILE_NOT_EXIST]": (
        "If it is a file of a landing zone, it was removed or replaced while Spark read it: run "
        "again when nothing writes to its batch. If it is a file of a change feed or of a lake "
        f"table, it was vacuumed, or its snapshot has expired. {_FROM_THE_TABLE}"
    ),
    "[FAILED_READ_FILE.NO_HINT]": (
        "The file is incomplete or damaged, or something wrote to it while Spark read it. Land it whole, and run again."
    ),
    "[LOCATION_ALREADY_EXISTS]": (
        "An interrupted run may have left the folder, or it belongs to a table of another "
        "metastore. On a server, the statement may still be running. dbt removes what it left in "
        "the embedded stores only. If nothing else uses the folder, delete it and run the command "
        "again."
    ),
    "trying to shrink LONG VARCHAR": (
        "The metastore of this Spark is in Derby, which stores no view of more than 32,700 characters. "
        "Keep the metastore of a server in PostgreSQL or MySQL."
    ),
    "java.lang.OutOfMemoryError": f"Spark ran out of memory. {_MORE_MEMORY}",
    "SparkContext was shut down": _STOPPED,
    "SparkContext.dagScheduler()": _STOPPED,
    # What Py4J says when Java has ended, and what Python says after that.
    "Error while sending or receiving": _STOPPED,
    "Answer from Java side is empty": _STOPPED,
    "An error occurred while trying to connect to the Java server": _STOPPED,
    "[Errno 104] Connection reset by peer": _STOPPED,
    "[Errno 111] Connection refused": _STOPPED,
    "stopped SparkContext": _STOPPED,
}


def without_stack(message: str) -> str:
    """Java's error message without its stack trace and without Spark's plan of the statement."""
    message = _OF_SPARK_CONNECT.sub("", _PLAN.sub(r"\1", message))
    return "\n".join(line for line in message.splitlines() if not _OF_A_STACK.match(line)).strip()


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its chain of causes."""
    while error:
        yield error
        error = error.__cause__ or error.__context__


def lost_connection(error: Exception, place: str) -> str | None:
    """The message, if ``error`` means that the connection to the Thrift server at ``place`` broke during a
    statement."""
    for cause in causes(error):
        if isinstance(cause, _LOST):
            said = any(cause.args) and str(cause).strip()
            reason = said or type(cause).__name__
            return f"The connection to Spark's Thrift server at {place} is lost: {reason}. {UNKNOWN}"
    if _ENDED in str(error):
        return f"Spark's Thrift server at {place} no longer has dbt's session. {UNKNOWN}"
    return None


def no_connection(error: Exception, place: str) -> str:
    """The message for a Thrift server at ``place`` that cannot be reached or refuses the connection."""
    lines = [line.strip() for line in str(error).splitlines()]
    # Above it, dbt may have put a line with the kind of error.
    reason = next((line for line in lines if line and not line.endswith(" Error")), lines[0])
    return (
        f"Spark's Thrift server at {place} does not answer: {reason}. Start the server, or correct "
        "`host` and `port`, and `user`, `password`, `auth` and `use_ssl` if it asks for them, in "
        "the profile's `spark` block."
    )


def with_advice(message: str) -> str:
    """An error of Spark with advice, unless the error already has some."""
    if "Spark's Thrift server at " in message:
        return message
    advice = [said for sign, said in _ADVICE.items() if sign in message]
    return "\n".join([message, *advice[:1]])
