package io.hiatus.nodemanager;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/**
 * The freezer of a container's own cgroup: {@code freezer.state} of cgroup v1, {@code cgroup.freeze} of v2. It holds the
 * whole cgroup at once, so nothing can fork its way out.
 */
final class CgroupFreezer {
    private final boolean unified;
    private final Path directory;
    private final String hierarchy;
    private final String cgroup;

    private CgroupFreezer(boolean unified, String hierarchy, Path directory, String cgroup) {
        this.unified = unified;
        this.hierarchy = hierarchy;
        this.directory = directory;
        this.cgroup = cgroup;
    }

    /**
     * Finds the cgroup that belongs to this container alone and can be frozen by us.
     *
     * @param pid a process of the container
     * @param containerId YARN names a container's cgroup by it; any other cgroup may hold other processes too
     * @return null if there is none
     */
    static CgroupFreezer of(int pid, String containerId) {
        for (String line : ProcFs.cgroups(pid)) {
            String[] field = line.split(":", 3); // hierarchy number, controllers, path
            boolean unified = field[1].isEmpty();
            if (!field[2].endsWith("/" + containerId) || !unified && !field[1].equals("freezer")) {
                continue;
            }
            String hierarchy = field[0] + ":" + field[1] + ":";
            String[] mounts = unified ? new String[] {"", "unified"} : new String[] {"freezer"};
            for (String mount : mounts) {
                Path directory = Paths.get("/sys/fs/cgroup", mount, field[2]);
                CgroupFreezer freezer = new CgroupFreezer(unified, hierarchy, directory, field[2]);
                if (Files.isWritable(freezer.control())) {
                    return freezer;
                }
            }
        }
        return null;
    }

    /** Asks the kernel to freeze; {@link #isFrozen()} tells when it has. */
    void freeze() throws IOException {
        write(unified ? "1" : "FROZEN");
    }

    /** Lets the processes run; a stop signal they got in the meantime still holds them. */
    void thaw() throws IOException {
        if (Files.exists(control())) { // an ended container's cgroup is removed
            write(unified ? "0" : "THAWED");
        }
    }

    /** {@link #thaw()} as a command for a shell. */
    String thawCommand() {
        return "echo " + (unified ? "0" : "THAWED") + " > " + control() + "; ";
    }

    boolean isFrozen() throws IOException {
        Path report = unified ? directory.resolve("cgroup.events") : control();
        String text = new String(Files.readAllBytes(report), StandardCharsets.US_ASCII);
        return text.contains(unified ? "frozen 1" : "FROZEN");
    }

    /** Whether a process is in this cgroup or one below it, and so is held while it is frozen. */
    boolean contains(int pid) {
        for (String line : ProcFs.cgroups(pid)) {
            if (line.equals(hierarchy + cgroup) || line.startsWith(hierarchy + cgroup + "/")) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return control().toString();
    }

    private Path control() {
        return directory.resolve(unified ? "cgroup.freeze" : "freezer.state");
    }

    private void write(String state) throws IOException {
        Files.write(control(), state.getBytes(StandardCharsets.US_ASCII), StandardOpenOption.WRITE);
    }
}
