package io.hiatus.scheduler.recording;

import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/**
 * One packed log among those of earlier cores, which make room for it, the oldest first: together they are bounded. Only its
 * owner may read it.
 */
final class RecordFile implements Closeable {
  private static final String PREFIX = "hiatus-";
  private static final String SUFFIX = ".log.gz";
  private static final DateTimeFormatter NAME = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);
  /** Tells logs apart that begin in one millisecond. */
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final int BUFFER = 1 << 16;
  /** What is packed already and not written, and the end of the file, are never more. */
  private static final int SLACK = 2 * BUFFER;

  private final Path dir;
  private final long mostBytes;
  private final Path path;
  private long othersBytes;
  private long written;
  private OutputStream packed;

  RecordFile(Path dir, long mostBytes) {
    this.dir = dir;
    this.mostBytes = mostBytes;
    path = dir.resolve(PREFIX + NAME.format(Instant.now()) + "-" + NUMBER.incrementAndGet() + SUFFIX);
  }

  void open() throws IOException {
    if (!Files.isDirectory(dir)) {
      Files.createDirectories(dir, oursAlone("rwx------"));
    }
    Files.createFile(path, oursAlone("rw-------"));
    for (Path other : others()) {
      othersBytes += Files.size(other);
    }
    OutputStream counted = new FilterOutputStream(Files.newOutputStream(path, StandardOpenOption.WRITE)) {
      @Override
      public void write(byte[] bytes, int from, int length) throws IOException {
        out.write(bytes, from, length);
        written += length;
      }
    };
    packed = new GZIPOutputStream(counted, BUFFER, true);
  }

  private static FileAttribute<?> oursAlone(String permissions) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
  }

  /**
   * Packs whole records, and deletes earlier logs where they need the room.
   *
   * @throws IllegalStateException if there is no room for these; what was written is whole
   */
  void write(byte[] records) throws IOException {
    // At worst they cannot be packed.
    makeRoom(written + SLACK + records.length);
    packed.write(records);
  }

  /** What was packed until now is readable whatever happens to this process. */
  void flush() throws IOException {
    packed.flush();
  }

  private void makeRoom(long needed) throws IOException {
    if (needed + othersBytes <= mostBytes) {
      return;
    }
    for (Path oldest : others()) {
      if (needed + othersBytes > mostBytes) {
        othersBytes -= Files.size(oldest);
        Files.delete(oldest);
      }
    }
    if (needed > mostBytes) {
      throw new IllegalStateException(path + " has all the room that " + HiatusConfiguration.RECORD_MAX_MB
          + " allows; another log begins when the core is made anew");
    }
  }

  /** Logs of earlier cores, the oldest first. */
  private List<Path> others() throws IOException {
    try (Stream<Path> all = Files.list(dir)) {
      return all.filter(file -> isLog(file.getFileName().toString()) && !file.equals(path)).sorted().collect(Collectors.toList());
    }
  }

  private static boolean isLog(String name) {
    return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
  }

  /** Ends the log so that it is whole. */
  @Override
  public void close() throws IOException {
    if (packed != null) {
      FactBuffer mark = new FactBuffer();
      Records.putEnded(mark);
      byte[] ended = new byte[mark.length()];
      mark.bytes().flip();
      mark.bytes().get(ended);
      try (OutputStream all = packed) {
        all.write(ended);
      }
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
