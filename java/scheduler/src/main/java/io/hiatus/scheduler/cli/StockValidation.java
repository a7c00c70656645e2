package io.hiatus.scheduler.cli;

import io.hiatus.scheduler.hadoop.HadoopApi;
import java.net.URL;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.LocalConfigurationProvider;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.RMContextImpl;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.placement.PlacementManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/** What CapacityScheduler itself says of a configuration: one is made of it, as by a ResourceManager that starts. */
final class StockValidation {
  private StockValidation() {
  }

  /** Why a ResourceManager with this configuration would not start; null if it would. */
  static String complaint(Configuration conf) {
    Configuration alone = alone(conf);
    AnyLabel labels = new AnyLabel();
    RMContextImpl context = new RMContextImpl();
    context.setConfigurationProvider(new LocalConfigurationProvider());
    context.setNodeLabelManager(labels);
    context.setQueuePlacementManager(new PlacementManager());
    context.setYarnConfiguration(alone);
    CapacityScheduler stock = new CapacityScheduler();
    Logger log = Logger.getLogger("org.apache.hadoop");
    Level before = log.getLevel();
    log.setLevel(Level.OFF); // what it has to say is in its exception
    try {
      labels.init(alone);
      stock.setConf(alone);
      stock.setRMContext(context);
      stock.init(alone);
      return null;
    } catch (RuntimeException e) {
      return innermost(e);
    } finally {
      stock.stop();
      labels.stop();
      log.setLevel(before);
    }
  }

  /** Its values, and nothing of files of the same names on the class path, which may be another cluster's. */
  private static Configuration alone(Configuration conf) {
    Configuration alone = new Configuration(false);
    alone.setClassLoader(new ClassLoader(alone.getClassLoader()) {
      @Override
      public URL getResource(String name) {
        return name.equals(YarnConfiguration.CS_CONFIGURATION_FILE) ? null : super.getResource(name);
      }
    });
    for (Map.Entry<String, String> property : conf) {
      alone.set(property.getKey(), property.getValue());
    }
    // What resources there are a process learns once, from its class path.
    alone.unset(YarnConfiguration.RESOURCE_TYPES);
    alone.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, false);
    HadoopApi.validateOnly(alone);
    return alone;
  }

  private static String innermost(Throwable thrown) {
    Throwable at = thrown;
    while (at.getCause() != null) {
      at = at.getCause();
    }
    return at.getMessage() == null ? at.toString() : at.getMessage();
  }

  /** Which labels there are is in the ResourceManager's store, and not in files: none is wrong. */
  private static final class AnyLabel extends RMNodeLabelsManager {
    @Override
    public boolean containsNodeLabel(String label) {
      return true;
    }
  }
}
