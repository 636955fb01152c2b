{# Makes sure that the change feed exists, with the columns of the table. Removes rows of applies that were never
   published, and rows that nobody needs any more. Returns the names of the columns to fill. #}
{% macro prepare_feed(target_relation, options, apply) %}
  {%- set described = versioned_collapsing.read_feed_columns(target_relation, apply.feed.relation) -%}
  {%- do versioned_collapsing.validate_feed_columns(target_relation, described.table, apply) -%}
  {%- do versioned_collapsing.validate_feed_place(described, apply) -%}
  {%- set altered = versioned_collapsing._get_altered_columns(described) if described.feed else [] -%}
  {%- if not described.feed or (altered and not versioned_collapsing._read_has_rows_of(target_relation, apply)) -%}
    {%- do versioned_collapsing.create_feed(target_relation, options, described.table, apply) -%}
  {%- else -%}
    {%- do versioned_collapsing.alter_feed(apply.feed.relation, described, altered) -%}
    {%- do versioned_collapsing.keep_feed_for(apply) -%}
    {%- do versioned_collapsing.trim_feed(target_relation, apply) -%}
  {%- endif -%}
  {%- do return(described.table | selectattr('default_kind', 'ne', 'ALIAS') | map(attribute='name') | list) -%}
{% endmacro %}


{# The columns of a table that have another type in its feed. #}
{% macro _get_altered_columns(described) %}
  {%- set altered = [] -%}
  {%- for column in described.table if described.feed.get(column.name, column.type) != column.type -%}
    {%- do altered.append(column) -%}
  {%- endfor -%}
  {%- do return(altered) -%}
{% endmacro %}


{# Whether the feed has rows of this table. If it has only rows of an earlier table with the same name, the feed is
   created again and not altered: values may not fit the new types, and the type of a key cannot be altered. #}
{% macro _read_has_rows_of(target_relation, apply) %}
  {%- set condition -%}
    _apply in (
      select apply
      from {{ versioned_collapsing.get_ledger_relation(target_relation) }}
      where target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target_relation) }} and apply > 0
    )
  {%- endset -%}
  {%- do return(versioned_collapsing.read_row_count(apply.feed.relation, condition) > 0) -%}
{% endmacro %}


{# Adds the columns that only the table has, and changes the types that differ. #}
{% macro alter_feed(feed_relation, described, altered) %}
  {%- set added = described.table | rejectattr('name', 'in', described.feed) | list -%}
  {%- for column in added + altered -%}
    {%- do run_query(
        'alter table ' ~ feed_relation ~ ' ' ~ on_cluster_clause(feed_relation) ~ ' '
        ~ ('add' if column in added else 'modify') ~ ' column '
        ~ versioned_collapsing.get_feed_column_sql(column) ~ ' '
        ~ versioned_collapsing.get_settings_sql(more={'mutations_sync': 1, 'alter_sync': 1})
    ) -%}
  {%- endfor -%}
{% endmacro %}
