insert into `it_view_refresh`.`orders_sums__dbt_build`
    select *
    from (
      select * from (
select region, sum(amount * _sign) as amount from (
select "id", "region", "amount", "_version", "_sign"
  from `it_view_refresh`.`orders__feed`
  where _apply in (
    select apply
    from `it_view_refresh`.`versioned_collapsing_ledger`
    where target_uuid = (select uuid from system.tables where database = 'it_view_refresh' and name = 'orders')
      and apply between 2 and 2
  )
) as "orders" group by region
)
    )
    settings max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing e9998c329ab0c88383e1ae98e565551b'
