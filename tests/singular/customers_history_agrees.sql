{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The current states are the customers, and no customer has two states at one version.
with current_states as (
  select * except (valid_from, valid_to, is_current, known_from, known_to)
  from {{ ref('customers_history') }}
  where is_current
),

only_in_history as (
  select * from current_states
  except
  select * from {{ ref('customers_live') }}
),

only_among_customers as (
  select * from {{ ref('customers_live') }}
  except
  select * from current_states
),

states as (
  select
    customer_id,
    valid_from,
    valid_to,
    leadInFrame(toNullable(valid_from)) over (
      partition by customer_id order by valid_from rows between current row and unbounded following
    ) as next_from
  from {{ ref('customers_history') }}
),

overlaps as (
  select customer_id
  from states
  where next_from < valid_to
)

select customer_id from only_in_history
union all
select customer_id from only_among_customers
union all
select customer_id from overlaps
