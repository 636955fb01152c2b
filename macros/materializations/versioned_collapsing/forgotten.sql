{# Leaves the changes of forgotten keys out of a change set: those whose `source_key` the operation `forget` has
   removed. Returns the select of the other changes, and how many events were left out. #}
{% macro read_remembered_rows(target_relation, source_key, columns, sql, apply) %}
  {%- set forgotten = versioned_collapsing.get_forgotten_relation(target_relation) -%}
  {%- if not apply.staged.get(forgotten.identifier, {'row_count': 0}).row_count | int -%}
    {%- do return({'sql': sql, 'forgotten': 0}) -%}
  {%- endif -%}
  {%- set secret = versioned_collapsing.read_secret(forgotten, apply.staged[forgotten.identifier], apply) -%}
  {%- set is_forgotten = versioned_collapsing._get_is_forgotten_change_sql(forgotten, source_key, columns, secret) -%}
  {%- set given = versioned_collapsing.get_subquery_sql(sql) ~ ' as _dbt_given' -%}
  {%- set query -%}
    select {{ versioned_collapsing._get_event_count_sql(columns) }} as _dbt_n
    from {{ given }}
    where {{ is_forgotten }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- do return({
      'sql': 'select * from ' ~ given ~ ' where not (' ~ is_forgotten ~ ')',
      'forgotten': run_query(query).rows[0]['_dbt_n'] | int,
  }) -%}
{% endmacro %}

{# The condition that a row of the change set changes a forgotten key. A truncate has no key. #}
{% macro _get_is_forgotten_change_sql(forgotten, source_key, columns, secret) %}
  {%- set key = [] -%}
  {%- for name in source_key -%}
    {%- set column = columns.table | selectattr('name', 'equalto', name) | first -%}
    {%- do key.append(dict(column, sql=versioned_collapsing.get_cast_sql(column))) -%}
  {%- endfor -%}
  {%- set is_truncate = 'ifNull(toBool(_dbt_given._is_truncate), false)' if '_is_truncate' in columns.given
      else 'false' -%}
  {%- do return(
      'not ' ~ is_truncate ~ ' and ' ~ versioned_collapsing.get_forgotten_hash_sql(key, secret)
      ~ ' in (select hash from ' ~ forgotten ~ ')'
  ) -%}
{% endmacro %}

{# How many events the rows stand for. #}
{% macro _get_event_count_sql(columns) %}
  {%- set terms = ['toInt64(count())'] -%}
  {%- for name in versioned_collapsing.get_carried_count_names() if name in columns.given -%}
    {%- do terms.append(
        ('-' if name == '_synthetic' else '+') ~ ' toInt64(sum(ifNull(_dbt_given.' ~ adapter.quote(name) ~ ', 0)))'
    ) -%}
  {%- endfor -%}
  {%- do return(terms | join(' ')) -%}
{% endmacro %}

{# The keyed hash of a key. `key`: its columns, each with name and type, and with `sql` if that is not the name. The
   text that is hashed depends neither on the time zone of the session nor on settings, which may be others when a late
   event comes. ClickHouse writes [HIDDEN] into its logs instead of the secret. #}
{% macro get_forgotten_hash_sql(key, secret) %}
  {%- set values = [] -%}
  {%- for column in key -%}
    {%- set value = column.sql or versioned_collapsing.quote_name(column.name) -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set utc = versioned_collapsing.get_utc_type(base) -%}
    {%- do values.append(
        'cast(' ~ value ~ ', ' ~ versioned_collapsing.quote_literal('Nullable(' ~ utc ~ ')') ~ ')' if utc != base
        else 'hex(toString(' ~ value ~ '))' if base.startswith(('String', 'FixedString', 'Enum'))
        else versioned_collapsing.get_without_zeros_sql('toString(' ~ value ~ ')') if base.startswith('Decimal')
        else value
    ) -%}
  {%- endfor -%}
  {%- do return(
      "HMAC('sha256', toString(tuple(" ~ values | join(', ') ~ ')), ' ~ versioned_collapsing.quote_literal(secret) ~ ')'
  ) -%}
{% endmacro %}

{# The secret of the hashes. It must be the one with which the table of the hashes was made. `found`: what system.tables
   says about this table, or none. #}
{% macro read_secret(forgotten, found, apply) %}
  {%- set secret = env_var('VERSIONED_COLLAPSING_SECRET', '') -%}
  {%- do versioned_collapsing._validate_secret(forgotten, secret, apply) -%}
  {%- if found -%}
    {%- do versioned_collapsing._validate_same_secret(forgotten, found.comment, secret, apply) -%}
  {%- endif -%}
  {%- do return(secret) -%}
{% endmacro %}

{% macro _validate_secret(forgotten, secret, apply) %}
  {%- if not modules.re.fullmatch('[!-~]{32,}', secret) -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The environment variable VERSIONED_COLLAPSING_SECRET is " ~ ("too short" if secret else "not set") ~ ". "
        ~ forgotten ~ " keeps hashes of forgotten keys, and they need this secret: at least 32 characters without "
        ~ "spaces, such as `openssl rand -hex 32` makes. Set it for each run, and keep it: with another secret, "
        ~ "late events of forgotten keys would come back."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro _validate_same_secret(forgotten, comment, secret, apply) %}
  {%- if comment != versioned_collapsing.get_forgotten_comment(secret) -%}
    {%- do versioned_collapsing.stop_run(apply,
        "VERSIONED_COLLAPSING_SECRET is not the secret with which " ~ forgotten ~ " was made. Late events of forgotten "
        ~ "keys would come back. Set the secret of that time. If it is lost, drop the table, and forget the keys again."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro get_forgotten_comment(secret) %}
  {%- do return('Hashes of forgotten keys, made with the secret ' ~ local_md5('versioned_collapsing ' ~ secret)) -%}
{% endmacro %}
