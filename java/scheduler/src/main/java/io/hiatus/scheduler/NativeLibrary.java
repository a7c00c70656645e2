package io.hiatus.scheduler;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds and loads libhiatus, once per JVM: the file that {@code -Dhiatus.native.path} names and no other; else from
 * {@code java.library.path}, as Hadoop's own native code; else from the jar, extracted below a directory of the
 * caller's ({@code java.io.tmpdir} is often mounted noexec on Hadoop's hosts).
 */
final class NativeLibrary {
  /** System property with the path of the library. */
  static final String PATH_PROPERTY = "hiatus.native.path";

  private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);
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
  static synchronized void load(Path extractBelow) {
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

  private static String find(Path extractBelow) throws IOException {
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
    return loadFrom(extract(extractBelow));
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
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch").replace("amd64", "x86_64");
    return "/native/" + os + "-" + arch + "/" + System.mapLibraryName("hiatus");
  }

  private static Path extract(Path below) throws IOException {
    byte[] wanted;
    try (InputStream in = NativeLibrary.class.getResourceAsStream(resource())) {
      if (in == null) {
        throw new NativeException("the jar has no " + resource() + ": build it for this platform or set -D"
            + PATH_PROPERTY);
      }
      wanted = readAll(in);
    }
    Files.createDirectories(below);
    // The name carries the content's hash: another build never overwrites a library that is in use.
    Path place = below.resolve("libhiatus-" + hash(wanted) + ".so");
    if (!Files.exists(place) || !Arrays.equals(Files.readAllBytes(place), wanted)) {
      Path fresh = Files.createTempFile(below, "libhiatus", ".tmp");
      Files.write(fresh, wanted);
      try {
        Files.move(fresh, place, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(fresh, place, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    if (!Arrays.equals(Files.readAllBytes(place), wanted)) {
      throw new IOException(place + " does not hold what was written to it");
    }
    return place.toAbsolutePath();
  }

  private static byte[] readAll(InputStream in) throws IOException {
    java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
    byte[] chunk = new byte[1 << 16];
    for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
      out.write(chunk, 0, n);
    }
    return out.toByteArray();
  }

  private static String hash(byte[] bytes) {
    try {
      StringBuilder hex = new StringBuilder();
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      for (int i = 0; i < 8; i++) {
        hex.append(String.format("%02x", digest[i]));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
