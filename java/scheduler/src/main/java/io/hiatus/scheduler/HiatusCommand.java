package io.hiatus.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authentication.client.AuthenticatedURL;
import org.apache.hadoop.security.ssl.SSLFactory;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.webapp.util.WebAppUtils;

/** {@code yarn jar hiatus-scheduler-<version>.jar suspend|resume|list|explain …}: Hiatus by hand. */
public final class HiatusCommand extends Configured implements Tool {
  private static final String USAGE = "suspend ID…           park applications or containers until they are resumed\n"
      + "resume ID…            take them up again\n"
      + "list                  what is suspended or parked\n"
      + "explain [APPLICATION] everything that Hiatus knows and decides, or one application's part of it, as JSON\n"
      + "check-config FOLDER   what in a folder of Hadoop's configuration keeps Hiatus from working as it should";
  private static final String ROOT = "/ws/v1/hiatus";
  private static final ObjectMapper JSON = new ObjectMapper();

  private HiatusCommand() {
  }

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new YarnConfiguration(), new HiatusCommand(), args));
  }

  @Override
  public int run(String[] words) throws Exception {
    String command = words.length == 0 ? "" : words[0];
    List<String> ids = Arrays.asList(words).subList(Math.min(1, words.length), words.length);
    try {
      if ((command.equals("suspend") || command.equals("resume")) && !ids.isEmpty()) {
        for (String id : ids) {
          call("PUT", ROOT + (id.startsWith("container_") ? "/containers/" : "/apps/") + id + "/parked",
              command.equals("suspend") ? "true" : "false");
        }
      } else if (command.equals("list") && ids.isEmpty()) {
        list(call("GET", ROOT, null));
      } else if (command.equals("explain") && ids.size() <= 1) {
        System.out.println(JSON.writerWithDefaultPrettyPrinter()
            .writeValueAsString(call("GET", ids.isEmpty() ? ROOT : ROOT + "/apps/" + ids.get(0), null)));
      } else if (command.equals("check-config") && ids.size() == 1) {
        List<ConfigCheck.Finding> findings = new ConfigCheck(Paths.get(ids.get(0))).findings();
        findings.forEach(System.out::println);
        return findings.isEmpty() ? 0 : 1;
      } else {
        System.err.println(USAGE);
        return 2;
      }
      return 0;
    } catch (IOException e) {
      System.err.println(e.getMessage());
      return 1;
    }
  }

  private static void list(JsonNode all) {
    for (JsonNode job : all.path("jobs")) {
      if (job.path("parked").asBoolean()) {
        print(job.path("application"), "parked", job.path("suspended").asInt() + " containers suspended");
      }
    }
    for (JsonNode one : all.path("suspended")) {
      print(one.path("container"), one.path("state").asText(), one.path("for_ms").asLong() / 1000 + " s",
          one.path("parked").asBoolean() ? "parked" : one.path("by").isTextual() ? "for " + one.path("by").asText() : "");
    }
    for (JsonNode one : all.path("not_parked_yet")) {
      print(one.path("container"), "running", one.path("because").asText());
    }
  }

  private static void print(JsonNode id, String... columns) {
    StringJoiner line = new StringJoiner("  ");
    line.add(id.asText());
    Arrays.asList(columns).forEach(line::add);
    System.out.println(line.toString().trim());
  }

  /** Asks the active ResourceManager, as the user that Hadoop takes this process for. */
  private JsonNode call(String method, String path, String body) throws Exception {
    return WebAppUtils.execOnActiveRM(getConf(), (address, sent) -> {
      boolean secure = UserGroupInformation.isSecurityEnabled();
      String user = UserGroupInformation.getCurrentUser().getShortUserName();
      URL url = new URL(address + path + (secure ? "" : "?user.name=" + URLEncoder.encode(user, "UTF-8")));
      SSLFactory ssl = YarnConfiguration.useHttps(getConf()) ? new SSLFactory(SSLFactory.Mode.CLIENT, getConf()) : null;
      try {
        if (ssl != null) {
          ssl.init();
        }
        HttpURLConnection connection = new AuthenticatedURL(null, ssl).openConnection(url, new AuthenticatedURL.Token());
        connection.setRequestMethod(method);
        connection.setRequestProperty("Accept", "application/json");
        if (sent != null) {
          connection.setDoOutput(true);
          connection.setRequestProperty("Content-Type", "application/json");
          try (OutputStream out = connection.getOutputStream()) {
            out.write(sent.getBytes(StandardCharsets.UTF_8));
          }
        }
        if (connection.getResponseCode() >= HttpURLConnection.HTTP_BAD_REQUEST) {
          throw new IOException(refusal(connection));
        }
        try (InputStream in = connection.getInputStream()) {
          return JSON.readTree(in);
        }
      } finally {
        if (ssl != null) {
          ssl.destroy();
        }
      }
    }, body);
  }

  private static String refusal(HttpURLConnection connection) throws IOException {
    String status = connection.getResponseCode() + " " + connection.getResponseMessage();
    try (InputStream in = connection.getErrorStream()) {
      return JSON.readTree(in).path("RemoteException").path("message").asText(status);
    } catch (com.fasterxml.jackson.core.JsonProcessingException | IllegalArgumentException e) {
      return status; // no answer of YARN's, or none at all
    }
  }
}
