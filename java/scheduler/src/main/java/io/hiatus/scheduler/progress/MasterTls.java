package io.hiatus.scheduler.progress;

import java.security.GeneralSecurityException;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.webproxy.ProxyCA;
import org.apache.http.conn.socket.LayeredConnectionSocketFactory;
import org.apache.http.conn.ssl.SSLConnectionSocketFactory;

/**
 * TLS with ApplicationMasters, by the rule of YARN's web proxy: one shows the certificate that the ResourceManager has made for its
 * application ({@code yarn.resourcemanager.application-https.policy}), or else one that the JVM trusts for that host.
 */
public final class MasterTls {
  private MasterTls() {
  }

  /** How an application's master is spoken to. */
  public static LayeredConnectionSocketFactory of(ProxyCA authority, ApplicationId id) {
    try {
      return new SSLConnectionSocketFactory(authority.createSSLContext(id), authority.getHostnameVerifier());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JVM has TLS", e);
    }
  }
}
