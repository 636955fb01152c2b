{% macro get_typed_sql(text, type, encoding) %}
  {%- set whole = "if(" ~ text ~ " rlike '^-?[0-9]+$', try_cast(" ~ text ~ " as bigint), null)" -%}
  {%- set typed = {
      'precise': 'try_cast(' ~ text ~ ' as ' ~ type ~ ')',
      'base64': "try_to_binary(" ~ text ~ ", 'base64')",
      'base64url': "try_to_binary(translate(" ~ text ~ ", '-_', '+/'), 'base64')",
      'hex': "try_to_binary(" ~ text ~ ", 'hex')",
      'nonzero': 'if(lower(' ~ text ~ ") in ('true', 'false'), cast(" ~ text ~ ' as boolean), ' ~ whole ~ ' <> 0)',
      'epoch_days': 'date_from_unix_date(try_cast(' ~ whole ~ ' as int))',
      'epoch_millis': 'timestamp_micros(try_multiply(' ~ whole ~ ', 1000L))',
      'epoch_micros': 'timestamp_micros(' ~ whole ~ ')',
      'epoch_nanos': "timestamp_micros(if(" ~ text ~ " rlike '^-?([0-9]+000|0)$', try_cast(" ~ text
          ~ " as bigint) div 1000, null))",
  }.get(encoding) -%}
  {%- if typed -%}
    {%- do return(typed) -%}
  {%- endif -%}
  {%- set kind = versioned_collapsing.get_kind(type) -%}
  {%- if kind == 'string' -%}
    {%- do return(text) -%}
  {%- elif kind in ('tinyint', 'smallint', 'int', 'bigint') -%}
    {%- do return(versioned_collapsing._get_integer_sql(text, type)) -%}
  {%- elif kind == 'decimal' -%}
    {%- do return(versioned_collapsing._get_decimal_sql(text, type)) -%}
  {%- elif kind in ('float', 'double') -%}
    {%- do return(versioned_collapsing._get_float_sql(text, type)) -%}
  {%- elif kind in ('date', 'timestamp', 'timestamp_ntz') -%}
    {%- do return(versioned_collapsing._get_time_sql(text, type)) -%}
  {%- endif -%}
  {%- do return('try_cast(' ~ text ~ ' as ' ~ type ~ ')') -%}
{% endmacro %}


{# The condition that text is no value of its type. #}
{% macro get_misfit_sql(text, typed, type) %}
  {%- do return(none if type == 'string' else text ~ ' is not null and ' ~ typed ~ ' is null') -%}
{% endmacro %}
