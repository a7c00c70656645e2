package io.hiatus.scheduler.progress;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;

/** Where an ApplicationMaster may be asked: nobody makes the ResourceManager call anything but the master itself. */
final class MasterAddress {
  private static final int FIRST_USER_PORT = 1024;

  private MasterAddress() {
  }

  /**
   * Scheme, host and port of the web service that the application's master has registered; no path, for that is ours to say.
   * Null unless it is on the very node that runs the master's container, on a port that users may open and the node's own daemon has not.
   */
  static URI of(RMApp app) {
    RMAppAttempt attempt = app.getCurrentAppAttempt();
    Container master = attempt == null ? null : attempt.getMasterContainer();
    String url = app.getOriginalTrackingUrl();
    if (master == null || url == null) {
      return null;
    }
    try {
      URI registered = new URI(url.contains("://") ? url : "http://" + url);
      String scheme = String.valueOf(registered.getScheme()).toLowerCase(Locale.ROOT);
      String host = master.getNodeId().getHost();
      int port = registered.getPort();
      boolean web = scheme.equals("http") || scheme.equals("https");
      boolean nodeManagers = port == master.getNodeId().getPort()
          || String.valueOf(master.getNodeHttpAddress()).endsWith(":" + port);
      return web && host.equalsIgnoreCase(registered.getHost()) && port >= FIRST_USER_PORT && port <= 0xffff && !nodeManagers
          ? new URI(scheme, null, host, port, null, null, null) : null;
    } catch (URISyntaxException e) {
      return null; // it registered no URL
    }
  }
}
