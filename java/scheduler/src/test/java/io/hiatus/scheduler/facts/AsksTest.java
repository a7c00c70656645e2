package io.hiatus.scheduler.facts;

import static java.util.Arrays.asList;
import static org.junit.Assert.assertEquals;

import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.facts.Asks.Places;
import io.hiatus.scheduler.facts.Asks.Wanted;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.resource.DominantResourceCalculator;
import org.apache.hadoop.yarn.util.resource.ResourceUtils;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** What an application asks for, in the core's words. */
public class AsksTest {
  private static final String GPU = "example.com/gpu";

  @Before
  public void addAResource() {
    Configuration types = new Configuration(false);
    types.set(YarnConfiguration.RESOURCE_TYPES, GPU);
    ResourceUtils.resetResourceTypes(types);
  }

  @After
  public void removeIt() {
    ResourceUtils.resetResourceTypes();
  }

  private static ResourceRequest request(long id, int count, int gpus, boolean relaxes) {
    Resource one = Resource.newInstance(1024, 1);
    one.setResourceValue(GPU, gpus);
    return ResourceRequest.newBuilder().priority(Priority.newInstance(1)).resourceName(ResourceRequest.ANY).capability(one)
        .allocationRequestId(id).numContainers(count).relaxLocality(relaxes).build();
  }

  private static Collection<Wanted> asks(ResourceRequest... requests) throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(YarnConfiguration.RESOURCE_TYPES, GPU);
      conf.set("yarn.scheduler.capacity.resource-calculator", DominantResourceCalculator.class.getName());
    })) {
      cluster.node(4096, 4);
      FiCaSchedulerApp attempt = cluster.attempt(cluster.run("default"));
      attempt.updateResourceRequests(asList(requests));
      return Asks.of(attempt, any -> false).values();
    }
  }

  private static void assertOne(int count, Places places, Collection<Wanted> asks) {
    assertEquals(1, asks.size());
    Wanted only = asks.iterator().next();
    assertEquals(asList(count, places), asList(only.count, only.places));
  }

  @Test
  public void whatNamesNoPlacesMayBeAnywhere() throws Exception {
    assertOne(3, Places.ANYWHERE, asks(request(1, 3, 0, true)));
  }

  @Test
  public void whatNeedsMoreThanMemoryAndVcoresIsNotForTheCoreToJudge() throws Exception {
    assertOne(3, Places.UNJUDGED, asks(request(1, 3, 1, true)));
  }

  @Test
  public void norIsWhatMustNotRunElsewhere() throws Exception {
    assertOne(3, Places.UNJUDGED, asks(request(1, 3, 0, false)));
  }

  @Test
  public void asksThatDifferInNothingThatTheCoreKnowsAreOne() throws Exception {
    assertOne(8, Places.NAMED, asks(request(1, 3, 0, true), request(2, 5, 1, true)));
  }
}
