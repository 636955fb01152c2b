{% macro give_up_lock(apply) %}
  {%- if not apply.lock -%}{%- do return(none) -%}{%- endif -%}
  {%- if versioned_collapsing.is_held_by(versioned_collapsing.read_lock(apply.lock.relation), apply.lock.run_id) -%}
    {%- do versioned_collapsing.drop_tables([apply.lock.relation]) -%}
  {%- endif -%}
{% endmacro %}

{% macro is_held_by(holder, run_id) %}
  {%- do return(holder is not none and holder.run_id == run_id) -%}
{% endmacro %}

{# Who holds the lock, how many steps the holder has made, and for how long it has shown no sign of life; none if nobody
   holds the lock. It reads only system tables, because the lock may disappear at any time. `also`: an expression to
   read at the same moment. #}
{% macro read_lock(lock, also="''") %}
  {%- set parts -%}
    from system.parts where active and {{ versioned_collapsing.get_is_table_sql(lock, 'table') }}
  {%- endset -%}
  {%- set query -%}
    select
      splitByChar(' ', comment)[1] as run_id,
      splitByChar(' ', comment)[2] as invocation_id,
      (select sum(rows) {{ parts }}) as steps,
      greatest(metadata_modification_time, (select max(modification_time) {{ parts }})) as seen_at,
      dateDiff('second', seen_at, now()) as seconds_idle,
      concat({{ versioned_collapsing.quote_literal(versioned_collapsing.get_log_comment('')) }}, run_id) as log_comment,
      has((select groupArray(Settings['log_comment']) from system.processes), log_comment) as is_working,
      {{ also }} as also
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(lock) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do return({
        'run_id': row['run_id'],
        'invocation_id': row['invocation_id'],
        'steps': row['steps'] | int,
        'seconds_idle': row['seconds_idle'] | int,
        'is_working': row['is_working'] | int > 0,
        'also': row['also'],
    }) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}
