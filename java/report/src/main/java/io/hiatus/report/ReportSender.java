package io.hiatus.report;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends what an application reports, signed with its token, to the ResourceManagers. Nothing depends on that it arrives. */
public final class ReportSender implements AutoCloseable {
  /** On this UDP port the ResourceManager hears; 0: nowhere. (HiatusConfiguration in java/scheduler.) */
  public static final String PORT = "yarn.scheduler.hiatus.rm.report-port";

  private static final Logger LOG = LoggerFactory.getLogger(ReportSender.class);

  /** With what reports are signed. */
  public interface Tokens {
    /**
     * The newest, for the ResourceManager changes its keys now and then; null if there is none.
     *
     * @throws IOException if it cannot be read
     */
    Token<AMRMTokenIdentifier> newest() throws IOException;
  }

  private final Configuration conf;
  private final Tokens tokens;
  private final DatagramSocket socket = new DatagramSocket();

  /** @throws IOException if nothing can be sent */
  public ReportSender(Configuration conf, Tokens tokens) throws IOException {
    this.conf = conf;
    this.tokens = tokens;
  }

  /** Number of the first report: milliseconds of the clock. With one more for each report, a later attempt, or one that restarts, counts on. */
  public static long firstNumber() {
    return System.currentTimeMillis();
  }

  /**
   * Sends what there is to say now; nothing without a token.
   *
   * @param reports what that is, for the speaker that the token names
   * @throws IOException if the token cannot be read
   */
  public void send(Function<AMRMTokenIdentifier, List<? extends Report>> reports) throws IOException {
    Token<AMRMTokenIdentifier> token = tokens.newest();
    if (token == null) {
      return;
    }
    for (Report report : reports.apply(token.decodeIdentifier())) {
      byte[] packet = report.signed(token.getPassword());
      for (String host : hosts(conf)) {
        try {
          socket.send(new DatagramPacket(packet, packet.length, new InetSocketAddress(host, conf.getInt(PORT, 0))));
        } catch (IOException | IllegalArgumentException e) { // its name is not known now
          LOG.debug("{} was not told of this application's progress", host, e);
        }
      }
    }
  }

  @Override
  public void close() {
    socket.close();
  }

  /** Those with which an ApplicationMaster speaks to the ResourceManager, if this user's process is one. */
  public static Tokens ofMaster(UserGroupInformation user) {
    return () -> newest(user);
  }

  @SuppressWarnings("unchecked")
  private static Token<AMRMTokenIdentifier> newest(UserGroupInformation user) throws IOException {
    Token<AMRMTokenIdentifier> newest = null;
    for (Token<? extends TokenIdentifier> token : user.getTokens()) {
      if (token.getKind().equals(AMRMTokenIdentifier.KIND_NAME)) {
        Token<AMRMTokenIdentifier> one = (Token<AMRMTokenIdentifier>) token;
        if (newest == null || one.decodeIdentifier().getKeyId() - newest.decodeIdentifier().getKeyId() > 0) {
          newest = one;
        }
      }
    }
    return newest;
  }

  /** Hosts of the ResourceManagers; of two only the active one listens. */
  public static List<String> hosts(Configuration conf) {
    if (!HAUtil.isHAEnabled(conf)) {
      return Collections.singletonList(conf.getSocketAddr(YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.DEFAULT_RM_SCHEDULER_ADDRESS, YarnConfiguration.DEFAULT_RM_SCHEDULER_PORT).getHostName());
    }
    List<String> hosts = new ArrayList<>();
    for (String id : HAUtil.getRMHAIds(conf)) {
      String address = conf.get(HAUtil.addSuffix(YarnConfiguration.RM_SCHEDULER_ADDRESS, id),
          conf.get(HAUtil.addSuffix(YarnConfiguration.RM_HOSTNAME, id), ""));
      hosts.add(address.replaceFirst(":\\d+$", ""));
    }
    return hosts;
  }
}
