package io.hiatus.scheduler.web;

import static org.junit.Assert.assertEquals;

import io.hiatus.scheduler.MockCluster;
import java.io.File;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.http.HttpServer2;
import org.apache.hadoop.security.AuthenticationFilterInitializer;
import org.apache.hadoop.yarn.server.resourcemanager.ApplicationMasterService;
import org.apache.hadoop.yarn.server.resourcemanager.webapp.RMWebApp;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.apache.hadoop.yarn.webapp.WebApps;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** {@code /hiatus} of the ResourceManager: who gets it at all. */
public class HiatusPagesTest {
  @Rule
  public TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void whoIsNotLetInGetsNoneOfItsFiles() throws Exception {
    File secret = folder.newFile();
    Files.write(secret.toPath(), "not told".getBytes(StandardCharsets.UTF_8));
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HttpServer2.FILTER_INITIALIZER_PROPERTY, AuthenticationFilterInitializer.class.getName());
      conf.set("hadoop.http.authentication.simple.anonymous.allowed", "false");
      conf.set("hadoop.http.authentication.signature.secret.file", secret.getPath());
    })) {
      WebApp app = WebApps.$for("cluster", ApplicationMasterService.class, cluster.rm().getApplicationMasterService(), "ws")
          .with(cluster.conf()).at("127.0.0.1", 0, true).start(new RMWebApp(cluster.rm()));
      try {
        HiatusPages.addTo(app, cluster.rm());
        for (String path : new String[] {"/hiatus", "/hiatus/", "/hiatus/hiatus.js"}) {
          assertEquals(path, HttpURLConnection.HTTP_UNAUTHORIZED, status(app, path));
          assertEquals(path, HttpURLConnection.HTTP_OK, status(app, path + "?user.name=alice"));
        }
      } finally {
        app.stop();
      }
    }
  }

  private static int status(WebApp app, String path) throws IOException {
    return ((HttpURLConnection) new URL("http://127.0.0.1:" + app.port() + path).openConnection()).getResponseCode();
  }
}
