{# The row before the change as a struct; null for a row that was not there. #}
{% macro get_row_before_sql(columns) -%}
  if(_op in ('u', 'd'), struct(
    {%- for name in columns %}_before_{{ name }} as {{ name }}{{ ', ' if not loop.last }}{% endfor -%}
  ), null)
{%- endmacro %}


{# Why the row before an update cannot be cancelled. The row before a delete needs no check here: it is the image that
   is checked anyway. #}
{% macro get_row_before_problems(key, columns, version, required, ranges) %}
  {%- set payload = columns | reject('equalto', version) | list -%}
  {%- set problems = [
      {'condition': "_op <> 'u'", 'reason': 'null'},
      {'condition': '_before is null', 'reason': "'before image is missing'"},
      {
          'condition': "_members_before_['\"'] is not null",
          'reason': "'row before nests deeper than 20 levels or names a field twice'",
      },
      {'condition': '_text__before_' ~ version ~ ' is null', 'reason': "'before.version " ~ version ~ " is null'"},
  ] -%}
  {%- do problems.extend(versioned_collapsing.get_payload_problems(
      columns, [], required, ranges, [], '_before_', 'before.'
  )) -%}
  {%- for name in key -%}
    {%- do problems.append({
        'condition': 'not (_before_' ~ name ~ ' <=> ' ~ name ~ ')',
        'reason': "'key " ~ name ~ " changes'",
    }) -%}
  {%- endfor -%}
  {%- do problems.append({
      'condition': '_before_' ~ version ~ ' > ' ~ version ~ ' or (_before_' ~ version ~ ' = ' ~ version
          ~ ' and not (struct(_before_' ~ payload | join(', _before_') ~ ') <=> struct(' ~ payload | join(', ') ~ ')))',
      'reason': "'version " ~ version ~ " does not grow'",
  }) -%}
  {%- do return(problems) -%}
{% endmacro %}
