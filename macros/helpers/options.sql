{# The value of an option of this package, from the config of a model or from its `meta`. dbt 2 wants options that it
   does not know in `meta`. `config` is that of a materialization or of a node of the graph. It is not asked for an
   option that is in `meta`: dbt-core would warn. #}
{% macro get_option(config, name, default=none) %}
  {%- set meta = config.get('meta') or {} -%}
  {%- set value = meta[name] if name in meta else config.get(name) -%}
  {%- do return(default if value is none else value) -%}
{% endmacro %}


{# The columns of the key of a model. #}
{% macro get_unique_key(config) %}
  {%- do return(versioned_collapsing.as_list(versioned_collapsing.get_option(config, 'unique_key'))) -%}
{% endmacro %}


{# The options among `names` to which the config and `meta` give different values. #}
{% macro get_options_given_twice(model, names) %}
  {%- set meta = model.config.get('meta') or {} -%}
  {%- set found = [] -%}
  {%- for name in names if name in meta and versioned_collapsing.is_in_config(model, name)
      and model.config[name] != meta[name] -%}
    {%- do found.append(name) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{# Whether the project gives an option in the config. dbt itself gives every model `on_schema_change: ignore`. Only
   `unrendered_config` tells the project's value from that, and it lacks options that are given by a macro or by
   `config(**options)`. #}
{% macro is_in_config(model, name) %}
  {%- set value = model.config.get(name) -%}
  {%- set is_of_dbt = name == 'on_schema_change' and value == 'ignore' and name not in model.unrendered_config -%}
  {%- do return(value is not none and not is_of_dbt) -%}
{% endmacro %}
