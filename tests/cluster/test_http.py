"""The Thrift server over HTTPS, as dbt-spark's `method: http` reaches it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.spark_cluster import SparkCluster, running_cluster

KEYSTORE_PASSWORD = "changeit"
COLUMNS = {"id": "bigint", "at": "timestamp", "price": "decimal(18, 2)", "v": "bigint"}
EVENTS = Situation(
    "events",
    f"parse_upserts(SOURCE, key=['id'], columns={COLUMNS}, version='v')",
    "one_change_per_key(EVENTS, key=['id'])",
    {"id": "Int64", "at": "DateTime64(6, 'UTC')", "price": "Decimal(18, 2)", "v": "Int64"},
    {"unique_key": "id"},
)
LINES = ['{"id": 9007199254740993, "at": "2026-01-01T00:00:00Z", "price": "12345678901234.56", "v": 1}']


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The server's key store, and the certificate for its clients."""
    folder = tmp_path_factory.mktemp("keys")
    store, certificate = folder / "server.jks", folder / "server.pem"
    key = ["-alias", "server", "-keystore", str(store), "-storepass", KEYSTORE_PASSWORD]
    subprocess.run(
        [
            *("keytool", "-genkeypair", *key, "-keyalg", "RSA", "-dname", "CN=localhost"),
            *("-ext", "SAN=dns:localhost", "-validity", "2"),
        ],
        check=True,
        capture_output=True,
    )
    exported = subprocess.run(["keytool", "-exportcert", "-rfc", *key], check=True, capture_output=True)
    certificate.write_bytes(exported.stdout)
    return store, certificate


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, certificate: tuple[Path, Path]) -> Iterator[SparkCluster]:
    server = "spark.hadoop.hive.server2."
    settings = {
        f"{server}transport.mode": "http",
        f"{server}thrift.http.path": "sql/protocolv1/o/0/shop",
        f"{server}use.SSL": "true",
        f"{server}keystore.path": str(certificate[0]),
        f"{server}keystore.password": KEYSTORE_PASSWORD,
    }
    with running_cluster(tmp_path_factory.mktemp("spark") / "cluster", settings) as cluster:
        yield cluster


@pytest.fixture
def project(tmp_path: Path, cluster: SparkCluster) -> ChangeSetProject:
    spark: dict[str, Any] = {
        "method": "http",
        "host": "localhost",
        "port": cluster.port,
        "cluster": "shop",
        "token": "any",
        "warehouse": str(cluster.warehouse),
    }
    output = {"type": "spark_clickhouse", "schema": "shop", "threads": 1, "spark": spark}
    return ChangeSetProject(tmp_path, [EVENTS], output=output)


def test_values_are_those_that_landed(project: ChangeSetProject, certificate: tuple[Path, Path]) -> None:
    project.land("events", 1, LINES)
    (outcome,) = project.dbt(["run"], SSL_CERT_FILE=str(certificate[1]))
    assert outcome.success, outcome.why()
    ((key, at, price, *_),) = project.live_rows()["events"]
    assert (key, str(at)[:19], str(price)) == (*(9007199254740993, "2026-01-01 00:00:00", "12345678901234.56"),)


def test_a_server_that_is_not_trusted(project: ChangeSetProject) -> None:
    project.land("events", 1, LINES)
    (outcome,) = project.dbt(["run"])
    assert not outcome.success
    assert "CERTIFICATE_VERIFY_FAILED" in str(outcome.exception or outcome.failures())
