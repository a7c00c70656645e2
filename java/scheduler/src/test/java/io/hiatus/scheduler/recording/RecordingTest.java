package io.hiatus.scheduler.recording;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.CoreMatchers.not;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.OneSuspended;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.engine.EngineOf;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What the core is told and answers is recorded whole, bounded and without names; and nothing depends on it. */
public class RecordingTest extends OneSuspended {
  // Marks, as rust/wire/src/layout.rs numbers them.
  private static final int BEGUN = 201;
  private static final int CONFIGURED = 202;
  private static final int STEPPED = 203;
  private static final int ENDED = 205;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();
  private Path dir;

  @Before
  public void place() {
    dir = folder.getRoot().toPath().resolve("records");
  }

  private MockCluster recording(String where) throws Exception {
    return MockCluster.with(conf -> conf.set(hiatus("rm.record-dir"), where));
  }

  private List<Path> logs() throws IOException {
    try (Stream<Path> all = Files.list(dir)) {
      return all.sorted().collect(Collectors.toList());
    }
  }

  private static byte[] unpacked(Path log) throws IOException {
    try (InputStream packed = new GZIPInputStream(Files.newInputStream(log))) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      byte[] some = new byte[1 << 16];
      for (int length = packed.read(some); length >= 0; length = packed.read(some)) {
        all.write(some, 0, length);
      }
      return all.toByteArray();
    }
  }

  /** Kinds of the records of a whole log, in order. */
  private static List<Integer> kinds(Path log) throws IOException {
    ByteBuffer all = ByteBuffer.wrap(unpacked(log)).order(ByteOrder.LITTLE_ENDIAN);
    List<Integer> kinds = new ArrayList<>();
    for (int at = 0; at < all.limit(); at += all.getInt(at + 4)) {
      kinds.add(all.getInt(at));
    }
    return kinds;
  }

  private static void assertWhole(Path log) throws IOException {
    List<Integer> kinds = kinds(log);
    assertEquals(Arrays.asList(BEGUN, CONFIGURED), kinds.subList(0, 2));
    assertEquals(kinds.toString(), ENDED, (int) kinds.get(kinds.size() - 1));
  }

  @Test
  public void aSuspensionIsRecordedAndNobodysNames() throws Exception {
    try (MockCluster cluster = recording(dir.toString())) {
      suspendOne(cluster);
      cluster.submit(cluster.builder("default", "alice").withApplicationTags(
          new HashSet<>(Arrays.asList("hiatus.weight=2", "payroll-of-bob"))).build());
      cluster.beat();
    }
    assertEquals(1, logs().size());
    Path log = logs().get(0);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(log)));
    assertWhole(log);
    List<Integer> kinds = kinds(log);
    assertTrue(kinds.toString(), kinds.contains(STEPPED) && kinds.contains(Records.Suspend.KIND));
    String text = new String(unpacked(log), UTF_8);
    assertThat(text, containsString("root.default"));
    assertThat(text, containsString("hiatus.weight=2"));
    for (String name : new String[] {"alice", "default-app", "payroll", dir.toString()}) {
      assertThat(text, not(containsString(name)));
    }
  }

  @Test
  public void whereNothingCanBeWrittenTheSchedulerGoesOn() throws Exception {
    File file = folder.newFile("file");
    try (MockCluster cluster = recording(file + "/below")) {
      suspendOne(cluster);
      assertNull(cluster.scheduler().operatorService().fault());
    }
  }

  @Test
  public void aPathThatDependsOnWhereTheResourceManagerWasStartedIsRefused() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      String message = assertThrows(IOException.class,
          () -> cluster.refresh(conf -> conf.set(hiatus("rm.record-dir"), "records"))).getMessage();
      assertThat(message, containsString("rm.record-dir = \"records\": must be an absolute path"));
    }
  }

  @Test
  public void recordingBeginsAndEndsWithARefresh() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      long before = EngineOf.core(cluster);
      cluster.refresh(conf -> conf.set(hiatus("rm.record-dir"), dir.toString()));
      assertFalse("a log is a core's whole life", EngineOf.core(cluster) == before);
      before = EngineOf.core(cluster);
      cluster.rounds(2);
      assertNull(cluster.difference());
      cluster.refresh(conf -> {
        conf.set(hiatus("rm.record-dir"), dir.toString());
        conf.set(hiatus("policy"), "fair");
      });
      assertEquals("which goes on with other properties", before, EngineOf.core(cluster));
      cluster.rounds(2);
      cluster.refresh(conf -> { });
      assertEquals(before, EngineOf.core(cluster));
      cluster.engine().awaitRecording(MockCluster.PATIENCE.toMillis());
      assertEquals(1, logs().size());
      assertWhole(logs().get(0));
      assertEquals(3, kinds(logs().get(0)).stream().filter(kind -> kind == CONFIGURED).count());
      cluster.rounds(2);
      assertNull(cluster.difference());
    }
    assertEquals("nothing more was recorded", 1, logs().size());
  }

  @Test
  public void earlierLogsMakeRoomTheOldestFirstAndOtherFilesStay() throws Exception {
    Files.createDirectories(dir);
    for (String name : new String[] {"hiatus-20200101T000000.000Z-1.log.gz", "hiatus-20210101T000000.000Z-1.log.gz", "other"}) {
      Files.write(dir.resolve(name), new byte[600 << 10]);
    }
    RecordFile file = new RecordFile(dir, 1 << 20);
    file.open();
    file.write(new byte[0]);
    file.close();
    assertEquals(Arrays.asList("hiatus-20210101T000000.000Z-1.log.gz", "other"), logs().stream()
        .map(log -> log.getFileName().toString()).filter(name -> !file.toString().endsWith(name)).collect(Collectors.toList()));
  }

  @Test
  public void aLogThatHasAllTheRoomEndsWhole() throws Exception {
    RecordFile file = new RecordFile(dir, 1 << 20);
    file.open();
    byte[] unpackable = new byte[1 << 16];
    Random random = new Random(1);
    assertThrows(IllegalStateException.class, () -> {
      while (true) {
        random.nextBytes(unpackable);
        file.write(unpackable);
      }
    });
    file.close();
    assertTrue(Files.size(logs().get(0)) <= 1 << 20);
    byte[] all = unpacked(logs().get(0));
    assertEquals(ENDED, ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).getInt(all.length - Records.HEADER));
  }
}
