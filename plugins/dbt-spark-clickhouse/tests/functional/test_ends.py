"""Runs that are killed or interrupted, and the runs after them."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq


def test_killed_run_leaves_files_and_no_table(killed: Any) -> None:
    assert any(path.suffix == ".parquet" for path in killed.remains)


def test_other_process_is_told_who_uses_the_stores(project: Any, killed: Any) -> None:
    assert not killed.refused.success
    output = " ".join(killed.refused.output.split())
    assert f"The embedded stores in {project.home} are in use by process {killed.pid} (" in output
    assert "dbt --no-use-colors run --select spark_slow); only one process at a time can work" in output


def test_run_after_a_killed_one_removes_what_it_left(project: Any, first_build: Any) -> None:
    removed = "Removing files that an interrupted run left of mixed.spark_slow"
    assert first_build.output.count(removed) == 1
    assert first_build.results["spark_slow"][0] == "success"


def test_table_of_a_killed_run_is_whole_afterwards(project: Any, later: Any) -> None:
    assert pq.read_table(project.spark_table("spark_slow")).num_rows == 60


def test_run_without_remains_removes_nothing(later: Any) -> None:
    assert "Removing files" not in later.build.output


def test_interrupt_ends_the_work_of_both_engines(interrupted: Any) -> None:
    assert "Exited because of keyboard interrupt" in interrupted.outcome
    for model in ("spark_slow", "ch_endless"):
        assert f"CANCEL query model.mixed.{model}" in interrupted.outcome
    assert "ERROR creating sql table model mixed.spark_slow" in interrupted.outcome
    assert "ERROR creating sql table model `mixed`.`ch_endless`" in interrupted.outcome
    # Without the interrupt, Spark would take half an hour, and ClickHouse for ever.
    assert interrupted.seconds < 60
