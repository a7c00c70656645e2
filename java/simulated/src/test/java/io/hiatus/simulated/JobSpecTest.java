package io.hiatus.simulated;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class JobSpecTest {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void aJobIsWhatItSaysUnderSimulated() throws IOException {
    List<JobSpec> jobs = JobSpec.read(file("{\"jobs\": [{\"name\": \"a\", \"at_s\": 1.5, \"program\": \"sleep\", \"simulated\": {"
        + "\"queue\": \"root.q\", \"master_mb\": 512, \"stages\": [{\"task_s\": [9.1, 8.7], \"memory_mb\": 256}, "
        + "{\"tasks\": 3, \"each_s\": 8.0, \"vcores\": 2, \"slowstart\": 0.8}]}}]}"));
    assertEquals(1, jobs.size());
    JobSpec job = jobs.get(0);
    assertEquals("a at 1500 in q, 512 MB", job.name + " at " + job.atMs + " in " + job.queue + ", " + job.masterMb + " MB");
    assertArrayEquals(new long[] {9100, 8700}, job.stages.get(0).taskMs);
    assertArrayEquals(new long[] {8000, 8000, 8000}, job.stages.get(1).taskMs);
    assertEquals(256, job.stages.get(0).size.getMemorySize());
    assertEquals(2, job.stages.get(1).size.getVirtualCores());
    assertEquals(0.8, job.stages.get(1).slowstart, 0);
  }

  @Test
  public void aJobWithoutTasksIsRefusedByName() throws IOException {
    File file = file("{\"jobs\": [{\"name\": \"empty\", \"at_s\": 0, \"simulated\": {\"stages\": [{\"tasks\": 0}]}}]}");
    String refused = assertThrows(IOException.class, () -> JobSpec.read(file)).getMessage();
    assertEquals(true, refused.contains("'empty'"));
  }

  private File file(String text) throws IOException {
    File file = folder.newFile();
    Files.write(file.toPath(), text.getBytes("UTF-8"));
    return file;
  }
}
