"""A local file system for Spark on which chosen operations go wrong.

It kills dbt, and itself; or it runs a script, and fails if the script does: a ``Fault``.
"""

from __future__ import annotations

import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pyspark

_JARS = Path(pyspark.__file__).parent / "jars"

# After Deaths.arm, matching operations below /warehouse/ are counted. The n-th is the last that happens, or the first
# that does not. A folder is deleted file by file, as on a real file system.
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
    # The first operation that a plan in the folder names waits while the plan's script runs; the plan is then deleted.
    "Faults": """
package deaths;

import java.io.File;

public class Faults {
    private static String folder = null;

    public static void initialize(org.apache.hadoop.conf.Configuration settings) {
        folder = settings.get("deaths.faults");
    }

    public static boolean areKept() {
        return folder != null;
    }

    public static void at(String operation, org.apache.hadoop.fs.Path path) throws java.io.IOException {
        File[] plans = folder == null ? null : new File(folder).listFiles();
        String what = operation + " " + path.toUri().getPath();
        for (int i = 0; plans != null && i < plans.length; i++) {
            if (!plans[i].getName().endsWith(".plan")) continue;
            String[] plan;
            try {
                plan = new String(java.nio.file.Files.readAllBytes(plans[i].toPath()), "UTF-8").split("\\n", 2);
            } catch (java.nio.file.NoSuchFileException struck) {
                continue;
            }
            if (!what.matches(plan[0]) || !plans[i].renameTo(new File(plans[i].getPath() + ".struck"))) continue;
            ProcessBuilder script = new ProcessBuilder(new String[] {"bash", "-c", plan[1]});
            int code;
            try {
                code = script.inheritIO().start().waitFor();
            } catch (InterruptedException killed) {
                throw new java.io.InterruptedIOException();
            }
            if (code != 0) throw new java.io.IOException("a fault: " + what);
        }
    }
}
""",
    "FaultyStream": """
package deaths;

import org.apache.hadoop.fs.*;

public class FaultyStream extends FSInputStream {
    private final Path path;
    private final FSDataInputStream stream;

    public FaultyStream(Path path, FSDataInputStream stream) {
        this.path = path;
        this.stream = stream;
    }

    public int read() throws java.io.IOException {
        Faults.at("read " + getPos(), path);
        return stream.read();
    }

    public int read(byte[] bytes, int offset, int length) throws java.io.IOException {
        Faults.at("read " + getPos(), path);
        return stream.read(bytes, offset, length);
    }

    public void seek(long position) throws java.io.IOException {
        stream.seek(position);
    }

    public long getPos() throws java.io.IOException {
        return stream.getPos();
    }

    public boolean seekToNewSource(long position) throws java.io.IOException {
        return stream.seekToNewSource(position);
    }

    public void close() throws java.io.IOException {
        stream.close();
    }
}
""",
    "DyingFiles": """
package deaths;

import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

public class DyingFiles extends RawLocalFileSystem {
    public void initialize(java.net.URI uri, org.apache.hadoop.conf.Configuration settings)
            throws java.io.IOException {
        Faults.initialize(settings);
        super.initialize(uri, settings);
    }

    public FSDataInputStream open(Path f, int size) throws java.io.IOException {
        Faults.at("open", f);
        FSDataInputStream stream = super.open(f, size);
        return Faults.areKept() ? new FSDataInputStream(new FaultyStream(f, stream)) : stream;
    }

    public FileStatus[] listStatus(Path f) throws java.io.IOException {
        Faults.at("list", f);
        return super.listStatus(f);
    }

    public FSDataOutputStream create(Path f, FsPermission p, boolean o, int b, short r, long s, Progressable g)
            throws java.io.IOException {
        Faults.at("create", f);
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
        Faults.at("rename", to);
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

# A JRE does not include Java's own compiler; Spark ships another one.
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


@dataclass(frozen=True)
class Fault:
    """What happens once, at an operation such as `open /a/file` or `read 65536 /a/file` (at that position)."""

    pattern: str
    script: str = "false"

    def plan(self, path: Path) -> Path:
        """Write it to a file. Only names that end in `.plan` take effect."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{self.pattern}\n{self.script}\n")
        return path


def settings(folder: Path, python: str, faults: Path | None = None) -> dict[str, str]:
    """Compile the file system into ``folder``. Return the settings with which Spark uses it. Plans in the folder
    ``faults`` take effect on it."""
    for name, source in _JAVA.items():
        path = folder / "deaths" / f"{name}.java"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    subprocess.run([python, "-c", _COMPILE, str(folder)], check=True, timeout=120, capture_output=True)
    jar = folder / "deaths.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for path in folder.rglob("*.class"):
            archive.write(path, path.relative_to(folder))
    found = {
        "spark.driver.extraClassPath": str(jar),
        "spark.executor.extraClassPath": str(jar),
        "spark.hadoop.fs.file.impl": "deaths.DyingFileSystem",
    }
    return {**found, "spark.hadoop.deaths.faults": str(faults)} if faults else found
