{# The live rows of a table in the past, for `from`. With `at`: as the table was at that time. With `version`: as the
   source was at that version, according to what is known now. Both are expressions; times are in UTC. #}
{% macro as_of(relation, at=none, version=none, sign=none, unique_key=none, version_column=none) -%}
  {%- do versioned_collapsing.validate_one_moment(at, version) -%}
  {%- set history = versioned_collapsing.read_history(
      'as_of', relation, true, sign, unique_key, version_column
  ) -%}
  {%- if not history -%}{%- do return(versioned_collapsing.get_no_history_sql(relation, sign)) -%}{%- endif -%}
  {{ versioned_collapsing._get_rows_at_sql(history, at) if version is none
      else versioned_collapsing._get_rows_at_version_sql(history, version) }}
{%- endmacro %}

{% macro validate_one_moment(at, version) %}
  {%- if (at is none) == (version is none) -%}
    {%- do versioned_collapsing.validate_no_problems('as_of', [
        'takes either `at`, a time in UTC, or `version`. Pass ' ~ ('' if at is none else 'only ') ~ 'one of them.'
    ]) -%}
  {%- endif -%}
{% endmacro %}

{# A state is identified by its key and version, as in ClickHouse's pairs. A row that no later apply mentions was live
   then if it is live now. Any other row was live then if the first later apply that mentions it cancels it. So no other
   column is compared, and it does not matter how much of the last apply is visible yet. #}
{% macro _get_rows_at_sql(history, at) -%}
  {%- set is_later = versioned_collapsing.get_is_of_applies_sql('_dbt_later') -%}
  {%- set state = history.key ~ ', ' ~ history.version %}
  (
    with ({{ versioned_collapsing.get_applies_after_sql(history, at) }}) as _dbt_later
    select {{ history.names }}
    from (
      select {{ history.names }}
      from {{ history.relation }} final
      where {{ history.sign }} = 1
        and ({{ state }}) not in (select {{ state }} from {{ history.feed }} where {{ is_later }})
      settings
        do_not_merge_across_partitions_select_final = 1,
        optimize_move_to_prewhere_if_final = 0,
        use_skip_indexes_if_final = 1
    )

    union all

    select {{ history.names }}
    from {{ history.feed }}
    where {{ is_later }}
      and {{ history.sign }} = -1
      and ({{ state }}, _apply) in (
        select {{ state }}, min(_apply)
        from (
          select {{ state }}, _apply, sum({{ history.sign }}) as _dbt_net
          from {{ history.feed }}
          where {{ is_later }}
          group by {{ state }}, _apply
          having _dbt_net <> 0
        )
        group by {{ state }}
        having argMin(_dbt_net, _apply) < 0
      )
  )
{%- endmacro %}

{# If deletes are not remembered, two states of a key may be valid at one version. The one applied last counts. #}
{% macro _get_rows_at_version_sql(history, version) %}
  (
    select {{ history.names }}
    from {{ versioned_collapsing.get_states_with_validity_sql(history) }}
    where _dbt_from <= {{ version }} and (_dbt_is_current or _dbt_to > {{ version }})
    order by _dbt_apply desc
    limit 1 by {{ history.key }}
  )
{%- endmacro %}
