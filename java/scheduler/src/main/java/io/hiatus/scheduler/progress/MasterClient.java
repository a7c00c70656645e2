package io.hiatus.scheduler.progress;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.http.HttpStatus;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.config.ConnectionConfig;
import org.apache.http.config.MessageConstraints;
import org.apache.http.config.RegistryBuilder;
import org.apache.http.conn.socket.ConnectionSocketFactory;
import org.apache.http.conn.socket.LayeredConnectionSocketFactory;
import org.apache.http.conn.socket.PlainConnectionSocketFactory;
import org.apache.http.impl.NoConnectionReuseStrategy;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.impl.conn.BasicHttpClientConnectionManager;

/**
 * HTTP with processes that belong to users: one GET at a time, which is over at its deadline however slowly the other
 * side speaks. Nothing is sent but the request: no credentials, no cookies; no redirect is followed, no proxy used, nothing unpacked.
 */
final class MasterClient implements Closeable {
  private static final MessageConstraints HEADERS =
      MessageConstraints.custom().setMaxLineLength(2_048).setMaxHeaderCount(64).build();

  /** Not one of Hadoop's executors, which log a stack trace for every deadline that was not needed. */
  private final ScheduledExecutorService deadlines = Executors.newSingleThreadScheduledExecutor(work -> {
    Thread thread = new Thread(work, "HiatusProgressDeadline");
    thread.setDaemon(true);
    return thread;
  });
  private HttpGet current;
  private boolean closed;

  /** Takes what it wants of an answer's body. */
  interface Reader<T> {
    T read(InputStream body) throws IOException;
  }

  private static CloseableHttpClient client(LayeredConnectionSocketFactory tls) {
    BasicHttpClientConnectionManager connections = new BasicHttpClientConnectionManager(RegistryBuilder.<ConnectionSocketFactory>create()
        .register(tls == null ? "http" : "https", tls == null ? PlainConnectionSocketFactory.getSocketFactory() : tls).build());
    connections.setConnectionConfig(ConnectionConfig.custom().setMessageConstraints(HEADERS).build());
    return HttpClients.custom().setConnectionManager(connections)
        .setConnectionReuseStrategy(NoConnectionReuseStrategy.INSTANCE).disableRedirectHandling() // it does not take us for the proxy, then
        .disableAutomaticRetries().disableContentCompression().disableCookieManagement().disableAuthCaching()
        .setUserAgent("Hiatus").build();
  }

  /**
   * One exchange, from connecting to the last byte read, within {@code timeoutMs}; {@code tls} is null for HTTP.
   *
   * @throws IOException if it was not done by then, or the answer is not 200, or not what {@code reader} takes
   */
  <T> T get(URI address, LayeredConnectionSocketFactory tls, int timeoutMs, Reader<T> reader) throws IOException {
    HttpGet request = new HttpGet(address);
    request.setHeader("Accept", "application/json");
    request.setConfig(RequestConfig.custom().setConnectTimeout(timeoutMs).setSocketTimeout(timeoutMs).build());
    Future<?> deadline = begin(request, timeoutMs);
    try (CloseableHttpClient http = client(tls); CloseableHttpResponse response = http.execute(request)) {
      try {
        int status = response.getStatusLine().getStatusCode();
        if (status != HttpStatus.SC_OK || response.getEntity() == null) {
          throw new IOException(address + " answers " + status);
        }
        return reader.read(response.getEntity().getContent());
      } finally {
        request.abort(); // closes the connection at once, and reads nothing more
      }
    } finally {
      deadline.cancel(false);
    }
  }

  /** Sets its deadline. */
  private synchronized Future<?> begin(HttpGet request, int timeoutMs) throws IOException {
    if (closed) {
      throw new IOException("nobody is asked any more");
    }
    current = request;
    return deadlines.schedule(request::abort, timeoutMs, TimeUnit.MILLISECONDS);
  }

  /**
   * Ends the exchange under way, if any, and lets none begin. Never waits. As at a deadline: where the exchange ends by itself at the
   * same moment, to abort it fails, and that concerns nobody.
   */
  @Override
  public synchronized void close() {
    closed = true;
    if (current != null) {
      deadlines.schedule(current::abort, 0, TimeUnit.MILLISECONDS);
    }
    deadlines.shutdown();
  }
}
