{# Whether dbt reads only a part of what it selects from: --empty, --sample. The latter is not among `flags`. #}
{% macro is_partial_run() %}
  {%- do return(true if flags.EMPTY or invocation_args_dict.get('sample') else false) -%}
{% endmacro %}
