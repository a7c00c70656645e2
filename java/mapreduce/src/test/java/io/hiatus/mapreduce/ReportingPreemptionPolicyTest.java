package io.hiatus.mapreduce;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.hiatus.report.JobReport;
import io.hiatus.report.Report;
import io.hiatus.report.ReportSender;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.junit.Before;
import org.junit.Test;

/** An ApplicationMaster tells where its tasks are, in packets that only it can have signed. */
public class ReportingPreemptionPolicyTest {
    private static final byte[] SECRET = "a password".getBytes();

    private final ApplicationAttemptId master = ApplicationAttemptId.newInstance(ApplicationId.newInstance(77, 5), 2);
    private final JobId jobId = MRBuilderUtils.newJobId(master.getApplicationId(), 5);
    private final Map<TaskId, Task> maps = new LinkedHashMap<>();
    private final Map<TaskId, Task> reduces = new LinkedHashMap<>();
    private final AppContext context = mock(AppContext.class);
    private final Job job = mock(Job.class);
    private final ReportingPreemptionPolicy policy = new ReportingPreemptionPolicy();
    private final Configuration conf = new Configuration();
    private int containers;

    @Before
    public void start() {
        when(context.getApplicationID()).thenReturn(master.getApplicationId());
        when(context.getApplicationAttemptId()).thenReturn(master);
        when(context.getAllJobs()).thenReturn(Collections.singletonMap(jobId, job));
        when(job.getTasks(TaskType.MAP)).thenReturn(maps);
        when(job.getTasks(TaskType.REDUCE)).thenReturn(reduces);
        when(job.getTotalMaps()).thenReturn(300);
        when(job.getCompletedMaps()).thenReturn(9);
        when(job.getTotalReduces()).thenReturn(4);
        when(job.getCompletedReduces()).thenReturn(1);
        conf.set("yarn.resourcemanager.scheduler.address", "127.0.0.1:8030");
        policy.setConf(conf);
        policy.init(context); // no port yet
    }

    private void runs(TaskType type, Phase phase, float progress, TaskAttemptState state, long fetched) {
        Map<TaskId, Task> of = type == TaskType.MAP ? maps : reduces;
        TaskId id = MRBuilderUtils.newTaskId(jobId, of.size(), type);
        TaskAttemptId attemptId = MRBuilderUtils.newTaskAttemptId(id, 0);
        TaskAttempt attempt = mock(TaskAttempt.class);
        Counters counters = new Counters();
        counters.findCounter(TaskCounter.SHUFFLED_MAPS).setValue(fetched);
        when(attempt.getCounters()).thenReturn(counters);
        when(attempt.getPhase()).thenReturn(phase);
        when(attempt.getProgress()).thenReturn(progress);
        when(attempt.getState()).thenReturn(state);
        when(attempt.getAssignedContainerID()).thenReturn(ContainerId.newContainerId(master, ++containers));
        Task task = mock(Task.class);
        when(task.getAttempts()).thenReturn(Collections.singletonMap(attemptId, attempt));
        of.put(id, task);
    }

    @Test
    public void itTellsWhatRunsAndHowFarThatIs() {
        runs(TaskType.MAP, Phase.MAP, 0.25f, TaskAttemptState.RUNNING, 0);
        runs(TaskType.MAP, Phase.SORT, 0.7f, TaskAttemptState.RUNNING, 0);
        runs(TaskType.MAP, Phase.MAP, 0, TaskAttemptState.STARTING, 0);
        runs(TaskType.REDUCE, Phase.SHUFFLE, 0.01f, TaskAttemptState.RUNNING, 9);
        runs(TaskType.REDUCE, Phase.REDUCE, 0.8f, TaskAttemptState.RUNNING, 300);
        List<JobReport> reports = policy.reports(job, 3);
        assertEquals(1, reports.size());
        JobReport report = reports.get(0);
        assertEquals(Arrays.asList(300, 9, 4, 1),
            Arrays.asList(report.mapsTotal, report.mapsDone, report.reducesTotal, report.reducesDone));
        assertEquals(Arrays.asList("4 FETCH 0.01 9", "5 REDUCE 0.8 300", "1 MAP 0.25 0", "2 MAP_SORT 0.7 0"), report.tasks.stream()
            .map(task -> task.container + " " + task.phase + " " + task.progress + " " + task.fetched).collect(Collectors.toList()));
    }

    @Test
    public void allTasksAreToldInAsManyReportsAsTheyNeed() throws Exception {
        for (int i = 0; i < 2 * JobReport.MOST_TASKS + 1; i++) {
            runs(TaskType.MAP, Phase.MAP, 0.5f, TaskAttemptState.RUNNING, 0);
        }
        List<JobReport> reports = policy.reports(job, 3);
        assertEquals(3, reports.size());
        assertEquals(containers, reports.stream().flatMap(report -> report.tasks.stream()).map(task -> task.container).distinct().count());
        for (int i = 1; i < reports.size(); i++) {
            assertTrue(reports.get(i).number > reports.get(i - 1).number);
        }
        byte[] packet = reports.get(0).signed(SECRET);
        assertTrue(packet.length <= Report.MOST_BYTES);
        assertEquals(JobReport.MOST_TASKS, ((JobReport) Report.read(packet, packet.length)).tasks.size());
    }

    @Test
    public void itSendsThatSignedWithItsToken() throws Exception {
        runs(TaskType.REDUCE, Phase.SHUFFLE, 0.01f, TaskAttemptState.RUNNING, 9);
        UserGroupInformation user = UserGroupInformation.createRemoteUser("somebody");
        user.addToken(new Text("older"), token(6, "an older one".getBytes()));
        user.addToken(new Text("newer"), token(7, SECRET));
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getByName("127.0.0.1"))) {
            conf.setInt(ReportSender.PORT, socket.getLocalPort());
            user.doAs((PrivilegedExceptionAction<Void>) () -> {
                policy.init(context);
                return null;
            });
            socket.setSoTimeout(60_000);
            DatagramPacket packet = new DatagramPacket(new byte[Report.MOST_BYTES], Report.MOST_BYTES);
            socket.receive(packet);
            Report report = Report.read(packet.getData(), packet.getLength());
            assertTrue(Report.isSigned(packet.getData(), packet.getLength(), SECRET));
            assertFalse(Report.isSigned(packet.getData(), packet.getLength(), "another".getBytes()));
            assertEquals(Arrays.asList(77L, 5L, 2L, 7L),
                Arrays.asList(report.clusterTimestamp, (long) report.application, (long) report.attempt, (long) report.keyId));
        }
    }

    private Token<AMRMTokenIdentifier> token(int keyId, byte[] secret) {
        AMRMTokenIdentifier id = new AMRMTokenIdentifier(master, keyId);
        return new Token<>(id.getBytes(), secret, id.getKind(), new Text());
    }

    @Test
    public void bothResourceManagersAreTold() {
        conf.set("yarn.resourcemanager.ha.enabled", "true");
        conf.set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
        conf.set("yarn.resourcemanager.scheduler.address.rm1", "one:8030");
        conf.set("yarn.resourcemanager.hostname.rm2", "two");
        assertEquals(Arrays.asList("one", "two"), ReportSender.hosts(conf));
    }
}
