{# Lines that cannot be used are left out, with or without a quarantine. So the run warns of them. #}
{% macro report_unusable_lines(model, inputs, counts) %}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- if unusable -%}
    {%- set batches = [] -%}
    {%- for batch, count in counts.items() if count.quarantined -%}
      {%- do batches.append(batch) -%}
    {%- endfor -%}
    {%- set queries = [] -%}
    {%- for input in inputs if '_reason' in input.columns -%}
      {%- do queries.append(
          'select _batch, _reason, count(*) from ' ~ input.relation ~ ' where _reason is not null and _batch in ('
          ~ batches[:100] | join(', ') ~ ') group by all'
      ) -%}
    {%- endfor -%}
    {%- set lines = counts.values() | sum(attribute='lines') -%}
    {%- do exceptions.warn(
        model.name ~ ': ' ~ unusable ~ ' of ' ~ versioned_collapsing.format_count(lines, 'line')
        ~ ' cannot be used and ' ~ ('is' if unusable == 1 else 'are') ~ ' left out, in '
        ~ versioned_collapsing.get_batches_text(batches)
        ~ '. To see why: ' ~ queries | join('; ')
        ~ ('.' if versioned_collapsing._are_kept(inputs) else '. To keep such lines, add a model of quarantined_lines.')
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Whether the project has a model of quarantined_lines for each of the inputs. #}
{% macro _are_kept(inputs) %}
  {%- set kept = [] -%}
  {%- for node in graph.nodes.values()
      if 'macro.versioned_collapsing.quarantined_lines' in node.depends_on.get('macros', []) -%}
    {%- do kept.extend(node.depends_on.nodes) -%}
  {%- endfor -%}
  {%- do return(inputs | map(attribute='unique_id') | reject('in', kept) | list == []) -%}
{% endmacro %}
