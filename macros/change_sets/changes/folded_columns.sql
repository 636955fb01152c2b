{% macro _get_folded_column_sql(name, policy, unset) %}
  {%- set column = '_change.' ~ name -%}
  {%- set is_set = versioned_collapsing._get_is_set_sql(name, unset) -%}
  {%- set aggregate = {
      'latest': 'max_by(' ~ column ~ ', _version)',
      'greatest': 'max(' ~ column ~ ')',
      'least': 'min(' ~ column ~ ')',
      'coalesce': 'max_by(' ~ column ~ ', _version)',
      'first': 'min_by(' ~ column ~ ', _version)',
  }[policy] -%}
  {%- set has_value = ' and ' ~ column ~ ' is not null' if policy in ('coalesce', 'first') else '' -%}
  {%- do return(aggregate ~ ' filter (where ' ~ is_set ~ has_value ~ ')') -%}
{% endmacro %}


{% macro _get_is_set_sql(name, unset) %}
  {%- set is_set = 'not _change._is_deleted and (_deleted_at is null or _version > _deleted_at)'
      ~ ' and (_replaced_at is null or _version >= _replaced_at)' -%}
  {%- do return('(' ~ is_set ~ (" and not array_contains(_change._unset, '" ~ name ~ "')" if unset else '') ~ ')') -%}
{% endmacro %}
