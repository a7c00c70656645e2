package io.hiatus.scheduler.hadoop;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import javax.ws.rs.Produces;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.MultivaluedMap;
import javax.ws.rs.ext.MessageBodyWriter;
import javax.ws.rs.ext.Provider;
import org.apache.hadoop.yarn.webapp.RemoteExceptionData;

/** What YARN tells of a request that is wrong, as the JSON that YARN's own services answer. */
@Provider
@Produces(MediaType.APPLICATION_JSON)
public final class RemoteExceptionWriter implements MessageBodyWriter<RemoteExceptionData> {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Override
  public boolean isWriteable(Class<?> type, Type generic, Annotation[] annotations, MediaType media) {
    return type == RemoteExceptionData.class;
  }

  @Override
  public long getSize(RemoteExceptionData data, Class<?> type, Type generic, Annotation[] annotations, MediaType media) {
    return -1; // not known before it is written
  }

  @Override
  public void writeTo(RemoteExceptionData data, Class<?> type, Type generic, Annotation[] annotations, MediaType media,
      MultivaluedMap<String, Object> headers, OutputStream out) throws IOException {
    ObjectNode answer = JSON.createObjectNode();
    answer.putObject("RemoteException").put("exception", data.getException()).put("message", data.getMessage())
        .put("javaClassName", data.getJavaClassName());
    out.write(JSON.writeValueAsBytes(answer));
  }
}
