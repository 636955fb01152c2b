-- The tables of the corpus, with rows that no merge has collapsed: updated, deleted and moved ones.
create database {database};

create table {database}.orders (
  order_id Int64, customer_id Int64, status String, region String, amount Decimal(12, 2), bytes UInt64,
  seen Nullable(UInt64), discount Nullable(Decimal(12, 2)), updated_at DateTime, _version UInt64, _sign Int8
) engine = VersionedCollapsingMergeTree(_sign, _version) order by order_id settings optimize_on_insert = 0;

create table {database}.items (
  order_id Int64, line Int64, price Decimal(12, 2), quantity Int32, _version UInt64, _sign Int8
) engine = VersionedCollapsingMergeTree(_sign, _version) order by (order_id, line) settings optimize_on_insert = 0;

create table {database}.visits (id UInt64, customer_id Int64, seconds Int64, state Int8)
engine = CollapsingMergeTree(state) order by id settings optimize_on_insert = 0;

create table {database}.customers (id Int64, name String, region String, credit Decimal(12, 2), _sign Int8)
engine = MergeTree order by id;

create table {database}.revenue_live (region String, revenue Decimal(38, 2), orders Int64)
engine = SummingMergeTree order by region;

create view {database}.orders_view as select * from {database}.orders;

create view {database}.order_amounts as
select order_id, customer_id, amount as value, _sign as s from {database}.orders_view;

create view {database}.signed_amounts as
select order_id, status, amount * _sign as amount, _sign from {database}.orders;

create view {database}.amounts_only as select order_id, amount from {database}.orders;

create view {database}.live_orders as select * except (_sign) from {database}.orders final where _sign = 1;

create view {database}.status_totals as
select status, sum(amount * _sign) as total, sum(_sign) as n from {database}.orders group by status
having sum(_sign) <> 0;

create table {database}.merged_orders as {database}.orders engine = Merge('{database}', '^orders$');

create table {database}.prices (
  id UInt64, region String, price Decimal(12, 2), updated_at DateTime
) engine = ReplacingMergeTree(updated_at) order by id;

create table {database}.stock (
  store String, id UInt64, quantity Int64, version UInt64, is_deleted UInt8
) engine = ReplacingMergeTree(version, is_deleted) order by (store, id);

create view {database}.prices_view as select * from {database}.prices;

create view {database}.last_prices as
select id, argMax(region, updated_at) as region, argMax(price, updated_at) as price from {database}.prices group by id;
