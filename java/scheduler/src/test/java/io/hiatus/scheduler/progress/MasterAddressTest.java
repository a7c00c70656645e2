package io.hiatus.scheduler.progress;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.net.URI;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.junit.Test;

/** Which tracking URLs the ResourceManager calls, and what is left of them. */
public class MasterAddressTest {
  private static URI of(String trackingUrl) {
    RMApp app = mock(RMApp.class, RETURNS_DEEP_STUBS);
    when(app.getOriginalTrackingUrl()).thenReturn(trackingUrl);
    when(app.getCurrentAppAttempt().getMasterContainer().getNodeId()).thenReturn(NodeId.newInstance("node-1", 45454));
    when(app.getCurrentAppAttempt().getMasterContainer().getNodeHttpAddress()).thenReturn("node-1:8042");
    return MasterAddress.of(app);
  }

  @Test
  public void theMastersOwnHostAndPortAreAskedAndNoPathOfItsChoice() {
    for (String url : new String[] {"http://node-1:40000", "node-1:40000", "http://NODE-1:40000/", "http://node-1:40000/logs?x=#y",
        "http://somebody:secret@node-1:40000"}) {
      assertEquals(url, URI.create("http://node-1:40000"), of(url));
    }
    assertEquals(URI.create("https://node-1:40000"), of("HTTPS://node-1:40000"));
  }

  @Test
  public void nobodyElseIs() {
    for (String url : new String[] {"", "N/A", "http://node-2:40000", "http://node-1@node-2:40000", "http://node-1.evil:40000",
        "ftp://node-1:40000", "file:///etc/passwd", "//node-1:40000", "http://[::1]:40000", "http://node-1:40000\r\nHost: x"}) {
      assertNull(url, of(url));
    }
    assertNull(of(null));
  }

  @Test
  public void norAPortThatIsNoUsersOrTheNodeManagers() {
    for (String port : new String[] {"", ":22", ":80", ":1023", ":0", ":-1", ":65536", ":99999999999", ":45454", ":8042"}) {
      assertNull(port, of("http://node-1" + port));
    }
  }
}
