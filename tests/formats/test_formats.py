"""Change sets in the places and formats that Spark writes besides Parquet folders: `make formats`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.change_sets import postgresql, rows
from tests.change_sets.cases import Case, ordered
from tests.formats.formats import FORMATS
from tests.support.change_set_project import ChangeSetProject
from tests.support.shop import REPOSITORY

CASES = [postgresql.latest_wins(), rows.upserts()]
KEYS = {"AWS_ACCESS_KEY_ID": "stand-in", "AWS_SECRET_ACCESS_KEY": "stand-in", "AWS_REGION": "us-east-1"}


@dataclass(frozen=True)
class Bucket:
    """A bucket of a local S3 stand-in."""

    endpoint: str
    name: str

    def upload(self, folder: Path) -> None:
        """Upload every file below ``folder`` to its place in the bucket."""
        client = boto3.client("s3", endpoint_url=self.endpoint)
        for path in folder.rglob("*.json"):
            client.upload_file(str(path), self.name, f"landing/{path.relative_to(folder)}")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = Bucket(f"http://{host}:{port}", "lake")
    boto3.client("s3", endpoint_url=found.endpoint).create_bucket(Bucket=found.name)
    yield found
    server.stop()


@pytest.mark.parametrize("name", FORMATS)
def test_rows_and_quarantine_are_those_of_the_history(name: str, tmp_path: Path, bucket: Bucket) -> None:
    kept = FORMATS[name]
    settings = dict(kept.settings)
    output: dict[str, Any] = {"type": "spark_clickhouse", "schema": "shop", "threads": 2}
    spark: dict[str, Any] = {"method": "session", "server_side_parameters": settings}
    if kept.packages:
        settings["spark.jars.packages"] = kept.packages
    if kept.is_in_bucket:
        settings["spark.hadoop.fs.s3a.endpoint"] = bucket.endpoint
        spark["warehouse"] = f"s3a://{bucket.name}/warehouse"
        output["s3_endpoint"] = bucket.endpoint
    project = ChangeSetProject(
        tmp_path,
        [case.situation for case in CASES],
        landed=f"s3a://{bucket.name}/landing" if kept.is_in_bucket else "",
        changes=kept.changes,
        output={**output, "spark": spark},
    )
    files = {case.name: land(project, case) for case in CASES}
    if kept.is_in_bucket:
        bucket.upload(project.landing)
    older = REPOSITORY / ".venv" / "formats" / f"spark-{kept.spark}"
    path = [str(older)] if kept.spark else []
    outcomes = project.run(1, 3, PYTHONPATH=os.pathsep.join([*path, str(REPOSITORY)]))
    assert [outcome.exception for outcome in outcomes] == [None, None]
    assert [node for outcome in outcomes for node in outcome.nodes.values() if node[0] != "success"] == []
    found = project.live_rows()
    quarantined = project.quarantined()
    for case in CASES:
        assert ordered(found[case.name]) == ordered(case.live), case.name
    expected = [row for case in CASES for row in case.quarantined(files[case.name])]
    assert sorted(quarantined) == sorted(expected)


def land(project: ChangeSetProject, case: Case) -> dict[int, str]:
    """Write the batches of a case. Return the names of their files."""
    return {batch: project.land(case.name, batch, case.texts(batch)) for batch in case.batches}
