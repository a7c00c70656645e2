package io.hiatus.scheduler.progress;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads JSON that a user's process has written, as a stream: neither what is read nor what is kept of it grows beyond
 * limits, whatever it says.
 */
final class MasterAnswer {
  /** Read of one answer, in bytes; the rest is as if it were not there. Some 800 tasks of a job fit, and the first ones come first. */
  static final int MOST_BYTES = 256 << 10;
  /** Brackets, names and values in one answer. */
  static final int MOST_TOKENS = 50_000;
  /** Brackets within brackets. */
  static final int DEEPEST = 16;
  /** Of a wanted field's value, number or text, in characters. */
  static final int LONGEST_VALUE = 128;

  /** No path leads here any more. */
  private static final int ASIDE = -1;
  /** Names of fields are neither kept nor interned: there are as many as the writer likes. */
  private static final JsonFactory JSON = JsonFactory.builder()
      .disable(JsonFactory.Feature.INTERN_FIELD_NAMES).disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES).build();

  private final JsonParser parser;
  private final Set<String> fields;
  private final String[] path;
  private final List<Map<String, String>> found = new ArrayList<>();
  private int tokens;
  private int depth;

  private MasterAnswer(JsonParser parser, Set<String> fields, String[] path) {
    this.parser = parser;
    this.fields = fields;
    this.path = path;
  }

  /**
   * The objects to which the names of {@code path} lead, one by one or in arrays, each as its fields that are among
   * {@code fields} and no arrays or objects themselves, as text.
   *
   * @throws IOException if it is no JSON, or beyond a limit
   */
  static List<Map<String, String>> read(InputStream in, Set<String> fields, String... path) throws IOException {
    try (Reader text = new InputStreamReader(new Limited(in), StandardCharsets.UTF_8);
        JsonParser parser = JSON.createParser(text)) {
      MasterAnswer answer = new MasterAnswer(parser, fields, path);
      try {
        answer.value(answer.next(), 0);
      } catch (CutOff e) {
        // What was whole before is good.
      }
      return answer.found;
    }
  }

  /** Past one value; {@code matched} names of the path led here. */
  private void value(JsonToken first, int matched) throws IOException {
    if (first == JsonToken.START_ARRAY) {
      for (JsonToken token = next(); token != JsonToken.END_ARRAY; token = next()) {
        value(token, matched);
      }
    } else if (first == JsonToken.START_OBJECT) {
      Map<String, String> wanted = matched == path.length ? new HashMap<>() : null;
      while (next() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        JsonToken token = next();
        if (wanted != null && token.isScalarValue() && fields.contains(name)) {
          wanted.put(name, text(name));
        }
        boolean leadsOn = wanted == null && matched != ASIDE && path[matched].equals(name);
        value(token, leadsOn ? matched + 1 : ASIDE);
      }
      if (wanted != null) {
        found.add(wanted);
      }
    }
  }

  private String text(String name) throws IOException {
    if (parser.getTextLength() > LONGEST_VALUE) {
      throw new IOException(name + " is longer than " + LONGEST_VALUE + " characters");
    }
    return parser.getText();
  }

  private JsonToken next() throws IOException {
    JsonToken token = parser.nextToken();
    if (token == null) {
      throw new IOException("the answer ends too early");
    }
    if (++tokens > MOST_TOKENS) {
      throw new IOException("the answer has more than " + MOST_TOKENS + " brackets, names and values");
    }
    depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
    if (depth > DEEPEST) {
      throw new IOException("the answer has more than " + DEEPEST + " brackets within brackets");
    }
    return token;
  }

  /** There would be more. */
  private static final class CutOff extends IOException {
    private static final long serialVersionUID = 1L;
  }

  private static final class Limited extends FilterInputStream {
    private int left = MOST_BYTES;

    Limited(InputStream in) {
      super(in);
    }

    /** Leaves the stream open: to close it, HTTP would read all the rest. */
    @Override
    public void close() {
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      if (left == 0) {
        throw new CutOff();
      }
      int got = super.read(into, offset, Math.min(length, left));
      left -= Math.max(0, got);
      return got;
    }
  }
}
