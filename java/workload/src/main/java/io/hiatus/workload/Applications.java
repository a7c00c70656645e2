package io.hiatus.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException;

/**
 * Applications that cost next to nothing: their masters are threads of this JVM ("unmanaged"), their containers shell
 * commands. A container that ends without success is asked for again. Commands come on standard input, one JSON object per line:
 * {@code {"do": "start", "name", "queue", "user", "count", "memory_mb", "command", "node_label", "heartbeat_ms", "tags"}} and
 * {@code {"do": "finish", "name"}}; what happens goes to standard output in the same form, with {@code at_ms}.
 */
public final class Applications {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Application> RUNNING = new ConcurrentHashMap<>();

    private Applications() { }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode command = JSON.readTree(line);
            String name = command.get("name").asText();
            if (command.get("do").asText().equals("start")) {
                Application application = new Application(command);
                RUNNING.put(name, application);
                application.start();
            } else {
                RUNNING.get(name).finished = true;
            }
        }
        System.exit(0);
    }

    private static synchronized void tell(String name, String event, Object... more) throws java.io.IOException {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("name", name);
        line.put("event", event);
        line.put("at_ms", System.currentTimeMillis());
        for (int i = 0; i < more.length; i += 2) {
            line.put(more[i].toString(), more[i + 1]);
        }
        System.out.println(JSON.writeValueAsString(line));
    }

    /** One application and its master. */
    private static final class Application extends Thread {
        private final JsonNode wish;
        private final String name;
        private final YarnConfiguration conf = new YarnConfiguration();
        private volatile boolean finished;

        Application(JsonNode wish) {
            this.wish = wish;
            this.name = wish.get("name").asText();
            setDaemon(true);
        }

        @Override
        public void run() {
            UserGroupInformation user = UserGroupInformation.createRemoteUser(
                wish.path("user").asText(System.getProperty("user.name")));
            try {
                user.doAs((PrivilegedExceptionAction<Void>) () -> {
                    ApplicationId id = submit(user);
                    if (id != null) {
                        work(id);
                    }
                    return null;
                });
            } catch (Exception e) {
                try {
                    tell(name, "error", "message", String.valueOf(e));
                } catch (java.io.IOException told) {
                    throw new java.io.UncheckedIOException(told);
                }
            }
        }

        /** Submits and waits for the attempt's token; null if the application ended instead. */
        private ApplicationId submit(UserGroupInformation user) throws Exception {
            try (YarnClient client = YarnClient.createYarnClient()) {
                client.init(conf);
                client.start();
                ApplicationSubmissionContext context = client.createApplication().getApplicationSubmissionContext();
                context.setApplicationName(name);
                context.setQueue(wish.path("queue").asText("default"));
                Set<String> tags = new HashSet<>();
                wish.path("tags").forEach(tag -> tags.add(tag.asText()));
                context.setApplicationTags(tags);
                context.setUnmanagedAM(true);
                context.setMaxAppAttempts(1);
                context.setAMContainerSpec(ContainerLaunchContext.newInstance(null, null, null, null, null, null));
                ApplicationId id = client.submitApplication(context);
                tell(name, "submitted", "app", id.toString());
                while (client.getApplicationReport(id).getCurrentApplicationAttemptId() == null
                        || client.getApplicationAttemptReport(client.getApplicationReport(id).getCurrentApplicationAttemptId())
                            .getYarnApplicationAttemptState() != YarnApplicationAttemptState.LAUNCHED) {
                    YarnApplicationState state = client.getApplicationReport(id).getYarnApplicationState();
                    if (EnumSet.of(YarnApplicationState.FAILED, YarnApplicationState.KILLED).contains(state)) {
                        tell(name, "ended", "state", state.toString());
                        return null;
                    }
                    Thread.sleep(50);
                }
                user.addToken(client.getAMRMToken(id));
                return id;
            }
        }

        private void work(ApplicationId id) throws Exception {
            NMTokenCache tokens = new NMTokenCache();
            AMRMClient<ContainerRequest> rm = AMRMClient.createAMRMClient();
            NMClient nodes = NMClient.createNMClient();
            rm.setNMTokenCache(tokens);
            nodes.setNMTokenCache(tokens);
            rm.init(conf);
            nodes.init(conf);
            rm.start();
            nodes.start();
            rm.registerApplicationMaster("", 0, "");
            Resource size = Resource.newInstance(wish.get("memory_mb").asLong(), 1);
            ContainerRequest request = new ContainerRequest(size, null, null, Priority.newInstance(1), true,
                wish.path("node_label").asText(null));
            int left = wish.get("count").asInt();
            for (int i = 0; i < left; i++) {
                rm.addContainerRequest(request);
            }
            tell(name, "asked", "app", id.toString());
            while (left > 0 && !finished) {
                AllocateResponse answer;
                try {
                    answer = rm.allocate(0.5f);
                } catch (ApplicationAttemptNotFoundException e) {
                    tell(name, "ended", "state", "KILLED");
                    return;
                }
                for (Container container : answer.getAllocatedContainers()) {
                    tell(name, "allocated", "container", container.getId().toString());
                    rm.removeContainerRequest(request);
                    nodes.startContainer(container, ContainerLaunchContext.newInstance(Collections.emptyMap(),
                        Collections.emptyMap(), Collections.singletonList(wish.get("command").asText()), null, null, null));
                }
                for (ContainerStatus status : answer.getCompletedContainersStatuses()) {
                    tell(name, "completed", "container", status.getContainerId().toString(), "exit", status.getExitStatus(),
                        "why", status.getDiagnostics());
                    if (status.getExitStatus() == 0) {
                        left--;
                    } else {
                        rm.addContainerRequest(request);
                    }
                }
                Thread.sleep(wish.path("heartbeat_ms").asLong(100));
            }
            rm.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
            rm.stop();
            tell(name, "ended", "state", "FINISHED");
        }
    }
}
