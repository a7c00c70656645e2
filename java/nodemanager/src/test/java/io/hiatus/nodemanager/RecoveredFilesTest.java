package io.hiatus.nodemanager;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.LocalResourceVisibility;
import org.apache.hadoop.yarn.api.records.URL;
import org.apache.hadoop.yarn.api.records.impl.pb.LocalResourcePBImpl;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.proto.YarnServerNodemanagerRecoveryProtos.LocalizedResourceProto;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.ResourceSet;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMLeveldbStateStoreService;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class RecoveredFilesTest {
    private static final ApplicationId APP = TestContainer.ID.getApplicationAttemptId().getApplicationId();
    private static final String USER = "user";

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final NMLeveldbStateStoreService store = new NMLeveldbStateStoreService();

    /** A container with files of each kind: for all, for its user, for its application. */
    static ContainerLaunchContext wanting(String... names) {
        Map<String, LocalResource> files = new HashMap<>();
        for (String name : names) {
            files.put(name, file(name));
        }
        return ContainerLaunchContext.newInstance(files, null, null, null, null, null);
    }

    private static LocalResource file(String name) {
        LocalResourceVisibility[] kinds = LocalResourceVisibility.values();
        return LocalResource.newInstance(URL.fromPath(new Path("hdfs://cluster/" + name)), LocalResourceType.FILE,
            kinds[name.length() % kinds.length], 10, 1_000);
    }

    private static Container recovered(String... names) {
        Container container = mock(Container.class);
        when(container.getContainerId()).thenReturn(TestContainer.ID);
        when(container.getUser()).thenReturn(USER);
        when(container.getLaunchContext()).thenReturn(wanting(names));
        when(container.getResourceSet()).thenReturn(new ResourceSet());
        return container;
    }

    @Before
    public void open() throws IOException {
        YarnConfiguration conf = new YarnConfiguration();
        conf.set(YarnConfiguration.NM_RECOVERY_DIR, folder.getRoot().getPath());
        store.init(conf);
        store.start();
    }

    @After
    public void close() {
        store.stop();
    }

    private void localized(String name, String user, ApplicationId app, String path) throws IOException {
        LocalResourcePBImpl file = (LocalResourcePBImpl) file(name);
        store.startResourceLocalization(user, app, file.getProto(), new Path(path));
        store.finishResourceLocalization(user, app, LocalizedResourceProto.newBuilder()
            .setResource(file.getProto()).setLocalPath(path).setSize(10).build());
    }

    @Test
    public void aRecoveredContainerGetsWhatWasLocalizedForAllForItsUserAndForItsApplication() throws Exception {
        localized("abc", null, null, "/local/filecache/1/abc");
        localized("a", USER, null, "/local/usercache/user/filecache/2/a");
        localized("ab", USER, APP, "/local/usercache/user/appcache/app/filecache/3/ab");
        localized("ab", "other", APP, "/local/usercache/other/appcache/app/filecache/4/ab");
        Container container = recovered("abc", "a", "ab");
        assertTrue(RecoveredFiles.areLost(container));
        RecoveredFiles.restore(container, store);
        assertFalse(RecoveredFiles.areLost(container));
        Map<Path, Iterable<String>> links = new HashMap<>(container.getResourceSet().getLocalizedResources());
        Map<Path, Iterable<String>> expected = new HashMap<>();
        expected.put(new Path("/local/filecache/1/abc"), Collections.singletonList("abc"));
        expected.put(new Path("/local/usercache/user/filecache/2/a"), Collections.singletonList("a"));
        expected.put(new Path("/local/usercache/user/appcache/app/filecache/3/ab"), Collections.singletonList("ab"));
        assertEquals(expected, links);
    }

    @Test
    public void aContainerThatWantsNoFilesHasLostNone() {
        assertFalse(RecoveredFiles.areLost(recovered()));
    }

    @Test
    public void aFileThatTheStoreDoesNotKnowIsNamed() {
        IOException error = assertThrows(IOException.class, () -> RecoveredFiles.restore(recovered("abc"), store));
        assertTrue(error.getMessage(), error.getMessage().contains("hdfs://cluster/abc"));
    }
}
