{# Keeps, for each key, the change with the highest version among the batches that this run takes. At equal
   version a delete wins over an upsert. `_duplicates` counts the events of the key that repeat another,
   `_conflicts` the versions that came with more than one payload, `_superseded` those below the highest, and `_derived`
   the deletes among all these that are of no event but of one that changed the key.

   Where changes do not replace the row but are combined with it, as `combine` says or where they name columns in
   `_unset`, all changes of the key since its last delete are folded into one.

   All changes of a key are brought together once and sorted, and everything is aggregated on the way: neither the
   number of keys nor that of the changes of one is bounded by memory. #}
{% macro one_change_per_key(events, key, combine={}, counts=['_duplicates', '_conflicts', '_superseded']) -%}
  {%- set columns = versioned_collapsing.read_column_types(events) -%}
  {%- do versioned_collapsing.validate_one_change_per_key(model, events, key, columns, combine, counts) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- set lines = versioned_collapsing.read_where_lines_are(events, columns) -%}
  {%- if combine or '_unset' in columns -%}
    {{ versioned_collapsing.get_folded_changes_sql(lines, key, payload, columns, combine, counts) }}
  {%- else -%}
    {{ versioned_collapsing.get_latest_changes_sql(lines, key, payload, columns, counts) }}
  {%- endif -%}
{%- endmacro %}
