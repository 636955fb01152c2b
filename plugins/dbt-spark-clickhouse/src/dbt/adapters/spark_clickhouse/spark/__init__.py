"""The Spark adapter, embedded or on a cluster."""
