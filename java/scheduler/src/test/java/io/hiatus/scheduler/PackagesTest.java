package io.hiatus.scheduler;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Test;

/** The packages have one direction: each uses what its package-info.java names, and no circle comes of that. */
public class PackagesTest {
  private static final String ROOT = "io.hiatus.scheduler";
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package io\\.hiatus\\.scheduler(?:\\.(\\w+))?;");
  private static final Pattern MAY_USE = Pattern.compile("<p>May use: ([a-z, ]+)\\.");
  /** A class of ours by its full name: in an import, or in the text. */
  private static final Pattern USED = Pattern.compile("\\bio\\.hiatus\\.scheduler\\.(?:(\\w+)\\.)?([A-Z]\\w*)");
  private static final int MOST_FILES = 12;
  private static final int MOST_LINES = 500;

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(Paths.get("src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().collect(Collectors.toList());
    }
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  /** The package's last part, empty for the root; null if it is none of ours. */
  private static String packageOf(String text) {
    Matcher found = PACKAGE.matcher(text);
    return found.find() ? found.group(1) == null ? "" : found.group(1) : null;
  }

  /** By package what its package-info.java allows; the root may use everything. */
  private static Map<String, Set<String>> allowed() throws IOException {
    Map<String, Set<String>> allowed = new TreeMap<>();
    for (Path file : sources()) {
      if (file.endsWith("package-info.java")) {
        Matcher line = MAY_USE.matcher(text(file));
        assertTrue(file + " does not say what it may use", line.find());
        String words = line.group(1);
        allowed.put(packageOf(text(file)), words.startsWith("none of") ? Collections.emptySet()
            : new TreeSet<>(Arrays.asList(words.split(", "))));
      }
    }
    Set<String> others = new TreeSet<>(allowed.keySet());
    others.remove("");
    allowed.put("", others);
    return allowed;
  }

  @Test
  public void eachPackageUsesWhatItsPackageInfoNames() throws IOException {
    Map<String, Set<String>> allowed = allowed();
    List<String> wrong = new ArrayList<>();
    Map<String, Set<String>> used = new TreeMap<>();
    for (Path file : sources()) {
      String text = text(file);
      String own = packageOf(text);
      if (own == null) {
        continue; // Hadoop's packages: theirs are looked at below
      }
      Matcher use = USED.matcher(text);
      while (use.find()) {
        String other = use.group(1) == null ? "" : use.group(1);
        used.computeIfAbsent(own, any -> new TreeSet<>()).add(other);
        if (!other.equals(own) && !allowed.getOrDefault(own, Collections.emptySet()).contains(other) && !isAName(use.group())) {
          wrong.add(file.getFileName() + " of \"" + own + "\" uses " + use.group());
        }
      }
    }
    assertEquals(Collections.emptyList(), wrong);
    used.keySet().forEach(own -> assertTrue(own + " has no package-info.java", allowed.containsKey(own)));
    allowed.forEach((own, others) -> others.stream().filter(other -> !own.isEmpty())
        .forEach(other -> assertTrue(own + " may use " + other + " and does not", used.get(own).contains(other))));
  }

  /** What users' files name: text, and no use. */
  private static boolean isAName(String fullName) {
    return fullName.equals(ROOT + ".HiatusScheduler") || fullName.equals(ROOT + ".DecisionLog");
  }

  @Test
  public void noCircleComesOfThat() throws IOException {
    Map<String, Set<String>> left = allowed();
    // Those that use none of what is left go, the lowest first; of a circle none would go.
    boolean someWent;
    do {
      someWent = left.entrySet().removeIf(one -> Collections.disjoint(one.getValue(), left.keySet()));
    } while (someWent);
    assertEquals(Collections.emptySet(), left.keySet());
  }

  @Test
  public void whatStandsInHadoopsPackagesUsesNothingOfOurs() throws IOException {
    for (Path file : sources()) {
      String text = text(file);
      assertTrue(file.toString(), packageOf(text) != null || !USED.matcher(text).find());
    }
  }

  /** What is called by whatever name a Hadoop has for it: one package knows that there is more than one Hadoop. */
  @Test
  public void onePackageAloneLooksForWhatHadoopsHave() throws IOException {
    for (Path file : sources()) {
      String text = text(file);
      assertTrue(file.toString(), "hadoop".equals(packageOf(text)) || !text.contains("import java.lang.invoke."));
    }
  }

  @Test
  public void aPackageIsReadInOneGo() throws IOException {
    Map<Path, Long> files = sources().stream().filter(file -> !file.endsWith("package-info.java"))
        .collect(Collectors.groupingBy(Path::getParent, Collectors.counting()));
    files.forEach((folder, count) -> assertTrue(folder + " has " + count + " files", count <= MOST_FILES));
    for (Path file : sources()) {
      try (Stream<String> lines = Files.lines(file)) {
        assertTrue(file + " is too long", lines.count() <= MOST_LINES);
      }
    }
  }
}
