package io.hiatus.nodemanager;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;

/** Reads {@code /proc} (proc(5)). A process that ends while it is read is simply not there. */
final class ProcFs {
    private static final Path ROOT = Paths.get("/proc");
    private static final int SIGTSTP = 20;

    private ProcFs() {
    }

    /** All processes, those that have ended but are not reaped included. */
    static List<ProcessInfo> processes() throws IOException {
        List<ProcessInfo> all = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(ROOT, "[0-9]*")) {
            for (Path entry : entries) {
                ProcessInfo process = process(Integer.parseInt(entry.getFileName().toString()));
                if (process != null) {
                    all.add(process);
                }
            }
        } catch (java.nio.file.DirectoryIteratorException e) {
            throw e.getCause();
        }
        return all;
    }

    /** The process, or null if there is none of this pid. */
    static ProcessInfo process(int pid) {
        String stat;
        try {
            stat = new String(Files.readAllBytes(file(pid, "stat")), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return null; // ended meanwhile
        }
        // The command's name is in brackets and may itself hold spaces and brackets.
        String[] field = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return new ProcessInfo(pid, Integer.parseInt(field[1]), Integer.parseInt(field[2]), Integer.parseInt(field[3]),
            field[0].charAt(0), Long.parseLong(field[19]));
    }

    /** Whether the process has a handler for SIGTSTP, and so wants to be told before it is stopped. */
    static boolean handlesTstp(int pid) {
        for (String line : lines(file(pid, "status"))) {
            if (line.startsWith("SigCgt:")) {
                long caught = Long.parseUnsignedLong(line.substring("SigCgt:".length()).trim(), 16);
                return (caught >>> (SIGTSTP - 1) & 1) == 1;
            }
        }
        return false;
    }

    /** The lines of {@code /proc/<pid>/cgroup}; none if the process has ended. */
    static List<String> cgroups(int pid) {
        return lines(file(pid, "cgroup"));
    }

    /** The machine's swap as of now, in MiB; nothing if the kernel does not say. */
    static OptionalLong swapMb() {
        return swapMb(lines(ROOT.resolve("meminfo")));
    }

    /** The same by the lines of {@code /proc/meminfo}. */
    static OptionalLong swapMb(List<String> meminfo) {
        return meminfo.stream().filter(line -> line.matches("SwapTotal: +[0-9]+ kB"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024).findFirst();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.ISO_8859_1);
        } catch (IOException | UncheckedIOException e) {
            return Collections.emptyList(); // ended meanwhile
        }
    }

    private static Path file(int pid, String name) {
        return ROOT.resolve(Integer.toString(pid)).resolve(name);
    }
}
