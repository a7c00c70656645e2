package io.hiatus.scheduler.hadoop;

import io.hiatus.scheduler.bridge.NativeException;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.util.VersionUtil;

/**
 * Which versions of Hadoop Hiatus was tested with: the resource {@code hadoop-versions}. CapacityScheduler's inner parts, which
 * Hiatus overrides and calls, are no interface that Hadoop keeps stable; with another version they may have changed their meaning.
 * Between two tested ones that is unlikely: such a version is tried. The release's {@code install} decides in the same way.
 */
public final class HadoopVersion {
  private static final String RESOURCE = "/hadoop-versions";
  /** One of Apache's releases: nobody knows what else is in other builds. */
  private static final Pattern RELEASE = Pattern.compile("\\d+\\.\\d+\\.\\d+");

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
   * Refuses a version that was not tested, unless it is a release between two that were.
   *
   * @return what to say of one that is tried; empty for one that was tested
   * @throws Unknown with it, and those that were tested
   */
  public static Optional<String> require(String found) {
    List<String> tested = tested();
    if (tested.contains(found)) {
      return Optional.empty();
    }
    if (!isAny(tested, found, order -> order < 0) || !isAny(tested, found, order -> order > 0)) {
      throw new Unknown("Hadoop " + found + " is unknown to it: tested are " + String.join(", ", tested)
          + ". Install a release of Hiatus that knows it, or set " + HiatusConfiguration.MODE + " to off");
    }
    return Optional.of("Hiatus was not tested with Hadoop " + found + ", and is tried because it was with older and newer ones: "
        + String.join(", ", tested));
  }

  private static boolean isAny(List<String> tested, String found, IntPredicate order) {
    return RELEASE.matcher(found).matches() && tested.stream().anyMatch(one -> order.test(VersionUtil.compareVersions(one, found)));
  }

  private static List<String> tested() {
    try (InputStream in = HadoopVersion.class.getResourceAsStream(RESOURCE);
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      return lines.lines().map(String::trim).filter(line -> !line.isEmpty() && !line.startsWith("#")).collect(Collectors.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
