package io.hiatus.scheduler.explain;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.io.DataInputByteBuffer;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationTimeoutType;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;

/** How long an application may stand still: what runs out by the clock, whatever of it does. */
public final class TimeLeft {
  private final RMContext rm;

  public TimeLeft(RMContext rm) {
    this.rm = rm;
  }

  /**
   * Adds to what is said of an application whole seconds, from 0 on; null where there is no such limit, or where it is gone.
   * {@code lifetime_left_s}: until YARN ends it. {@code tokens_left_s}: until nobody renews the first of its delegation tokens any more.
   */
  public void tell(ObjectNode job, String application) {
    // The core calls applications that are gone by numbers.
    RMApp app = application.startsWith(ApplicationId.appIdStrPrefix) ? rm.getRMApps().get(ApplicationId.fromString(application)) : null;
    job.put("lifetime_left_s", app == null ? null : leftS(app.getApplicationTimeouts().get(ApplicationTimeoutType.LIFETIME)));
    job.put("tokens_left_s", app == null ? null : leftS(tokensEndMs(app)));
  }

  private static Long leftS(Long endMs) {
    return endMs == null ? null : Math.max(0, TimeUnit.MILLISECONDS.toSeconds(endMs - System.currentTimeMillis()));
  }

  /** The earliest last day of the delegation tokens that it was submitted with, unless the ResourceManager gets new ones then. */
  private Long tokensEndMs(RMApp app) {
    ContainerLaunchContext master = app.getApplicationSubmissionContext().getAMContainerSpec(); // null once it is done
    ByteBuffer tokens = master == null ? null : master.getTokens();
    if (tokens == null || rm.getYarnConfiguration().getBoolean(YarnConfiguration.RM_PROXY_USER_PRIVILEGES_ENABLED,
        YarnConfiguration.DEFAULT_RM_PROXY_USER_PRIVILEGES_ENABLED)) {
      return null;
    }
    Credentials credentials = new Credentials();
    try {
      ByteBuffer own = tokens.duplicate(); // others read the same one
      own.rewind();
      DataInputByteBuffer in = new DataInputByteBuffer();
      in.reset(own);
      credentials.readTokenStorageStream(in);
    } catch (IOException | RuntimeException e) { // users write them
      return null;
    }
    OptionalLong first = credentials.getAllTokens().stream().mapToLong(TimeLeft::lastDayMs).min();
    return first.isPresent() && first.getAsLong() < Long.MAX_VALUE ? first.getAsLong() : null;
  }

  /** {@code Long.MAX_VALUE} of what is no delegation token, or cannot be read. */
  private static long lastDayMs(Token<?> token) {
    try {
      TokenIdentifier identifier = token.decodeIdentifier();
      return identifier instanceof AbstractDelegationTokenIdentifier ? ((AbstractDelegationTokenIdentifier) identifier).getMaxDate()
          : Long.MAX_VALUE;
    } catch (IOException | RuntimeException e) { // users write them
      return Long.MAX_VALUE;
    }
  }
}
