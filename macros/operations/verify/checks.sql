{% macro validate_ranges(ranges, at_once) %}
  {%- if ranges is not integer or not 1 <= ranges <= 10000 -%}
    {%- do exceptions.raise_compiler_error(
        "verify: ranges is " ~ tojson(ranges) ~ ". It is a number from 1 to 10000."
    ) -%}
  {%- elif at_once is not integer or at_once < 1 -%}
    {%- do exceptions.raise_compiler_error("verify: at_once is " ~ tojson(at_once) ~ ". It is a number from 1 on.") -%}
  {%- endif -%}
{% endmacro %}


{# A position must be a version, and the table must know which keys it has deleted above it. #}
{% macro validate_position(comparison, position) %}
  {%- set model = comparison.node.name -%}
  {%- if not position.is_version -%}
    {%- do exceptions.raise_compiler_error(
        "verify: position is '" ~ position.text ~ "', but the versions of " ~ model ~ " are " ~ position.type
        ~ ". Give a position of this type."
    ) -%}
  {%- elif position.sql and (comparison.options.old_state == 'stream' or not comparison.options.remember_deletes) -%}
    {%- do exceptions.raise_compiler_error(
        "verify: " ~ model ~ " does not remember deletes, so a key that was deleted above position " ~ position.text
        ~ " would be taken for a lost one. Compare with a truth as new as the table, without `position`."
    ) -%}
  {%- elif position.is_truncated -%}
    {%- do exceptions.raise_compiler_error(
        "verify: " ~ model ~ " was truncated at version " ~ position.truncated_at ~ ", above position "
        ~ position.text ~ ". Compare with a truth that is as new as that."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# A difference is an error, so that the exit code shows it. #}
{% macro validate_no_fault(comparison, counts, cycle) %}
  {%- if counts.missing + counts.unexpected + counts.doubled + counts.different -%}
    {%- do exceptions.raise_compiler_error(
        "verify: " ~ versioned_collapsing.get_verified_message(comparison, counts, cycle) ~ "\n  "
        ~ counts.differing_keys
    ) -%}
  {%- endif -%}
{% endmacro %}
