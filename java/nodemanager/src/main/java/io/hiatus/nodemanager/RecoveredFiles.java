package io.hiatus.nodemanager;

import java.io.IOException;
import java.net.URISyntaxException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.impl.pb.LocalResourcePBImpl;
import org.apache.hadoop.yarn.proto.YarnServerNodemanagerRecoveryProtos.LocalizedResourceProto;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.LocalResourceRequest;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.ResourceSet;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.LocalResourceTrackerState;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.RecoveredLocalizationState;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.RecoveredUserResources;
import org.apache.hadoop.yarn.server.nodemanager.recovery.RecoveryIterator;

/**
 * The files of a container that waited in the node's queue when the NodeManager ended. YARN recovers it as one that has them, but
 * does not tell it where they are, and would start it without; the NodeManager's store knows.
 */
final class RecoveredFiles {
    private final Map<LocalResourceRequest, Path> known = new HashMap<>();

    private RecoveredFiles() {
    }

    /** Whether the container is to have files and nobody has ever looked for them. */
    static boolean areLost(Container container) {
        return !container.getLaunchContext().getLocalResources().isEmpty()
            && container.getResourceSet().getAllResourcesByVisibility().isEmpty();
    }

    /**
     * Gives the container its files back.
     *
     * @throws IOException if the store cannot be read, or does not know one of them
     */
    static void restore(Container container, NMStateStoreService store) throws IOException {
        RecoveredFiles files = new RecoveredFiles();
        ApplicationId app = container.getContainerId().getApplicationAttemptId().getApplicationId();
        try {
            files.read(store.loadLocalizationState(), container.getUser(), app);
            ResourceSet set = container.getResourceSet();
            for (Collection<LocalResourceRequest> wanted
                    : set.addResources(container.getLaunchContext().getLocalResources()).values()) {
                for (LocalResourceRequest request : wanted) {
                    Path path = files.known.get(request);
                    if (path == null) {
                        throw new IOException("the NodeManager's store does not know where " + request.getPath() + " is");
                    }
                    set.resourceLocalized(request, path);
                }
            }
        } catch (URISyntaxException e) {
            throw new IOException("a file has an address that none can have: " + e.getMessage(), e);
        }
    }

    private void read(RecoveredLocalizationState stored, String user, ApplicationId app) throws IOException, URISyntaxException {
        read(stored.getPublicTrackerState(), true);
        try (RecoveryIterator<Map.Entry<String, RecoveredUserResources>> users = stored.getIterator()) {
            while (users.hasNext()) {
                Map.Entry<String, RecoveredUserResources> one = users.next();
                boolean own = one.getKey().equals(user);
                read(one.getValue().getPrivateTrackerState(), own);
                for (Map.Entry<ApplicationId, LocalResourceTrackerState> of : one.getValue().getAppTrackerStates().entrySet()) {
                    read(of.getValue(), own && of.getKey().equals(app));
                }
            }
        }
    }

    /** Iterators of the store are open and have to be closed, wanted or not; a user without files of its own has none. */
    private void read(LocalResourceTrackerState stored, boolean wanted) throws IOException, URISyntaxException {
        if (stored.getCompletedResourcesIterator() == null) {
            return;
        }
        stored.getStartedResourcesIterator().close();
        try (RecoveryIterator<LocalizedResourceProto> completed = stored.getCompletedResourcesIterator()) {
            while (wanted && completed.hasNext()) {
                LocalizedResourceProto file = completed.next();
                known.put(new LocalResourceRequest(new LocalResourcePBImpl(file.getResource())), new Path(file.getLocalPath()));
            }
        }
    }
}
