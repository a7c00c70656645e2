package io.hiatus.scheduler.bridge;

/** Why a decision was not carried out; the order is that of the record. */
public enum Rejection {
  LOCALITY, LIMIT, ROOM, GONE, OBSERVED
}
