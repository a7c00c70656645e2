package io.hiatus.scheduler.progress;

import static org.junit.Assert.assertEquals;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.progress.MapReduceMaster.Type;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;

/** A job's reduce that runs beside two of its three maps, in room for three tasks of 1 GB. */
final class ReduceBesideMaps {
  final ContainerId reduce;
  final List<ContainerId> maps;

  private ReduceBesideMaps(ContainerId reduce, List<ContainerId> maps) {
    this.reduce = reduce;
    this.maps = maps;
  }

  static ReduceBesideMaps start(MockCluster cluster, FakeApp job) throws Exception {
    job.ask(1, 1024, Type.REDUCE.priority, "");
    cluster.rounds(3);
    ContainerId reduce = job.held().get(0);
    job.ask(3, 1024, Type.MAP.priority, "");
    cluster.rounds(3);
    List<ContainerId> maps = new ArrayList<>(job.held());
    maps.remove(reduce);
    assertEquals("two maps run, and one finds no room", 2, maps.size());
    return new ReduceBesideMaps(reduce, maps);
  }
}
