package io.hiatus.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The core's explanation with YARN's names in the place of handles. */
final class Explanation {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Explanation() {
  }

  /** {@code core} is the core's JSON, or an empty object where there is no core. */
  static String of(String core, Facts facts, String mode, String fault) throws JsonProcessingException {
    ObjectNode all = JSON.createObjectNode();
    all.put("mode", mode);
    all.put("fault", fault);
    all.setAll((ObjectNode) JSON.readTree(core));
    if (facts != null) {
      for (String list : new String[] {"suspended", "not_parked_yet", "claims"}) {
        for (JsonNode entry : all.path(list)) {
          name((ObjectNode) entry, "node", facts.nodes);
          name((ObjectNode) entry, "container", facts.containers);
        }
      }
      for (JsonNode job : all.path("jobs")) {
        name((ObjectNode) job, "partition", facts.partitions);
      }
    }
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(all);
  }

  private static void name(ObjectNode entry, String field, Handles<?> handles) {
    if (entry.has(field)) {
      entry.put(field, String.valueOf(handles.thing(entry.get(field).asInt())));
    }
  }
}
