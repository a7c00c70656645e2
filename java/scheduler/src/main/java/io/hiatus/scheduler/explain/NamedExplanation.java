package io.hiatus.scheduler.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.hiatus.scheduler.bridge.Handles;
import io.hiatus.scheduler.facts.FactWriter;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What Hiatus did and knew at one moment, and why: the core's explanation with YARN's names in the place of handles. Made
 * under the scheduler's lock, read without it, by whoever asks first for all the others.
 */
public final class NamedExplanation {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String APPLICATION = "application";
  private static final String QUEUE = "queue";
  /** How it stands with the list {@code forecasts}: without that nobody knows what its intervals are worth. */
  private static final String FORECAST = "forecast";
  /** The lists whose entries each speak of an application. */
  private static final String[] LISTS = {"jobs", "suspended", "not_parked_yet", "claims", "giving_way", "forecasts"};
  /** And those that speak of nobody: everybody sees all of their entries. */
  private static final String[] OPEN_LISTS = {"queues", "nodes"};

  private final String core;
  private final FactWriter facts;
  private final BiConsumer<ObjectNode, String> timeLeft;
  private final String mode;
  private final String fault;
  private final String stockPreemption;
  private final int suspendedNow;
  private ObjectNode whole;

  /**
   * {@code core} is the core's JSON, or an empty object where there is no core; then there are no facts either. {@code timeLeft}
   * tells of an application what {@link TimeLeft#tell} does.
   */
  public NamedExplanation(String core, FactWriter facts, BiConsumer<ObjectNode, String> timeLeft, String mode, String fault, String stockPreemption,
      int suspendedNow) {
    this.core = core;
    this.facts = facts;
    this.timeLeft = timeLeft;
    this.mode = mode;
    this.fault = fault;
    this.stockPreemption = stockPreemption;
    this.suspendedNow = suspendedNow;
  }

  /** All of it; not to be changed. */
  public synchronized JsonNode whole() {
    if (whole == null) {
      ObjectNode all = JSON.createObjectNode();
      all.put("mode", mode);
      all.put("fault", fault);
      all.put("stock_preemption", stockPreemption);
      all.put("suspended_now", suspendedNow);
      all.setAll((ObjectNode) parse(core));
      all.path("jobs").forEach(job -> timeLeft.accept((ObjectNode) job, job.path(APPLICATION).asText()));
      if (facts != null) {
        name(all);
      }
      whole = all;
    }
    return whole;
  }

  /** What somebody wants of it. */
  public static final class Wanted {
    final Set<String> lists;
    final String queue;
    final int offset;
    final int limit;

    /**
     * Of each list {@code limit} entries from {@code offset} on; of these lists, all if it is empty; of jobs and queues those of that
     * queue, all if it is null.
     */
    public Wanted(Collection<String> lists, String queue, int offset, int limit) {
      this.lists = new HashSet<>(lists);
      this.queue = queue;
      this.offset = offset;
      this.limit = limit;
    }

    private boolean hasEntry(JsonNode entry) {
      return queue == null || !entry.has(QUEUE) || entry.path(QUEUE).asText().equals(queue);
    }

    private boolean hasList(String list) {
      return lists.isEmpty() || lists.contains(list);
    }
  }

  /** Whether there are such lists. */
  public static boolean areLists(Collection<String> names) {
    return Stream.concat(Arrays.stream(LISTS), Arrays.stream(OPEN_LISTS)).collect(Collectors.toSet()).containsAll(names);
  }

  /**
   * What somebody may see of it: entries of other applications are left out, and those for whom somebody was suspended are
   * not named. {@code totals} tells of each list how many there are.
   */
  public JsonNode part(Predicate<String> mayView, Wanted wanted) {
    ObjectNode part = JSON.createObjectNode();
    part.setAll((ObjectNode) whole());
    ObjectNode totals = JSON.createObjectNode();
    for (String list : LISTS) {
      cut(part, list, entry -> mayView.test(entry.path(APPLICATION).asText()), entry -> withoutStrangers(entry, mayView), wanted, totals);
    }
    for (String list : OPEN_LISTS) {
      cut(part, list, entry -> true, entry -> entry, wanted, totals);
    }
    part.set("totals", totals);
    return part;
  }

  private static void cut(ObjectNode part, String list, Predicate<JsonNode> isSeen, UnaryOperator<JsonNode> as, Wanted wanted,
      ObjectNode totals) {
    if (!part.has(list)) {
      return;
    }
    ArrayNode shown = JSON.createArrayNode();
    int seen = 0;
    for (JsonNode entry : part.path(list)) {
      if (wanted.hasEntry(entry) && isSeen.test(entry)) {
        if (seen >= wanted.offset && shown.size() < wanted.limit) {
          shown.add(as.apply(entry));
        }
        seen++;
      }
    }
    totals.put(list, seen);
    if (wanted.hasList(list)) {
      part.set(list, shown);
    } else {
      part.remove(list);
    }
  }

  /** What it says of one application: the lists in which that occurs, and how it stands with forecasts. */
  public ObjectNode of(String application, Predicate<String> mayView) {
    ObjectNode part = JSON.createObjectNode();
    for (String list : LISTS) {
      ArrayNode own = JSON.createArrayNode();
      for (JsonNode entry : whole().path(list)) {
        if (entry.path(APPLICATION).asText().equals(application)) {
          own.add(withoutStrangers(entry, mayView));
        }
      }
      if (own.size() > 0) {
        part.set(list, own);
      }
    }
    if (whole().has(FORECAST)) {
      part.set(FORECAST, whole().get(FORECAST));
    }
    return part;
  }

  public static String print(JsonNode json) {
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode parse(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode withoutStrangers(JsonNode entry, Predicate<String> mayView) {
    JsonNode by = entry.path("by");
    return by.isTextual() && !mayView.test(by.asText()) ? ((ObjectNode) entry.deepCopy()).putNull("by") : entry;
  }

  private void name(ObjectNode all) {
    Stream.concat(Arrays.stream(LISTS), Arrays.stream(OPEN_LISTS)).forEach(list -> {
      for (JsonNode entry : all.path(list)) {
        name((ObjectNode) entry, "node", facts.nodes);
        name((ObjectNode) entry, "container", facts.containers);
        name((ObjectNode) entry, "partition", facts.partitions);
      }
    });
  }

  private static void name(ObjectNode entry, String field, Handles<?> handles) {
    if (entry.has(field)) {
      entry.put(field, String.valueOf(handles.thing(entry.get(field).asInt())));
    }
  }
}
