"""A local file system for Spark that kills dbt, and itself, at an operation of one's choice."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pyspark

_JARS = Path(pyspark.__file__).parent / "jars"

# Once Deaths.arm was called, operations below /warehouse/ that match are counted; the n-th is the last thing that
# happens, or the first that does not. A folder is deleted file by file, as a file system would.
_JAVA = {
    "Deaths": """
package deaths;

public class Deaths {
    private static long dying = 0;
    private static long left = 0;
    private static boolean after = false;
    private static String wanted = ".*";
    public static final java.util.List seen = new java.util.ArrayList();

    public static synchronized void arm(long pid, String pattern, long count, boolean isAfter) {
        dying = pid;
        wanted = pattern;
        left = count;
        after = isAfter;
        seen.clear();
    }

    public static synchronized boolean begin(String operation, org.apache.hadoop.fs.Path path) {
        if (path.toString().indexOf("/warehouse/") < 0) return false;
        String what = operation + " " + path.toUri().getPath();
        seen.add(what);
        if (!what.matches(wanted)) return false;
        left--;
        if (left == 0 && !after) die();
        return left == 0;
    }

    public static void end(boolean isLast) {
        if (isLast && after) die();
    }

    private static void die() {
        ((ProcessHandle) ProcessHandle.of(dying).get()).destroyForcibly();
        Runtime.getRuntime().halt(137);
    }
}
""",
    "DyingFiles": """
package deaths;

import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

public class DyingFiles extends RawLocalFileSystem {
    public FSDataOutputStream create(Path f, FsPermission p, boolean o, int b, short r, long s, Progressable g)
            throws java.io.IOException {
        boolean isLast = Deaths.begin("create", f);
        FSDataOutputStream stream = super.create(f, p, o, b, r, s, g);
        Deaths.end(isLast);
        return stream;
    }

    public boolean mkdirs(Path f, FsPermission p) throws java.io.IOException {
        boolean isLast = Deaths.begin("mkdirs", f);
        boolean done = super.mkdirs(f, p);
        Deaths.end(isLast);
        return done;
    }

    public boolean mkdirs(Path f) throws java.io.IOException {
        boolean isLast = Deaths.begin("mkdirs", f);
        boolean done = super.mkdirs(f);
        Deaths.end(isLast);
        return done;
    }

    public boolean rename(Path from, Path to) throws java.io.IOException {
        boolean isLast = Deaths.begin("rename", to);
        boolean done = super.rename(from, to);
        Deaths.end(isLast);
        return done;
    }

    public boolean delete(Path f, boolean recursive) throws java.io.IOException {
        java.io.File file = pathToFile(f);
        if (recursive && file.isDirectory() && !java.nio.file.Files.isSymbolicLink(file.toPath())) {
            String[] names = file.list();
            for (int i = 0; i < names.length; i++) delete(new Path(f, names[i]), true);
        }
        boolean isLast = Deaths.begin("delete", f);
        boolean done = super.delete(f, recursive);
        Deaths.end(isLast);
        return done;
    }
}
""",
    "DyingFileSystem": """
package deaths;

public class DyingFileSystem extends org.apache.hadoop.fs.LocalFileSystem {
    public DyingFileSystem() {
        super(new DyingFiles());
    }
}
""",
}

# Java's own compiler is not part of a JRE; Spark brings another one.
_COMPILE = """
import sys
from pathlib import Path
from pyspark.java_gateway import launch_gateway

gateway = launch_gateway()
compiler = gateway.jvm.org.codehaus.janino.Compiler()
folder = gateway.jvm.java.io.File(sys.argv[1])
compiler.setSourceVersion(8)
compiler.setTargetVersion(8)
compiler.setDestinationDirectory(folder, False)
sources = [gateway.jvm.java.io.File(str(path)) for path in sorted(Path(sys.argv[1]).rglob("*.java"))]
files = gateway.new_array(gateway.jvm.java.io.File, len(sources))
for i, source in enumerate(sources):
    files[i] = source
compiler.compile(files)
gateway.shutdown()
"""


def settings(folder: Path, python: str) -> dict[str, str]:
    """Compile the file system into ``folder``; the settings with which Spark uses it."""
    for name, source in _JAVA.items():
        path = folder / "deaths" / f"{name}.java"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    subprocess.run(
        [python, "-c", _COMPILE, str(folder)], check=True, timeout=120, capture_output=True
    )
    jar = folder / "deaths.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for path in folder.rglob("*.class"):
            archive.write(path, path.relative_to(folder))
    return {
        "spark.driver.extraClassPath": str(jar),
        "spark.hadoop.fs.file.impl": "deaths.DyingFileSystem",
    }
