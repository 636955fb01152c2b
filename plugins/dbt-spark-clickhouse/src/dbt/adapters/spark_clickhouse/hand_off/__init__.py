"""How ClickHouse reads Spark's tables."""
