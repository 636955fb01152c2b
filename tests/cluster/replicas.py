"""Two replicas of a shard, with a proxy that does what embedded engines cannot.

The statements are those that dbt sends. A statement `on cluster` goes to both engines, any other to the one that dbt is
connected to. The engines cannot replicate, so their tables get plain engines, and `replicate` copies rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import clickhouse_connect
import pyspark

from tests.faults.proxy import HOST, Proxy
from tests.support.chdb_http import running_server
from tests.support.connect_server import free_port
from tests.support.spark_cluster import Daemon

CLUSTER = "replicas"
ON_CLUSTER = re.compile(rf'\bon cluster "{CLUSTER}"', re.IGNORECASE)
REPLICATED = re.compile(r"\bReplicated(?=\w*MergeTree\b)")
ON_ALL = re.compile(r"clusterAllReplicas\(\S+, ([\w.]+)\)")
SYNC = re.compile(r"system sync replica\b", re.IGNORECASE)
STAGED = re.compile(r"__dbt_(?!build|feed\b|lock)")
_REPLICA = "<replica><host>127.0.0.1</host><port>{}</port></replica>"
_CONFIG = f"""<clickhouse><remote_servers>
<{CLUSTER}><shard>{_REPLICA.format(1)}{_REPLICA.format(2)}</shard></{CLUSTER}>
<shards><shard>{_REPLICA.format(1)}</shard><shard>{_REPLICA.format(2)}</shard></shards>
</remote_servers></clickhouse>"""


def on_one_replica(statement: str) -> str:
    """What a statement `on cluster` does on one replica: all replicas create a table with the same UUID."""
    creates = re.search(r"\bcreate table\b", statement, re.IGNORECASE)
    return ON_CLUSTER.sub(f"uuid '{uuid4()}'" if creates else "", statement)


class Replicas(Proxy):
    """The proxy between dbt and two engines; dbt is connected to ``target``."""

    def __init__(self, ports: tuple[int, int], schema: str) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.schema = schema
        self.clients = {
            port: clickhouse_connect.get_client(host=HOST, port=port, autogenerate_session_id=False) for port in ports
        }
        self.target = ports[0]
        for client in self.clients.values():
            client.command(f"create database if not exists {schema}")

    @property
    def other(self) -> int:
        """The port of the replica that dbt is not connected to."""
        return next(port for port in self.clients if port != self.target)

    def change(self) -> None:
        """Connect dbt to the other replica."""
        self.replicate()
        self.target = self.other

    def rewrite(self, body: bytes) -> bytes:
        """Record a statement, and send it to both engines if it is for both."""
        text = body.decode(errors="replace")
        self.sent.append(text)
        if SYNC.search(text):
            return b"select 1"
        local = ON_ALL.sub(r"(select *, 1 as _shard_num from \1)", on_one_replica(REPLICATED.sub("", text)))
        if ON_CLUSTER.search(text):
            self.clients[self.other].command(local, settings={"database": self.schema})
        return local.encode()

    def kept(self, port: int) -> dict[str, str]:
        """The definition of each table of an engine that is not staged, by name."""
        rows = self.clients[port].query(
            "select name, replaceRegexpOne(create_table_query, ' UUID \\'[^\\']*\\'', ''), uuid from system.tables "
            f"where database = '{self.schema}' and engine <> 'Memory'"
        )
        return {name: f"{uuid} {query}" for name, query, uuid in rows.result_rows if not STAGED.search(name)}

    def replicate(self) -> None:
        """Copy the rows of each table that should be on both."""
        source, copy = self.clients[self.target], self.clients[self.other]
        for name in self.kept(self.other):
            table = f"`{self.schema}`.`{name}`"
            copy.command(f"truncate table {table}")
            copy.insert_arrow(table, source.query_arrow(f"select * from {table}"))


@contextmanager
def running_replicas(folder: Path, schema: str) -> Iterator[Replicas]:
    """Two engines, behind a proxy."""
    config = folder / "config.xml"
    config.write_text(_CONFIG)
    with ExitStack() as stack:
        ports = [stack.enter_context(running_server(folder / name, config=str(config)))[1] for name in ("a", "b")]
        replicas = Replicas((ports[0], ports[1]), schema)
        stack.callback(replicas.server_close)
        stack.callback(replicas.shutdown)
        yield replicas


@contextmanager
def running_keeper(folder: Path) -> Iterator[int]:
    """ZooKeeper, which PySpark ships. Yields its port."""
    port = free_port()
    config = folder / "zoo.cfg"
    config.write_text(f"dataDir={folder}\nclientPort={port}\nclientPortAddress={HOST}\nadmin.enableServer=false\n")
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    server = "org.apache.zookeeper.server.ZooKeeperServerMain"
    keeper = Daemon(folder, "keeper", ["java", "-cp", str(jars), server, str(config)], "256m")
    try:
        keeper.wait_for_port(port)
        yield port
    finally:
        keeper.kill()
