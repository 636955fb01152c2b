{# The version of the new extract. Raises an error if the extract cannot be used. #}
{% macro get_extract_version_sql(key, max_deletes) -%}
  {%- set share = var('max_deletes', max_deletes) -%}
  select
    max(_new_batch) as _new_batch,
    max(_old_version) as _stored_version,
    case
      when max(_new_batch) is null then null
      when coalesce(sum(_lines), 0) = 0 then raise_error(concat(
        'Extract ', max(_new_batch), ' has no rows, so it would delete every row. Remove it, or set through_batch.'
      ))
      when count_if(_lines > 0 and ({{ key | join(' is null or ') }} is null)) > 0 then raise_error(concat(
        'Extract ', max(_new_batch), ' has lines whose key cannot be read, so the deleted rows are unknown. '
        'These lines are in the quarantine. Correct them, or remove the extract.'
      ))
      when max(_new_version) is null then raise_error(concat(
        'Extract ', max(_new_batch), ' has no usable line. '
        'Its lines are in the quarantine. Correct them, or remove the extract.'
      ))
      when count_if(_was_there and _lines = 0) > {{ share }} * count_if(_was_there) then raise_error(concat(
        'Extract ', max(_new_batch), ' lacks ', count_if(_was_there and _lines = 0), ' of the ', count_if(_was_there),
        ' stored rows, a greater share than max_deletes ({{ share }}). If the extract is incomplete, remove it. '
        'If the rows are gone at the source, accept it: dbt run --select {{ model.name }}+ --vars \'{max_deletes: 1}\''
      ))
      else max(_new_version)
    end as _extracted_at
  from pair
  left join rows on true
{%- endmacro %}
