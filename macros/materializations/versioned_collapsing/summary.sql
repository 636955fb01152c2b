{# The line that dbt prints for the model. #}
{% macro get_apply_summary(counts, apply) %}
  {%- set parts = [] -%}
  {%- set unsaid = ('rows_read', 'keys', 'superseded', 'derived', 'truncates') -%}
  {%- for name in versioned_collapsing.get_count_names() if name not in unsaid and counts[name] -%}
    {%- do parts.append(
        versioned_collapsing.format_count(counts[name], name[:-1]) if name.endswith('s') else counts[name] ~ ' ' ~ name
    ) -%}
  {%- endfor -%}
  {%- set batches = apply.batches | map(attribute=0) | list -%}
  {%- set what = 'batch ' ~ batches[0] if batches | length == 1
      else 'batches ' ~ batches | min ~ '-' ~ batches | max if batches
      else 'no new batches' if apply.has_manifest else versioned_collapsing.format_count(counts.rows_read, 'row') -%}
  {%- set seconds = (modules.datetime.datetime.now(modules.pytz.utc) - apply.started_at).total_seconds() -%}
  {%- set has_rate = counts['keys'] >= 1000 and seconds > 0 -%}
  {%- set rate = ', ' ~ '{:,.0f}'.format(counts['keys'] / seconds) ~ ' keys/s' if has_rate else '' -%}
  {%- do return(what ~ ': ' ~ (parts | join(', ') or 'nothing to change') ~ rate) -%}
{% endmacro %}
