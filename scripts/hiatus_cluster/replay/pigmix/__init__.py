"""PigMix: seventeen queries that Pig's makers compare its releases with, on data of their schema, generated; written anew by their meaning."""
