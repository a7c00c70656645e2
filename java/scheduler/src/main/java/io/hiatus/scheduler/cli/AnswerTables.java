package io.hiatus.scheduler.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import org.apache.hadoop.tools.TableListing;
import org.apache.hadoop.tools.TableListing.Justification;

/** What {@code GET /ws/v1/hiatus} answers, as tables for people. */
public final class AnswerTables {
  private static final class Column {
    final String title;
    final Justification side;
    final Function<JsonNode, String> cell;

    Column(String title, Justification side, Function<JsonNode, String> cell) {
      this.title = title;
      this.side = side;
      this.cell = cell;
    }
  }

  private AnswerTables() {
  }

  public static String status(JsonNode all) {
    StringBuilder lines = new StringBuilder();
    line(lines, "mode", all.path("mode").asText());
    line(lines, "stock took over", all.path("fault").isTextual() ? "yes: " + all.path("fault").asText() : "no");
    line(lines, "suspended now", all.path("suspended_now").asText());
    for (String part : new String[] {"totals", "counters"}) {
      lines.append("\n").append(part.equals("totals") ? "How many there are" : "What happened since it began").append("\n");
      all.path(part).fields().forEachRemaining(field -> line(lines, field.getKey().replace('_', ' '), field.getValue().asText()));
    }
    return lines.toString();
  }

  private static void line(StringBuilder lines, String name, String value) {
    lines.append(String.format(Locale.ROOT, "%-20s  %s%n", name, value));
  }

  /** Who decides, where that is not Hiatus; empty where it is. What follows is read otherwise then, or there is nothing to read. */
  private static String heading(JsonNode all) {
    if (all.path("fault").isTextual()) {
      return "Stock CapacityScheduler has taken over: " + all.path("fault").asText()
          + ". After mending the cause, yarn rmadmin -refreshQueues starts Hiatus again.\n\n";
    }
    switch (all.path("mode").asText()) {
      case "off":
        return "Hiatus is switched off: stock CapacityScheduler places.\n\n";
      case "observe":
        return "Hiatus only observes: stock CapacityScheduler places, and what is shown here is what Hiatus would do.\n\n";
      default:
        return "";
    }
  }

  public static String queues(JsonNode all) {
    return heading(all) + table(all.path("queues"), text("Queue", "queue"), text("Label", "partition"), percent("Entitled", "entitled"),
        percent("Held", "held"), number("Jobs", "jobs"), number("Wanted", "pending"), number("Suspended", "suspended"),
        text("Spared from", "spared_from"));
  }

  public static String jobs(JsonNode all) {
    return heading(all) + table(all.path("jobs"), number("Rank", "rank"), text("Application", "application"), text("Queue", "queue"),
        number("Priority", "priority"), percent("Target", "target"), percent("Held", "held"), number("Wanted", "pending"),
        number("Suspended", "suspended"),
        new Column("Left, s", Justification.RIGHT, job -> String.format(Locale.ROOT, "%.1f", job.path("remaining_s").asDouble())),
        new Column("Sized by", Justification.LEFT, job -> job.path("sizing").path("source").asText("")),
        text("Waits for", "blocked_by"));
  }

  public static String nodes(JsonNode all) {
    return heading(all) + table(all.path("nodes"), text("Node", "node"), text("Label", "partition"), number("Suspended", "suspended"),
        number("MiB", "suspended_mb"), number("at most", "most_suspended_mb"), number("Used, MiB", "used_mb"),
        number("of", "total_mb"));
  }

  /** What is suspended or parked, and what runs on though it is parked. */
  public static String suspendedAndParked(JsonNode all) {
    ArrayNode parked = JsonNodeFactory.instance.arrayNode();
    all.path("jobs").forEach(job -> {
      if (job.path("parked").asBoolean()) {
        parked.add(job);
      }
    });
    return heading(all) + "Parked applications\n" + table(parked, text("Application", "application"), number("Suspended", "suspended"),
            new Column("Lifetime left, s", Justification.RIGHT, job -> job.path("lifetime_left_s").asText("")),
            new Column("Tokens left, s", Justification.RIGHT, job -> job.path("tokens_left_s").asText("")))
        + "\nSuspended containers\n" + table(all.path("suspended"), text("Container", "container"), text("Node", "node"),
            new Column("For, s", Justification.RIGHT, one -> String.valueOf(one.path("for_ms").asLong() / 1000)), text("State", "state"),
            text("Why", "why"), text("Waits for", "waits_for"))
        + "\nParked, and running on\n" + table(all.path("not_parked_yet"), text("Container", "container"), text("Because", "because"));
  }

  private static String table(JsonNode rows, Column... columns) {
    if (rows.size() == 0) {
      return "none\n";
    }
    TableListing.Builder builder = new TableListing.Builder();
    Arrays.asList(columns).forEach(column -> builder.addField(column.title, column.side));
    TableListing table = builder.build();
    rows.forEach(row -> table.addRow(Arrays.stream(columns).map(column -> column.cell.apply(row)).toArray(String[]::new)));
    return table.toString();
  }

  private static Column text(String title, String key) {
    return new Column(title, Justification.LEFT, row -> row.path(key).asText(""));
  }

  private static Column number(String title, String key) {
    return new Column(title, Justification.RIGHT, row -> row.path(key).asText());
  }

  private static Column percent(String title, String key) {
    return new Column(title, Justification.RIGHT, row -> String.format(Locale.ROOT, "%.1f%%", 100 * row.path(key).asDouble()));
  }
}
