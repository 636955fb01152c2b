{# The change set for `old_state: stream`. For each key it has a cancel row of the row before the first change, and a
   state row of the row after the last change, among the batches that this run takes. The changes in between cancel each
   other. So a chain of changes becomes two rows, however long it is. A row that came and went, or that is the same as
   before, becomes none.

   Nothing is looked up. If an event were missing, no later run could correct this: the row that it replaces would stay
   live beside the new one. So a line that cannot be used stops the model, whatever its key is. Changes of a key that do
   not connect stop it too: except for the first change, each row before must be the row after another change. #}
{% macro signed_rows(events, key) -%}
  {%- set types = versioned_collapsing.read_column_types(events) -%}
  {%- do versioned_collapsing.validate_signed_rows(model, events, key, types) -%}
  {%- set columns = key + versioned_collapsing.get_payload(types, key) -%}
  {%- set keys = key | join(', ') -%}
  {%- set read = versioned_collapsing.read_where_lines_are(events, types) -%}
  {%- set first_link = versioned_collapsing._get_link_sql('first') -%}
  {%- set last_link = versioned_collapsing._get_link_sql('last') -%}
  with lines as (
    select
      {{ keys }},
      struct(_version, _is_deleted) as _place,
      struct(_before as image, _before_version as version) as _old,
      struct(if(_is_deleted, null, struct({{ columns | join(', ') }})) as image, _version as version) as _new,
      if(_reason is null, null, concat(_reason, ' (', _file, ')')) as _problem
    from {{ read.relation }}
    where (_reason is not null or (_version is not null and (_is_deleted or not _before_version <=> _version)))
      and {{ read.is_pending }}
    distribute by {{ keys }}
  ),
  events as (
    select {{ keys }}, _place, max_by(_old, _place) as _old, max_by(_new, _place) as _new, max(_problem) as _problem
    from lines
    group by {{ keys }}, _place
  ),
  ends as (
    select
      {{ keys }},
      min_by(_old, _place) as first,
      max_by(_new, _place) as last,
      max(_problem) as _problem,
      bit_xor(
        {{ versioned_collapsing._get_link_sql('_old') }} ^ {{ versioned_collapsing._get_link_sql('_new') }}
      ) as _links
    from events
    group by {{ keys }}
  )
  select
    {%- for name in columns %}
    image.{{ name }} as {{ name }},
    {%- endfor %}
    _version,
    _sign
  from ends
  lateral view inline(case
    when _problem is not null then raise_error(concat(
      'A line', if({{ key | join(' is null and ') }} is null, '', concat(' of the key ', to_json(struct({{ keys }})))),
      ' cannot be used: ', _problem, '. Signed rows cannot leave out a change. '
      {{ versioned_collapsing._get_gap_advice() }}
    ))
    when _links <> {{ first_link }} ^ {{ last_link }} then raise_error(concat(
      'The changes of the key ', to_json(struct({{ keys }})), ' do not connect: at least one change is missing. '
      'Signed rows cannot leave out a change. Land what is missing. '
      {{ versioned_collapsing._get_gap_advice() }}
    ))
    else array(
      struct(first.image, first.version, cast(-1 as tinyint)),
      struct(last.image, last.version, cast(1 as tinyint))
    )
  end) as image, _version, _sign
  where image is not null
    and not (first.image is not null and first <=> last)
{%- endmacro %}

{% macro validate_signed_rows(model, events, key, columns) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- if columns and not problems -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_is_deleted', '_before', '_before_version', '_batch', '_file', '_reason']
    )) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'signed_rows') -%}
{% endmacro %}

{# A row in the chain of a key's changes, as a number; 0 where there is none. #}
{% macro _get_link_sql(row) %}
  {%- do return('if(' ~ row ~ '.image is null, 0L, xxhash64(' ~ row ~ '.version))') -%}
{% endmacro %}

{% macro _get_gap_advice() %}
  {%- do return(
      "'Correct the file; nothing of its batch is applied yet. A table with old_state lookup, on parse_debezium and "
      ~ "one_change_per_key, accepts gaps.'"
  ) -%}
{% endmacro %}
