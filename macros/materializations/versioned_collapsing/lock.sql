{# The writer lock: one run at a time applies to a target. On a server it is a table, which only one run can
   create; its last row says when the holder was last at work. The embedded engine has one process, which
   the adapter sees to. #}
{% macro acquire_lock(target, run) %}
  {%- do run.update({'lock': none}) -%}
  {%- if versioned_collapsing.is_embedded() -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set lock = versioned_collapsing._beside(target, 'lock') -%}
  {%- set first_seen = namespace(beat=none) -%}
  {%- for attempt in range(versioned_collapsing.get_lock_seconds() + 2) -%}
    {%- if versioned_collapsing._create_lock(lock, run) -%}
      {%- do return(none) -%}
    {%- endif -%}
    {%- set holder = versioned_collapsing.read_lock(lock) -%}
    {%- if holder is not none -%}
      {%- set first_seen.beat = first_seen.beat or holder.beat -%}
      {%- if holder.is_working or holder.beat != first_seen.beat -%}
        {%- do versioned_collapsing.raise_locked(target, holder) -%}
      {%- elif holder.seconds_idle >= versioned_collapsing.get_lock_seconds() -%}
        {%- do versioned_collapsing.take_over_lock(target, lock, holder) -%}
      {%- else -%}
        {%- if attempt == 0 -%}
          {%- do log(target ~ ' is locked by run ' ~ holder.run_id ~ '; waiting up to ' ~ versioned_collapsing.get_lock_seconds() ~ ' s to see whether it is at work', info=true) -%}
        {%- endif -%}
        {%- do run_query('select sleep(1)') -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_locked(target, versioned_collapsing.read_lock(lock)) -%}
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


{# Creating a table is what ClickHouse lets one client do and no other. #}
{% macro _create_lock(lock, run) %}
  {%- set query -%}
    create table if not exists {{ lock }} {{ on_cluster_clause(lock) }} (run_id String, invocation_id String, at DateTime64(3, 'UTC'))
    engine = MergeTree
    order by at
    comment '{{ run.run_id }}'
  {%- endset -%}
  {%- do run_query(query) -%}
  {%- set is_ours = versioned_collapsing._read_lock_owner(lock) == run.run_id -%}
  {%- if is_ours -%}
    {%- do run.update({'lock': {'relation': lock, 'run_id': run.run_id}}) -%}
    {%- do versioned_collapsing._beat(run.lock) -%}
  {%- endif -%}
  {%- do return(is_ours) -%}
{% endmacro %}


{% macro _beat(lock) %}
  {%- do run_query("insert into " ~ lock.relation ~ " select '" ~ lock.run_id ~ "', '" ~ invocation_id ~ "', now64(3, 'UTC')") -%}
{% endmacro %}


{# The run that made the lock, or none. #}
{% macro _read_lock_owner(lock) %}
  {%- set query = "select comment from system.tables where database = '" ~ lock.schema ~ "' and name = '" ~ lock.identifier ~ "'" -%}
  {%- for row in run_query(query).rows -%}
    {%- do return(row['comment']) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{# Who holds the lock, and for how long it has shown no sign of life; none when nobody does. A holder that died
   before its first sign of life left an empty table. #}
{% macro read_lock(lock) %}
  {%- set owner = versioned_collapsing._read_lock_owner(lock) -%}
  {%- if owner is none -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set query -%}
    select
      toString(max(at)) as beat,
      any(invocation_id) as invocation,
      dateDiff(
        'second',
        if(count() = 0, (select any(metadata_modification_time) from system.tables where database = '{{ lock.schema }}' and name = '{{ lock.identifier }}'), max(at)),
        now64(3, 'UTC')
      ) as seconds_idle,
      (select count() from system.processes where Settings['log_comment'] = '{{ versioned_collapsing.get_log_comment(owner) }}') as statements
    from {{ lock }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({
      'run_id': owner,
      'invocation_id': found['invocation'],
      'beat': found['beat'],
      'seconds_idle': found['seconds_idle'] | int,
      'is_working': found['statements'] | int > 0,
  }) -%}
{% endmacro %}


{# Says that the run is at work, and makes sure that nobody has taken over in between. #}
{% macro renew_lock(run) %}
  {%- if run.lock -%}
    {%- if versioned_collapsing._read_lock_owner(run.lock.relation) != run.lock.run_id -%}
      {%- do exceptions.raise_compiler_error(
          "This run showed no sign of life for " ~ versioned_collapsing.get_lock_seconds() ~ " s and lost its lock " ~ run.lock.relation ~ ". What it had begun is completed by the next run."
      ) -%}
    {%- endif -%}
    {%- do versioned_collapsing._beat(run.lock) -%}
  {%- endif -%}
{% endmacro %}


{# Moved away before it is dropped: of two runs that take over at once one finds nothing to move, or the lock
   that the other has made by then, which goes back. #}
{% macro take_over_lock(target, lock, holder) %}
  {%- set moved = versioned_collapsing._beside(target, 'lock_' ~ holder.run_id) -%}
  {%- do exceptions.warn(
      target ~ ": run " ~ holder.run_id ~ " held the lock and showed no sign of life for " ~ holder.seconds_idle ~ " s. Its lock is taken over."
  ) -%}
  {%- do run_query('rename table ' ~ lock ~ ' to ' ~ moved) -%}
  {%- if versioned_collapsing._read_lock_owner(moved) == holder.run_id -%}
    {%- do run_query('drop table ' ~ moved) -%}
  {%- else -%}
    {%- do run_query('rename table ' ~ moved ~ ' to ' ~ lock) -%}
  {%- endif -%}
{% endmacro %}


{% macro give_up_lock(run) %}
  {%- if run.lock and versioned_collapsing._read_lock_owner(run.lock.relation) == run.lock.run_id -%}
    {%- do run_query('drop table if exists ' ~ run.lock.relation) -%}
  {%- endif -%}
{% endmacro %}


{# Stops a run that holds the lock with an error. #}
{% macro stop_run(run, message) %}
  {%- do versioned_collapsing.give_up_lock(run) -%}
  {%- do exceptions.raise_compiler_error(message) -%}
{% endmacro %}


{% macro raise_locked(target, holder) %}
  {%- do exceptions.raise_compiler_error(
      "Another run is at work on " ~ target ~ ": run " ~ holder.run_id ~ " of dbt invocation " ~ holder.invocation_id ~ ". Run again when it has ended. "
      ~ "If there is no such run: dbt run-operation release_lock --args '{model: " ~ target.identifier ~ "}'"
  ) -%}
{% endmacro %}


{# How the statements of a run are known in system.processes and the query log. #}
{% macro get_log_comment(run_id) %}
  {%- do return('versioned_collapsing ' ~ run_id) -%}
{% endmacro %}


{% macro get_log_comment_setting(run) %}
  {%- do return("log_comment = '" ~ versioned_collapsing.get_log_comment(run.lock.run_id if run.lock else run.run_id) ~ "'") -%}
{% endmacro %}
