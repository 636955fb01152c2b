"""The ClickHouse adapter, embedded or on a server."""
