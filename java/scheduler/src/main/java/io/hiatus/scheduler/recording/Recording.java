package io.hiatus.scheduler.recording;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.util.Time;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down one life of one core, from its making on: what it is told and what it answers, byte for byte, for `hiatus replay`. Who
 * holds the scheduler's lock only copies bytes; a thread of its own packs and writes them. Whatever fails ends the recording
 * with one line in the log, and nothing else. The format is rust/wire/src/log.rs.
 */
public final class Recording {
  /** More bytes than this never wait to be written: a disk that is too slow ends the recording, not the ResourceManager's heap. */
  static final long MOST_WAITING = 64L << 20;
  /** What a ResourceManager that is killed leaves behind lacks the last so many ms. */
  private static final long FLUSH_MS = 2_000;
  private static final byte[] END = new byte[0];
  /** One that records nothing. */
  public static final Recording NONE = new Recording();

  private static final Logger LOG = LoggerFactory.getLogger(Recording.class);

  private final FactBuffer marks = new FactBuffer();
  private final BlockingQueue<byte[]> waiting = new LinkedBlockingQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final Thread writer;
  private volatile boolean over;

  private Recording() {
    writer = null;
    over = true;
  }

  private Recording(RecordFile file) {
    writer = new Thread(() -> write(file), "HiatusRecording");
    writer.setDaemon(true);
  }

  /** Begins a log, unless the configuration wants none. The file is made by the recording's own thread. */
  public static Recording begin(HiatusConfiguration conf) {
    if (conf.recordDir() == null) {
      return NONE;
    }
    Recording begun = new Recording(new RecordFile(conf.recordDir(), conf.recordMaxBytes()));
    begun.attempt(() -> {
      begun.writer.start();
      Records.putBegun(begun.marks, Records.ABI, System.currentTimeMillis(), Time.monotonicNow());
      begun.add(begun.marks, null, 0);
    });
    return begun;
  }

  /** The core was made, or given other properties. */
  public void configured(String properties) {
    attempt(() -> {
      Records.putConfigured(marks, properties.getBytes(UTF_8));
      add(marks, null, 0);
    });
  }

  /** The core will be asked at that time, and told these facts. */
  public void stepped(long nowMs, FactBuffer facts) {
    attempt(() -> {
      Records.putStepped(marks, nowMs);
      add(marks, facts.bytes(), facts.length());
    });
  }

  /** The core answered with so many bytes; 0 if that was all. */
  public void answered(ByteBuffer answers, int length) {
    attempt(() -> {
      if (length == 0) {
        Records.putAnswered(marks);
      }
      add(marks, answers, length);
    });
  }

  /** The core's life ends. What was recorded is still written. */
  public void end() {
    if (!over) {
      over = true;
      waiting.add(END);
    }
  }

  /** Waits until all is written, but no longer than that. */
  public void join(long patienceMs) throws InterruptedException {
    if (writer != null) {
      writer.join(patienceMs);
    }
  }

  /** Hands over the marks, which are forgotten then, and bytes that follow them. */
  private void add(FactBuffer first, ByteBuffer second, int length) {
    byte[] all = new byte[first.length() + length];
    copy(first.bytes(), first.length(), all, 0);
    if (length > 0) {
      copy(second, length, all, first.length());
    }
    first.clear();
    if (waitingBytes.addAndGet(all.length) > MOST_WAITING && !waiting.isEmpty()) {
      throw new IllegalStateException("the disk takes less than there is to record: " + (MOST_WAITING >> 20) + " MiB wait");
    }
    waiting.add(all);
  }

  private static void copy(ByteBuffer from, int length, byte[] to, int at) {
    ByteBuffer view = from.duplicate();
    view.clear();
    view.get(to, at, length);
  }

  private void attempt(Runnable work) {
    if (!over) {
      try {
        work.run();
      } catch (RuntimeException | OutOfMemoryError e) {
        end();
        told(e);
      }
    }
  }

  private static void told(Throwable cause) {
    // Text, for what is thrown would be printed with its stack.
    String why = cause instanceof IllegalStateException ? cause.getMessage() : cause.toString();
    LOG.warn("HIATUS: RECORDING ENDS, the scheduler goes on: {}", why);
  }

  /** The life of the writer. */
  private void write(RecordFile file) {
    try (RecordFile open = file) {
      open.open();
      LOG.info("Hiatus records into {}", open);
      long flushed = System.nanoTime();
      byte[] next;
      while ((next = waiting.poll(FLUSH_MS, TimeUnit.MILLISECONDS)) != END) {
        if (next != null) {
          waitingBytes.addAndGet(-next.length);
          open.write(next);
        }
        if (System.nanoTime() - flushed >= TimeUnit.MILLISECONDS.toNanos(FLUSH_MS)) {
          open.flush();
          flushed = System.nanoTime();
        }
      }
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      told(e);
    } catch (InterruptedException e) {
      // Nobody interrupts it; if somebody does, it is over.
    } finally {
      over = true;
      waiting.clear();
    }
  }
}
