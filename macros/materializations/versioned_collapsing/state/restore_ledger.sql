{# What the ledger says about the target, for the run that holds its lock. A ledger that was restored from a backup
   lacks the last applies. The change feed has them, and new applies would use their numbers again. So the ledger gets
   them from the feed. Their batches are not known there, so runs take these batches again. #}
{% macro read_restored_ledger(target_relation, options, model, apply) %}
  {%- set ledger = versioned_collapsing.read_ledger(target_relation, model) -%}
  {%- set last_fed = versioned_collapsing.read_last_fed_apply(target_relation) if ledger.has_applies else 0 -%}
  {%- if last_fed <= ledger.number -%}
    {%- do return(ledger) -%}
  {%- endif -%}
  {%- set first = (ledger.unfinished.number if ledger.unfinished else 0) or ledger.number + 1 -%}
  {%- set lost = run_query(versioned_collapsing._get_fed_applies_sql(target_relation, first)).columns[0].values() -%}
  {#- A full refresh that died may have fed rows that this table has too. If its own table is left over, its apply is
      not published, whatever the comparison says. -#}
  {%- set is_published = not versioned_collapsing.read_tables_of(target_relation).leftover and run_query(
      versioned_collapsing._get_is_published_sql(target_relation, options, last_fed)
  ).rows[0][0] | int -%}
  {%- if not is_published -%}
    {%- do versioned_collapsing.drop_unpublished_from_feed(target_relation, dict(apply, number=last_fed)) -%}
  {%- endif -%}
  {%- set lost = lost if is_published else lost[:-1] -%}
  {%- if not lost -%}
    {%- do return(ledger) -%}
  {%- endif -%}
  {%- for number in lost -%}
    {%- set restored = dict(
        versioned_collapsing.get_apply_of_nothing(apply), run_id=local_md5(apply.run_id ~ number), change_set='',
        taken_at=none, is_partial=false
    ) -%}
    {%- set progress = dict(versioned_collapsing.get_initial_progress(), number=number | int) -%}
    {%- do versioned_collapsing.record_apply(target_relation, restored, progress, 'restored') -%}
  {%- endfor -%}
  {%- do log(
      'The ledger is older than ' ~ target_relation ~ ': it lacked '
      ~ ('apply ' ~ lost[0] if lost | length == 1 else 'applies ' ~ lost[0] ~ ' to ' ~ lost[-1])
      ~ ', which the change feed has. It has '
      ~ ('this apply' if lost | length == 1 else 'these applies')
      ~ ' again now, but not the batches. A run that finds these batches takes them again', info=true
  ) -%}
  {%- do return(versioned_collapsing.read_ledger(target_relation, model)) -%}
{% endmacro %}


{# The highest apply number in the change feed of a table; 0 if there is no feed. #}
{% macro read_last_fed_apply(target_relation) %}
  {%- set feed = versioned_collapsing.get_changes_relation(target_relation) -%}
  {%- if load_cached_relation(feed) is none
      or not versioned_collapsing.read_feed_columns(target_relation, feed).feed -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set query -%}
    select _apply from {{ feed }} order by _apply desc limit 1 {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows -%}
  {%- do return(found[0][0] | int if found else 0) -%}
{% endmacro %}


{% macro _get_fed_applies_sql(target_relation, first) -%}
  select distinct _apply
  from {{ versioned_collapsing.get_changes_relation(target_relation) }}
  where _apply >= {{ first }}
  order by _apply
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Whether the table has the rows of the last apply in the feed. If not, the run of that apply died before it published
   anything. Only the last apply can be unpublished: each run removes such rows before it feeds its own. #}
{% macro _get_is_published_sql(target_relation, options, number) -%}
  {%- set state = versioned_collapsing.quote_names(options.unique_key + [options.version]) -%}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  {%- set changed -%}
    select {{ state }}, sum({{ sign }}) as _dbt_net
    from {{ versioned_collapsing.get_changes_relation(target_relation) }}
    where _apply = {{ number }}
    group by {{ state }}
    having _dbt_net <> 0
    order by {{ state }}
    limit 1000
  {%- endset -%}
  select avg(_dbt_stored = greatest(_dbt_net, 0)) > 0.5
  from (
    {{ changed }}
  ) as _dbt_changed
  left any join (
    select {{ state }}, sum({{ sign }}) as _dbt_stored
    from {{ target_relation }}
    where ({{ state }}) in (
      select {{ state }}
      from (
        {{ changed }}
      )
    )
    group by {{ state }}
  ) as _dbt_in_table using ({{ state }})
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
