create materialized view `it_view_fill`.`orders_sums_mv` to `it_view_fill`.`orders_sums` as
select region, sum(amount * _sign) as amount from `it_view_fill`.`orders` group by region
