"""SWIM: recorded days of Facebook's clusters as jobs that work as long, or move as many bytes, as the trace says, scaled down."""
