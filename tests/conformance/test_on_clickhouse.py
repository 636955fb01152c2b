"""dbt-tests-adapter on clickhouse: what is adapted to its SQL, and what is left out."""

from __future__ import annotations

from tests.conformance.suite import classes_to_run

ENGINE = "clickhouse"

# What dbt-clickhouse does not pass either, by class or "class::test", with the reason.
LEFT_OUT: dict[str, str] = {}

globals().update(classes_to_run(globals()))
