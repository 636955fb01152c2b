{# All that is wrong with the arguments, as one error; `columns` is empty while the staging model is not built. #}
{% macro validate_one_change_per_key(model, events, key, columns, combine, counts) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'counts': counts}, ['counts'])
      + versioned_collapsing.get_mapping_problems({'combine': combine}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'one_change_per_key') -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- if columns -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_is_deleted', '_batch', '_reason']
    )) -%}
  {%- endif -%}
  {%- set policies = ['latest', 'greatest', 'least', 'coalesce', 'first'] -%}
  {%- for column, policy in combine.items() -%}
    {%- if columns and column not in payload -%}
      {%- do problems.append("combine names " ~ column ~ ", which is not a column of the payload.") -%}
    {%- endif -%}
    {%- if policy not in policies -%}
      {%- do problems.append(
          "combine: " ~ column ~ " has the policy '" ~ policy ~ "'; a column takes one of '" ~ policies | join("', '")
          ~ "'."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set unknown = counts | reject('in', ['_duplicates', '_conflicts', '_superseded']) | list -%}
  {%- if unknown -%}
    {%- do problems.append(
        "counts names " ~ unknown | join(', ') ~ "; it takes '_duplicates', '_conflicts' and '_superseded'."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'one_change_per_key') -%}
{% endmacro %}
