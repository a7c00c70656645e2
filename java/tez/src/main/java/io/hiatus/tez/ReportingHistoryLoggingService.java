package io.hiatus.tez;

import io.hiatus.report.ReportSender;
import io.hiatus.report.StageReporter;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.tez.dag.app.AppContext;
import org.apache.tez.dag.history.DAGHistoryEvent;
import org.apache.tez.dag.history.logging.HistoryLoggingService;
import org.apache.tez.dag.history.logging.impl.SimpleHistoryLoggingService;

/**
 * Has a Tez application tell Hiatus how much work is left for its containers:
 * {@code tez.history.logging.service.class=io.hiatus.tez.ReportingHistoryLoggingService}. It reports the vertices every second, and logs
 * nothing itself: that does the service that would be there without it. Nothing depends on what it reports.
 */
public final class ReportingHistoryLoggingService extends HistoryLoggingService {
  /** Which class logs; by default the one that Tez has by default. */
  public static final String LOGS = "tez.hiatus.history.logging.service.class";

  private HistoryLoggingService logs;
  private StageReporter reporter;

  /** As Tez makes it. */
  public ReportingHistoryLoggingService() {
    super(ReportingHistoryLoggingService.class.getName());
  }

  @Override
  public void setAppContext(AppContext context) {
    super.setAppContext(context);
    Configuration conf = context.getAMConf();
    logs = ReflectionUtils.newInstance(conf.getClass(LOGS, SimpleHistoryLoggingService.class, HistoryLoggingService.class), conf);
    logs.setAppContext(context);
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    logs.init(conf);
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    logs.start();
    reporter = StageReporter.start(new YarnConfiguration(getConfig()), ReportSender.ofMaster(UserGroupInformation.getCurrentUser()),
        new Vertices(appContext));
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    if (reporter != null) {
      reporter.interrupt();
    }
    logs.stop();
    super.serviceStop();
  }

  @Override
  public void handle(DAGHistoryEvent event) {
    logs.handle(event);
  }
}
