{# A number and what it counts: "1 row", "2 rows". #}
{% macro format_count(n, noun) %}
  {%- do return(n ~ ' ' ~ (noun if n | int == 1 else noun ~ 's')) -%}
{% endmacro %}

{# The one of `names` that most resembles a name, or none. The likeness is the share of letter pairs that the two names
   have in common. #}
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

{% macro split_top_level(text) %}
  {%- set arguments = [] -%}
  {%- set at = namespace(start=0) -%}
  {%- for token in versioned_collapsing.get_brackets(text) if token.text == ',' and token.depth == 0 -%}
    {%- do arguments.append(text[at.start : token.position] | trim) -%}
    {%- set at.start = token.position + 1 -%}
  {%- endfor -%}
  {%- do arguments.append(text[at.start :] | trim) -%}
  {%- do return(arguments) -%}
{% endmacro %}

{# The commas and brackets of a type or an expression, without those inside quoted names and string literals. Each has
   its position, and the number of brackets that are open after it. #}
{% macro get_brackets(text) %}
  {%- set tokens = [] -%}
  {%- set at = namespace(depth=0, position=0) -%}
  {%- set pattern = "'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`|[\\[\\](),]" -%}
  {%- set between = modules.re.split(pattern, text) -%}
  {%- for mark in modules.re.findall(pattern, text) -%}
    {%- set at.position = at.position + between[loop.index0] | length -%}
    {%- set at.depth = at.depth + (1 if mark in '([' else -1 if mark in ')]' else 0) -%}
    {%- if mark | length == 1 -%}
      {%- do tokens.append({'text': mark, 'position': at.position, 'depth': at.depth}) -%}
    {%- endif -%}
    {%- set at.position = at.position + mark | length -%}
  {%- endfor -%}
  {%- do return(tokens) -%}
{% endmacro %}

{# `(a, b)` becomes `a, b`; `(a) + (b)` stays. #}
{% macro strip_parentheses(text) %}
  {%- set is_tuple = text.startswith('(') and versioned_collapsing.get_closing_position(text) == text | length - 1 -%}
  {%- do return(text[1:-1] if is_tuple else text) -%}
{% endmacro %}

{# The position at which the first bracket of a text is closed. #}
{% macro get_closing_position(text) %}
  {%- for token in versioned_collapsing.get_brackets(text) if token.text != ',' and token.depth == 0 -%}
    {%- do return(token.position) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}

{% macro as_list(value) %}
  {%- do return([] if value is none else [value] if value is string or value is number else value | list) -%}
{% endmacro %}

{# Array columns reach macros as lists or, by way of agate, as their text. #}
{% macro parse_array(value) %}
  {%- do return(fromjson(value) if value is string else value) -%}
{% endmacro %}

{# The template once for each name, which takes the place of `{}`. #}
{% macro get_texts(template, names) %}
  {%- set texts = [] -%}
  {%- for name in names -%}{%- do texts.append(template | replace('{}', name | string)) -%}{%- endfor -%}
  {%- do return(texts) -%}
{% endmacro %}

{% macro quote_literals(texts) %}
  {%- set literals = [] -%}
  {%- for text in texts -%}{%- do literals.append(versioned_collapsing.quote_literal(text)) -%}{%- endfor -%}
  {%- do return(literals | join(', ')) -%}
{% endmacro %}

{% macro quote_literal(text) %}
  {%- do return("'" ~ versioned_collapsing.escape_literal(text) ~ "'") -%}
{% endmacro %}

{# A text, escaped for the inside of a string literal. #}
{% macro escape_literal(text) %}
  {%- do return(text | replace('\\', '\\\\') | replace("'", "\\'")) -%}
{% endmacro %}

{% macro quote_names(names) %}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(versioned_collapsing.quote_name(name)) -%}{%- endfor -%}
  {%- do return(quoted | join(', ')) -%}
{% endmacro %}

{# A name as a quoted identifier, whatever characters it contains. #}
{% macro quote_name(name) %}
  {%- do return(adapter.quote(name | replace('\\', '\\\\') | replace('"', '\\"'))) -%}
{% endmacro %}

{# The model's select in parentheses, on lines of its own, because it may end with a comment. #}
{% macro get_subquery_sql(sql) %}
  {%- do return('(\n' ~ sql ~ '\n)') -%}
{% endmacro %}

{% macro get_keys_equal_sql(left, right, unique_key) %}
  {%- set terms = [] -%}
  {%- for name in unique_key -%}
    {%- do terms.append(left ~ '.' ~ adapter.quote(name) ~ ' = ' ~ right ~ '.' ~ adapter.quote(name)) -%}
  {%- endfor -%}
  {%- do return(terms | join(' and ')) -%}
{% endmacro %}

{# Column values as messages show them: (7, 5). Text is in quotes. #}
{% macro get_shown_values_sql(names, alias=none) %}
  {%- set shown = [] -%}
  {%- for name in names -%}
    {%- set value = (alias ~ '.' if alias else '') ~ adapter.quote(name) -%}
    {%- do shown.append(
        versioned_collapsing.get_shown_text_sql('substring(toString(tuple(' ~ value ~ ')), 2, -1)')
    ) -%}
  {%- endfor -%}
  {%- do return("concat('(', " ~ shown | join(", ', ', ") ~ ", ')')") -%}
{% endmacro %}

{# The beginning of a text, for messages: a key may be as long as a book. #}
{% macro get_shown_text_sql(text) %}
  {%- do return("concat(leftUTF8(" ~ text ~ ", 200), if(lengthUTF8(" ~ text ~ ") > 200, '…', ''))") -%}
{% endmacro %}

{# Columns and expressions of an option. Columns are quoted, because they may have any name. #}
{% macro get_expressions_sql(expressions, columns) %}
  {%- set quoted = [] -%}
  {%- for expression in expressions -%}
    {%- do quoted.append(adapter.quote(expression) if expression in columns.names else expression) -%}
  {%- endfor -%}
  {%- do return(quoted | join(', ')) -%}
{% endmacro %}

{# A length of time in ClickHouse's form: '30 days' becomes `toIntervalDay(30)`, as it is stored in a TTL.
   None for any other text. #}
{% macro get_interval_sql(text) %}
  {%- set parts = modules.re.fullmatch(
      '(\\d+) *(second|minute|hour|day|week|month|quarter|year)s?', text | string | trim | lower
  ) -%}
  {%- do return('toInterval' ~ parts[2] | capitalize ~ '(' ~ parts[1] | int ~ ')' if parts else none) -%}
{% endmacro %}

{# A chain of CTEs, each of which adds one flag. `steps` has the flags in order, each with its expression, which may use
   earlier flags. `source` is what the first CTE reads, and `name` is the name of the last CTE. #}
{% macro get_steps_sql(source, steps, name) -%}
  {%- for flag, sql in steps.items() -%}
  {{ flag }}_known as (
    select *, {{ sql }} as {{ flag }} from {{ source if loop.first else loop.previtem[0] ~ '_known' }}
  ),
  {% endfor -%}
  {{ name }} as (
    select * from {{ (steps | list | last) ~ '_known' }}
  )
{%- endmacro %}

{# Sums by group. `groups` and `sums` are pairs of a name, quoted if necessary, and an expression. The sums get their
   names in the outer select: in the inner one, a name could be the same as that of a column that another sum uses. #}
{% macro get_sums_sql(relation, groups, sums) %}
  select
    {%- for name, _ in groups %}
    _dbt_group_{{ loop.index }} as {{ name }},
    {%- endfor %}
    {%- for name, _ in sums %}
    _dbt_sum_{{ loop.index }} as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from (
    select
      {%- for _, expression in groups %}
      {{ expression }} as _dbt_group_{{ loop.index }},
      {%- endfor %}
      {%- for _, expression in sums %}
      {{ expression }} as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ relation }}
    {%- if groups %}
    group by {% for _ in groups %}_dbt_group_{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
  )
{%- endmacro %}

{# A text without trailing zeros in its fraction: 10:00:00.500 becomes 10:00:00.5. #}
{% macro get_without_zeros_sql(text) %}
  {%- do return(versioned_collapsing.get_replaced_sql(text, '\\.0*$|(\\.[0-9]*[1-9])0+$', '\\1')) -%}
{% endmacro %}

{% macro get_replaced_sql(text, pattern, replacement) %}
  {%- do return(
      'replaceRegexpAll(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ', '
      ~ versioned_collapsing.quote_literal(replacement) ~ ')'
  ) -%}
{% endmacro %}
