"""The shop's tables, and what its customers do with them: connections that race with random transactions."""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import IO

from scripts.debezium.postgres import Postgres
from scripts.shop.capture import WRITERS

SCHEMA = """
-- The time in the shop. It may pass faster than elsewhere.
create function shop_time() returns timestamptz language sql as 'select clock_timestamp()';
create table customers (
  customer_id bigint primary key, name text not null, email text, region text not null, tier text not null,
  credit_limit numeric(12,2) not null, updated_at timestamptz not null default shop_time()
);
create table orders (
  order_id bigint primary key, customer_id bigint not null references customers on update cascade,
  region text not null, status text not null, amount numeric(12,2) not null, items bigint not null, note text,
  created_at timestamptz not null default shop_time(), updated_at timestamptz not null default shop_time()
);
create table order_items (
  order_id bigint, line_no bigint, sku text not null, quantity bigint not null, unit_price numeric(10,2) not null,
  updated_at timestamptz not null default shop_time(), primary key (order_id, line_no)
);
create index on orders (customer_id);
-- Customers that have left. Their changes come in the topic of the customers.
create table customers_archive (like customers including all);
create sequence customer_ids start 1001;
create sequence order_ids start 50001;
-- Debezium takes commands from it, as for an incremental snapshot.
create table signals (id text primary key, type text not null, data text);
-- Long notes stay out of line: an update of another column does not carry them.
alter table orders alter note set storage external;
-- An event has the whole row before the change.
alter table customers replica identity full;
alter table orders replica identity full;
alter table order_items replica identity full;
"""
REGIONS = ("north", "south", "east", "west", "islands")
TIERS = ("bronze", "silver", "gold", "platinum")
STATUSES = ("pending", "paid", "shipped", "delivered", "cancelled", "refunded")
FIRST_NAMES = (
    "Zoë",
    "Nguyễn",
    "Siobhán",
    "Łukasz",
    "太郎",
    "Jürgen",
    "Þóra",
    "花子",
    "محمد",
    "Дмитро",
    "Kemi",
    "ליאור",
)
LAST_NAMES = ("O''Brien", "Nowak", "Patel", "Ковальчук", "Okafor", "Παπάς", "Šimánek", "Østergård", "Rossi", "Ågren")
NOTES = (
    "no substitutions",
    "deliver after 18:00",
    "ring twice; dog in the yard",
    "gift wrap, please",
    "invoice to the company",
    "birthday 🎂",
    "配達は午前中に",
    "second floor, left",
    "leave at the door",
    'call "before" delivery',
    "fragile – handle with care",  # noqa: RUF001
    "entrée côté jardin",
    "back\\slash and tab\there",
    # Texts that look empty.
    "\t",
    " ",
    "\u00a0",
    "\u200b",
    "two\nlines",
    " spaces around, and a line separator\u2028 ",
    "null",
    "NaN",
)
HOT_ORDERS = range(1, 41)  # they are deleted and come back, in several connections at once
SCHEMA_CHANGE = 200  # transactions after which orders get a column
TRUNCATE = 900  # transactions; after each time so many, order_items are emptied and refilled


def _any(name: str) -> str:
    """A customer or an order: the first one at or above a random number."""
    first = {"customer": 1001, "order": 50001}[name]
    at = f"(select ({first} + floor(random() * ((select last_value from {name}_ids) - {first - 1})))::bigint)"
    return f"(select {name}_id from {name}s where {name}_id >= {at} order by {name}_id limit 1)"


ANY_CUSTOMER = _any("customer")
ANY_ORDER = _any("order")
# Errors that racing transactions may cause; the transaction is rolled back.
LOST_RACE = re.compile(r"duplicate key|foreign key|deadlock detected|current transaction is aborted")


class Workload(threading.Thread):
    """A connection that sends transactions until it is stopped.

    Args:
        postgres: the server of the shop.
        seed: determines what it does.
        pause: seconds between two transactions.
        allowance: one for each transaction that it may send; without it, there is no limit.
        changes_tables: whether it also alters and empties tables.

    `error` says why it ended, if it was not stopped.
    """

    def __init__(
        self,
        postgres: Postgres,
        seed: int,
        pause: float = 0,
        *,
        allowance: threading.Semaphore | None = None,
        changes_tables: bool = False,
    ) -> None:
        super().__init__(daemon=True)
        self.error = ""
        self.transactions = 0
        self._postgres = postgres
        self._chance = random.Random(seed)
        self._pause = pause
        self._allowance = allowance
        self._changes_tables = changes_tables
        self._stopped = threading.Event()
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - until it is stopped
        self._psql = subprocess.Popen(
            postgres.command("-v", "ON_ERROR_STOP=0"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            text=True,
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the main process
        )

    def fill(self, customers: int, orders: int) -> None:
        """Create the initial contents of the shop, before it starts."""
        new = [self._new_customer] * customers + [self._new_order] * orders
        self._postgres.query(";\n".join(each() for each in new))

    def run(self) -> None:
        """Work."""
        assert self._psql.stdin
        try:
            for transaction in self._transactions():
                if self._stopped.wait(self._pause) or not self._is_allowed():
                    break
                self._send(self._psql.stdin, transaction)
                self._psql.stdin.flush()
        except BrokenPipeError:
            self.error = self._said() or "its connection is lost"

    def stop(self) -> None:
        """Let it finish its transaction, and close its connection.

        Raises:
            RuntimeError: PostgreSQL has refused a statement for another reason than a race.
        """
        self._stopped.set()
        if self.ident:
            self.join()
        assert self._psql.stdin
        if self._psql.poll() is None:
            self._psql.stdin.close()
            self._psql.wait()
        if said := self._said():
            raise RuntimeError(f"PostgreSQL: {said}")

    def _is_allowed(self) -> bool:
        while self._allowance and not self._allowance.acquire(timeout=0.2):
            if self._stopped.is_set():
                return False
        return True

    def _said(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().splitlines()
        return "\n".join(line for line in lines if "ERROR:" in line and not LOST_RACE.search(line))

    def _send(self, psql: IO[str], transaction: str) -> None:
        psql.write(f"begin; select pg_advisory_xact_lock_shared({WRITERS}); {transaction}; commit;\n")
        self.transactions += 1

    def _transactions(self) -> Iterator[str]:
        kinds = (
            (30, self._new_order),
            (40, self._new_status),
            (8, self._new_customer),
            (8, self._new_tier),
            (6, self._new_note),
            (1, self._long_note),
            (2, self._note_left_alone),
            (8, self._new_quantity),
            (6, self._deleted_order),
            (6, self._deleted_customer),
            (4, self._twice_in_one),
            (3, self._new_key),
            (2, self._rolled_back),
            (5, self._hot_order_locked_and_deleted),
            (10, self._hot_order_again),
        )
        weights = [weight for weight, _ in kinds]
        number = 0
        while True:
            number += 1
            if self._changes_tables and number == SCHEMA_CHANGE:
                yield "alter table orders add column channel text default 'web'"
            elif self._changes_tables and number % TRUNCATE == 0:
                yield "truncate order_items"
                yield self._refill()
            else:
                (kind,) = self._chance.choices([kind for _, kind in kinds], weights)
                yield kind()

    def _new_customer(self) -> str:
        chance = self._chance
        name = f"{chance.choice(FIRST_NAMES)} {chance.choice(LAST_NAMES)}"
        email = f"'c{chance.randrange(10**6)}@example.com'" if chance.random() < 0.85 else "null"
        return (
            "insert into customers (customer_id, name, email, region, tier, credit_limit) values "
            f"(nextval('customer_ids'), '{name}', {email}, '{chance.choice(REGIONS)}', "
            f"'{chance.choice(TIERS)}', {chance.randrange(100, 9000)}.{chance.randrange(100):02d})"
        )

    def _new_order(self) -> str:
        chance = self._chance
        lines = chance.choices(range(1, 8), (30, 30, 20, 12, 8, 1, 1))[0]
        items = "; ".join(
            "insert into order_items (order_id, line_no, sku, quantity, unit_price) values "
            f"(currval('order_ids'), {line}, 'SKU-{chance.randrange(1, 250):04d}', {chance.randrange(1, 6)}, "
            f"{chance.randrange(1, 300)}.{chance.randrange(100):02d})"
            for line in range(1, lines + 1)
        )
        amount = f"{chance.randrange(1, 2000)}.{chance.randrange(100):02d}"
        return (
            "insert into orders (order_id, customer_id, region, status, amount, items, note) "
            f"select nextval('order_ids'), customer_id, region, 'pending', {amount}, {lines}, {self._note()} "
            f"from customers where customer_id = {ANY_CUSTOMER}; {items}"
        )

    def _note(self) -> str:
        if self._chance.random() < 0.75:
            return "null"
        note = self._chance.choice(NOTES)
        reference = f" (ref {self._chance.randrange(1001, 9000)})" if self._chance.random() < 0.3 else ""
        return f"'{note}{reference}'"

    def _refill(self) -> str:
        return (
            "insert into order_items (order_id, line_no, sku, quantity, unit_price) "
            "select order_id, 1, 'SKU-0001', 1, amount from orders where order_id % 3 = 0"
        )

    def _new_status(self) -> str:
        return self._update(f"status = '{self._chance.choices(STATUSES, (5, 20, 20, 45, 5, 5))[0]}'")

    def _new_tier(self) -> str:
        tier, region = self._chance.choice(TIERS), self._chance.choice(REGIONS)
        return (
            f"update customers set tier = '{tier}', region = '{region}', updated_at = shop_time() "
            f"where customer_id = {ANY_CUSTOMER}"
        )

    def _new_note(self) -> str:
        return self._update(f"note = {self._note()}")

    def _long_note(self) -> str:
        return self._update(f"note = repeat('ü{self._chance.randrange(10**6)}-', 300)")

    def _note_left_alone(self) -> str:
        """Update an order that has a long note, which PostgreSQL then does not send."""
        return (
            "update orders set amount = amount + 0.01, updated_at = shop_time() where order_id = "
            "(select order_id from orders where length(note) > 2000 order by random() limit 1)"
        )

    def _new_quantity(self) -> str:
        return (
            f"update order_items set quantity = {self._chance.randrange(1, 9)}, updated_at = shop_time() "
            f"where order_id = {ANY_ORDER} and line_no = 1"
        )

    def _deleted_order(self) -> str:
        return (
            f"create temp table gone on commit drop as select {ANY_ORDER} as order_id; "
            "delete from order_items where order_id in (select order_id from gone); "
            "delete from orders where order_id in (select order_id from gone)"
        )

    def _deleted_customer(self) -> str:
        """Move a customer without orders to the archive."""
        return (
            f"with gone as (delete from customers where customer_id = {ANY_CUSTOMER} and not exists "
            "(select from orders where orders.customer_id = customers.customer_id) returning *) "
            "insert into customers_archive select * from gone on conflict do nothing"
        )

    def _twice_in_one(self) -> str:
        second = f"{self._update('amount = round(amount * 1.1, 2)')}; {self._new_tier()}"
        return f"{self._new_status()}; select pg_sleep(0.1); {second}"

    def _new_key(self) -> str:
        return (
            "update customers set customer_id = nextval('customer_ids'), updated_at = shop_time() "
            f"where customer_id = {ANY_CUSTOMER}"
        )

    def _rolled_back(self) -> str:
        return f"savepoint s; {self._new_tier()}; rollback to s; {self._new_status()}"

    def _hot_order_locked_and_deleted(self) -> str:
        """Whoever inserts the order in between waits. The inserted row precedes the delete in the log, but takes effect
        after it."""
        order = self._chance.choice(HOT_ORDERS)
        return (
            f"update orders set status = 'paid', updated_at = shop_time() where order_id = {order}; "
            f"select pg_sleep(0.1); delete from orders where order_id = {order}"
        )

    def _hot_order_again(self) -> str:
        return (
            "insert into orders (order_id, customer_id, region, status, amount, items, note) "
            f"select {self._chance.choice(HOT_ORDERS)}, customer_id, region, 'pending', "
            f"{self._chance.randrange(1, 500)}.50, 0, {self._note()} from customers where customer_id = {ANY_CUSTOMER}"
        )

    @staticmethod
    def _update(assignment: str) -> str:
        return f"update orders set {assignment}, updated_at = shop_time() where order_id = {ANY_ORDER}"
