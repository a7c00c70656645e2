package io.hiatus.scheduler.bridge;

/** The core cannot be used: its settings are wrong, its library refused, panicked, or is not for this jar, machine or Hadoop; the message says what and why. */
public class NativeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NativeException(String message) {
    super(message);
  }

  public NativeException(String message, Throwable cause) {
    super(message, cause);
  }
}
