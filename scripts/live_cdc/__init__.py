"""The shop, live: a PostgreSQL whose changes are captured, landed, applied and compared."""
