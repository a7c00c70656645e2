package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;

/** Real processes, started the way YARN starts a container: a session of their own, its leader's pid in a file. */
final class TestContainer implements AutoCloseable {
    static final ContainerId ID =
        ContainerId.newContainerId(ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1), 2);

    final Process process;
    final File directory;
    final File pidFile;
    final ContainerProcesses processes;

    /** Starts {@code script} in {@code directory} and waits until {@code count} processes are there. */
    TestContainer(File directory, String script, int count) throws IOException {
        this.directory = directory;
        pidFile = new File(directory, "pid");
        String wrapped = "echo $$ > pid.tmp; mv pid.tmp pid; " + script;
        process = new ProcessBuilder("setsid", "bash", "-c", wrapped).directory(directory)
            .redirectErrorStream(true).redirectOutput(new File(directory, "out")).start();
        await().until(pidFile::exists);
        processes = new ContainerProcesses(ProcFs.process(Integer.parseInt(read("pid"))));
        await().until(() -> processes.scan().size() == count);
    }

    Path pidPath() {
        return new Path(pidFile.getPath());
    }

    Suspender suspender(Configuration conf) {
        return suspender(conf, new KillSignaller());
    }

    Suspender suspender(Configuration conf, Signaller signaller) {
        // It has its own look at the processes: ours is for the test's thread alone.
        return new Suspender(new SuspensionConf(conf), new ContainerProcesses(processes.leader), signaller, null, directory);
    }

    boolean allStopped() throws IOException {
        List<ProcessInfo> alive = processes.scan();
        return !alive.isEmpty() && alive.stream().allMatch(ProcessInfo::isStopped);
    }

    boolean noneStopped() throws IOException {
        return processes.scan().stream().noneMatch(ProcessInfo::isStopped);
    }

    String read(String file) throws IOException {
        return new String(Files.readAllBytes(new File(directory, file).toPath()), StandardCharsets.UTF_8).trim();
    }

    boolean has(String file) {
        return new File(directory, file).exists();
    }

    long length(String file) {
        return new File(directory, file).length();
    }

    @Override
    public void close() throws IOException {
        List<ProcessInfo> left = processes.scan();
        for (ProcessInfo one : left) {
            new ProcessBuilder("kill", "-KILL", Integer.toString(one.pid)).start();
        }
        process.destroyForcibly();
    }
}
