"""A shop on a real PostgreSQL that the real Debezium captures: its customers, its batches, the stream that `data` has."""
