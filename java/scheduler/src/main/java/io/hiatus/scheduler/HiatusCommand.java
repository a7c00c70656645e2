package io.hiatus.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.hiatus.scheduler.cli.AnswerTables;
import io.hiatus.scheduler.cli.ConfigCheck;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.apache.commons.lang3.StringUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authentication.client.AuthenticatedURL;
import org.apache.hadoop.security.authentication.client.AuthenticationException;
import org.apache.hadoop.security.ssl.SSLFactory;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.webapp.util.WebAppUtils;

/** {@code yarn hiatus …}, or {@code yarn jar hiatus-scheduler-<version>.jar …}: Hiatus by hand. */
public final class HiatusCommand extends Configured implements Tool {
  private static final String USAGE = "status                mode, whether stock has taken over, and what was done\n"
      + "queues                what each is entitled to, and holds\n"
      + "jobs [QUEUE]          in their order: what they should hold and do, what they wait for\n"
      + "nodes                 those with suspended containers, and the memory that these keep\n"
      + "list                  what is suspended or parked\n"
      + "explain [APPLICATION] everything that Hiatus knows and decides, or one application's part of it, as JSON\n"
      + "suspend ID…           park applications or containers until they are resumed\n"
      + "resume ID…            take them up again\n"
      + "check-config FOLDER   what in a folder of Hadoop's configuration keeps Hiatus from working as it should\n"
      + "--json after the first five: the answer as the REST interface gave it";
  private static final String JSON_OPTION = "--json";
  /** What Java says where there is no ticket, or none that is still valid. */
  private static final String NO_TICKET = "Failed to find any Kerberos";
  /** Hadoop puts it before what it was told to say. */
  private static final String WRAPPED = "java.lang.Exception: ";
  private static final String ROOT = "/ws/v1/hiatus";
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Where the active ResourceManager is, once that is known. */
  private String active;

  private HiatusCommand() {
  }

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new YarnConfiguration(), new HiatusCommand(), args));
  }

  @Override
  public int run(String[] words) throws Exception {
    List<String> ids = new ArrayList<>(Arrays.asList(words));
    boolean json = ids.remove(JSON_OPTION);
    String command = ids.isEmpty() ? "" : ids.remove(0);
    try {
      if ((command.equals("suspend") || command.equals("resume")) && !ids.isEmpty() && !json) {
        for (String id : ids) {
          call("PUT", ROOT + (id.startsWith("container_") ? "/containers/" : "/apps/") + id + "/parked",
              command.equals("suspend") ? "true" : "false");
          if (command.equals("suspend")) {
            warnWhoParks(applicationOf(id));
          }
        }
      } else if (command.equals("status") && ids.isEmpty()) {
        show("?limit=0", json, AnswerTables::status);
      } else if (command.equals("queues") && ids.isEmpty()) {
        show("?lists=queues", json, AnswerTables::queues);
      } else if (command.equals("jobs") && ids.size() <= 1) {
        show("?lists=jobs" + (ids.isEmpty() ? "" : "&queue=" + encoded(ids.get(0))), json, AnswerTables::jobs);
      } else if (command.equals("nodes") && ids.isEmpty()) {
        show("?lists=nodes", json, AnswerTables::nodes);
      } else if (command.equals("list") && ids.isEmpty()) {
        show("?lists=jobs,suspended,not_parked_yet", json, AnswerTables::suspendedAndParked);
      } else if (command.equals("explain") && ids.size() <= 1) {
        show(ids.isEmpty() ? "" : "/apps/" + ids.get(0), true, null);
      } else if (command.equals("check-config") && ids.size() == 1 && !json) {
        ConfigCheck checked = new ConfigCheck(Paths.get(ids.get(0)));
        checked.findings().forEach(System.out::println);
        checked.notes().forEach(note -> System.out.println("(to know) " + note));
        return checked.findings().isEmpty() ? 0 : 1;
      } else {
        System.err.println(USAGE);
        return 2;
      }
      return 0;
    } catch (AuthenticationException e) {
      System.err.println(strangers(e));
      return 1;
    } catch (IOException e) {
      System.err.println(e.getMessage());
      return 1;
    }
  }

  /** Who asks could not be shown to the ResourceManager, and what to do. */
  private static String strangers(AuthenticationException e) {
    Throwable first = e;
    while (first.getCause() instanceof AuthenticationException) {
      first = first.getCause(); // Hadoop wraps it, to say which address was asked
    }
    String reason = String.valueOf(first.getMessage());
    return "The ResourceManager's web server does not learn who asks: " + reason + ". " + (reason.contains(NO_TICKET)
        ? "Get a ticket with kinit" : "If klist shows a valid ticket, look at the KDC and at the keytab of that web server");
  }

  private void show(String what, boolean json, Function<JsonNode, String> table) throws Exception {
    JsonNode answer = call("GET", ROOT + what, null);
    System.out.println(json ? JSON.writerWithDefaultPrettyPrinter().writeValueAsString(answer) : table.apply(answer));
  }

  private static String applicationOf(String id) {
    return (id.startsWith("container_") ? ContainerId.fromString(id).getApplicationAttemptId().getApplicationId() : id).toString();
  }

  /** What goes on while somebody's work stands still, and that not every application survives it. */
  private void warnWhoParks(String application) throws Exception {
    try {
      JsonNode job = call("GET", ROOT + "/apps/" + application, null).at("/jobs/0");
      if (job.path("tokens_left_s").isNumber()) {
        System.err.println("Parked, but a delegation token of " + application + " is renewed no more in " + job.path("tokens_left_s").asText()
            + " s, and its tasks then fail where they need it. Resume it early enough for what it has left to do");
      }
      if (job.path("lifetime_left_s").isNumber()) {
        System.err.println("Parked, but YARN ends " + application + " in " + job.path("lifetime_left_s").asText()
            + " s, at the end of its lifetime. For longer: yarn app -appId " + application + " -updateLifetime SECONDS");
      }
      if (job.path("spared_because").isTextual()) {
        System.err.println("Parked, though nothing of " + application + " is suspended for others: "
            + job.path("spared_because").asText() + ". Look whether it survives that");
      }
    } catch (IOException e) {
      // Who may modify it need not be one who may view it.
      System.err.println("Parked; how long " + application + " may stand still, and whether it survives that, is not known: " + e.getMessage());
    }
  }

  /** Asks the active ResourceManager. */
  private JsonNode call(String method, String path, String body) throws IOException, AuthenticationException {
    if (active == null) {
      active = active();
    }
    return ask(active, method, path, body);
  }

  /** Web address of the active ResourceManager, by asking each over HTTP: by RPC, as Hadoop's own commands do, only administrators may. */
  private String active() throws IOException, AuthenticationException {
    Configuration conf = new YarnConfiguration(getConf());
    if (!HAUtil.isHAEnabled(conf)) {
      return WebAppUtils.getRMWebAppURLWithScheme(conf, 0);
    }
    conf.unset(YarnConfiguration.RM_HA_ID); // that of this machine, which would be asked again and again
    List<String> silent = new ArrayList<>();
    for (int manager = 0; manager < HAUtil.getRMHAIds(conf).size(); manager++) {
      String address = WebAppUtils.getRMWebAppURLWithScheme(conf, manager);
      try {
        if (ask(address, "GET", "/ws/v1/cluster/info", null).at("/clusterInfo/haState").asText().equals(HAServiceState.ACTIVE.name())) {
          return address;
        }
      } catch (IOException e) {
        silent.add("; " + e.getMessage());
      }
    }
    throw new IOException("No ResourceManager is active" + String.join("", silent));
  }

  /** One exchange, as the user that Hadoop takes this process for. */
  private JsonNode ask(String address, String method, String path, String body) throws IOException, AuthenticationException {
    boolean secure = UserGroupInformation.isSecurityEnabled();
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    URL url = new URL(address + path + (secure ? "" : (path.contains("?") ? "&" : "?") + "user.name=" + encoded(user)));
    SSLFactory ssl = YarnConfiguration.useHttps(getConf()) ? new SSLFactory(SSLFactory.Mode.CLIENT, getConf()) : null;
    try {
      if (ssl != null) {
        ssl.init();
      }
      HttpURLConnection connection = new AuthenticatedURL(null, ssl).openConnection(url, new AuthenticatedURL.Token());
      connection.setRequestMethod(method);
      connection.setRequestProperty("Accept", "application/json");
      if (body != null) {
        connection.setDoOutput(true);
        connection.setRequestProperty("Content-Type", "application/json");
        try (OutputStream out = connection.getOutputStream()) {
          out.write(body.getBytes(StandardCharsets.UTF_8));
        }
      }
      if (connection.getResponseCode() >= HttpURLConnection.HTTP_BAD_REQUEST) {
        throw new IOException(refusal(connection));
      }
      try (InputStream in = connection.getInputStream()) {
        return JSON.readTree(in);
      }
    } catch (ConnectException e) {
      throw new IOException(address + " does not answer: " + e.getMessage(), e);
    } catch (GeneralSecurityException e) {
      throw new IOException("ssl-client.xml: " + e.getMessage(), e);
    } finally {
      if (ssl != null) {
        ssl.destroy();
      }
    }
  }

  private static String encoded(String text) throws IOException {
    return URLEncoder.encode(text, StandardCharsets.UTF_8.name());
  }

  private static String refusal(HttpURLConnection connection) throws IOException {
    String status = connection.getResponseCode() + " " + connection.getResponseMessage();
    try (InputStream in = connection.getErrorStream()) {
      return StringUtils.removeStart(JSON.readTree(in).path("RemoteException").path("message").asText(status), WRAPPED);
    } catch (com.fasterxml.jackson.core.JsonProcessingException | IllegalArgumentException e) {
      return status; // no answer of YARN's, or none at all
    }
  }
}
