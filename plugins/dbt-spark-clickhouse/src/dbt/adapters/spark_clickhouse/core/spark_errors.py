"""What dbt prints of Spark's errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOST: tuple[type[Exception], ...] = (ConnectionError, EOFError)
try:
    from thrift.transport.TTransport import TTransportException

    _LOST = (*_LOST, TTransportException)
except ImportError:
    pass  # without the Thrift server's client, no connection to one can be lost

UNKNOWN = (
    "dbt does not know whether the statement was completed and does not repeat it: run the command "
    "again when the server answers."
)
# Of sessions that the server has ended, or that a server before it had.
_ENDED = "Invalid SessionHandle"

_PLAN = re.compile(r"(SQLSTATE: \w{5}|; line \d+ pos \d+);\n.*", re.DOTALL)
_OF_SPARK_CONNECT = re.compile(r"\n\nJVM stacktrace:\n[\w.$]+$", re.MULTILINE)
_OF_A_STACK = re.compile(r"\s+at \S+\(.*\)|\s+\.\.\. \d+ more|Driver stacktrace:|JVM stacktrace:")

_MORE_MEMORY = (
    "Give it more memory in the profile, under `spark`: "
    "`server_side_parameters: {spark.driver.memory: 8g}`. Or give it less at once: a lower "
    "`threads`, smaller batches."
)
# An embedded Spark stops its context when a thread of it finds no memory.
_STOPPED = f"Spark has stopped, most likely because it ran out of memory. {_MORE_MEMORY}"
_FROM_THE_TABLE = (
    "A full refresh of the change set and its tables begins with the lake table as it is now: "
    "dbt run --full-refresh --select <change set>+"
)
# What a message contains, and what to do then.
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
    "java.lang.OutOfMemoryError": f"Spark ran out of memory. {_MORE_MEMORY}",
    "SparkContext was shut down": _STOPPED,
    "SparkContext.dagScheduler()": _STOPPED,
    # What Py4J says when Java has ended, and what Python says then.
    "Error while sending or receiving": _STOPPED,
    "Answer from Java side is empty": _STOPPED,
    "An error occurred while trying to connect to the Java server": _STOPPED,
    "[Errno 104] Connection reset by peer": _STOPPED,
    "[Errno 111] Connection refused": _STOPPED,
    "stopped SparkContext": _STOPPED,
}


def without_stack(message: str) -> str:
    """What Java says of an error, and not where it happened, nor Spark's plan of the statement."""
    message = _OF_SPARK_CONNECT.sub("", _PLAN.sub(r"\1", message))
    return "\n".join(line for line in message.splitlines() if not _OF_A_STACK.match(line)).strip()


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what led to it."""
    while error:
        yield error
        error = error.__cause__ or error.__context__


def lost_connection(error: Exception, place: str) -> str | None:
    """What to say if the connection to the Thrift server at ``place`` broke under a statement."""
    for cause in causes(error):
        if isinstance(cause, _LOST):
            said = any(cause.args) and str(cause).strip()
            reason = said or type(cause).__name__
            return f"The connection to Spark's Thrift server at {place} is lost: {reason}. {UNKNOWN}"
    if _ENDED in str(error):
        return f"Spark's Thrift server at {place} no longer has dbt's session. {UNKNOWN}"
    return None


def no_connection(error: Exception, place: str) -> str:
    """What to say if the Thrift server at ``place`` cannot be reached, or refuses."""
    lines = [line.strip() for line in str(error).splitlines()]
    # Above what happened dbt may have said what kind of error it is.
    reason = next((line for line in lines if line and not line.endswith(" Error")), lines[0])
    return (
        f"Spark's Thrift server at {place} does not answer: {reason}. Start the server, or correct "
        "`host` and `port`, and `user`, `password`, `auth` and `use_ssl` if it asks for them, in "
        "the profile's `spark` block."
    )


def with_advice(message: str) -> str:
    """An error of Spark, and what to do about it where Spark, or we, do not say so."""
    if "Spark's Thrift server at " in message:
        return message
    advice = [said for sign, said in _ADVICE.items() if sign in message]
    return "\n".join([message, *advice[:1]])
