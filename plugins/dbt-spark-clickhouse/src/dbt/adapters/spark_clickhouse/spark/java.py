"""The Java that Spark runs on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.exceptions import FailedToConnectError


def java_path() -> Path | None:
    """The program that runs Java for Spark; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else Path(shutil.which("java") or "")
    return java.resolve() if java.is_file() else None


def require_java(log: Path) -> None:
    """Check that there is a Java to start Spark with.

    Raises:
            FailedToConnectError: there is none; the message says where we looked.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        is_there, place = ((Path(home) / "bin" / "java").is_file(), f"{home}, which JAVA_HOME names, has no bin/java")
    else:
        is_there, place = shutil.which("java") is not None, "the PATH has no java"
    if not is_there:
        raise FailedToConnectError(
            f"The embedded Spark cannot start without Java: {place}.\n"
            "Install Java 17 or newer (on Debian and Ubuntu: apt-get install "
            "openjdk-17-jre-headless). Then set JAVA_HOME to its folder, or unset JAVA_HOME.\n"
            f"What Spark prints goes to {log}"
        )


@contextmanager
def starting(log: Path) -> Iterator[None]:
    """Start Spark within the block.

    Raises:
            FailedToConnectError: it did not start; the message names the log with the cause.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    begin = log.stat().st_size if log.exists() else 0
    try:
        yield
    except (Py4JError, PySparkException) as error:
        printed = log.read_bytes()[begin:].decode(errors="replace").splitlines()
        reasons = [line.strip() for line in printed if "rror" in line or "xception" in line]
        reason = reasons[0] if reasons else str(error).splitlines()[0]
        reason = reason.removeprefix('Exception in thread "main" ')
        raise FailedToConnectError(
            f"The embedded Spark did not start: {reason[:300]}\n"
            "Check that `java -version` says 17 or newer, and `server_side_parameters` in the "
            f"profile's `spark` block.\nWhat Spark and Java printed is at the end of {log}"
        ) from error
