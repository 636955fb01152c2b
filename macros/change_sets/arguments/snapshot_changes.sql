{# All that is wrong with the arguments, as one error. #}
{% macro validate_snapshot_changes(model, events, key, version, columns, max_deletes) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- set share = var('max_deletes', max_deletes) -%}
  {%- if share is not number or share is boolean or share < 0 or share > 1 -%}
    {%- do problems.append("max_deletes is " ~ share ~ "; it takes a share from 0 to 1.") -%}
  {%- endif -%}
  {%- if columns and not problems -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_batch', '_reason'] + ([] if version == '_batch' else [version])
    )) -%}
    {%- if '_unset' in columns -%}
      {%- do problems.append(
          events ~ " has a column _unset, so its rows can be incomplete. An extract needs complete rows. Remove "
          ~ "missing_fields='keep'."
      ) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'snapshot_changes') -%}
{% endmacro %}
