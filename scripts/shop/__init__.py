"""A shop on a real PostgreSQL, captured by the real Debezium: its customers, its batches, and the stream in `data`."""
