package io.hiatus.tez;

import static org.junit.Assert.assertEquals;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.tez.dag.app.AppContext;
import org.apache.tez.dag.history.DAGHistoryEvent;
import org.apache.tez.dag.history.logging.HistoryLoggingService;
import org.junit.Test;

/** History is logged as without it. */
public class ReportingHistoryLoggingServiceTest {
  private static final List<String> SEEN = new ArrayList<>();

  /** What logs history. */
  public static final class Log extends HistoryLoggingService {
    public Log() {
      super("Log");
    }

    @Override
    protected void serviceInit(Configuration conf) {
      SEEN.add("init for " + appContext.getUser());
    }

    @Override
    protected void serviceStart() {
      SEEN.add("start");
    }

    @Override
    protected void serviceStop() {
      SEEN.add("stop");
    }

    @Override
    public void handle(DAGHistoryEvent event) {
      SEEN.add("event");
    }
  }

  @Test
  public void theServiceThatLogsHearsAll() {
    Configuration conf = new Configuration(false);
    conf.setClass(ReportingHistoryLoggingService.LOGS, Log.class, HistoryLoggingService.class);
    AppContext context = mock(AppContext.class);
    when(context.getAMConf()).thenReturn(conf);
    when(context.getUser()).thenReturn("user");
    ReportingHistoryLoggingService service = new ReportingHistoryLoggingService();
    service.setAppContext(context);
    service.init(conf);
    service.start();
    service.handle(new DAGHistoryEvent(null));
    service.stop();
    assertEquals(Arrays.asList("init for user", "start", "event", "stop"), SEEN);
  }
}
