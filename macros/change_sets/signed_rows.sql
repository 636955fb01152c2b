{# The change set for `old_state: stream`: of each key, a cancel row of the first row before and a state row of the last
   row after, among the batches that this run takes. What lies between cancels itself out, so that a chain of changes
   is two rows, however long it is, and a row that came and went, or is as it was, is none. #}
{% macro signed_rows(events, key) -%}
  {%- set payload = versioned_collapsing.get_payload(versioned_collapsing.get_column_names(events), key) -%}
  {%- set columns = key + payload -%}
  with events as (
    select
      {{ key | join(', ') }},
      struct(_version, _is_deleted) as _place,
      struct(_before as image, _before_version as version) as _old,
      struct(if(_is_deleted, null, struct({{ columns | join(', ') }})) as image, _version as version) as _new
    from ({{ versioned_collapsing.get_usable_events_sql(events) }})
  ),
  ends as (
    select min_by(_old, _place) as first, max_by(_new, _place) as last
    from events
    group by {{ key | join(', ') }}
  )
  select
    {%- for name in columns %}
    image.{{ name }} as {{ name }},
    {%- endfor %}
    _version,
    _sign
  from ends
  lateral view inline(array(
    struct(first.image, first.version, cast(-1 as tinyint)),
    struct(last.image, last.version, cast(1 as tinyint))
  )) as image, _version, _sign
  where image is not null
    and not (first.image is not null and first <=> last)
{%- endmacro %}
