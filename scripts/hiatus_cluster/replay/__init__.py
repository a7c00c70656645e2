"""Workloads of others replayed on real daemons, under several schedulers side by side: SWIM's traces and PigMix."""
