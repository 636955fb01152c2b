"""The real Debezium on databases of its own: for the shop's stream, `make live-cdc`, and fixtures of tests."""
