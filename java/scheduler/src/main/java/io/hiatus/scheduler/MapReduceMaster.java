package io.hiatus.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.concurrent.TimeUnit;
import org.apache.commons.lang3.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;

/**
 * The web service of one MapReduce job's ApplicationMaster, which answers to the ResourceManager's address. It belongs to
 * a user and is trusted with nothing: it gets no credentials, limited time, and its answers a limited size.
 */
final class MapReduceMaster {
  /** Request priorities of maps and reduces (MapReduce's RMContainerAllocator); maps that failed come with others. */
  static final int MAP_PRIORITY = 20;
  static final int REDUCE_PRIORITY = 10;

  private static final long MOST_BYTES = 32 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String root;
  private final int timeoutMs;

  /** {@code trackingUrl} as the master has registered it. */
  MapReduceMaster(String trackingUrl, ApplicationId id, long timeoutMs) {
    String base = trackingUrl.contains("://") ? trackingUrl : "http://" + trackingUrl;
    String job = id.toString().replace(ApplicationId.appIdStrPrefix, "job");
    this.root = StringUtils.removeEnd(base, "/") + "/ws/v1/mapreduce/jobs/" + job;
    this.timeoutMs = Math.toIntExact(timeoutMs);
  }

  /** The job: mapsTotal, mapsCompleted, reducesTotal, reducesCompleted, state … */
  JsonNode job() throws IOException {
    return get(root).path("job");
  }

  /** Its tasks: id, type, state, startTime, progress in percent … */
  Iterable<JsonNode> tasks() throws IOException {
    return get(root + "/tasks").path("tasks").path("task");
  }

  /**
   * The part of its own work that the task has done, 0 to 1; less than 0 while a reduce waits for maps, fetches and sorts what
   * they made: that is the first two thirds of what MapReduce calls its progress.
   */
  static double done(JsonNode task) {
    double progress = task.path("progress").asDouble() / 100;
    return task.path("type").asText().equals("REDUCE") ? 3 * progress - 2 : progress;
  }

  /** The container of a task's attempt that runs, or null. */
  ContainerId containerOf(String task) throws IOException {
    for (JsonNode attempt : get(root + "/tasks/" + task + "/attempts").path("taskAttempts").path("taskAttempt")) {
      if (attempt.path("state").asText().equals("RUNNING")) {
        try {
          return ContainerId.fromString(attempt.path("assignedContainerId").asText());
        } catch (IllegalArgumentException e) {
          throw new IOException("no container id: " + attempt, e);
        }
      }
    }
    return null;
  }

  private JsonNode get(String address) throws IOException {
    URL url = new URL(address);
    if (!url.getProtocol().startsWith("http")) {
      throw new IOException(address + " is no web address");
    }
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.setConnectTimeout(timeoutMs);
    connection.setReadTimeout(timeoutMs);
    connection.setInstanceFollowRedirects(false); // it does not take us for the proxy, then
    connection.setRequestProperty("Accept", "application/json");
    try {
      if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
        throw new IOException(address + " answers " + connection.getResponseCode());
      }
      try (InputStream in = new Limited(connection.getInputStream(), timeoutMs)) {
        return JSON.readTree(in);
      }
    } finally {
      connection.disconnect();
    }
  }

  /** Ends when an answer is too long, in bytes or time. */
  private static final class Limited extends FilterInputStream {
    private final long deadline;
    private long left = MOST_BYTES;

    Limited(InputStream in, long timeoutMs) {
      super(in);
      deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int got = super.read(into, offset, length);
      left -= Math.max(0, got);
      if (left < 0 || System.nanoTime() > deadline) {
        throw new IOException("the answer is too long");
      }
      return got;
    }
  }
}
