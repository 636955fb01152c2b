"""The adapter of Spark, embedded or on a cluster."""
