package io.hiatus.workload;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.hadoop.mapred.JobConf;
import org.junit.Test;

/** Jobs of one workload share a JVM, and nothing else. */
public class WorkloadTest {
    private static JobSpec job(String name) throws Exception {
        return new ObjectMapper().readValue("{\"name\": \"" + name + "\", \"conf\": {\"key\": \"" + name + "\"}}", JobSpec.class);
    }

    @Test
    public void everyJobHasCredentialsAndPropertiesOfItsOwn() throws Exception {
        JobConf cluster = new JobConf(false);
        JobConf one = Workload.configuration(job("one"), cluster);
        JobConf other = Workload.configuration(job("other"), cluster);
        assertNotSame(one.getCredentials(), other.getCredentials());
        assertNotSame(one.getCredentials(), cluster.getCredentials());
        assertEquals("workload-one", one.get("mapreduce.job.tags"));
        assertEquals("other", other.get("key"));
    }
}
