package io.hiatus.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * What an application says of itself in one datagram. It has a fixed layout, big-endian: which layout, who speaks, a number, what
 * is said, and an HMAC over all before with a secret that only the ResourceManager and the application's ApplicationMaster have: the
 * password of the application attempt's AMRM token, or what is made of it for others. docs/design/job-reports.md has the layouts.
 */
public abstract class Report {
  /** So long is a whole report at most: one packet on most networks. */
  public static final int MOST_BYTES = 1_400;

  /** Magic number and who speaks. */
  static final int HEADER_BYTES = 32;
  private static final String HMAC = "HmacSHA256";
  static final int HMAC_BYTES = 32;

  /** When YARN's ApplicationIds of this cluster began: their first number. */
  public final long clusterTimestamp;
  /** Number of the application. */
  public final int application;
  /** Number of its attempt. */
  public final int attempt;
  /** Which of the ResourceManager's keys the attempt's token was made with. */
  public final int keyId;
  /** Higher than that of every report before. */
  public final long number;

  /** Who speaks is in the first four. */
  Report(long clusterTimestamp, int application, int attempt, int keyId, long number) {
    this.clusterTimestamp = clusterTimestamp;
    this.application = application;
    this.attempt = attempt;
    this.keyId = keyId;
    this.number = number;
  }

  /** Reads who speaks, which follows the magic number in every layout. */
  Report(ByteBuffer in) {
    this(in.getLong(), in.getInt(), in.getInt(), in.getInt(), in.getLong());
  }

  /** Says which layout it has. */
  abstract int magic();

  /** How long that is which it says. */
  abstract int bodyBytes();

  abstract void writeBody(ByteBuffer out);

  /** As it is sent, signed with the secret. */
  public final byte[] signed(byte[] secret) {
    ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + bodyBytes() + HMAC_BYTES);
    out.putInt(magic()).putLong(clusterTimestamp).putInt(application).putInt(attempt).putInt(keyId).putLong(number);
    writeBody(out);
    out.put(hmac(secret, out.array(), out.position()));
    return out.array();
  }

  /**
   * The report in the first {@code length} bytes; whether it is signed is another question.
   *
   * @throws IOException if those are no report, or it says what cannot be
   */
  public static Report read(byte[] data, int length) throws IOException {
    if (length < HEADER_BYTES + HMAC_BYTES || length > MOST_BYTES) {
      throw new IOException("no report is " + length + " bytes long");
    }
    ByteBuffer in = ByteBuffer.wrap(data, 0, length - HMAC_BYTES);
    switch (in.getInt()) {
      case JobReport.MAGIC:
        return new JobReport(in);
      case StageReport.MAGIC:
        return new StageReport(in);
      case ExecutorReport.MAGIC:
        return new ExecutorReport(in);
      default:
        throw new IOException("no report, or one of another version");
    }
  }

  /** What is too much for one report, for as many as needed: parts of so many at most, in order, and one even of nothing. */
  public static <T> List<List<T>> parts(List<T> all, int most) {
    List<List<T>> parts = new ArrayList<>();
    for (int from = 0; from == 0 || from < all.size(); from += most) {
      parts.add(all.subList(from, Math.min(all.size(), from + most)));
    }
    return parts;
  }

  /** Whether the last of those bytes are the signature of those before. */
  public static boolean isSigned(byte[] data, int length, byte[] secret) {
    byte[] claimed = Arrays.copyOfRange(data, length - HMAC_BYTES, length);
    return MessageDigest.isEqual(claimed, hmac(secret, data, length - HMAC_BYTES));
  }

  /** With what somebody signs who may report for an application without being the ApplicationMaster that has this token. */
  public static Token<AMRMTokenIdentifier> tokenOfOthers(Token<AMRMTokenIdentifier> token) {
    return new Token<>(token.getIdentifier(), secretOfOthers(token.getPassword()), token.getKind(), token.getService());
  }

  /** The secret of that, of the ApplicationMaster's: it is of no other use. */
  public static byte[] secretOfOthers(byte[] secret) {
    byte[] purpose = "HiR of others".getBytes(StandardCharsets.US_ASCII);
    return hmac(secret, purpose, purpose.length);
  }

  private static byte[] hmac(byte[] secret, byte[] data, int length) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(secret, HMAC));
      mac.update(data, 0, length);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + HMAC, e);
    }
  }

  static void check(boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException(otherwise);
    }
  }
}
