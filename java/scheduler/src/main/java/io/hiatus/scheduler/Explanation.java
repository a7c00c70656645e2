package io.hiatus.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.function.Predicate;

/**
 * What Hiatus did and knew at one moment, and why: the core's explanation with YARN's names in the place of handles. Made
 * under the scheduler's lock, read without it, by whoever asks first for all the others.
 */
final class Explanation {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String APPLICATION = "application";
  /** The lists whose entries each speak of an application. */
  private static final String[] LISTS = {"jobs", "suspended", "not_parked_yet", "claims", "giving_way"};

  private final String core;
  private final Facts facts;
  private final String mode;
  private final String fault;
  private final String stockPreemption;
  private final int suspendedNow;
  private ObjectNode whole;

  /** {@code core} is the core's JSON, or an empty object where there is no core; then there are no facts either. */
  Explanation(String core, Facts facts, String mode, String fault, String stockPreemption, int suspendedNow) {
    this.core = core;
    this.facts = facts;
    this.mode = mode;
    this.fault = fault;
    this.stockPreemption = stockPreemption;
    this.suspendedNow = suspendedNow;
  }

  /** All of it; not to be changed. */
  synchronized JsonNode whole() {
    if (whole == null) {
      ObjectNode all = JSON.createObjectNode();
      all.put("mode", mode);
      all.put("fault", fault);
      all.put("stock_preemption", stockPreemption);
      all.put("suspended_now", suspendedNow);
      all.setAll((ObjectNode) parse(core));
      if (facts != null) {
        name(all);
      }
      whole = all;
    }
    return whole;
  }

  /**
   * What somebody may see of it: entries of other applications are left out, and those for whom somebody was suspended are
   * not named. Of each list {@code limit} entries from {@code offset} on; {@code totals} tells how many there are.
   */
  JsonNode part(Predicate<String> mayView, int offset, int limit) {
    ObjectNode part = JSON.createObjectNode();
    part.setAll((ObjectNode) whole());
    ObjectNode totals = JSON.createObjectNode();
    for (String list : LISTS) {
      ArrayNode shown = JSON.createArrayNode();
      int seen = 0;
      for (JsonNode entry : part.path(list)) {
        if (mayView.test(entry.path(APPLICATION).asText())) {
          if (seen >= offset && shown.size() < limit) {
            shown.add(withoutStrangers(entry, mayView));
          }
          seen++;
        }
      }
      if (part.has(list)) {
        part.set(list, shown);
        totals.put(list, seen);
      }
    }
    part.set("totals", totals);
    return part;
  }

  /** What it says of one application: the lists in which that occurs. */
  JsonNode of(String application, Predicate<String> mayView) {
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
    return part;
  }

  static String print(JsonNode json) {
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
    for (String list : LISTS) {
      for (JsonNode entry : all.path(list)) {
        name((ObjectNode) entry, "node", facts.nodes);
        name((ObjectNode) entry, "container", facts.containers);
        name((ObjectNode) entry, "partition", facts.partitions);
      }
    }
  }

  private static void name(ObjectNode entry, String field, Handles<?> handles) {
    if (entry.has(field)) {
      entry.put(field, String.valueOf(handles.thing(entry.get(field).asInt())));
    }
  }
}
