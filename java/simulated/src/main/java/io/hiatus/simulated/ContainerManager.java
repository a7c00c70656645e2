package io.hiatus.simulated;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataInputByteBuffer;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainerRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersResponse;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersResponse;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.server.utils.BuilderUtils;

/**
 * The one server of all simulated nodes, at which the ResourceManager starts and stops ApplicationMasters: it listens on all loopback
 * addresses, and the container's token names the node. Tasks' containers are started by their masters, in this JVM.
 */
final class ContainerManager {
  private static final int HANDLERS = 4;

  /** What is done about masters. */
  interface Masters {
    /** Starts the master of an application. */
    void start(ContainerTokenIdentifier container, Credentials credentials) throws IOException, InterruptedException;

    /** Ends a master's container. */
    void stop(ContainerId container);
  }

  private final Masters masters;
  private final Server server;

  ContainerManager(Configuration conf, Masters masters) {
    this.masters = masters;
    Object service = Proxy.newProxyInstance(ContainerManager.class.getClassLoader(), new Class<?>[] {ContainerManagementProtocol.class},
        (proxy, method, arguments) -> answer(method.getName(), arguments[0]));
    server = YarnRPC.create(conf).getServer(ContainerManagementProtocol.class, service, new InetSocketAddress("0.0.0.0", 0), conf, null,
        HANDLERS);
    server.start();
  }

  /** On which it listens. */
  int port() {
    return server.getListenerAddress().getPort();
  }

  private Object answer(String method, Object request) throws IOException, InterruptedException {
    if (!Server.getRemoteIp().isLoopbackAddress()) {
      throw new IOException("simulated nodes obey a ResourceManager on their own machine only");
    }
    switch (method) {
      case "startContainers":
        return start((StartContainersRequest) request);
      case "stopContainers":
        return stop((StopContainersRequest) request);
      default:
        throw new UnsupportedOperationException("a simulated node knows no " + method);
    }
  }

  private StartContainersResponse start(StartContainersRequest all) throws IOException, InterruptedException {
    List<ContainerId> started = new ArrayList<>();
    for (StartContainerRequest one : all.getStartContainerRequests()) {
      ContainerTokenIdentifier container = BuilderUtils.newContainerTokenIdentifier(one.getContainerToken());
      Credentials credentials = new Credentials();
      ByteBuffer tokens = one.getContainerLaunchContext().getTokens();
      DataInputByteBuffer in = new DataInputByteBuffer();
      in.reset(tokens);
      credentials.readTokenStorageStream(in);
      masters.start(container, credentials);
      started.add(container.getContainerID());
    }
    return StartContainersResponse.newInstance(Collections.emptyMap(), started, Collections.emptyMap());
  }

  private StopContainersResponse stop(StopContainersRequest request) {
    request.getContainerIds().forEach(masters::stop);
    return StopContainersResponse.newInstance(request.getContainerIds(), Collections.emptyMap());
  }
}
