{# All that is wrong with the arguments of a macro that parses, as one error. #}
{% macro validate_parsing(source, key, columns, required, encodings, ranges, more=[]) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'required': required}, ['required'])
      + versioned_collapsing.get_mapping_problems({'columns': columns, 'encodings': encodings, 'ranges': ranges}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a staging model') -%}
  {%- set named = {'key': key, 'required': required, 'encodings': encodings | list, 'ranges': ranges | list} -%}
  {%- for argument, names in named.items() -%}
    {%- set outside = names | reject('in', columns) | list -%}
    {%- if outside -%}
      {%- do problems.append(
          argument ~ " names " ~ outside | join(', ') ~ ", which "
          ~ ("is" if outside | length == 1 else "are") ~ " not in columns."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name, type in columns.items() -%}
    {%- do problems.extend(
        versioned_collapsing._get_name_problems(name) + versioned_collapsing._get_type_problems(name, type)
    ) -%}
  {%- endfor -%}
  {%- do problems.extend(versioned_collapsing._get_encoding_problems(columns, encodings)) -%}
  {%- for name, range in ranges.items() if range is string or range is not sequence or range | length != 2 -%}
    {%- do problems.append(
        "ranges: " ~ name ~ " has " ~ range ~ "; a range takes two values, the lowest and the highest."
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems + more, 'a staging model') -%}
{% endmacro %}
