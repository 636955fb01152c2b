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
        {%- do versioned_collapsing.raise_locked(target, holder, model) -%}
      {%- elif not holder.is_working and holder.seconds_idle > versioned_collapsing.get_lock_seconds() -%}
        {%- do versioned_collapsing.take_over_lock(target, lock, holder) -%}
      {%- else -%}
        {%- if seen.holder is none and holder.invocation_id != invocation_id -%}
          {%- do log(target ~ ' is locked by run ' ~ holder.run_id ~ '; waiting up to ' ~ versioned_collapsing.get_lock_seconds() ~ ' s to see whether it is at work', info=true) -%}
        {%- endif -%}
        {%- do run_query('select sleep(1)') -%}
      {%- endif -%}
      {%- set seen.holder = holder -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error(target ~ " was locked by one run after another for " ~ versioned_collapsing.get_lock_patience() ~ " s. Run again when they have ended.") -%}
{% endmacro %}


{# For how many seconds a run waits for the others of its own dbt invocation. #}
{% macro get_lock_patience() %}
  {%- do return(86400) -%}
{% endmacro %}


{# A statement under way, or a step since the holder was last looked at. #}
{% macro _is_at_work(holder, as_last_seen) %}
  {%- do return(holder.is_working or (as_last_seen is not none and [holder.run_id, holder.steps] != [as_last_seen.run_id, as_last_seen.steps])) -%}
{% endmacro %}


{# The engine in dbt's own process: nobody else can be at its data. #}
{% macro is_embedded() %}
  {%- do return(target.get('driver') == 'chdb') -%}
{% endmacro %}


{# For how long a run may show no sign of life before another one takes its lock. A statement that runs is a
   sign of life, however long it takes. #}
{% macro get_lock_seconds() %}
  {%- do return(var('versioned_collapsing_lock_seconds', 60) | int) -%}
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


{# Who holds the lock, how many steps it has made and for how long it has shown no sign of life; none when
   nobody does. Reads the system's tables alone: the lock may go at any time. #}
{% macro read_lock(lock) %}
  {%- set parts -%}
    from system.parts where active and {{ versioned_collapsing.get_is_table_sql(lock, 'table') }}
  {%- endset -%}
  {%- set query -%}
    select
      splitByChar(' ', comment)[1] as run_id,
      splitByChar(' ', comment)[2] as invocation_id,
      (select sum(rows) {{ parts }}) as steps,
      dateDiff('second', greatest(metadata_modification_time, (select max(modification_time) {{ parts }})), now()) as seconds_idle,
      has((select groupArray(Settings['log_comment']) from system.processes), concat({{ versioned_collapsing.quote_literal(versioned_collapsing.get_log_comment('')) }}, run_id)) as is_working
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
    }) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{% macro _holds_lock(run) %}
  {%- set holder = versioned_collapsing.read_lock(run.lock.relation) -%}
  {%- do return(holder is not none and holder.run_id == run.lock.run_id) -%}
{% endmacro %}


{# Says that the run is at work, and makes sure that nobody has taken over in between. #}
{% macro renew_lock(run) %}
  {%- if run.lock -%}
    {%- if not versioned_collapsing._holds_lock(run) -%}
      {%- do exceptions.raise_compiler_error(
          "This run showed no sign of life for " ~ versioned_collapsing.get_lock_seconds() ~ " s and lost its lock " ~ run.lock.relation ~ ". What it had begun is completed by the next run."
      ) -%}
    {%- endif -%}
    {%- do run_query("insert into " ~ run.lock.relation ~ " select now64(3, 'UTC') " ~ versioned_collapsing.get_settings_sql()) -%}
  {%- endif -%}
{% endmacro %}


{# Moved away before it is dropped: of two runs that take over at once one finds nothing to move, or the lock
   that the other has made by then, which goes back. #}
{% macro take_over_lock(target, lock, holder) %}
  {%- set moved = versioned_collapsing.get_helper_relation(target, 'lock_' ~ holder.run_id) -%}
  {%- do exceptions.warn(
      target ~ ": run " ~ holder.run_id ~ " held the lock and showed no sign of life for " ~ holder.seconds_idle ~ " s. Its lock is taken over."
  ) -%}
  {%- do run_query('rename table if exists ' ~ lock ~ ' to ' ~ moved) -%}
  {%- set taken = versioned_collapsing.read_lock(moved) -%}
  {%- if taken is not none and taken.run_id == holder.run_id -%}
    {%- do run_query('drop table ' ~ moved) -%}
  {%- elif taken is not none -%}
    {%- do run_query('rename table ' ~ moved ~ ' to ' ~ lock) -%}
  {%- endif -%}
{% endmacro %}


{% macro give_up_lock(run) %}
  {%- if run.lock and versioned_collapsing._holds_lock(run) -%}
    {%- do run_query('drop table if exists ' ~ run.lock.relation) -%}
  {%- endif -%}
{% endmacro %}


{# Stops a run that holds the lock with an error. #}
{% macro stop_run(run, message) %}
  {%- do versioned_collapsing.give_up_lock(run) -%}
  {%- do exceptions.raise_compiler_error(message) -%}
{% endmacro %}


{% macro raise_locked(target, holder, model) %}
  {%- do exceptions.raise_compiler_error(
      "Another run is at work on " ~ target ~ ": run " ~ holder.run_id ~ " of dbt invocation " ~ holder.invocation_id ~ ". Run again when it has ended. "
      ~ "If there is no such run: dbt run-operation release_lock --args '{model: " ~ model ~ "}'"
  ) -%}
{% endmacro %}
