{# The columns of a table and of its change feed. A column that the table computes itself is stored in the feed like any
   other. A column that exists only in inserts (EPHEMERAL) is left out. `is_taken`: whether a table that is no feed has
   the feed's name. #}
{% macro read_feed_columns(target_relation, feed_relation) %}
  {%- set query -%}
    select table, name, type, default_kind, default_expression
    from system.columns
    where ({{ versioned_collapsing.get_is_table_sql(target_relation, 'table') }}
        or {{ versioned_collapsing.get_is_table_sql(feed_relation, 'table') }})
      and default_kind <> 'EPHEMERAL'
    order by table, position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set described = {'table': [], 'feed': {}} -%}
  {%- for row in run_query(query).rows -%}
    {%- if row['table'] == target_relation.identifier -%}
      {%- do described.table.append(dict(zip(row.keys(), row.values()))) -%}
    {%- else -%}
      {%- do described.feed.update({row['name']: row['type']}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_feed = versioned_collapsing.get_feed_columns() | reject('in', described.feed) | list == [] -%}
  {%- do return({
      'table': described.table,
      'feed': described.feed if is_feed else {},
      'is_taken': described.feed and not is_feed,
  }) -%}
{% endmacro %}
