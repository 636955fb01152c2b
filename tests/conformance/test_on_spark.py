"""dbt-tests-adapter on spark: what is adapted to its SQL, and what is left out."""

from __future__ import annotations

from tests.conformance.suite import classes_to_run

ENGINE = "spark"

# What dbt-spark does not pass either, by class or "class::test", with the reason.
LEFT_OUT: dict[str, str] = {}

globals().update(classes_to_run(globals()))
