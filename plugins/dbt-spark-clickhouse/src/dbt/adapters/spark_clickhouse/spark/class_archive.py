"""An archive of the classes that Spark loads. With it, Spark's JVM starts in half the time.

The JVM maps the archive's classes into memory instead of reading, parsing and verifying them. An archive belongs to one
Java and one PySpark; with others, Spark starts without it. See ``prepare``. From Java 25 on, it also has what the JVM
found out about the code (https://openjdk.org/jeps/514).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from dbt.adapters.spark_clickhouse.spark.java import java_path, java_version

AOT_CACHE = 25  # the first Java that writes one in one step


def archive_path() -> Path | None:
    """The path of the archive for this Java and this PySpark, whether or not it exists; None without them."""
    import pyspark

    java = java_path()
    if java is None:
        return None
    release = java.parents[1] / "release"
    known = [pyspark.__version__, str(pyspark.__file__), str(java)]
    known.append(release.read_text() if release.is_file() else "")
    key = hashlib.md5("\n".join(known).encode()).hexdigest()
    return Path(sys.prefix, "share", "dbt-spark-clickhouse", f"spark-{key}.jsa")


def java_options() -> str:
    """The JVM options that load the archive, if it exists."""
    path = archive_path()
    return f" {quoted(f'-XX:{_option(loads=True)}={path}')}" if path and path.is_file() else ""


def recording_options(path: Path) -> str:
    """The JVM options that write an archive as the JVM ends."""
    return f" {quoted(f'-XX:{_option(loads=False)}={path}')}"


def _option(*, loads: bool) -> str:
    java = java_path()
    if ((java_version(java) if java else None) or 0) >= AOT_CACHE:
        return "AOTCache" if loads else "AOTCacheOutput"
    return "SharedArchiveFile" if loads else "ArchiveClassesAtExit"


def quoted(option: str) -> str:
    """A Java option, quoted for Spark's list of options: a path may contain blanks, quotes and backslashes."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
