{# Makes the feed keep its rows for as long as the option now says. #}
{% macro keep_feed_for(apply) %}
  {%- set feed = apply.feed.relation -%}
  {%- set engine = versioned_collapsing.read_tables([feed])[feed.identifier].engine_full -%}
  {%- set wanted = versioned_collapsing.get_feed_ttl_sql(apply.feed) -%}
  {%- if versioned_collapsing._get_ttl_of_engine(engine) != versioned_collapsing._get_stored_ttl(apply.feed) -%}
    {%- do run_query(
        'alter table ' ~ feed ~ ' ' ~ on_cluster_clause(feed) ~ ' '
        ~ ('modify ttl ' ~ wanted if wanted else 'remove ttl')
        ~ ' ' ~ versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 0, 'alter_sync': 1})
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_feed_ttl_sql(feed) %}
  {%- do return('toDateTime(_applied_at) + ' ~ feed.interval if feed.interval else '') -%}
{% endmacro %}


{# The same, as ClickHouse stores it: with `toIntervalDay(30)`. #}
{% macro _get_stored_ttl(feed) %}
  {%- if not feed.interval -%}{%- do return('') -%}{%- endif -%}
  {%- set words = feed.interval.split() -%}
  {%- do return('toDateTime(_applied_at) + toInterval' ~ words[2] | capitalize ~ '(' ~ words[1] | int ~ ')') -%}
{% endmacro %}


{% macro _get_ttl_of_engine(engine_full) %}
  {%- do return(modules.re.findall(' TTL (.*?)(?: SETTINGS |$)', engine_full) | first | default('')) -%}
{% endmacro %}
