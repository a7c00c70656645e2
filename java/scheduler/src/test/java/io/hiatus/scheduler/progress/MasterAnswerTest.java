package io.hiatus.scheduler.progress;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.commons.lang3.StringUtils;
import org.junit.Test;

/**
 * The reader of answers against a tree of the same JSON, and against everything else. The random tests say the seed of what
 * fails; {@code gradle :scheduler:test --tests '*MasterAnswerTest' -Pfuzz=600} runs them for 600 seconds each.
 */
public class MasterAnswerTest {
  private static final Set<String> FIELDS = new HashSet<>(Arrays.asList("id", "state", "progress"));
  private static final String[] PATH = {"tasks", "task"};
  private static final long NANOS = TimeUnit.SECONDS.toNanos(Long.getLong("hiatus.fuzz.seconds", 1));

  private static List<Map<String, String>> read(byte[] answer) throws IOException {
    return MasterAnswer.read(new ByteArrayInputStream(answer), FIELDS, PATH);
  }

  /** What the tree of the whole answer says of the same path. */
  private static List<Map<String, String>> byTree(JsonNode node, int matched) {
    List<Map<String, String>> found = new ArrayList<>();
    if (node.isArray()) {
      node.forEach(element -> found.addAll(byTree(element, matched)));
    } else if (node.isObject() && matched == PATH.length) {
      Map<String, String> wanted = new HashMap<>();
      FIELDS.forEach(name -> {
        if (node.path(name).isValueNode()) {
          wanted.put(name, node.get(name).asText());
        }
      });
      found.add(wanted);
    } else if (node.isObject()) {
      found.addAll(byTree(node.path(PATH[matched]), matched));
      return byTree(node.path(PATH[matched]), matched + 1);
    }
    return found;
  }

  /** JSON of up to {@code depth} brackets, in which names of the path and of the fields are frequent, each once in an object. */
  private static void write(Random random, int depth, StringBuilder into) {
    int kind = depth == 0 ? random.nextInt(3) : random.nextInt(9);
    if (kind == 0) {
      into.append(random.nextInt());
    } else if (kind == 1) {
      into.append(random.nextBoolean());
    } else if (kind == 2) {
      into.append('"').append(StringUtils.repeat("a\\u00e9\\\\ü", random.nextInt(5))).append('"');
    } else if (kind < 5) {
      into.append('[');
      for (int i = random.nextInt(5); i > 0; i--) {
        write(random, depth - 1, into);
        into.append(i > 1 ? " , " : "");
      }
      into.append(']');
    } else {
      into.append('{');
      String between = "";
      for (String name : new String[] {"tasks", "task", "id", "state", "progress", "other"}) {
        if (random.nextInt(3) > 0) {
          into.append(between).append('"').append(name).append("\": ");
          write(random, depth - 1, into);
          between = ",\n";
        }
      }
      into.append('}');
    }
  }

  private static byte[] document(Random random) {
    StringBuilder text = new StringBuilder();
    write(random, 1 + random.nextInt(7), text);
    return text.toString().getBytes(UTF_8);
  }

  @Test
  public void itFindsWhatATreeOfTheSameAnswerHas() throws IOException {
    ObjectMapper trees = new ObjectMapper();
    long seed = System.nanoTime();
    int found = 0;
    for (long end = System.nanoTime() + NANOS; System.nanoTime() < end; seed++) {
      byte[] answer = document(new Random(seed));
      if (answer.length < MasterAnswer.MOST_BYTES) {
        List<Map<String, String>> all = read(answer);
        assertEquals("seed " + seed, byTree(trees.readTree(answer), 0), all);
        found += all.size();
      }
    }
    assertTrue("the generator leads there", found > 0);
  }

  /** Good JSON with bytes changed, taken away, doubled or cut off. */
  private static byte[] damaged(Random random) {
    byte[] answer = document(random);
    for (int i = random.nextInt(4); i >= 0; i--) {
      int at = random.nextInt(answer.length);
      switch (random.nextInt(3)) {
        case 0:
          answer[at] = (byte) (random.nextBoolean() ? "[]{}\",:\\0-e".charAt(random.nextInt(11)) : random.nextInt());
          break;
        case 1:
          answer = Arrays.copyOf(answer, Math.max(1, at));
          break;
        default:
          byte[] doubled = Arrays.copyOf(answer, answer.length + at);
          System.arraycopy(answer, 0, doubled, answer.length, at);
          answer = doubled;
          break;
      }
    }
    return answer;
  }

  @Test
  public void whateverItReadsItEndsWellOrSaysThatItIsNoAnswer() {
    long seed = System.nanoTime();
    for (long end = System.nanoTime() + NANOS; System.nanoTime() < end; seed++) {
      try {
        List<Map<String, String>> all = read(damaged(new Random(seed)));
        assertTrue("seed " + seed, all.size() <= MasterAnswer.MOST_TOKENS);
        all.forEach(one -> one.values().forEach(value -> assertTrue(value.length() <= MasterAnswer.LONGEST_VALUE)));
      } catch (IOException e) {
        // Good.
      } catch (RuntimeException | Error e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /** A task as MapReduce writes it. */
  private static String task(int number) {
    return "{\"startTime\":1792000000000,\"finishTime\":0,\"elapsedTime\":1234,\"progress\":" + number % 100 + ".5,\"id\":\"task_1792000000000_0001_m_"
        + String.format("%06d", number) + "\",\"state\":\"RUNNING\",\"type\":\"MAP\",\"successfulAttempt\":\"\",\"status\":\""
        + StringUtils.repeat("map > map ", 5) + "\"}";
  }

  @Test
  public void ofALongListTheFirstTasksAreTaken() throws IOException {
    List<String> tasks = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      tasks.add(task(i));
    }
    List<Map<String, String>> found = read(("{\"tasks\":{\"task\":[" + String.join(",", tasks) + "]}}").getBytes(UTF_8));
    assertTrue("" + found.size(), found.size() > 800 && found.size() < 2_000);
    assertEquals("task_1792000000000_0001_m_000000", found.get(0).get("id"));
    assertEquals("99.5", found.get(99).get("progress"));
  }

  @Test
  public void noMoreIsReadThanIsTaken() throws IOException {
    long[] read = {0};
    InputStream endless = new InputStream() {
      @Override
      public int read() {
        return read[0]++ == 0 ? '[' : ' ';
      }
    };
    assertEquals(0, MasterAnswer.read(endless, FIELDS, PATH).size());
    assertEquals(MasterAnswer.MOST_BYTES, read[0]);
  }

  private static void refused(String answer) {
    assertThrows(IOException.class, () -> read(answer.getBytes(UTF_8)));
  }

  @Test
  public void whatIsBeyondALimitIsRefused() throws IOException {
    String deep = StringUtils.repeat('[', MasterAnswer.DEEPEST);
    assertEquals(0, read((deep + deep.replace('[', ']')).getBytes(UTF_8)).size());
    refused("[" + deep + deep.replace('[', ']') + "]");
    refused("[" + StringUtils.repeat("1,", MasterAnswer.MOST_TOKENS) + "1]");
    String longest = StringUtils.repeat('1', MasterAnswer.LONGEST_VALUE);
    assertEquals(longest, read(("{\"tasks\":{\"task\":{\"id\":" + longest + "}}}").getBytes(UTF_8)).get(0).get("id"));
    refused("{\"tasks\":{\"task\":{\"id\":" + longest + "1}}}");
    refused("{\"tasks\":{\"task\":{\"id\":\"" + longest + "1\"}}}");
    assertEquals("what nobody wants may be long", 1,
        read(("{\"tasks\":{\"task\":{\"diagnostics\":\"" + longest + longest + "\"}}}").getBytes(UTF_8)).size());
  }

  @Test
  public void whatEndsTooEarlyIsRefused() {
    refused("");
    refused("{\"tasks\":{\"task\":[{\"id\":1}");
  }
}
