{# The writer lock: one run at a time applies to a target. On a server it is a table, which only one run can
   create; it has a row for each of the holder's steps. A run of the same dbt invocation waits for its turn, as
   the second of two views of one table does; a run of another stops when it sees that the holder is at work.
   The embedded engine has one process, which the adapter sees to. #}
{% macro acquire_lock(target, run, model) %}
  {%- do run.update({'lock': none}) -%}
  {%- if versioned_collapsing.is_embedded() -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set lock = versioned_collapsing.get_helper_relation(target, 'lock') -%}
  {%- set seen = namespace(holder=none) -%}
  {%- for second in range(versioned_collapsing.get_lock_patience()) -%}
    {%- if versioned_collapsing._create_lock(lock, run) -%}
      {%- do return(none) -%}
    {%- endif -%}
    {%- set holder = versioned_collapsing.read_lock(lock) -%}
    {%- if holder is not none -%}
      {%- if holder.invocation_id != invocation_id and versioned_collapsing._is_at_work(holder, seen.holder) -%}
        {%- do versioned_collapsing.validate_lock_is_free(target, holder, model) -%}
      {%- elif not holder.is_working and holder.seconds_idle > versioned_collapsing.get_lock_seconds() -%}
        {%- do versioned_collapsing.take_over_lock(target, lock, holder) -%}
      {%- else -%}
        {%- if seen.holder is none and holder.invocation_id != invocation_id -%}
          {%- do log(
              target ~ ' is locked by run ' ~ holder.run_id ~ '; waiting up to '
              ~ versioned_collapsing.get_lock_seconds() ~ ' s to see whether it is at work', info=true
          ) -%}
        {%- endif -%}
        {%- do run_query('select sleep(1)') -%}
      {%- endif -%}
      {%- set seen.holder = holder -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error(
      target ~ " was locked by one run after another for " ~ versioned_collapsing.get_lock_patience()
      ~ " s. Run again when they have ended."
  ) -%}
{% endmacro %}


{# Creating a table is what ClickHouse lets one client do and no other. Its comment says whose it is. #}
{% macro _create_lock(lock, run) %}
  {%- set query -%}
    create table if not exists {{ lock }} {{ on_cluster_clause(lock) }} (step_at DateTime64(3, 'UTC'))
    engine = MergeTree
    order by step_at
    {{ versioned_collapsing.get_settings_sql() }}
    comment {{ versioned_collapsing.quote_literal(run.run_id ~ ' ' ~ invocation_id) }}
  {%- endset -%}
  {%- do run_query(query) -%}
  {%- set holder = versioned_collapsing.read_lock(lock) -%}
  {%- set is_ours = holder is not none and holder.run_id == run.run_id -%}
  {%- if is_ours -%}
    {%- do run.update({'lock': {'relation': lock, 'run_id': run.run_id}}) -%}
  {%- endif -%}
  {%- do return(is_ours) -%}
{% endmacro %}
