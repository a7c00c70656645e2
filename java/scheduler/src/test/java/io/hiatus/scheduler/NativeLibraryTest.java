package io.hiatus.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.IOUtils;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Finding and loading the library, each time in a JVM of its own, for a library cannot be unloaded. */
public class NativeLibraryTest {
  /** What runs in that JVM: loads twice, and says how it went. */
  public static final class Load {
    private Load() {
    }

    public static void main(String[] args) {
      for (int i = 0; i < 2; i++) {
        try {
          NativeLibrary.load(Paths.get(args[0]));
          System.out.println("loaded, ABI " + Native.abi());
        } catch (NativeException e) {
          System.out.println("refused: " + e.getMessage());
        }
      }
    }
  }

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void comesFromTheJarAndIsExtractedOnceUnderTheNameOfItsContent() throws Exception {
    Path below = folder.getRoot().toPath().resolve("not/there/yet");
    String fine = "loaded, ABI " + Records.ABI;
    assertEquals(Arrays.asList(fine, fine), load(below));
    assertEquals(Arrays.asList(fine, fine), load(below));
    String[] files = below.toFile().list();
    assertEquals(Arrays.toString(files), 1, files.length);
    assertTrue(files[0], files[0].matches("libhiatus-[0-9a-f]{16}\\.so"));
  }

  @Test
  public void aDamagedExtractedCopyIsReplaced() throws Exception {
    Path below = folder.getRoot().toPath();
    load(below);
    Path copy = below.resolve(below.toFile().list()[0]);
    Files.write(copy, "half a librar".getBytes(UTF_8));
    assertEquals("loaded, ABI " + Records.ABI, load(below).get(0));
  }

  @Test
  public void thePathGivenIsTheOnlyOneTried() throws Exception {
    List<String> said = load(folder.getRoot().toPath(), "-Dhiatus.native.path=/not/there/libhiatus.so");
    assertThat(said.get(0), allOf(containsString("refused"), containsString("/not/there/libhiatus.so")));
    assertEquals("nothing is extracted instead", 0, folder.getRoot().list().length);
  }

  @Test
  public void aLibraryThatWasCutOffIsRefusedAndTheJvmLives() throws Exception {
    byte[] whole = fromTheJar();
    for (int length : new int[] {10, 4096, whole.length / 2, whole.length - 1}) {
      Path cutOff = write("libhiatus.so", Arrays.copyOf(whole, length));
      List<String> said = load(folder.newFolder().toPath(), "-Dhiatus.native.path=" + cutOff);
      assertThat(said.get(0), allOf(containsString("refused"), containsString(cutOff.toString())));
      assertThat("and refused again", said.get(1), containsString("refused"));
    }
  }

  @Test
  public void whatIsNoLibraryIsRefusedWithItsPath() throws Exception {
    Path text = write("libhiatus.so", String.join(" ", Collections.nCopies(1_000, "not a library")).getBytes(UTF_8));
    List<String> said = load(folder.newFolder().toPath(), "-Dhiatus.native.path=" + text);
    assertThat(said.get(0), allOf(containsString("refused"), containsString(text.toString())));
  }

  @Test
  public void theLibraryPathOfHadoopComesBeforeTheJar() throws Exception {
    Path there = write("libhiatus.so", fromTheJar());
    Path below = folder.newFolder().toPath();
    assertEquals("loaded, ABI " + Records.ABI, load(below, "-Djava.library.path=" + there.getParent()).get(0));
    assertEquals("nothing is extracted", 0, below.toFile().list().length);

    write("libhiatus.so", new byte[100]);
    assertEquals("a bad one there does no harm", "loaded, ABI " + Records.ABI,
        load(below, "-Djava.library.path=/not/there:" + there.getParent()).get(0));
    assertEquals(1, below.toFile().list().length);
  }

  private Path write(String name, byte[] content) throws IOException {
    return Files.write(folder.getRoot().toPath().resolve(name), content);
  }

  private static byte[] fromTheJar() throws IOException {
    try (InputStream in = NativeLibrary.class.getResourceAsStream(NativeLibrary.resource())) {
      return IOUtils.toByteArray(in);
    }
  }

  private static List<String> load(Path below, String... options) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Arrays.asList(options));
    command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), Load.class.getName(), below.toString()));
    File output = File.createTempFile("load", ".out");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
    try {
      assertTrue("the JVM ends", process.waitFor(120, TimeUnit.SECONDS));
      List<String> said = new ArrayList<>(Files.readAllLines(output.toPath(), UTF_8));
      said.removeIf(line -> !line.startsWith("loaded") && !line.startsWith("refused"));
      assertEquals("it does not crash: " + Files.readAllLines(output.toPath(), UTF_8), 0, process.exitValue());
      return said;
    } finally {
      process.destroyForcibly();
      Files.delete(output.toPath());
    }
  }
}
