{# The line that dbt prints for the model. #}
{% macro get_apply_summary(counts, run) %}
  {%- set parts = [] -%}
  {%- for name in versioned_collapsing.get_count_names() if name not in ('rows_read', 'keys', 'superseded', 'derived',
      'truncates') and counts[name] -%}
    {%- do parts.append(
        versioned_collapsing.format_count(counts[name], name[:-1]) if name.endswith('s') else counts[name] ~ ' ' ~ name
    ) -%}
  {%- endfor -%}
  {%- set batches = run.batches | map(attribute=0) | list -%}
  {%- set what = 'batch ' ~ batches[0] if batches | length == 1
      else 'batches ' ~ batches | min ~ '-' ~ batches | max if batches
      else 'no new batches' if run.has_manifest else versioned_collapsing.format_count(counts.rows_read, 'row') -%}
  {%- set seconds = (modules.datetime.datetime.now(modules.pytz.utc) - run.started_at).total_seconds() -%}
  {%- set rate = ', ' ~ '{:,.0f}'.format(counts['keys'] / seconds) ~ ' keys/s' if counts['keys'] >= 1000 and seconds > 0
      else '' -%}
  {%- do return(what ~ ': ' ~ (parts | join(', ') or 'nothing to change') ~ rate) -%}
{% endmacro %}
