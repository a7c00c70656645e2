package io.hiatus.scheduler.bridge;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes on what the core says, through Rust's log facade, to the logger {@code io.hiatus.core}. That logger's level is looked at
 * before each step, so that it may be changed at run time; what it would not write is not even put into words.
 */
public final class CoreLog {
  private static final Logger LOG = LoggerFactory.getLogger("io.hiatus.core");

  private int level = -1;

  /** Before a call of the library. */
  public void listen() {
    int now = LOG.isTraceEnabled() ? 5 : LOG.isDebugEnabled() ? 4 : LOG.isInfoEnabled() ? 3 : LOG.isWarnEnabled() ? 2
        : LOG.isErrorEnabled() ? 1 : 0;
    if (now != level) {
      level = now;
      Native.listen(now);
    }
  }

  /** Behind one that said something. */
  public void passOn() {
    String said = Native.said();
    if (said != null) {
      for (String line : said.split("\n")) {
        passOn(line.charAt(0), line.substring(1));
      }
    }
  }

  private static void passOn(char level, String message) {
    switch (level) {
      case '1':
        LOG.error(message);
        break;
      case '2':
        LOG.warn(message);
        break;
      case '3':
        LOG.info(message);
        break;
      case '4':
        LOG.debug(message);
        break;
      default:
        LOG.trace(message);
        break;
    }
  }
}
