package io.hiatus.scheduler.bridge;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeNoException;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
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
          NativeLibrary.load(Stream.of(args[0].split(":")).map(Paths::get).toArray(Path[]::new));
          System.out.println("loaded, ABI " + Native.abi());
        } catch (NativeException e) {
          System.out.println("refused: " + e.getMessage());
        }
      }
    }
  }

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** Where an ELF file says for which processor it is, and RISC-V's number. */
  private static final int ELF_MACHINE = 0x12;
  private static final byte ELF_RISCV = (byte) 243;
  private static final String FINE = "loaded, ABI " + Records.ABI;

  @Test
  public void comesFromTheJarAndLeavesNothingBehind() throws Exception {
    Path below = folder.getRoot().toPath().resolve("not/there/yet");
    for (int start = 0; start < 2; start++) {
      assertEquals(Arrays.asList(FINE, FINE), load(below));
      assertEquals("and nobody else may look", "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(below)));
      assertEquals(0, below.toFile().list().length);
    }
  }

  /** Refused, with what is wrong and what to set; and nothing is left there. */
  private void refused(Path below, String why) throws Exception {
    for (String said : load(below)) {
      assertThat(said, allOf(containsString("refused"), containsString(why), containsString(HiatusConfiguration.EXTRACT_DIR)));
    }
    assertEquals(0, below.toFile().list().length);
  }

  @Test
  public void isNotExtractedWhereOthersMayWrite() throws Exception {
    Path open = folder.newFolder("open").toPath();
    for (String mode : new String[] {"rwxrwxr-x", "rwxr-xrwx"}) {
      Files.setPosixFilePermissions(open, PosixFilePermissions.fromString(mode));
      refused(open, open + " may be written by others");
    }
    Path inside = Files.createDirectory(open.resolve("inside"));
    refused(inside, open + " may be written by others");
    Files.setAttribute(open, "unix:mode", 01777);
    assertEquals("what is sticky, as /tmp is, nobody replaces", FINE, load(inside).get(0));
  }

  @Test
  public void isNotExtractedWhereSomebodyElseIsTheOwner() throws Exception {
    Path theirs = folder.newFolder("theirs").toPath();
    Path inside = Files.createDirectory(theirs.resolve("inside"));
    try {
      Files.setAttribute(theirs, "unix:uid", 4711);
    } catch (IOException e) {
      assumeNoException("only root gives directories away", e);
    }
    refused(inside, theirs + " belongs to another user (uid 4711)");
  }

  @Test
  public void whereTheFirstPlaceIsNoGoodTheNextIsTaken() throws Exception {
    Path open = folder.newFolder("open").toPath();
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxr-x"));
    assertEquals(FINE, load(Paths.get(open + ":" + folder.newFolder("fine"))).get(0));
    assertThat(load(Paths.get(open + ":" + open)).get(0), containsString("refused"));
  }

  @Test
  public void aSymbolicLinkCountsAsWhatItLeadsTo() throws Exception {
    Path open = folder.newFolder("open").toPath();
    Path link = Files.createSymbolicLink(folder.getRoot().toPath().resolve("link"), open);
    assertEquals(FINE, load(link).get(0));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    refused(link, open + " may be written by others");
    Path nowhere = Files.createSymbolicLink(folder.getRoot().toPath().resolve("nowhere"), folder.getRoot().toPath().resolve("x"));
    assertThat(load(nowhere).get(0), containsString("refused"));
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
  public void onAProcessorThatTheJarHasNoneForThatIsSaid() throws Exception {
    List<String> said = load(folder.getRoot().toPath(), "-Dos.arch=riscv64");
    assertThat(said.get(0), allOf(containsString("refused: the jar has no libhiatus for linux-riscv64"),
        containsString("x86-64 and aarch64"), containsString("-Dhiatus.native.path")));
  }

  @Test
  public void aLibraryForAnotherProcessorIsRefusedWithItsPath() throws Exception {
    byte[] other = fromTheJar();
    other[ELF_MACHINE] = ELF_RISCV;
    Path file = write("libhiatus.so", other);
    List<String> said = load(folder.newFolder().toPath(), "-Dhiatus.native.path=" + file);
    assertThat(said.get(0), allOf(containsString("refused"), containsString(file.toString()), containsString("Possible cause")));
  }

  /** As with musl, which has no file of that name. */
  @Test
  public void withoutGlibcItIsSaidThatItIsForGlibc() throws Exception {
    byte[] library = new String(fromTheJar(), ISO_8859_1).replace("\0libc.so.6\0", "\0libc.so.0\0").getBytes(ISO_8859_1);
    Path jar = folder.newFolder("jar").toPath();
    Path inJar = jar.resolve(NativeLibrary.resource().substring(1));
    Files.createDirectories(inJar.getParent());
    Files.write(inJar, library);
    List<String> said = load(folder.newFolder().toPath(), "-Xbootclasspath/a:" + jar);
    assertThat(said.get(0), allOf(containsString("refused"), containsString("libc.so.0"), containsString("Linux with glibc")));
  }

  @Test
  public void theLibraryPathOfHadoopComesBeforeTheJar() throws Exception {
    Path there = write("libhiatus.so", fromTheJar());
    Path below = folder.newFolder().toPath();
    assertEquals(FINE, load(below, "-Djava.library.path=" + there.getParent()).get(0));
    assertEquals("nothing is extracted", 0, below.toFile().list().length);

    write("libhiatus.so", new byte[100]);
    assertEquals("a bad one there does no harm", FINE,
        load(below, "-Djava.library.path=/not/there:" + there.getParent()).get(0));
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
