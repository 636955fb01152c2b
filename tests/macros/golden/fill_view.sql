insert into `it_view_fill`.`orders_sums__dbt_build`
    select *
    from (
select region, sum(amount * _sign) as amount from (
select "id", "region", "amount", "_version", "_sign"
  from `it_view_fill`.`orders`
) as "orders" group by region
)
    settings max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing d20604c529d779e8cb0b76f551fc1cc4'
