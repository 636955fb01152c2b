{# A number and what it counts: "1 row", "2 rows". #}
{% macro format_count(n, noun) %}
  {%- do return(n ~ ' ' ~ (noun if n | int == 1 else noun ~ 's')) -%}
{% endmacro %}


{# The one of `names` that is most like a name, or none. The likeness is the share of the pairs of letters that the two
   names have in common. #}
{% macro get_near_name(name, names, least_likeness=0.5) %}
  {%- set best = namespace(name=none, likeness=least_likeness) -%}
  {%- set pairs = versioned_collapsing._letter_pairs(name) -%}
  {%- for other in names -%}
    {%- set others = versioned_collapsing._letter_pairs(other) -%}
    {%- set likeness = 2 * (pairs | select('in', others) | list | length) / (pairs | length + others | length) -%}
    {%- if likeness > best.likeness -%}
      {%- set best.name, best.likeness = other, likeness -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(best.name) -%}
{% endmacro %}


{% macro _letter_pairs(name) %}
  {%- set letters = '^' ~ name | lower | replace('_', '') | replace('-', '') ~ '$' -%}
  {%- set pairs = [] -%}
  {%- for at in range(letters | length - 1) -%}
    {%- do pairs.append(letters[at : at + 2]) -%}
  {%- endfor -%}
  {%- do return(pairs) -%}
{% endmacro %}
