package io.hiatus.scheduler.hadoop;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractCSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.UsersManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.OrderingPolicy;

/**
 * What Hiatus needs of CapacityScheduler that Hadoop's versions do not have under one name. It is looked for once, by what is
 * there and not by the version's number. Where it is missing, the first use raises a LinkageError, and stock takes over.
 */
public final class HadoopApi {
  private static final String CAPACITY = CSQueue.class.getPackage().getName() + ".";

  // 3.3: LeafQueue is what all queues of applications extend; user limits are whole numbers.
  private static final Class<?> LEAF = firstOf(CAPACITY + "AbstractLeafQueue", CAPACITY + "LeafQueue");
  @SuppressWarnings("unchecked")
  private static final ToDoubleFunction<CSQueue> USER_LIMIT = call(ToDoubleFunction.class, LEAF, "getUserLimit");
  @SuppressWarnings("unchecked")
  private static final ToDoubleFunction<CSQueue> USER_LIMIT_FACTOR = call(ToDoubleFunction.class, LEAF, "getUserLimitFactor");
  @SuppressWarnings("unchecked")
  private static final Function<CSQueue, Collection<FiCaSchedulerApp>> APPLICATIONS = call(Function.class, LEAF, "getApplications");
  @SuppressWarnings("unchecked")
  private static final Function<CSQueue, OrderingPolicy<FiCaSchedulerApp>> PENDING_APPLICATIONS =
      call(Function.class, LEAF, "getPendingAppsOrderingPolicy");
  @SuppressWarnings("unchecked")
  private static final BiFunction<CSQueue, String, UsersManager.User> USER = call(BiFunction.class, LEAF, "getUser", String.class);
  @SuppressWarnings("unchecked")
  private static final Consumer<CSQueue> ACTIVATE_APPLICATIONS = callProtected(Consumer.class, LEAF, "activateApplications");
  // 3.3: it has no public getter.
  @SuppressWarnings("unchecked")
  private static final Function<CSQueue, Lock> WRITE_LOCK = readProtected(Function.class, AbstractCSQueue.class, "writeLock");

  // 3.3: no context of queues; the scheduler's configuration is the one that they read.
  private static final Function<CapacityScheduler, CapacitySchedulerConfiguration> QUEUE_CONFIGURATION = queueConfiguration();

  // 3.3: metrics are made of every queue.
  private static final BiConsumer<Configuration, Boolean> VALIDATION = validation();

  private HadoopApi() {
  }

  /** Whether applications run in this queue, and no other queue is below it. */
  public static boolean isLeaf(CSQueue queue) {
    return LEAF.isInstance(queue);
  }

  /** What part of a leaf queue each of its users gets at least while all want more, percent. */
  public static double userLimit(CSQueue leaf) {
    return USER_LIMIT.applyAsDouble(leaf);
  }

  /** How many times a leaf queue's share one user may hold; -1: without bound. */
  public static double userLimitFactor(CSQueue leaf) {
    return USER_LIMIT_FACTOR.applyAsDouble(leaf);
  }

  /** The attempts that a leaf queue lets run. */
  public static Collection<FiCaSchedulerApp> applications(CSQueue leaf) {
    return APPLICATIONS.apply(leaf);
  }

  /** The attempts that wait until a leaf queue lets them run, in the order in which it will. */
  public static OrderingPolicy<FiCaSchedulerApp> pendingApplications(CSQueue leaf) {
    return PENDING_APPLICATIONS.apply(leaf);
  }

  /** What a leaf queue knows of one of its users, or null if he has nothing in it. */
  public static UsersManager.User user(CSQueue leaf, String name) {
    return USER.apply(leaf, name);
  }

  /** Has a leaf queue let in whom its limits on ApplicationMasters allow, of those that wait, in their order. */
  public static void activateApplications(CSQueue leaf) {
    ACTIVATE_APPLICATIONS.accept(leaf);
  }

  /** The lock under which a queue changes. */
  public static Lock writeLock(CSQueue queue) {
    return WRITE_LOCK.apply(queue);
  }

  /** The configuration that the queues read, with what templates set of queues that were created automatically. */
  public static CapacitySchedulerConfiguration queueConfiguration(CapacityScheduler scheduler) {
    return QUEUE_CONFIGURATION.apply(scheduler);
  }

  /** Whether what happened is a change of the queues alone. 3.3 knows no AUTO_QUEUE_DELETION. */
  public static boolean changesQueues(SchedulerEventType type) {
    return type == SchedulerEventType.MANAGE_QUEUE || type.name().equals("AUTO_QUEUE_DELETION");
  }

  /** Has a scheduler that is made of this configuration leave nothing among this process's metrics, where Hadoop can. */
  public static void validateOnly(Configuration conf) {
    VALIDATION.accept(conf, true);
  }

  @SuppressWarnings("unchecked")
  private static Function<CapacityScheduler, CapacitySchedulerConfiguration> queueConfiguration() {
    if (!has(CapacityScheduler.class, "getQueueContext")) {
      return CapacityScheduler::getConfiguration;
    }
    Function<CapacityScheduler, Object> context = call(Function.class, CapacityScheduler.class, "getQueueContext");
    return context.andThen(call(Function.class, firstOf(CAPACITY + "CapacitySchedulerQueueContext"), "getConfiguration"));
  }

  @SuppressWarnings("unchecked")
  private static BiConsumer<Configuration, Boolean> validation() {
    String name = "setConfigurationValidation";
    return has(QueueMetrics.class, name) ? call(BiConsumer.class, QueueMetrics.class, name, Configuration.class, boolean.class)
        : (conf, only) -> { };
  }

  private static boolean has(Class<?> owner, String method) {
    return Stream.of(owner.getMethods()).anyMatch(one -> one.getName().equals(method));
  }

  private static Class<?> firstOf(String... names) {
    for (String name : names) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException e) {
        continue;
      }
    }
    throw new NoClassDefFoundError(String.join(" or ", names));
  }

  private static <F> F call(Class<F> as, Class<?> owner, String method, Class<?>... parameters) {
    return bind(as, owner, method, () -> MethodHandles.publicLookup().unreflect(owner.getMethod(method, parameters)));
  }

  /** A method that its owner's subclasses alone may call. */
  private static <F> F callProtected(Class<F> as, Class<?> owner, String method) {
    return bind(as, owner, method, () -> {
      Method found = owner.getDeclaredMethod(method);
      found.setAccessible(true);
      return MethodHandles.publicLookup().unreflect(found);
    });
  }

  /** A field that its owner's subclasses alone may read. */
  private static <F> F readProtected(Class<F> as, Class<?> owner, String field) {
    return bind(as, owner, field, () -> {
      Field found = owner.getDeclaredField(field);
      found.setAccessible(true);
      return MethodHandles.publicLookup().unreflectGetter(found);
    });
  }

  private static <F> F bind(Class<F> as, Class<?> owner, String member, Finder finder) {
    try {
      return MethodHandleProxies.asInterfaceInstance(as, finder.find());
    } catch (ReflectiveOperationException e) {
      throw new IncompatibleClassChangeError(owner.getName() + " has no " + member + " that is of use");
    }
  }

  /** Looks for a member of one of Hadoop's classes. */
  private interface Finder {
    MethodHandle find() throws ReflectiveOperationException;
  }
}
