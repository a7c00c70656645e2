package org.apache.hadoop.yarn.server.resourcemanager;

import org.apache.hadoop.yarn.webapp.WebApp;

/** Where YARN keeps the ResourceManager's web application: visible in its own package alone. */
public final class RunningWebApp {
  private RunningWebApp() {
  }

  /** The web application of a ResourceManager that has started it, or else null; a scheduler may be run without any. */
  public static WebApp of(ResourceManager managerOrNull) {
    return managerOrNull == null ? null : managerOrNull.getWebapp();
  }
}
