{# The usable events of the batches that this run takes, one row for each version of a key. The rows are distributed by
   key alone. So a later grouping by key finds them in the right place and in the right order. `rows` is where the
   events come from, and `kept` are the columns to keep besides the key. #}
{% macro get_versions_sql(rows, key, kept, types) -%}
  select
    {{ key | join(', ') }},
    _version,
    max(struct({{ (['_is_deleted'] + kept) | join(', ') }})) as _change,
    count(*) - 1 as _repeats,
    coalesce(min(_digest) <> max(_digest), false) as _is_conflict
    {%- if '_key_before' in types %},
    count_if(_is_left) as _lefts
    {%- endif %}
  from (
    select
      {{ (key + kept) | join(', ') }},
      {%- if '_key_before' in types %}
      _is_left,
      {%- endif %}
      _version,
      _is_deleted,
      if(_is_deleted, null, {{ versioned_collapsing.get_digest_sql(kept, types) }}) as _digest
    from {{ rows }}
    distribute by {{ key | join(', ') }}
  )
  group by {{ key | join(', ') }}, _version
{%- endmacro %}
