package io.hiatus.scheduler.hadoop;

import java.util.Optional;
import javax.servlet.Servlet;
import org.apache.hadoop.yarn.webapp.GenericExceptionHandler;

/**
 * Jersey 2, which YARN has from 3.5 on. Before that YARN's web application served the classes of others that its configuration
 * names; now it serves its own alone, and others have to bring a servlet.
 */
public final class JerseyTwo {
  private static final String CONTAINER = "org.glassfish.jersey.servlet.ServletContainer";
  private static final String CONFIGURATION = "org.glassfish.jersey.server.ResourceConfig";

  private JerseyTwo() {
  }

  /**
   * A servlet that serves this JAX-RS class, with answers to what is wrong as of YARN's own; empty where there is no Jersey 2.
   *
   * @throws ReflectiveOperationException if this Jersey 2 is another than that of Hadoop 3.5
   */
  public static Optional<Servlet> servlet(Class<?> service) throws ReflectiveOperationException {
    Class<?> container;
    try {
      container = Class.forName(CONTAINER);
    } catch (ClassNotFoundException e) {
      return Optional.empty();
    }
    Class<?> type = Class.forName(CONFIGURATION);
    Class<?>[] classes = {service, GenericExceptionHandler.class, RemoteExceptionWriter.class};
    Object configuration = type.getConstructor(Class[].class).newInstance((Object) classes);
    return Optional.of((Servlet) container.getConstructor(type).newInstance(configuration));
  }
}
