package io.hiatus.scheduler.bridge;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.io.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds and loads libhiatus, once per JVM: the file that {@code -Dhiatus.native.path} names and no other; else from
 * {@code java.library.path}, as Hadoop's own native code; else from the jar, by way of a directory of its own below one of
 * the caller's, the first that is good for it.
 */
public final class NativeLibrary {
  /** System property with the path of the library. */
  static final String PATH_PROPERTY = "hiatus.native.path";

  private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);
  private static final String RELEASED = "Linux with glibc on x86-64 and aarch64";
  private static final int ELF_MAGIC = 0x464c457f;
  private static final int ELF_HEADER = 64;
  private static boolean loaded;

  private NativeLibrary() {
  }

  /**
   * Loads the library and compares ABI numbers; does nothing if that went well before.
   *
   * @throws NativeException why it cannot be used, and what to do
   */
  public static synchronized void load(Path... extractBelow) {
    if (loaded) {
      return;
    }
    try {
      String from = find(extractBelow);
      checkAbi(Native.abi(), from);
      LOG.info("libhiatus loaded from {}, ABI {}", from, Records.ABI);
      loaded = true;
    } catch (IOException | LinkageError e) {
      throw new NativeException("libhiatus cannot be loaded: " + e.getMessage(), e);
    }
  }

  /** Refuses a library of another build. */
  static void checkAbi(int found, String from) {
    if (found != Records.ABI) {
      throw new NativeException("libhiatus from " + from + " has ABI " + found + ", this jar needs " + Records.ABI
          + ": install the jar and the library of the same build");
    }
  }

  private static String find(Path[] extractBelow) throws IOException {
    String exact = System.getProperty(PATH_PROPERTY);
    if (exact != null) {
      return loadFrom(Paths.get(exact));
    }
    for (String folder : System.getProperty("java.library.path", "").split(File.pathSeparator)) {
      Path there = Paths.get(folder, System.mapLibraryName("hiatus"));
      try {
        if (Files.exists(there)) {
          return loadFrom(there);
        }
      } catch (IOException | UnsatisfiedLinkError e) {
        LOG.warn("libhiatus on java.library.path is no good, taking the jar's: {}", e.getMessage());
      }
    }
    List<String> problems = new ArrayList<>();
    for (Path below : extractBelow) {
      try {
        return loadFromTheJar(below);
      } catch (IOException e) {
        problems.add(e.getMessage());
      } catch (UnsatisfiedLinkError e) {
        problems.add(e.getMessage() + " (it is for " + RELEASED + ")");
      }
    }
    throw new IOException(String.join("; ", problems) + ". Set " + HiatusConfiguration.EXTRACT_DIR
        + " to a directory that only the ResourceManager's user and root may write, and that is not mounted noexec");
  }

  private static String loadFrom(Path library) throws IOException {
    Path file = library.toAbsolutePath();
    if (Files.exists(file)) {
      requireWhole(file);
    }
    System.load(file.toString());
    return file.toString();
  }

  /** An ELF file that is cut off is not refused when it is loaded: it ends the JVM with a bus error. */
  private static void requireWhole(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      ByteBuffer header = ByteBuffer.allocate(ELF_HEADER).order(ByteOrder.LITTLE_ENDIAN);
      channel.read(header, 0);
      // The table of sections is the last thing in it: offset, and size and number of entries.
      long end = header.getLong(0x28) + (long) header.getShort(0x3a) * header.getShort(0x3c);
      if (header.getInt(0) == ELF_MAGIC && end > channel.size()) {
        throw new IOException(file + " is cut off: it has " + channel.size() + " bytes of at least " + end);
      }
    }
  }

  /** Name of the library for this machine within the jar. */
  static String resource() {
    return "/native/" + platform() + "/" + System.mapLibraryName("hiatus");
  }

  private static String platform() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    return os + "-" + System.getProperty("os.arch").replace("amd64", "x86_64");
  }

  /**
   * The file is there only while it is loaded, where nobody else can touch it: nothing is left behind, and nothing that
   * lies about is ever loaded.
   */
  private static String loadFromTheJar(Path below) throws IOException {
    byte[] library;
    try (InputStream in = NativeLibrary.class.getResourceAsStream(resource())) {
      if (in == null) {
        throw new NativeException("the jar has no libhiatus for " + platform() + "; a release's has it for " + RELEASED
            + ". Build it for this machine and set -D" + PATH_PROPERTY + ", or run the ResourceManager on another");
      }
      library = IOUtils.toByteArray(in);
    }
    Path place = freshDirectory(below);
    Path file = place.resolve(System.mapLibraryName("hiatus"));
    try {
      Files.write(file, library, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      loadFrom(file);
      return "the jar, by way of " + place.getParent();
    } finally {
      Files.deleteIfExists(file);
      Files.delete(place);
    }
  }

  private static Path freshDirectory(Path below) throws IOException {
    try {
      return OwnDirectory.fresh(below);
    } catch (IOException e) {
      throw new IOException("it cannot be extracted below " + below + " safely: " + e.getMessage(), e);
    }
  }
}
