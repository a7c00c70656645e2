package io.hiatus.scheduler.bridge;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Which versions of Hadoop are known to work: the resource {@code hadoop-versions}. CapacityScheduler's inner parts, which Hiatus
 * overrides and calls, are no interface that Hadoop keeps stable; with another version they may have changed their meaning.
 */
public final class HadoopVersion {
  private static final String RESOURCE = "/hadoop-versions";

  /** Nobody knows whether Hiatus works there. No stack trace: where it was thrown tells nothing. */
  public static final class Unknown extends NativeException {
    private static final long serialVersionUID = 1L;

    Unknown(String message) {
      super(message);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  private HadoopVersion() {
  }

  /**
   * Refuses a version that is not among them.
   *
   * @throws Unknown with it, and those that are known
   */
  public static void require(String found) {
    List<String> known = known();
    if (!known.contains(found)) {
      throw new Unknown("Hadoop " + found + " is unknown to it: known are " + String.join(", ", known)
          + ". Install a release of Hiatus that knows it, or set " + HiatusConfiguration.MODE + " to off");
    }
  }

  static List<String> known() {
    try (InputStream in = HadoopVersion.class.getResourceAsStream(RESOURCE);
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      return lines.lines().map(String::trim).filter(line -> !line.isEmpty() && !line.startsWith("#")).collect(Collectors.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
