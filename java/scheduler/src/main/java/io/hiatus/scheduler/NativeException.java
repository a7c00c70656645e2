package io.hiatus.scheduler;

/** The native library refused or panicked; the message is its own. */
public class NativeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NativeException(String message) {
    super(message);
  }

  NativeException(String message, Throwable cause) {
    super(message, cause);
  }
}
