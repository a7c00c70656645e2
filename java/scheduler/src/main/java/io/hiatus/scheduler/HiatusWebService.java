package io.hiatus.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import javax.ws.rs.GET;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;
import javax.ws.rs.WebApplicationException;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Response;
import com.google.inject.Inject;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;

/** {@code /ws/v1/hiatus} of the ResourceManager: what Hiatus does, and why. */
@Path("/ws/v1/hiatus")
public class HiatusWebService {
  private final ResourceManager manager;

  @Inject
  public HiatusWebService(ResourceManager manager) {
    this.manager = manager;
  }

  /** Mode, fault if any, jobs in their order with the reasons, suspended containers, claimed room, counters. */
  @GET
  @Produces(MediaType.APPLICATION_JSON + "; charset=utf-8")
  public String explain() {
    ResourceScheduler scheduler = manager.getResourceScheduler();
    if (!(scheduler instanceof HiatusScheduler)) {
      throw new WebApplicationException(Response.Status.NOT_FOUND);
    }
    try {
      return ((HiatusScheduler) scheduler).explain();
    } catch (JsonProcessingException e) {
      throw new WebApplicationException(e);
    }
  }
}
