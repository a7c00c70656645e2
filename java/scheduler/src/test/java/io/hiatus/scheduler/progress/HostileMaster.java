package io.hiatus.scheduler.progress;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What a user may put where an ApplicationMaster's web service should be. */
final class HostileMaster implements Closeable {
  /** Says something, for as long as anybody listens. */
  interface Behaviour {
    /** {@code in} ends when the other side closes the connection. */
    void speak(OutputStream out, Reader in) throws Exception;
  }

  static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

  private final ServerSocket server;
  private final Behaviour behaviour;
  /** First lines of the requests. */
  final List<String> requests = new CopyOnWriteArrayList<>();
  /** Bytes that somebody took from it. */
  final AtomicLong sent = new AtomicLong();
  /** Connections on which it still speaks. */
  final AtomicInteger speaking = new AtomicInteger();

  HostileMaster(Behaviour behaviour) throws IOException {
    this.behaviour = behaviour;
    server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    Thread accepting = new Thread(this::accept, "hostile master");
    accepting.setDaemon(true);
    accepting.start();
  }

  /** Says {@code text} and then {@code more} again and again, {@code pauseMs} apart. */
  static Behaviour endless(String text, String more, long pauseMs) {
    byte[] chunk = more.getBytes(StandardCharsets.ISO_8859_1);
    return (out, in) -> {
      out.write(text.getBytes(StandardCharsets.ISO_8859_1));
      while (true) {
        out.write(chunk);
        Thread.sleep(pauseMs);
      }
    };
  }

  /** Says {@code text} and ends. */
  static Behaviour once(String text) {
    return (out, in) -> out.write(text.getBytes(StandardCharsets.UTF_8));
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        speaking.incrementAndGet();
        Thread speaker = new Thread(() -> serve(socket), "hostile master speaks");
        speaker.setDaemon(true);
        speaker.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (Socket closing = socket) {
      BufferedReader in = new BufferedReader(new InputStreamReader(closing.getInputStream(), StandardCharsets.ISO_8859_1));
      requests.add(in.readLine());
      for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
        requests.add(line);
      }
      behaviour.speak(new OutputStream() {
        @Override
        public void write(int one) throws IOException {
          write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
          closing.getOutputStream().write(bytes, offset, length);
          sent.addAndGet(length);
        }
      }, in);
    } catch (Exception e) {
      // Nobody listens any more.
    } finally {
      speaking.decrementAndGet();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
