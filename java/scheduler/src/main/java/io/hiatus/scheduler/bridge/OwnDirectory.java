package io.hiatus.scheduler.bridge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** A directory in which, and on the way to which, nobody but this process's user and root can change anything. */
final class OwnDirectory {
  private static final int ROOT = 0;
  private static final int STICKY = 01000;
  private static final int WRITABLE_BY_OTHERS = 022;
  private static final FileAttribute<Set<PosixFilePermission>> OURS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private OwnDirectory() {
  }

  /**
   * Makes a fresh one, with a name that nobody knew before.
   *
   * @param below made if it is not there
   * @throws IOException if it cannot be made, or somebody else could replace it; names the directory and says why
   */
  static Path fresh(Path below) throws IOException {
    if (!Files.isDirectory(below)) {
      Files.createDirectories(below, OURS_ALONE);
    }
    int user = uid(Paths.get("/proc/self"));
    Path real = below.toRealPath(); // from here on no symbolic link can lead elsewhere
    for (Path above = real; above != null; above = above.getParent()) {
      requireSafe(above, user);
    }
    Path fresh = Files.createTempDirectory(real, "libhiatus", OURS_ALONE);
    if (uid(fresh) != user || (mode(fresh) & 0777) != 0700) {
      throw new IOException(fresh + " is not ours alone, though made so: its file system does not keep owners and modes");
    }
    return fresh;
  }

  /** In a directory with the sticky bit everybody may write, but nobody replaces what is another's; its owner may. */
  private static void requireSafe(Path directory, int user) throws IOException {
    int owner = uid(directory);
    if (owner != user && owner != ROOT) {
      throw new IOException(directory + " belongs to another user (uid " + owner + "), who could replace what is in it");
    }
    int mode = mode(directory);
    if ((mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
      throw new IOException(directory + " may be written by others (mode " + Integer.toOctalString(mode & 07777)
          + "), who could replace what is in it");
    }
  }

  private static int uid(Path path) throws IOException {
    // Of the link /proc/self what it leads to counts; everything else here is no link.
    return (Integer) Files.getAttribute(path, "unix:uid");
  }

  private static int mode(Path path) throws IOException {
    return (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
  }
}
