"""What a response adds to run_results.json."""

from __future__ import annotations

from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter


def test_facts_stand_beside_the_keys_of_dbt(adapter: SparkClickHouseAdapter) -> None:
    facts = {"run_id": "r", "batches": [1, 2], "code": "another", "_message": "another"}
    response = adapter.response_with("2 rows", 3, facts)
    assert str(response) == "2 rows"
    assert response.to_dict(omit_none=True) == {
        "_message": "2 rows",
        "code": "OK",
        "rows_affected": 3,
        "run_id": "r",
        "batches": [1, 2],
    }


def test_rows_that_nobody_counts_are_left_out(adapter: SparkClickHouseAdapter) -> None:
    response = adapter.response_with("filled", None, {})
    assert response.to_dict(omit_none=True) == {"_message": "filled", "code": "OK"}
