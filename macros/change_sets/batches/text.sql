{# Batches in a message: consecutive numbers are shown as a range, and at most ten ranges are shown. #}
{% macro get_batches_text(batches) %}
  {%- set ranges = [] -%}
  {%- for batch in batches -%}
    {%- if ranges and ranges[-1][1] + 1 == batch -%}
      {%- do ranges.append([ranges.pop()[0], batch]) -%}
    {%- else -%}
      {%- do ranges.append([batch, batch]) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set texts = [] -%}
  {%- for first, last in ranges[:10] -%}
    {%- do texts.append(first if first == last else first ~ ' to ' ~ last) -%}
  {%- endfor -%}
  {%- set noun = 'batch ' if batches | length == 1 else 'batches ' -%}
  {%- do return(noun ~ texts | join(', ') ~ (' and more' if ranges | length > 10 else '')) -%}
{% endmacro %}


{# The line that dbt prints for the model. #}
{% macro get_taken_summary(model, landed, taken, counts) %}
  {%- set places = versioned_collapsing.get_file_sources(model) | map(attribute='location') | join(', ') -%}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- do return(
      (('no batches yet' ~ (' in ' ~ places if places else '')) if not landed
      else 'no new batches' if not taken
      else 'batch ' ~ taken[0] if taken | length == 1
      else taken | length ~ ' batches, ' ~ taken[0] ~ ' to ' ~ taken[-1])
      ~ (': ' ~ unusable ~ (' unusable line' if unusable == 1 else ' unusable lines') if unusable else '')
  ) -%}
{% endmacro %}


{# What run_results.json keeps about a change set: its batches, and the counts of all their lines if these are known. #}
{% macro get_taken_facts(taken, counts) %}
  {%- set facts = {'batches': taken} -%}
  {%- for name in versioned_collapsing.get_line_count_names() -%}
    {%- set counted = counts.values() | map(attribute=name) | list -%}
    {%- if none not in counted and counted | length == taken | length -%}
      {%- do facts.update({name: counted | map('int') | sum}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(facts) -%}
{% endmacro %}
