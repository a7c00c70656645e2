package io.hiatus.scheduler;

/** Why a decision was not carried out; the order is that of the record. */
enum Refusal {
  LOCALITY, LIMIT, ROOM, GONE, OBSERVED
}
