{# Completes a run of signed rows that died, from what it staged. With a journal its blocks are written from the one on
   that the ledger names. Otherwise all of its rows are in the table, or none. #}
{% macro complete_stream(target_relation, options, progress, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set table = [] -%}
  {%- for column in versioned_collapsing.read_table_columns(signed) if column.name != options.sign -%}
    {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.describe_columns(options, table, []) -%}
  {%- if progress.is_journal -%}
    {%- do versioned_collapsing.publish_blocks(target_relation, options, columns, progress, apply) -%}
  {%- elif not versioned_collapsing.read_is_published(target_relation, options, apply) -%}
    {%- do versioned_collapsing.attach_staged(target_relation, 'signed', target_relation, apply) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.read_signed_row_counts(target_relation, options) -%}
  {%- do versioned_collapsing.record_apply(target_relation, apply, dict(progress, counts=counts), 'applied') -%}
{% endmacro %}


{# Whether the staged rows are in the table: a version that they add is there, one that they cancel is not. All of them
   have to say the same. #}
{% macro read_is_published(target_relation, options, apply) %}
  {%- set query = versioned_collapsing._get_signs_of_publication_sql(target_relation, options, apply) -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do versioned_collapsing.validate_publication(
      target_relation, found['_dbt_for'] | int, found['_dbt_against'] | int, apply
  ) -%}
  {%- do return(found['_dbt_for'] | int > 0) -%}
{% endmacro %}


{% macro _get_signs_of_publication_sql(target_relation, options, apply) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set row = get_quoted_csv(options.unique_key + [options.version]) -%}
  {%- set first = adapter.quote(options.unique_key[0]) -%}
  select countIf(_dbt_is_published) as _dbt_for, countIf(not _dbt_is_published) as _dbt_against
  from (
    select (_dbt_staged._dbt_net > 0) = (_dbt_stored._dbt_net > 0) as _dbt_is_published
    from (
      select {{ row }}, sum({{ adapter.quote(options.sign) }}) as _dbt_net
      from {{ signed }}
      group by {{ row }}
      having _dbt_net <> 0
    ) as _dbt_staged
    left join (
      select {{ row }}, sum({{ adapter.quote(options.sign) }}) as _dbt_net
      from {{ target_relation }}
      where {{ first }} in (select {{ first }} from {{ signed }})
      group by {{ row }}
    ) as _dbt_stored using ({{ row }})
  )
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}
