"""The profile: what it accepts, rejects and shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark.connections import SparkConnectionMethod
from dbt.config.profile import Profile
from dbt.exceptions import DbtProfileError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.credentials import SparkClickHouseCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE, SPARK
from dbt.adapters.spark_clickhouse.impl import SparkClickHouseAdapter

SECRET = "swordfish"


def profile(**output: Any) -> SparkClickHouseCredentials:
    """The credentials of an output, read as dbt reads them."""
    read = Profile._credentials_from_profile({"type": "spark_clickhouse", **output}, "shop", "embedded")
    assert isinstance(read, SparkClickHouseCredentials)
    return read


def test_empty_output_is_embedded_in_the_project(tmp_path: Path) -> None:
    credentials = profile()
    assert (credentials.database, credentials.schema) == ("clickhouse", "default")
    spark, clickhouse = credentials.engine_credentials(tmp_path)
    assert (spark.method, clickhouse.driver) == ("session", "chdb")
    assert (spark.schema, clickhouse.schema) == ("default", "default")
    assert spark.home == clickhouse.home == str(tmp_path / ".spark_clickhouse")
    assert spark.warehouse_location == str(tmp_path / ".spark_clickhouse" / "warehouse")
    assert (spark.wait, clickhouse.wait) == (60, 60)


def test_variable_names_the_home_where_the_profile_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CLICKHOUSE_HOME", "/data/stores")
    assert profile().engine_credentials(tmp_path)[0].home == "/data/stores"
    assert profile(home="/own").engine_credentials(tmp_path)[0].home == "/own"
    monkeypatch.setenv("SPARK_CLICKHOUSE_HOME", "")
    assert profile().home == ".spark_clickhouse"


def test_keys_of_the_output_hold_for_both_engines(tmp_path: Path) -> None:
    output = {"schema": "shop", "home": "/data/stores", "wait": 60}
    for engine in profile(**output).engine_credentials(tmp_path):
        assert (engine.schema, engine.home, engine.wait) == ("shop", "/data/stores", 60)


@pytest.mark.parametrize(
    ("warehouse", "location"),
    [("lake", "{root}/lake"), ("/mnt/lake", "/mnt/lake"), ("s3a://lake/warehouse/", "s3a://lake/warehouse")],
)
def test_warehouse_is_relative_to_the_project(tmp_path: Path, warehouse: str, location: str) -> None:
    spark, _ = profile(spark={"warehouse": warehouse}).engine_credentials(tmp_path)
    assert spark.warehouse_location == location.format(root=tmp_path)


def test_blocks_reach_the_stock_credentials(tmp_path: Path) -> None:
    spark, clickhouse = profile(
        spark={"server_side_parameters": {"spark.driver.memory": "4g"}},
        clickhouse={"host": "ch.example.com", "port": 8443, "secure": True},
    ).engine_credentials(tmp_path)
    assert spark.server_side_parameters["spark.driver.memory"] == "4g"
    assert (clickhouse.host, clickhouse.port, clickhouse.secure) == ("ch.example.com", 8443, True)


def test_engine_with_a_host_is_not_embedded(tmp_path: Path) -> None:
    _, clickhouse = profile(clickhouse={"host": "ch.example.com"}).engine_credentials(tmp_path)
    assert clickhouse.driver is None  # dbt-clickhouse derives it from the port
    with pytest.raises(DbtProfileError, match="`spark` block: Must specify `method` in profile"):
        profile(spark={"host": "spark.example.com"})


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"wait": "soon"}, "The profile's key `wait`: 'soon' is not of type 'integer'"),
        ({"wait": -1}, "The profile has `wait: -1`; it takes seconds from 0."),
        (
            {"s3_endpoint": "minio:9000"},
            "The profile has `s3_endpoint: minio:9000`; it takes the URL of a store, such as "
            "https://minio.example.com:9000.",
        ),
        ({"clickhouse": "localhost"}, "key `clickhouse`: 'localhost' is not of type 'object'"),
        (
            {"clickhouse": {"driver": "chdB"}},
            "The profile's `clickhouse` block: `driver` is 'chdB'; it takes chdb, http or native.",
        ),
        (
            {"clickhouse": {"driver": "chdb", "host": "ch.example.com"}},
            "the driver chdb is embedded and has no `host`: remove one of the two.",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_key(output: dict[str, Any], message: str) -> None:
    with pytest.raises(DbtProfileError, match=re.escape(message)):
        profile(**output)


@pytest.mark.parametrize(
    ("block", "url"),
    [
        ({"host": "spark.example.com"}, "sc://spark.example.com:15002/"),
        ({"host": "spark.example.com/", "port": 443}, "sc://spark.example.com:443/"),
        (
            {"host": "localhost", "token": "a;b=c", "use_ssl": True, "user": "me"},
            "sc://localhost:15002/;use_ssl=true;token=a%3Bb%3Dc;user_id=me",
        ),
        ({"remote": "sc://localhost:9/;token=a"}, "sc://localhost:9/;token=a"),
    ],
)
def test_server_of_spark_connect_is_named_by_its_parts_or_by_its_url(
    tmp_path: Path, block: dict[str, Any], url: str
) -> None:
    spark, _ = profile(spark={"method": "connect", **block}).engine_credentials(tmp_path)
    assert spark.connect_url == url
    assert str(spark.host) in url


def test_methods_are_those_of_dbt_spark_and_spark_connect() -> None:
    assert {*SparkMethod} == {*SparkConnectionMethod, SparkMethod.CONNECT}


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"database": "duckdb"}, "The profile has the database 'duckdb', which is not an engine."),
        (
            {"host": "ch.example.com", "driver": "http"},
            "The profile has unknown keys: driver, host. Keys of one engine go into its block, "
            "`spark` or `clickhouse`; outside the blocks it takes database, schema, home, wait, "
            "s3_endpoint and hand_off.",
        ),
        (
            {"spark": {"metod": "session", "hots": "x"}},
            "The profile's `spark` block has unknown keys: hots, metod. It takes the keys of a dbt-spark profile.",
        ),
        (
            {"clickhouse": {"drivr": "http"}},
            "The profile's `clickhouse` block has unknown keys: drivr. It takes the keys of a dbt-clickhouse profile.",
        ),
        (
            {"clickhouse": {"schema": "shop", "type": "clickhouse"}},
            "The profile's `clickhouse` block sets schema, type: these belong to the output above "
            "it and hold for both engines.",
        ),
        (
            {"spark": {"home": "x", "wait": 1, "database": "spark", "project_root": "/"}},
            "The profile's `spark` block sets database, home, project_root, wait: these belong to "
            "the output above it and hold for both engines.",
        ),
        (
            {"spark": {"method": "carrier pigeon"}},
            "The profile's `spark` block: method: 'carrier pigeon' is not one of "
            "['thrift', 'http', 'odbc', 'session', 'connect']",
        ),
        ({"spark": {"method": "thrift"}}, "The profile's `spark` block: Must specify `host` in profile"),
        (
            {"spark": {"method": "thrift", "host": "a", "user": "b", "query_retries": 1}},
            "The profile's `spark` block: `query_retries` is 1: dbt-spark would send a statement "
            "again that the server may have taken before the connection was lost, and an insert "
            "would have its rows twice. Remove it; the next command goes on from there.",
        ),
        (
            {"spark": {"server_side_parameters": {"spark.sql.files.ignoreCorruptFiles": "true"}}},
            "The profile's `spark` block: `spark.sql.files.ignoreCorruptFiles` is set in "
            "`server_side_parameters`: Spark would leave out rows of files that it cannot read, "
            "without an error. Remove it.",
        ),
        ({"spark": {"method": "connect"}}, "The profile's `spark` block: Must specify `host` in profile"),
        (
            {"spark": {"remote": "sc://spark.example.com"}},
            "The profile's `spark` block: `remote` is for `method: connect`.",
        ),
        (
            {"spark": {"method": "connect", "remote": "spark.example.com:15002"}},
            "The profile's `spark` block: `remote` is 'spark.example.com:15002' and must begin "
            "with sc://, as in sc://localhost:15002.",
        ),
        (
            {"spark": {"method": "connect", "remote": "sc://a", "token": "b", "host": "a"}},
            "The profile's `spark` block: `remote` says all of the server: remove host, token.",
        ),
        (
            {"spark": {"server_side_parameters": {"spark.sql.shuffle.partitions": 4}}},
            "The profile's `spark` block: server_side_parameters.spark.sql.shuffle.partitions: 4 "
            "is not of type 'string'",
        ),
        ({"clickhouse": {"secure": "yes"}}, "The profile's `clickhouse` block: secure: 'yes' is not of type 'boolean'"),
        ({"wait": "a minute"}, "'a minute' is not of type 'integer'"),
        ({"home": 7}, "7 is not of type 'string'"),
        ({"hand_off": "carry"}, "The profile has `hand_off: carry`; it takes pull or push."),
        ({"spark": "session"}, "'session' is not of type 'object'"),
    ],
)
def test_mistake_is_an_error_that_says_where(output: dict[str, Any], message: str) -> None:
    with pytest.raises(DbtProfileError) as error:
        profile(**output)
    assert message in str(error.value)


def test_type_is_that_of_the_engine_at_work(adapter: SparkClickHouseAdapter) -> None:
    credentials = profile()
    assert credentials.type == "spark_clickhouse"
    with adapter.context.on_engine(SPARK):
        assert credentials.type == "spark"
    with adapter.context.on_engine(CLICKHOUSE):
        assert credentials.type == "clickhouse"


def secretive() -> SparkClickHouseCredentials:
    return profile(
        schema="shop",
        spark={"method": "session", "token": SECRET, "password": SECRET, "user": "me"},
        clickhouse={"host": "ch.example.com", "user": "me", "password": SECRET, "secure": True},
    )


def test_debug_shows_what_the_profile_says_of_each_engine() -> None:
    assert dict(secretive().connection_info()) == {
        "database": "clickhouse",
        "schema": "shop",
        "home": ".spark_clickhouse",
        "spark.method": "session",
        "clickhouse.host": "ch.example.com",
        "clickhouse.user": "me",
        "clickhouse.secure": True,
    }


def test_debug_does_not_show_the_url_of_spark_connect_which_may_have_a_token() -> None:
    remote = f"sc://spark.example.com/;token={SECRET}"
    shown = dict(profile(spark={"method": "connect", "remote": remote}).connection_info())
    assert (shown["spark.method"], SECRET in str(shown)) == ("connect", False)


def test_target_is_as_with_the_stock_adapter_of_the_engine_at_work(adapter: SparkClickHouseAdapter) -> None:
    own = {"database": "clickhouse", "schema": "shop", "home": ".spark_clickhouse"}
    credentials = secretive()
    with adapter.context.on_engine(SPARK):
        on_spark = dict(credentials.connection_info())
    with adapter.context.on_engine(CLICKHOUSE):
        on_clickhouse = dict(credentials.connection_info())
    assert on_spark == {**own, "host": "localhost", "port": 443, "cluster": None, "endpoint": None, "organization": "0"}
    stock = {"driver", "host", "user", "secure", "retries", "custom_settings"}
    assert own.items() <= on_clickhouse.items()
    assert stock <= set(on_clickhouse)
    assert (on_clickhouse["host"], on_clickhouse["user"]) == ("ch.example.com", "me")


@pytest.mark.parametrize("engine", [None, SPARK, CLICKHOUSE])
def test_no_secret_is_shown(adapter: SparkClickHouseAdapter, engine: Any) -> None:
    credentials = secretive()
    with adapter.context.on_engine(engine):
        assert SECRET not in str(dict(credentials.connection_info()))
        assert SECRET not in str(dict(credentials.connection_info(with_aliases=True)))


def test_engine_that_cannot_be_set_up_is_named() -> None:
    with pytest.raises(DbtRuntimeError, match=r"^Runtime Error\n  The profile's `spark` block: "):
        SparkClickHouseCredentials(spark={"method": "http"})
