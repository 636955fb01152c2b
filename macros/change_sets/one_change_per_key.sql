{# Keeps, for each key, the change with the highest version among the batches that this run takes. At equal versions, a
   delete wins over an upsert of Debezium's, and the last line over other ones (see get_versions_sql). `_duplicates`
   counts the events of the key that repeat another, `_conflicts` the versions that came with more than one payload, and
   `_superseded` the versions below the highest. `_derived` counts the deletes among all these that come from an update
   that changed the key, and not from an event of their own.

   If changes are combined with the row instead of replacing it (because of `combine`, or because they name columns in
   `_unset`), all changes of the key since its last delete are folded into one.

   All changes of a key are brought together and sorted once, and everything is aggregated on the way. So memory limits
   neither the number of keys nor the number of changes of one key. #}
{% macro one_change_per_key(events, key, combine={}, counts=['_duplicates', '_conflicts', '_superseded']) -%}
  {%- set columns = versioned_collapsing.read_column_types(events) -%}
  {%- do versioned_collapsing.validate_one_change_per_key(model, events, key, columns, combine, counts) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- set lines = versioned_collapsing.get_lines_with_commits_sql(
      versioned_collapsing.read_where_lines_are(events, columns), events, columns
  ) -%}
  {%- set columns = dict(columns, _line_id='bigint') if lines.is_parsed else columns -%}
  {%- if combine or '_unset' in columns -%}
    {{ versioned_collapsing.get_folded_changes_sql(lines, key, payload, columns, combine, counts) }}
  {%- else -%}
    {{ versioned_collapsing.get_latest_changes_sql(lines, key, payload, columns, counts) }}
  {%- endif -%}
{%- endmacro %}
