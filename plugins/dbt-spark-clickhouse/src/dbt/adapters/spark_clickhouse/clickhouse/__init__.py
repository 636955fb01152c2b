"""The adapter of ClickHouse, embedded or on a server."""
