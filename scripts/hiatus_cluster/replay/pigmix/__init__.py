"""PigMix: seventeen queries with which Pig's makers compare its releases, written anew by their meaning, on data generated here."""
