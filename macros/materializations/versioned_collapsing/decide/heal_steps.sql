{# One flag per step; get_heal_rows_sql says what each flag means. #}
{% macro _get_heal_steps(options) %}
  {%- set version = versioned_collapsing.get_element_sql('_dbt_row', options.version) -%}
  {%- set changed = versioned_collapsing.get_element_sql('_dbt_change', options.version) -%}
  {%- set sign = versioned_collapsing.get_element_sql('_dbt_row', options.sign) -%}
  {%- set is_accepted -%}
    not _dbt_change_is_tombstoned
      and if(
        _dbt_has_live,
        {{ changed }} > _dbt_live_version or (_dbt_change_deletes and {{ changed }} = _dbt_live_version),
        not _dbt_change_deletes
      )
  {%- endset -%}
  {%- set surplus -%}
    arrayFilter(
      (_dbt_row, _dbt_position) -> not (
        _dbt_has_live
        and not _dbt_is_accepted
        and {{ sign }} = 1
        and {{ version }} = _dbt_live_version
        and _dbt_position = indexOf(_dbt_stored_rows, _dbt_row)
      ),
      _dbt_stored_rows,
      arrayEnumerate(_dbt_stored_rows)
    )
  {%- endset -%}
  {%- set written_signs -%}
    arrayConcat(
      arrayMap(_dbt_row -> toInt8(-{{ sign }}), _dbt_surplus),
      arrayMap(_dbt_row -> toInt8(1), _dbt_added)
    )
  {%- endset -%}
  {%- do return({
      '_dbt_has_live': 'notEmpty(_dbt_states)',
      '_dbt_live_version': 'arrayMax(_dbt_row -> ' ~ version ~ ', _dbt_states)',
      '_dbt_is_accepted': is_accepted,
      '_dbt_surplus': surplus,
      '_dbt_added': 'if(_dbt_is_accepted and not _dbt_change_deletes, [_dbt_change], [])',
      '_dbt_written_rows': 'arrayConcat(_dbt_surplus, _dbt_added)',
      '_dbt_written_signs': written_signs,
  }) -%}
{% endmacro %}
