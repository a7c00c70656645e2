package io.hiatus.spark;

import io.hiatus.report.ReportSender;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authentication.client.AuthenticatedURL;
import org.apache.hadoop.security.authentication.client.AuthenticationException;
import org.apache.hadoop.security.ssl.SSLFactory;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.webapp.util.WebAppUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * With what a driver signs. In cluster mode it is the ApplicationMaster, and has that one's token. In client mode it asks the
 * ResourceManager's web interface for one, with the credentials of its user, who may have it for his own applications.
 */
final class DriverTokens implements ReportSender.Tokens {
  private static final Logger LOG = LoggerFactory.getLogger(DriverTokens.class);
  /** The ResourceManager changes its keys, and an application its attempt. */
  private static final long RENEW_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Configuration conf;
  private final String application;
  private final UserGroupInformation user;
  private final ReportSender.Tokens ofMaster;
  private Token<AMRMTokenIdentifier> asked;
  private long nextNanos = System.nanoTime();

  /** Of the user of the caller. */
  DriverTokens(Configuration conf, String application) throws IOException {
    this.conf = conf;
    this.application = application;
    this.user = UserGroupInformation.getCurrentUser();
    this.ofMaster = ReportSender.ofMaster(user);
  }

  @Override
  public Token<AMRMTokenIdentifier> newest() throws IOException {
    Token<AMRMTokenIdentifier> own = ofMaster.newest();
    return own == null ? asked() : own;
  }

  private Token<AMRMTokenIdentifier> asked() {
    if (System.nanoTime() - nextNanos >= 0) {
      try {
        asked = user.doAs((PrivilegedExceptionAction<Token<AMRMTokenIdentifier>>) this::ask);
        nextNanos = System.nanoTime() + RENEW_NANOS;
      } catch (IOException | RuntimeException e) {
        LOG.info("Hiatus gives no token to report the stages of {} with: {}", application, e.toString());
        nextNanos = System.nanoTime() + RETRY_NANOS;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the application ends
      }
    }
    return asked;
  }

  /** Asks the ResourceManagers one after the other: of two only the active one has it. */
  private Token<AMRMTokenIdentifier> ask() throws IOException {
    Configuration all = new Configuration(conf);
    all.unset(YarnConfiguration.RM_HA_ID); // that of this machine, which would be asked again and again
    int managers = HAUtil.isHAEnabled(all) ? HAUtil.getRMHAIds(all).size() : 1;
    IOException refused = null;
    for (int manager = 0; manager < managers; manager++) {
      try {
        return ask(WebAppUtils.getRMWebAppURLWithScheme(all, manager));
      } catch (IOException e) {
        refused = e;
      }
    }
    throw refused;
  }

  private Token<AMRMTokenIdentifier> ask(String address) throws IOException {
    String name = UserGroupInformation.isSecurityEnabled() ? "" : "?user.name=" + URLEncoder.encode(user.getShortUserName(), "UTF-8");
    URL url = new URL(address + "/ws/v1/hiatus/apps/" + application + "/report-token" + name);
    SSLFactory ssl = YarnConfiguration.useHttps(conf) ? new SSLFactory(SSLFactory.Mode.CLIENT, conf) : null;
    try {
      if (ssl != null) {
        ssl.init();
      }
      try (BufferedReader in = new BufferedReader(new InputStreamReader(
          new AuthenticatedURL(null, ssl).openConnection(url, new AuthenticatedURL.Token()).getInputStream(), StandardCharsets.UTF_8))) {
        Token<AMRMTokenIdentifier> token = new Token<>();
        token.decodeFromUrlString(in.readLine().replace("\"", ""));
        return token;
      }
    } catch (AuthenticationException | GeneralSecurityException e) {
      throw new IOException(e);
    } finally {
      if (ssl != null) {
        ssl.destroy();
      }
    }
  }
}
