package io.hiatus.scheduler.web;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.inject.Inject;
import io.hiatus.report.Report;
import io.hiatus.scheduler.engine.OperatorService;
import io.hiatus.scheduler.explain.NamedExplanation;
import io.hiatus.scheduler.hadoop.JerseyTwo;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import javax.servlet.ServletContext;
import javax.servlet.http.HttpServletRequest;
import javax.ws.rs.Consumes;
import javax.ws.rs.DefaultValue;
import javax.ws.rs.GET;
import javax.ws.rs.PUT;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.WebApplicationException;
import javax.ws.rs.core.Context;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Response;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.http.RestCsrfPreventionFilter;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationAccessType;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.QueueACL;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.server.resourcemanager.RMAuditLogger;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.webapp.RMWebAppUtil;
import org.apache.hadoop.yarn.webapp.BadRequestException;
import org.apache.hadoop.yarn.webapp.ForbiddenException;
import org.apache.hadoop.yarn.webapp.NotFoundException;
import org.eclipse.jetty.servlet.ServletHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** {@code /ws/v1/hiatus} of the ResourceManager: what Hiatus does, and why; and parking by hand. */
@Path("/ws/v1/hiatus")
@Produces(MediaType.APPLICATION_JSON + "; charset=utf-8")
public class HiatusWebService {
  private static final String ROOT = "/ws/v1/hiatus";

  private final ResourceManager manager;

  @Inject
  public HiatusWebService(ResourceManager manager) {
    this.manager = manager;
  }

  /** What {@link JerseyTwo} makes, to which nobody gives a ResourceManager. */
  @Path("/")
  @Produces(MediaType.APPLICATION_JSON + "; charset=utf-8")
  public static final class OfContext extends HiatusWebService {
    /** With the ResourceManager that {@link #addTo(ServletHandler, ResourceManager)} has left there. */
    public OfContext(@Context ServletContext context) {
      super((ResourceManager) context.getAttribute(ROOT));
    }
  }

  /** Has a web application that runs serve it, from Hadoop 3.5 on; its filters, by which YARN knows who asks, come before. */
  static void addTo(ServletHandler handler, ResourceManager manager) throws ReflectiveOperationException {
    handler.getServletContext().setAttribute(ROOT, manager);
    JerseyTwo.servlet(OfContext.class)
        .ifPresent(servlet -> handler.addServletWithMapping(new ServletHolder(ROOT, servlet), ROOT + "/*"));
  }

  /** Has the ResourceManager of this configuration serve it, before Hadoop 3.5. */
  public static void addTo(Configuration conf) {
    // A set: a ResourceManager that becomes active again makes a new scheduler from the same configuration.
    Set<String> classes = new TreeSet<>(conf.getTrimmedStringCollection(YarnConfiguration.YARN_HTTP_WEBAPP_EXTERNAL_CLASSES));
    classes.add(HiatusWebService.class.getName());
    conf.setStrings(YarnConfiguration.YARN_HTTP_WEBAPP_EXTERNAL_CLASSES, classes.toArray(new String[0]));
  }

  /**
   * Mode, fault if any, queues and jobs in their order with the reasons, suspended containers, nodes that have such, claimed room,
   * counters; of applications those that the caller may view. Of each list so many entries, from the offset on; only these
   * lists (their names with commas between them), if any are named; of queues and jobs only those of one queue, if it is named.
   */
  @GET
  public String explain(@Context HttpServletRequest request, @QueryParam("offset") @DefaultValue("0") int offset,
      @QueryParam("limit") @DefaultValue("2147483647") int limit, @QueryParam("lists") @DefaultValue("") String lists,
      @QueryParam("queue") String queue) {
    if (offset < 0 || limit < 0) {
      throw new BadRequestException("offset and limit: whole numbers from 0 on expected");
    }
    Collection<String> named = StringUtils.getTrimmedStringCollection(lists);
    if (!NamedExplanation.areLists(named)) {
      throw new BadRequestException("lists: there is none of that name in " + named);
    }
    return NamedExplanation.print(operatorService().explained().part(viewer(request), new NamedExplanation.Wanted(named, queue, offset, limit)));
  }

  /** What ran, stood still and was changed in each second of the last ten minutes, in one queue or in all together. */
  @GET
  @Path("/timeline")
  public String timeline(@QueryParam("queue") String queue) {
    return NamedExplanation.print(operatorService().timeline().of(queue));
  }

  /** What this interface offers and answers, as OpenAPI describes such things. */
  @GET
  @Path("/openapi.json")
  public InputStream describe() {
    return HiatusWebService.class.getResourceAsStream("/hiatus-openapi.json");
  }

  /** Of all that what speaks of one application. */
  @GET
  @Path("/apps/{id}")
  public String explainApplication(@Context HttpServletRequest request, @PathParam("id") String text) {
    ApplicationId id = parse(() -> ApplicationId.fromString(text));
    RMApp app = app(id);
    Predicate<String> mayView = viewer(request);
    if (!mayView.test(id.toString())) {
      throw new ForbiddenException("You may not view " + app.getApplicationId());
    }
    ObjectNode part = operatorService().explained().of(id.toString(), mayView);
    part.put("may_park", mayModify(request, RMWebAppUtil.getCallerUserGroupInformation(request, true), app));
    return NamedExplanation.print(part);
  }

  /** Puts an application aside ({@code true}), or takes it up again ({@code false}). */
  @PUT
  @Path("/apps/{id}/parked")
  @Consumes(MediaType.APPLICATION_JSON)
  public Response parkApplication(@Context HttpServletRequest request, @PathParam("id") String text, String parked) {
    ApplicationId id = parse(() -> ApplicationId.fromString(text));
    return park(request, id, parked, hiatus -> hiatus.park(id, Boolean.parseBoolean(parked)));
  }

  /** The same for one container. */
  @PUT
  @Path("/containers/{id}/parked")
  @Consumes(MediaType.APPLICATION_JSON)
  public Response parkContainer(@Context HttpServletRequest request, @PathParam("id") String text, String parked) {
    ContainerId id = parse(() -> ContainerId.fromString(text));
    RMContainer container = operatorService().container(id);
    if (container == null) {
      throw new NotFoundException("There is no container " + id);
    }
    if (container.isAMContainer()) {
      throw new BadRequestException("An ApplicationMaster is never suspended");
    }
    return park(request, id.getApplicationAttemptId().getApplicationId(), parked,
        hiatus -> hiatus.park(id, Boolean.parseBoolean(parked)));
  }

  /** A token, as YARN writes such, for whoever may modify an application and reports for it: a driver that is not its ApplicationMaster. */
  @GET
  @Path("/apps/{id}/report-token")
  public String reportToken(@Context HttpServletRequest request, @PathParam("id") String text) throws IOException {
    ApplicationId id = parse(() -> ApplicationId.fromString(text));
    RMApp app = app(id);
    String user = userWhoMayModify(request, app, "Get Report Token");
    RMAppAttempt attempt = app.getCurrentAppAttempt();
    Token<AMRMTokenIdentifier> token = attempt == null ? null : attempt.getAMRMToken();
    if (token == null) {
      throw new NotFoundException(id + " has no ApplicationMaster");
    }
    RMAuditLogger.logSuccess(user, "Get Report Token", "HiatusWebService", id);
    return NamedExplanation.print(TextNode.valueOf(Report.tokenOfOthers(token).encodeToUrlString()));
  }

  private Response park(HttpServletRequest request, ApplicationId id, String parked, Predicate<OperatorService> change) {
    refuseForgery(request);
    if (!parked.equals("true") && !parked.equals("false")) {
      throw new BadRequestException("true or false expected");
    }
    RMApp app = app(id);
    String operation = parked.equals("true") ? "Park" : "Take Up";
    String user = userWhoMayModify(request, app, operation);
    if (!change.test(operatorService())) {
      throw new ForbiddenException("Hiatus is off, and stock CapacityScheduler suspends nothing");
    }
    RMAuditLogger.logSuccess(user, operation, "HiatusWebService", id);
    return Response.ok(parked).build();
  }

  /** Whoever may kill an application may park it: its user, those in its modify ACL, administrators of its queue and of YARN. */
  private String userWhoMayModify(HttpServletRequest request, RMApp app, String operation) {
    UserGroupInformation user = RMWebAppUtil.getCallerUserGroupInformation(request, true);
    if (user == null) {
      throw new WebApplicationException(Response.Status.UNAUTHORIZED);
    }
    ApplicationId id = app.getApplicationId();
    if (mayModify(request, user, app)) {
      return user.getUserName();
    }
    RMAuditLogger.logFailure(user.getUserName(), operation, ApplicationAccessType.MODIFY_APP.name(), "HiatusWebService",
        "Unauthorized user", id);
    throw new ForbiddenException(user.getUserName() + " may not modify " + id);
  }

  private boolean mayModify(HttpServletRequest request, UserGroupInformation user, RMApp app) {
    String anybody = manager.getConfig().get(CommonConfigurationKeys.HADOOP_HTTP_STATIC_USER,
        CommonConfigurationKeys.DEFAULT_HADOOP_HTTP_STATIC_USER);
    boolean known = user != null && (!UserGroupInformation.isSecurityEnabled() || !user.getUserName().equals(anybody));
    return known && (manager.getApplicationACLsManager()
            .checkAccess(user, ApplicationAccessType.MODIFY_APP, app.getUser(), app.getApplicationId())
        || manager.getQueueACLsManager()
            .checkAccess(user, QueueACL.ADMINISTER_QUEUE, app, request.getRemoteAddr(), null));
  }

  /**
   * A page of somebody else's makes a browser send no header of its own without asking us first: the protection that YARN's
   * {@code rest-csrf} filter offers, here whether that is configured or not.
   */
  private static void refuseForgery(HttpServletRequest request) {
    String agent = request.getHeader(RestCsrfPreventionFilter.HEADER_USER_AGENT);
    boolean browser = agent != null && (agent.startsWith("Mozilla") || agent.startsWith("Opera"));
    if (browser && request.getHeader(RestCsrfPreventionFilter.HEADER_DEFAULT) == null) {
      throw new BadRequestException("Browsers have to send the header " + RestCsrfPreventionFilter.HEADER_DEFAULT);
    }
  }

  /** Whom the caller may view, by the rules of YARN's own pages: its user, its view ACL, administrators of its queue and of YARN. */
  private Predicate<String> viewer(HttpServletRequest request) {
    UserGroupInformation user = RMWebAppUtil.getCallerUserGroupInformation(request, true);
    Map<String, Boolean> known = new HashMap<>();
    return application -> known.computeIfAbsent(application, id -> mayView(request, user, id));
  }

  private boolean mayView(HttpServletRequest request, UserGroupInformation user, String application) {
    // The core calls applications that are gone by numbers.
    ApplicationId id = application.startsWith(ApplicationId.appIdStrPrefix) ? ApplicationId.fromString(application) : null;
    RMApp app = id == null ? null : manager.getRMContext().getRMApps().get(id);
    if (user == null || app == null) {
      return !manager.getApplicationACLsManager().areACLsEnabled();
    }
    return manager.getApplicationACLsManager().checkAccess(user, ApplicationAccessType.VIEW_APP, app.getUser(), id)
        || manager.getQueueACLsManager()
            .checkAccess(user, QueueACL.ADMINISTER_QUEUE, app, request.getRemoteAddr(), null);
  }

  private RMApp app(ApplicationId id) {
    RMApp app = manager.getRMContext().getRMApps().get(id);
    if (app == null) {
      throw new NotFoundException("There is no application " + id);
    }
    return app;
  }

  private OperatorService operatorService() {
    ResourceScheduler scheduler = manager.getResourceScheduler();
    if (!(scheduler instanceof OperatorService.Provider)) {
      throw new NotFoundException("The scheduler is not Hiatus");
    }
    return ((OperatorService.Provider) scheduler).operatorService();
  }

  private static <T> T parse(java.util.function.Supplier<T> text) {
    try {
      return text.get();
    } catch (IllegalArgumentException e) {
      throw new BadRequestException(e);
    }
  }
}
