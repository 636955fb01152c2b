"""An archive of the classes that Spark loads, with which its JVM starts in half the time.

The JVM maps the classes of the archive into memory in place of reading, parsing and verifying them.
It is of one Java and one PySpark: with others, Spark starts without it. See ``prepare``.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from dbt.adapters.spark_clickhouse.spark.java import java_path


def archive_path() -> Path | None:
    """Where the archive for this Java and this PySpark is, or would be; None without them."""
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
    """The options with which a JVM takes the archive, if there is one."""
    path = archive_path()
    return f" {quoted(f'-XX:SharedArchiveFile={path}')}" if path and path.is_file() else ""


def quoted(option: str) -> str:
    """An option of Java in Spark's list of them: a path may have blanks, quotes and backslashes."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
