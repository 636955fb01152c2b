alter table `it_update`.`orders`
    attach partition all from `it_update`.`orders__dbt_signed`
    settings log_comment = 'versioned_collapsing 331160526ed145c3ce3a79687b3473c7'
