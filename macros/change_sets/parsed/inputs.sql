{# For an input of a change set: the table of parsed lines that the SQL names (`named`), the table that it is to read
   (`parsed`), and whether this run makes that table (`is_parsed_here`). #}
{% macro read_parsed_lines(model, input, taken, code) %}
  {%- set own = versioned_collapsing.get_parsed_lines_relation(this, input.relation) -%}
  {%- if model.language != 'sql' or not modules.re.search(versioned_collapsing._get_name_pattern(own), code) -%}
    {%- do return({'named': none, 'parsed': none, 'is_parsed_here': false}) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_parsed_elsewhere(model, input, taken) if taken else none -%}
  {%- do return({'named': own, 'parsed': found or own, 'is_parsed_here': found is none}) -%}
{% endmacro %}


{% macro get_own_parsed_lines(inputs) %}
  {%- do return(inputs | selectattr('is_parsed_here') | map(attribute='parsed') | list) -%}
{% endmacro %}


{# The SQL, changed so that it reads the lines from the tables that have them already. #}
{% macro get_code_on_parsed_lines(code, inputs) %}
  {%- set found = namespace(code=code) -%}
  {%- for input in inputs if input.parsed and not input.is_parsed_here -%}
    {%- set pattern = versioned_collapsing._get_name_pattern(input.named) -%}
    {%- set found.code = modules.re.sub(pattern, input.parsed | string, found.code) -%}
  {%- endfor -%}
  {%- do return(found.code) -%}
{% endmacro %}


{% macro _get_name_pattern(relation) %}
  {%- do return('(?<!\\w)' ~ modules.re.escape(relation | string) ~ '(?!\\w)') -%}
{% endmacro %}


{# Whether a model refers to a change set only for the lines that the change set has parsed. #}
{% macro is_parsed_for(model, change_set) %}
  {%- do return(
      change_set.config.materialized == 'change_set'
      and 'macro.versioned_collapsing.quarantined_lines' in model.depends_on.macros
  ) -%}
{% endmacro %}
