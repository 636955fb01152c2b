{# The usable events of the batches that this run takes, one row for each version of a key. The rows are sent by key
   alone, so that what is grouped by key next finds them where and in the order in which they are. `rows` is where
   they come from, `kept` what of them is kept beside the key. #}
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
