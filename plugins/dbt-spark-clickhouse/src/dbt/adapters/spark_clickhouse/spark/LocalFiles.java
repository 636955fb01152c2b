package dbt;

import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Hadoop's local files, with permissions set by Java. Without its native library, Hadoop starts a chmod for each. */
public class LocalFiles extends LocalFileSystem {
  private static final String MODE = "unix:mode";
  private static final int SET_IDS = 06000; // GNU chmod leaves these bits of a folder as they are

  public LocalFiles() {
    super(new Raw());
  }

  public static class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      java.nio.file.Path file = pathToFile(path).toPath();
      int kept = Files.isDirectory(file) ? ((Integer) Files.getAttribute(file, MODE)).intValue() & SET_IDS : 0;
      Files.setAttribute(file, MODE, Integer.valueOf(kept | permission.toShort()));
    }
  }
}
