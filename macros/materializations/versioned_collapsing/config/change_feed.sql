{# The change feed of a table, or none if it has none.

   - relation: the table with the signed rows of each apply
   - is_history: whether the option `change_feed` asks for the feed, and not only a view needs it. The feed then also
     holds the rows of the first apply
   - interval: for how long its rows are kept, as ClickHouse writes it. None: for ever, or until all views have used
     them
   - views: the names of the views that are maintained from it #}
{% macro get_change_feed(target_relation, options, model) %}
  {%- set views = versioned_collapsing.get_followers(model)
      | selectattr('config.materialized', 'equalto', 'versioned_collapsing_view') | map(attribute='name') | list -%}
  {%- set option = options.change_feed | default('auto') -%}
  {%- if option is sameas false or (option == 'auto' and not views) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- do return({
      'relation': versioned_collapsing.get_changes_relation(target_relation),
      'is_history': option != 'auto',
      'interval': none if option is boolean else versioned_collapsing.get_interval_sql(option),
      'views': views,
  }) -%}
{% endmacro %}


{# The columns that a change feed has in addition to those of its table. #}
{% macro get_feed_columns() %}
  {%- do return(['_apply', '_applied_at', '_changed_version']) -%}
{% endmacro %}
