{# For a staging model. Looks at the batches that a change set holds. Warns about fields that the columns do not name,
   and about columns that no row of a batch has, each with the number of lines. dbt prints only how many there are, so
   the names are a warning of their own, and the rows of the test are what was found. #}
{% test no_unknown_fields(model, change_set) %}
  {{ config(severity='warn') }}
  {%- set query -%}
  select batch, problem, field, lines
  from (
    select *, max(if(problem = 'row', lines, 0)) over (partition by batch) as rows
    from (
      select _batch as batch, _dbt_found.problem, _dbt_found.field, count(*) as lines
      from {{ versioned_collapsing.read_kept_lines(change_set, model) }}
      lateral view explode(concat(
        array(struct(if(_missing_fields is null, 'other', 'row') as problem, '' as field)),
        transform(coalesce(_missing_fields, array()), _dbt_name -> struct('in no row' as problem, _dbt_name as field)),
        transform(coalesce(_unknown_fields, array()), _dbt_name -> struct('unknown' as problem, _dbt_name as field))
      )) as _dbt_found
      where _reason is null
        and _ignored is null
        and _batch in (select batch from {{ versioned_collapsing.get_change_set_manifest_relation(change_set) }})
      group by _batch, _dbt_found.problem, _dbt_found.field
    )
  )
  where problem = 'unknown' or (problem = 'in no row' and lines = rows)
  {%- endset -%}
  {{ versioned_collapsing.read_found_fields_sql(query, model) if execute and flags.WHICH in ('build', 'test')
    else query }}
{% endtest %}
