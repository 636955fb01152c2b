{# Publishes the difference between the staged changes and what is stored, and records it. The staged
   tables are a snapshot: repeating this completes a run that died at any point of it. #}
{% macro publish_staged_changes(target, options, columns, run, counts) %}
  {%- do record_run(target, run, 'started', {}) -%}
  {% call statement('publish') -%}
    {{ get_publish_sql(target, options, columns) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {% call statement('heal') -%}
      {{ get_heal_sql(target, options, columns) }}
    {%- endcall %}
  {%- endif -%}
  {%- if counts.has_deletes -%}
    {% call statement('remember_deletes') -%}
      {{ get_remember_deletes_sql(target, options) }}
    {%- endcall %}
  {%- endif -%}
  {%- do record_run(target, run, 'applied', counts) -%}
{% endmacro %}


{# Completes the apply of a run that died after it began to write: its staged changes are still there.
   What it wrote already is found among the leftovers. #}
{% macro finish_unfinished_apply(target, options, columns, run) %}
  {%- set unfinished = get_unfinished_run(target, run) -%}
  {%- if unfinished is not none and load_relation(_beside(target, 'changes')) is not none -%}
    {%- do log('Completing run ' ~ unfinished.run_id ~ ' on ' ~ target ~ ', which did not finish', info=true) -%}
    {%- do stage_leftovers(target, options, columns) -%}
    {%- set counts = count_outcomes(target, options, columns, read_staged_counts(target)) -%}
    {%- do publish_staged_changes(target, options, columns, unfinished, counts) -%}
  {%- endif -%}
  {%- do drop_staged(target) -%}
{% endmacro %}


{% macro drop_staged(target) %}
  {%- for role in ('changes', 'leftovers', 'odd') -%}
    {%- do run_query('drop table if exists ' ~ _beside(target, role)) -%}
  {%- endfor -%}
{% endmacro %}


{# The line that dbt prints for the model. #}
{% macro get_apply_summary(counts, run) %}
  {%- set parts = [] -%}
  {%- for name in ('states', 'cancels', 'deletes', 'duplicates', 'stale', 'conflicts', 'tombstoned', 'repaired') if counts[name] -%}
    {%- do parts.append(counts[name] ~ ' ' ~ name) -%}
  {%- endfor -%}
  {%- set batches = run.batches | map(attribute=0) | list -%}
  {%- set what = 'batch ' ~ batches[0] if batches | length == 1
      else 'batches ' ~ batches | min ~ '-' ~ batches | max if batches
      else 'no new batches' if run.has_manifest else counts.rows_read ~ ' rows' -%}
  {%- do return(what ~ ': ' ~ (parts | join(', ') or 'nothing to change')) -%}
{% endmacro %}
