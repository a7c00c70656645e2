"""Clusters as Docker containers: the engine, the image, and a cluster that is spoken to as one of processes is."""
